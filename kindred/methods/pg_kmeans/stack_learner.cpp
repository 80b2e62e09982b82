// Policies as networks on a GPU: by kernels of our own where they fit, a round in one launch; else
// through LibTorch, all slots as one stack, so that a step of every restart and cluster is a
// handful of batched products. The data lives on the device.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kindred/cuda/gpu_policies.h"
#include "kindred/methods/pg_kmeans/batch_sampler.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/methods/pg_kmeans/networks.h"
#include "kindred/methods/pg_kmeans/plateau.h"
#include "kindred/nn/tensor_adam.h"
#include "kindred/policies/step_counts.h"
#include "kindred/policies/step_tensors.h"

namespace kindred::pg_kmeans {
namespace {

class StackLearner final : public Networks {
 public:
  StackLearner(const Trajectories& data, const Options& options, const RunContext& run)
      : Networks(data, options, run), device_(run.device), steps_(data, view_, device_) {
    if (data.observations.is_interned() && data.actions.is_discrete()) codes_.emplace(data, run);
    if (device_.is_cuda() && !codes_) make_kernels();
  }

  void fit(std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
           std::int64_t round) override {
    need_common_policy();
    auto stack = policies_.select(slots);
    train(stack, slots, labels, round);
    policies_.assign(slots, stack);
  }

  Matrix score(std::span<const std::int64_t> slots) const override {
    const c10::NoGradGuard no_grad;
    const auto policies = policies_.select(slots);
    if (kernels_) {
      run_.throw_if_stopped();
      const auto bound = common_ ? common_log_probs_.data_ptr<float>() : nullptr;
      if (const auto scores = kernels_->score(policies, {.common = bound,
                                                         .common_share = options_.common_share,
                                                         .floor = options_.log_prob_floor})) {
        Matrix result(data_.episodes(), policies.size());
        for (std::int64_t i = 0; i < data_.episodes(); ++i)
          for (std::int64_t s = 0; s < policies.size(); ++s)
            result(i, s) = (*scores)[static_cast<std::size_t>(i * policies.size() + s)];
        return result;
      }
    }
    const TensorStack stack(policies, device_);
    if (codes_) {
      const auto table = bounded(stack.all_log_probs(steps_.seen()), common_log_probs_)
                             .permute({1, 2, 0})
                             .to(at::kDouble);
      const auto host = table.contiguous().cpu();
      return codes_->sum_over_steps(
          {host.data_ptr<double>(), static_cast<std::size_t>(host.numel())}, stack.size());
    }
    Matrix result(data_.episodes(), stack.size());
    std::int64_t episode = 0;
    steps_.in_blocks(run_, [&](std::int64_t begin, std::int64_t end) {
      const auto common = common_ ? common_log_probs_.slice(0, begin, end) : common_log_probs_;
      const auto host = bounded(steps_.log_probs(stack, begin, end), common).t().contiguous().cpu();
      const float* value = host.data_ptr<float>();
      for (auto t = begin; t < end; ++t) {
        while (t >= data_.offsets[episode + 1]) ++episode;
        for (std::int64_t s = 0; s < stack.size(); ++s)
          result(episode, s) += static_cast<double>(*value++);
      }
    });
    return result;
  }

 private:
  void score_common_policy() override {
    const c10::NoGradGuard no_grad;
    const TensorStack common(*common_, device_);
    if (codes_) {
      common_log_probs_ = common.all_log_probs(steps_.seen()).squeeze(0);
      return;
    }
    std::vector<at::Tensor> blocks;
    steps_.in_blocks(run_, [&](std::int64_t begin, std::int64_t end) {
      blocks.push_back(steps_.log_probs(common, begin, end).squeeze(0));
    });
    common_log_probs_ = at::cat(blocks);
  }

  void train(PolicyStack& policies, std::span<const std::int64_t> slots,
             const LabelsOfRestart& labels, std::int64_t round) const override {
    if (kernels_ && options_.batch_trajectories == 0 &&
        train_by_kernels(policies, slots, labels, round))
      return;
    const TensorStack stack(policies, device_);
    TensorAdam optimiser(stack.parameters(), stack.size());
    if (codes_) {
      const auto weights = count_weights(slots, labels);
      step_until_plateau(optimiser, [&](Plateau&) {
        return -(weights * stack.all_log_probs(steps_.seen())).sum({1, 2});
      });
    } else {
      std::vector<BatchSampler> samplers;
      for (const auto slot : slots)
        samplers.emplace_back(data_, options_, slot, labels(slot / options_.k), round);
      step_until_plateau(optimiser, [&](Plateau& plateau) {
        auto loss = batch_losses(stack, samplers);
        for (const auto& sampler : samplers) sampler.tell(plateau);
        return loss;
      });
    }
    stack.store(policies);
  }

  void make_kernels() {
    const auto& rows = steps_.row_of_step();
    kernels_ = cuda::make_gpu_policies(
        policies_.architecture(),
        {.count = data_.steps(),
         .inputs = steps_.seen().data_ptr<float>(),
         .row_of_step = rows.defined() ? rows.data_ptr<std::int64_t>() : nullptr,
         .actions = steps_.actions().data_ptr()},
        data_.offsets);
  }

