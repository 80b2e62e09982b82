// The kernels against LibTorch on the CPU: the same network, the same trajectories.
#include "kindred/cuda/gpu_autoencoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "kindred/cuda/cuda_internal.h"
#include "kindred/cuda/gpu_adam.h"
#include "kindred/nn/latent_losses.h"
#include "kindred/nn/tensor_adam.h"

namespace kindred::cuda {
namespace {

bool no_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
}

#define SKIP_WITHOUT_GPU() \
  if (no_gpu()) GTEST_SKIP() << "there is no GPU"

struct Case {
  const char* name;
  AutoencoderArchitecture architecture;
  bool interned = false;  ///< Observations are rows of a table.
  std::vector<std::int64_t> lengths;
};

void PrintTo(const Case& shown, std::ostream* out) { *out << shown.name; }

at::Tensor uploaded_and_back(const DeviceArray<float>& array, at::IntArrayRef shape) {
  auto result = at::empty(shape);
  array.give(result.data_ptr<float>(), static_cast<std::size_t>(result.numel()));
  return result;
}

DeviceArray<float> on_gpu(const at::Tensor& tensor) {
  DeviceArray<float> array;
  const auto plain = tensor.contiguous();
  array.take(plain.data_ptr<float>(), static_cast<std::size_t>(plain.numel()));
  return array;
}

/// Random trajectories; on the GPU, and in batches as LibTorch's engine takes them.
class Data {
 public:
  explicit Data(const Case& of) : a_(of.architecture), interned_(of.interned) {
    at::manual_seed(3);
    offsets_ = {0};
    for (const auto length : of.lengths) offsets_.push_back(offsets_.back() + length);
    const auto rows = interned_ ? 7 : steps();
    observations_ = at::randn({rows, a_.inputs});
    for (std::int64_t i = 0; i < steps(); ++i)
      row_.push_back(static_cast<std::int32_t>(interned_ ? i * i % rows : i));
    if (a_.discrete)
      for (std::int64_t i = 0; i < steps(); ++i)
        discrete_.push_back(static_cast<std::int32_t>((3 * i + i * i) % a_.actions));
    else
      continuous_ = at::randn({steps(), a_.actions});
  }

  std::int64_t steps() const { return offsets_.back(); }

  std::unique_ptr<GpuAutoencoder> on_gpu() const {
    GpuTrajectories data;
    data.offsets = offsets_;
    data.observations = numbers(observations_);
    if (interned_) data.observation_of_step = row_;
    data.discrete_actions = discrete_;
    if (!a_.discrete) data.continuous_actions = numbers(continuous_);
    return make_gpu_autoencoder(a_, data);
  }

  /// One trajectory per part, so that they may come in any order.
  std::vector<SequenceBatch> parts(std::span<const std::int64_t> episodes) const {
    std::vector<SequenceBatch> result;
    for (const auto episode : episodes) {
      const auto i = static_cast<std::size_t>(episode);
      SequenceBatch part;
      pack({offsets_[i + 1] - offsets_[i]}, part);
      for (auto step = offsets_[i]; step < offsets_[i + 1]; ++step) {
        const auto seen = numbers(observations_[row_[static_cast<std::size_t>(step)]]);
        part.observation_of_step.push_back(static_cast<std::int32_t>(step - offsets_[i]));
        part.observations.insert(part.observations.end(), seen.begin(), seen.end());
        part.pairs.insert(part.pairs.end(), seen.begin(), seen.end());
        if (a_.discrete) {
          const auto action = discrete_[static_cast<std::size_t>(step)];
          part.discrete_actions.push_back(action);
          for (std::int64_t j = 0; j < a_.actions; ++j)
            part.pairs.push_back(j == action ? 1.0F : 0.0F);
        } else {
          const auto action = numbers(continuous_[step]);
          part.continuous_actions.insert(part.continuous_actions.end(), action.begin(),
                                         action.end());
          part.pairs.insert(part.pairs.end(), action.begin(), action.end());
        }
      }
      part.pair_of_step = part.observation_of_step;
      result.push_back(std::move(part));
    }
    return result;
  }

 private:
  static std::span<const float> numbers(const at::Tensor& tensor) {
    return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
  }

