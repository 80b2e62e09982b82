// SORL's policies through LibTorch, for GPUs. The data lives on the device; a minibatch is the
// numbers of its steps, and only scores, shares and losses cross over.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>

#include "kindred/core/error.h"
#include "kindred/cuda/gpu_adam.h"
#include "kindred/methods/sorl/mixture.h"
#include "kindred/nn/tensor_adam.h"
#include "kindred/policies/step_tensors.h"

namespace kindred::sorl {
namespace {

/// One policy. Each has its own optimiser, since one without a share in a slice stays as it is.
struct Network {
  Network(const PolicyStack& from, std::int64_t slot, const at::Device& device)
      : policy(from.select(std::array{slot}), device), adam(policy.parameters()) {}

  TensorStack policy;
  TensorAdam adam;
};

class TensorMixture final : public Mixture {
 public:
  TensorMixture(const Trajectories& data, const Options& options, const RunContext& run)
      : Mixture(data, options, run), steps_(data, {inputs_, {}}, at::Device(run.device)) {
    if (steps_.device().is_cuda()) adam_kernel_ = cuda::make_gpu_adam();
    networks_.resize(static_cast<std::size_t>(kept_.size()));
    for (std::int64_t slot = 0; slot < kept_.size(); ++slot) adopt(kept_, slot);
  }

  Matrix score(std::span<const std::int64_t> slots, OverSteps over) const override {
    const c10::NoGradGuard no_grad;
    const TensorStack policies(stack(slots), steps_.device());
    Matrix result(data_.episodes(), policies.size(), score_of_no_steps(over));
    std::int64_t episode = 0;
    steps_.in_blocks(run_, [&](std::int64_t begin, std::int64_t end) {
      const auto host = steps_.log_probs(policies, begin, end).t().contiguous().cpu();
      const float* value = host.data_ptr<float>();
      for (auto t = begin; t < end; ++t) {
        while (t >= data_.offsets[episode + 1]) ++episode;
        for (std::int64_t s = 0; s < policies.size(); ++s)
          result(episode, s) = with_step(result(episode, s), *value++, over);
      }
    });
    return result;
  }

 private:
  Network& network(std::int64_t slot) const { return *networks_[static_cast<std::size_t>(slot)]; }

  Training training(std::int64_t slot) const override {
    const auto flat = flat_parameters(slot).cpu();
    auto adam = network(slot).adam.state();
    adam.steps.resize(1);  // every parameter has taken the same
    return {{flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()}, std::move(adam)};
  }
  void resume(std::int64_t slot, Training training) override {
    const c10::NoGradGuard no_grad;
    const auto& parameters = network(slot).policy.parameters();
    training.adam.steps.resize(1);
    training.adam.steps.resize(parameters.size(), training.adam.steps[0]);
    network(slot).adam.restore(training.adam);  // refuses another architecture's
    if (training.parameters.size() != training.adam.first.size())
      throw InvalidArgument("{} parameters do not make a policy of {}", training.parameters.size(),
                            training.adam.first.size());
    const auto flat =
        tensor_over(std::span<const float>(training.parameters), {std::ssize(training.parameters)});
    std::int64_t begin = 0;
    for (const auto& parameter : parameters) {
      parameter.copy_(flat.slice(0, begin, begin + parameter.numel()).view_as(parameter));
      begin += parameter.numel();
    }
  }
  void adopt(const PolicyStack& from, std::int64_t slot) override {
    auto& network = networks_[static_cast<std::size_t>(slot)];
    network = std::make_unique<Network>(from, slot, steps_.device());
    if (adam_kernel_)
      network->adam.use([this](std::span<const AdamPiece> pieces, const AdamOptions& options) {
        adam_kernel_->step(pieces, options);
      });
  }
  void store(std::int64_t slot, PolicyStack& to, std::int64_t at) const override {
    PolicyStack one(architecture_, 1);
    network(slot).policy.store(one);
    to.assign(std::array{at}, one);
  }

  void train_on(const Minibatch& batch, std::span<const std::int64_t> slots) override {
    const auto steps = steps_.steps_at(batch.steps);
    const auto inputs = steps_.inputs_of(steps);
    const auto actions = steps_.actions_of(steps);
    Matrix scores(batch.trajectories, std::ssize(slots), score_of_no_steps(options_.over_steps()));
    for (std::int64_t column = 0; column < scores.columns; ++column) {
      run_.throw_if_stopped();
      const c10::NoGradGuard no_grad;
      const auto& policy = network(slots[static_cast<std::size_t>(column)]).policy;
      const auto host = policy.log_probs(inputs, actions).squeeze(0).contiguous().cpu();
      const float* log_prob = host.data_ptr<float>();
      for (const auto owner : batch.owners)
        scores(owner, column) =
            with_step(scores(owner, column), *log_prob++, options_.over_steps());
    }
    const Matrix shares = posteriors(scores, options_.k);
    for (std::int64_t column = 0; column < scores.columns; ++column)
      step(batch, inputs, actions, weights(batch, shares, column),
           network(slots[static_cast<std::size_t>(column)]));
  }

  /// One policy's gradient steps, a slice each.
  void step(const Minibatch& batch, const at::Tensor& inputs, const at::Tensor& actions,
            const std::vector<float>& weights, Network& network) {
    const auto weight =
        tensor_over(std::span<const float>(weights), {std::ssize(weights)}).clone().to(inputs);
    auto losses = at::zeros({}, inputs.options());
    std::size_t begin = 0;
    for (const auto end : batch.ends) {
      run_.throw_if_stopped();
      const auto own = [first = static_cast<std::int64_t>(begin),
                        last = static_cast<std::int64_t>(end)](const at::Tensor& all) {
        return all.slice(0, first, last);
      };
      const bool has_a_share = std::any_of(weights.begin() + static_cast<std::ptrdiff_t>(begin),
                                           weights.begin() + static_cast<std::ptrdiff_t>(end),
                                           [](float w) { return w != 0.0F; });
      begin = end;
      if (!has_a_share) continue;
      const auto loss =
          -(own(weight) * network.policy.log_probs(own(inputs), own(actions)).squeeze(0)).sum();
      network.adam.differentiate(loss);
      network.adam.update(adam());
      losses += loss.detach();
    }
    require_finite(losses.item<double>());  // once: reading it waits for the device
  }

  at::Tensor flat_parameters(std::int64_t slot) const {
    std::vector<at::Tensor> parts;
    for (const auto& parameter : network(slot).policy.parameters())
      parts.push_back(parameter.detach().reshape(-1));
    return at::cat(parts);
  }

  StepTensors steps_;
  std::unique_ptr<cuda::GpuAdam> adam_kernel_;      // where there is one
  std::vector<std::unique_ptr<Network>> networks_;  // [restarts × k]
};

std::unique_ptr<Mixture> make_by_torch(const Trajectories& data, const Options& options,
                                       const RunContext& run) {
  return std::make_unique<TensorMixture>(data, options, run);
}
const LateFunctionIs is_tensor_mixture(make_tensor_mixture, &make_by_torch);

}  // namespace
}  // namespace kindred::sorl
