// One dataset's minibatches, wherever they are computed.
#include "kindred/latent/dataset_autoencoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>

#include "kindred/latent/model.h"
#include "kindred/nn/latent_losses.h"
#include "tests/clustering/synthetic.h"

namespace kindred::latent {
namespace {

using kindred::testing::gridworld;
using kindred::testing::linear_control;
using kindred::testing::without_interning;

/// The paper's network on some data, on one device.
struct Network {
  Network(const Trajectories& trajectories, const std::string& device)
      : data(trajectories),
        inputs(NetworkInputs::from(data.observations, !data.actions.is_discrete())),
        architecture{
            .inputs = inputs.count(),
            .discrete = data.actions.is_discrete(),
            .actions = data.actions.is_discrete() ? data.actions.count() : data.actions.dim()} {
    run.device = device;
    autoencoder = make_dataset_autoencoder(data, inputs, architecture, 8, run);
    parameters =
        initial_parameters(architecture, Random(3)).to(at::Device(device)).set_requires_grad(true);
    codes = (0.3 * normal(4, architecture.features())).to(at::Device(device));
    codes.set_requires_grad(true);
  }

  static at::Tensor normal(std::int64_t rows, std::int64_t columns) {
    Random random(5);
    auto result = at::empty({rows, columns});
    for (std::int64_t i = 0; i < result.numel(); ++i)
      result.data_ptr<float>()[i] = static_cast<float>(random.normal());
    return result;
  }

  /// CAAE's loss through autograd, with its gradient.
  LossGradient differentiated() {
    const auto z = autoencoder->encode(parameters);
    const auto loss = -autoencoder->log_likelihood(parameters, z).mean() +
                      0.5 * std::get<0>(squared_distances(z, codes).min(1)).mean() -
                      2.0 * codebook_spread(codes);
    const auto gradients = torch::autograd::grad({loss}, {parameters, codes});
    return {loss.detach(), z.detach(), at::cat({gradients[0], gradients[1].flatten()})};
  }

  const Trajectories& data;
  NetworkInputs inputs;
  AutoencoderArchitecture architecture;
  RunContext run;
  std::unique_ptr<DatasetAutoencoder> autoencoder;
  at::Tensor parameters, codes;
};

std::vector<Trajectories> datasets() {
  return {gridworld("takeball", 5), without_interning(gridworld("diagonal", 4)),
          linear_control({})};
}

double error(const at::Tensor& found, const at::Tensor& expected) {
  const double largest = expected.abs().max().item<double>();
  return (found.cpu() - expected).abs().max().item<double>() / largest;
}

TEST(DatasetAutoencoder, SaysOfATrajectoryTheSameWhateverIsSelected) {
  for (const auto& data : datasets()) {
    Network network(data, "cpu");
    std::vector<std::int64_t> all(static_cast<std::size_t>(data.episodes()));
    std::iota(all.begin(), all.end(), 0);
    network.autoencoder->select(all);
    EXPECT_EQ(network.autoencoder->steps(), data.steps());
    const auto order = network.autoencoder->selected();
    const auto together = network.autoencoder->encode(network.parameters).detach();
    for (std::size_t row = 0; row < order.size(); row += 3) {
      network.autoencoder->select(std::span(order).subspan(row, 1));
      EXPECT_EQ(network.autoencoder->steps(), data.length(order[row]));
      const auto alone = network.autoencoder->encode(network.parameters).detach();
      EXPECT_LT(error(alone[0], together[static_cast<std::int64_t>(row)]), 1e-6);
    }
  }
}

TEST(DatasetAutoencoder, ComputesOnAGpuWhatItComputesOnACpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "there is no GPU";
  for (const auto& data : datasets()) {
    Network cpu(data, "cpu"), gpu(data, "cuda");
    const std::vector<std::int64_t> episodes{5, 2, 7, 0, 3};
    cpu.autoencoder->select(episodes);
    // Rows in the CPU's order, which is by length.
    gpu.autoencoder->select(cpu.autoencoder->selected());
    const auto expected = cpu.differentiated();
    std::vector<LossGradient> found{gpu.differentiated()};
    if (const auto known = gpu.autoencoder->gradient(
            gpu.parameters, {.codes = gpu.codes, .alpha = 0.5, .lambda = 2.0}))
      found.push_back(*known);
    for (const auto& each : found) {
      EXPECT_LT(error(each.loss, expected.loss), 1e-5);
      EXPECT_LT(error(each.features, expected.features), 1e-4);
      EXPECT_LT(error(each.gradient, expected.gradient), 1e-3);
    }
  }
}

}  // namespace
}  // namespace kindred::latent