  AutoencoderArchitecture a_;
  bool interned_;
  std::vector<std::int64_t> offsets_;
  at::Tensor observations_, continuous_;
  std::vector<std::int32_t> row_, discrete_;
};

/// Features, likelihoods and the gradients of Σ features · w + Σ likelihoods · v.
struct Evaluation {
  at::Tensor features, sums, d_features, d_parameters;
};

Evaluation by_torch(const AutoencoderArchitecture& a, const at::Tensor& values,
                    std::span<const SequenceBatch> parts, const at::Tensor& w,
                    const at::Tensor& v) {
  const auto engine = make_torch_autoencoder(a);
  const auto parameters = values.clone().set_requires_grad(true);
  const auto features = engine->encode(parameters, parts);
  const auto sums = engine->log_likelihood(parameters, features, parts);
  const auto loss = (features * w).sum() + (sums * v).sum();
  const auto gradients = torch::autograd::grad({loss}, {features, parameters});
  return {features.detach(), sums.detach(), gradients[0], gradients[1]};
}

Evaluation by_kernels(const AutoencoderArchitecture& a, const at::Tensor& values,
                      GpuAutoencoder& gpu, std::span<const std::int64_t> episodes,
                      const at::Tensor& w, const at::Tensor& v) {
  const auto count = std::ssize(episodes), size = values.numel();
  const auto parameters = on_gpu(values), d_sums = on_gpu(v);
  DeviceArray<float> features(static_cast<std::size_t>(count * a.features()));
  DeviceArray<float> d_features(static_cast<std::size_t>(count * a.features()));
  DeviceArray<float> sums(static_cast<std::size_t>(count));
  DeviceArray<float> d_parameters(static_cast<std::size_t>(size));
  d_features.zero(static_cast<std::size_t>(count * a.features()));
  gpu.select(episodes);
  gpu.encode(parameters.get(), features.get());
  gpu.log_likelihood(parameters.get(), features.get(), sums.get());
  gpu.log_likelihood_back(parameters.get(), d_sums.get(), d_features.get(), d_parameters.get());
  const auto both = uploaded_and_back(d_features, {count, a.features()}) + w;
  gpu.encode_back(parameters.get(), features.get(), on_gpu(both).get(), d_parameters.get());
  return {uploaded_and_back(features, {count, a.features()}), uploaded_and_back(sums, {count}),
          both, uploaded_and_back(d_parameters, {size})};
}

/// Relative to the largest number; NaN is far away.
double error(const at::Tensor& found, const at::Tensor& expected) {
  if (expected.numel() == 0) return 0.0;
  const double largest = expected.abs().max().item<double>();
  const double difference = (found - expected).abs().max().item<double>();
  return difference >= 0.0 ? difference / (largest + 1e-12) : 1.0;
}

class GpuAutoencoderOf : public ::testing::TestWithParam<Case> {};

TEST_P(GpuAutoencoderOf, ComputesWhatLibTorchComputes) {
  SKIP_WITHOUT_GPU();
  const auto& a = GetParam().architecture;
  const Data data(GetParam());
  const auto gpu = data.on_gpu();
  ASSERT_NE(gpu, nullptr);
  const auto values = initial_parameters(a, Random(7));
  const AutoencoderLayout layout(a);
  std::vector<std::int64_t> all(GetParam().lengths.size());
  std::iota(all.begin(), all.end(), 0);
  auto some = all;
  std::ranges::reverse(some);
  some.resize((some.size() + 1) / 2);
  // Fewer after more, so that what is left in memory would show.
  for (const auto& episodes : {all, some, all}) {
    SCOPED_TRACE(episodes.size());
    const auto count = std::ssize(episodes);
    const auto w = at::randn({count, a.features()}), v = at::randn({count});
    const auto expected = by_torch(a, values, data.parts(episodes), w, v);
    const auto found = by_kernels(a, values, *gpu, episodes, w, v);
    EXPECT_LT(error(found.features, expected.features), 1e-5);
    EXPECT_LT(error(found.sums, expected.sums), 1e-5);
    EXPECT_LT(error(found.d_features, expected.d_features), 1e-4);
    for (const auto* block : layout.blocks()) {
      const auto part = [&](const at::Tensor& flat) {
        return flat.narrow(0, block->offset, block->rows * block->columns);
      };
      EXPECT_LT(error(part(found.d_parameters), part(expected.d_parameters)), 1e-4) << block->name;
    }
  }
}

/// CAAE's loss and its gradient in one call.
TEST_P(GpuAutoencoderOf, FindsTheGradientOfCaae) {
  SKIP_WITHOUT_GPU();
  const auto& a = GetParam().architecture;
  const Data data(GetParam());
  const auto gpu = data.on_gpu();
  const auto values = initial_parameters(a, Random(7));
  std::vector<std::int64_t> episodes(GetParam().lengths.size());
  std::iota(episodes.begin(), episodes.end(), 0);
  const auto count = std::ssize(episodes), size = values.numel();
  const auto parts = data.parts(episodes);
  at::manual_seed(4);
  const auto codes = 0.3 * at::randn({3, a.features()});  // some are nearer than 1 to each other
  for (const bool mean_over_steps : {false, true}) {
    SCOPED_TRACE(mean_over_steps);
    const auto engine = make_torch_autoencoder(a);
    const auto p = values.clone().set_requires_grad(true);
    const auto c = codes.clone().set_requires_grad(true);
    const auto z = engine->encode(p, parts);
    auto sums = engine->log_likelihood(p, z, parts);
    if (mean_over_steps) sums = sums / at::tensor(GetParam().lengths);
    const auto expected = -sums.mean() + 0.7 * std::get<0>(squared_distances(z, c).min(1)).mean() -
                          1.3 * codebook_spread(c);
    const auto gradients = torch::autograd::grad({expected}, {p, c});

    const auto on_device = on_gpu(codes), parameters = on_gpu(values);
    DeviceArray<float> loss(1), features(static_cast<std::size_t>(count * a.features()));
    DeviceArray<float> gradient(static_cast<std::size_t>(size + codes.numel()));
    gpu->select(episodes);
    gpu->centroid_gradient(parameters.get(),
                           {.codes = on_device.get(),
                            .count = 3,
                            .alpha = 0.7,
                            .lambda = 1.3,
                            .mean_over_steps = mean_over_steps},
                           loss.get(), features.get(), gradient.get());
    const auto found = uploaded_and_back(gradient, {size + codes.numel()});
    EXPECT_LT(error(uploaded_and_back(loss, {1}), expected.detach().view({1})), 1e-5);
    EXPECT_LT(error(uploaded_and_back(features, {count, a.features()}), z.detach()), 1e-5);
    EXPECT_LT(error(found.narrow(0, 0, size), gradients[0]), 1e-4);
    EXPECT_LT(error(found.narrow(0, size, codes.numel()), gradients[1].flatten()), 1e-4);
  }
}

TEST_P(GpuAutoencoderOf, GivesTheSameBitsTwice) {
  SKIP_WITHOUT_GPU();
  const auto& a = GetParam().architecture;
  const Data data(GetParam());
  const auto gpu = data.on_gpu();
  const auto values = initial_parameters(a, Random(7));
  const std::vector<std::int64_t> episodes{0, 1};
  const auto w = at::ones({2, a.features()}), v = at::ones({2});
  const auto once = by_kernels(a, values, *gpu, episodes, w, v);
  const auto again = by_kernels(a, values, *gpu, episodes, w, v);
  EXPECT_TRUE(once.features.equal(again.features));
  EXPECT_TRUE(once.d_parameters.equal(again.d_parameters));
}

AutoencoderArchitecture narrow(bool discrete, std::int64_t inputs, std::int64_t actions) {
  return {.inputs = inputs,
          .discrete = discrete,
          .actions = actions,
          .hidden = 32,
          .memory = 16,
          .heads = 3,
          .head_size = 8,
          .decoder1 = 48,
          .decoder2 = 16,
          .decoder3 = 32};
}

AutoencoderArchitecture paper(bool discrete, std::int64_t inputs, std::int64_t actions) {
  return {.inputs = inputs, .discrete = discrete, .actions = actions};
}

INSTANTIATE_TEST_SUITE_P(
    Networks, GpuAutoencoderOf,
    ::testing::Values(Case{"Choices", narrow(true, 5, 3), false, {9, 1, 70, 2, 4}},
                      Case{"ChoicesByTable", narrow(true, 21, 5), true, {3, 8, 5}},
                      Case{"Numbers", narrow(false, 6, 2), false, {5, 66, 1, 7}},
                      Case{"NumbersByTable", narrow(false, 70, 11), true, {4, 4}},
                      Case{"Paper", paper(false, 17, 6), false, {20, 11, 5}},
                      Case{"PaperOnGrids", paper(true, 130, 5), true, {13, 2, 6}}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// Steps of two parameters against the same gradients as LibTorch's, with and without shortening.
TEST(GpuAdam, TakesLibTorchsSteps) {
  SKIP_WITHOUT_GPU();
  for (const double longest : {0.5, std::numeric_limits<double>::infinity()}) {
    SCOPED_TRACE(longest);
    at::manual_seed(5);
    const AdamOptions options{.learning_rate = 0.01, .max_gradient_norm = longest};
    const std::vector<at::Tensor> start{at::randn({1000}), at::randn({3, 5})};
    std::vector<at::Tensor> wanted{start[0].clone(), start[1].clone()};
    TensorAdam adam(wanted);
    const auto kernels = make_gpu_adam();
    auto first_parameter = on_gpu(start[0]), second_parameter = on_gpu(start[1]);
    auto first = on_gpu(at::zeros({1015})), second = on_gpu(at::zeros({1015}));
    for (std::int64_t step = 1; step <= 5; ++step) {
      const auto gradient = at::randn({1015});
      adam.set_gradient(gradient);
      adam.update(options);
      const auto on_device = on_gpu(gradient);
      const auto rates = adam_rates(options, step);
      const std::vector<AdamPiece> pieces{
          {first_parameter.get(), on_device.get(), first.get(), second.get(), 1000, rates},
          {second_parameter.get(), on_device.get() + 1000, first.get() + 1000, second.get() + 1000,
           15, rates}};
      kernels->step(pieces, options);
      uploaded_and_back(first_parameter, {1000});  // the gradient stays until the step is done
    }
    EXPECT_LT(error(uploaded_and_back(first_parameter, {1000}), wanted[0].detach()), 1e-5);
    EXPECT_LT(error(uploaded_and_back(second_parameter, {3, 5}), wanted[1].detach()), 1e-5);
  }
}

TEST(GpuAutoencoder, IsThereOnlyForNetworksThatHaveKernels) {
  SKIP_WITHOUT_GPU();
  Case odd{"odd", paper(false, 4, 2), false, {3}};
  odd.architecture.memory = 48;
  EXPECT_EQ(Data(odd).on_gpu(), nullptr);
}

}  // namespace
}  // namespace kindred::cuda