  /// Each policy until its own loss stops falling, as on the CPU. False where a loss is no number:
  /// something is too large for halves, or training diverges, and LibTorch will tell which.
  bool train_by_kernels(PolicyStack& policies, std::span<const std::int64_t> slots,
                        const LabelsOfRestart& labels, std::int64_t round) const {
    run_.throw_if_stopped();
    std::vector<cuda::Lesson> lessons;
    for (const auto slot : slots) {
      auto& lesson = lessons.emplace_back();
      lesson.stream = Random(static_cast<std::uint64_t>(options_.seed), "batch",
                             static_cast<std::uint64_t>(round << 32 | slot))();
      const auto of_restart = labels(slot / options_.k);
      for (std::int64_t i = 0; i < data_.episodes(); ++i)
        if (of_restart[static_cast<std::size_t>(i)] == slot % options_.k && data_.length(i) > 0)
          lesson.parts.push_back({data_.offsets[i], data_.length(i)});
    }
    const auto limited = [](std::int64_t n) {
      return static_cast<int>(std::min<std::int64_t>(n, std::numeric_limits<int>::max()));
    };
    auto trained = policies;
    const auto ends =
        kernels_->train(trained, lessons,
                        {.batch = limited(options_.batch_steps),
                         .learning_rate = static_cast<float>(options_.learning_rate),
                         .max_gradient_norm = static_cast<float>(options_.max_gradient_norm),
                         .max_steps = limited(options_.max_steps),
                         .plateau_steps = limited(options_.plateau_steps),
                         .plateau_tolerance = options_.plateau_tolerance});
    run_.throw_if_stopped();
    if (!std::ranges::all_of(ends, [](const auto& end) { return std::isfinite(end.loss); }))
      return false;
    policies = std::move(trained);
    return true;
  }

  /// What steps count: log_probs [stack, …] under policies, mixed with [...] under the common one.
  at::Tensor bounded(at::Tensor log_probs, const at::Tensor& common) const {
    if (common_)
      log_probs = at::logaddexp(log_probs + std::log1p(-options_.common_share),
                                common + std::log(options_.common_share));
    return std::isfinite(options_.log_prob_floor) ? log_probs.clamp_min(options_.log_prob_floor)
                                                  : log_probs;
  }

  at::Tensor count_weights(std::span<const std::int64_t> slots,
                           const LabelsOfRestart& labels) const {
    const auto counts = codes_->count(slots, options_.k, labels);
    const auto weights = tensor_over(
        std::span<const double>(counts),
        {static_cast<std::int64_t>(slots.size()), codes_->distinct(), codes_->actions()});
    return (weights / weights.sum({1, 2}, true)).to(device_, at::kFloat);
  }

  /// The loss of every policy on its own next minibatch; shorter ones are padded at no weight.
  at::Tensor batch_losses(const TensorStack& stack, std::vector<BatchSampler>& samplers) const {
    std::vector<std::span<const std::int64_t>> drawn;
    std::size_t width = 0;
    for (auto& sampler : samplers) {
      drawn.push_back(sampler.next());
      width = std::max(width, drawn.back().size());
    }
    std::vector<std::int64_t> steps(drawn.size() * width, 0);
    std::vector<float> weights(steps.size(), 0.0F);
    for (std::size_t s = 0; s < drawn.size(); ++s) {
      std::ranges::copy(drawn[s], steps.begin() + static_cast<std::ptrdiff_t>(s * width));
      std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(s * width), drawn[s].size(),
                  1.0F / static_cast<float>(drawn[s].size()));
    }
    const auto rows = static_cast<std::int64_t>(drawn.size());
    const auto columns = static_cast<std::int64_t>(width);
    const auto step = steps_.steps_at(steps);
    auto shape = std::vector<std::int64_t>{rows, columns};
    if (!data_.actions.is_discrete()) shape.push_back(steps_.actions().size(1));
    const auto log_probs =
        stack.log_probs(steps_.inputs_of(step).view({rows, columns, view_.inputs.count()}),
                        steps_.actions_of(step).view(shape));
    const auto weight =
        tensor_over(std::span<const float>(weights), {rows, columns}).clone().to(device_);
    return -(weight * log_probs).sum(1);
  }

  /// Steps until the mean loss of the stack stops falling.
  template <class Losses>
  void step_until_plateau(TensorAdam& optimiser, const Losses& losses) const {
    const AdamOptions adam{.learning_rate = options_.learning_rate,
                           .max_gradient_norm = options_.max_gradient_norm};
    for (Plateau plateau(options_);;) {
      run_.throw_if_stopped();
      const auto loss = losses(plateau);
      optimiser.differentiate(loss.sum());
      optimiser.update(adam);
      if (plateau.reached(loss.detach().mean().template item<double>())) return;
    }
  }

  at::Device device_;
  StepTensors steps_;
  std::optional<StepCodes> codes_;
  std::unique_ptr<cuda::GpuPolicies> kernels_;  // where they fit
  at::Tensor common_log_probs_;  // [steps], or [distinct, actions] with codes_; under common_
};

std::unique_ptr<PolicyLearner> make_by_torch(const Trajectories& data, const Options& options,
                                             const RunContext& run) {
  return std::make_unique<StackLearner>(data, options, run);
}
const LateFunctionIs is_stack_learner(make_stack_learner, &make_by_torch);

}  // namespace

}  // namespace kindred::pg_kmeans
