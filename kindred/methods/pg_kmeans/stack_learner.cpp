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
#include "kindred/nn/tensor_stack.h"
#include "kindred/policies/step_counts.h"

namespace kindred::pg_kmeans {
namespace {

/// A tensor over memory that must outlive it: what autograd may keep has to be copied.
template <class T>
at::Tensor tensor_over(std::span<const T> values, std::vector<std::int64_t> shape) {
  return at::from_blob(const_cast<T*>(values.data()), shape, c10::CppTypeToScalarType<T>::value);
}

class StackLearner final : public Networks {
 public:
  StackLearner(const Trajectories& data, const Options& options, const RunContext& run)
      : Networks(data, options, run), device_(run.device) {
    if (data.observations.is_interned()) {
      seen_ = observed(0, data.observations.distinct());
      if (data.actions.is_discrete())
        codes_.emplace(data, run);
      else
        row_of_step_ =
            tensor_over(data.observations.index().span(), {data.steps()}).to(device_, at::kLong);
    } else {
      seen_ = observed(0, data.steps());
    }
    actions_ = data.actions.is_discrete()
                   ? tensor_over(data.actions.ints().span(), {data.steps()}).to(device_, at::kLong)
                   : predicted_actions();
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
      const auto table =
          bounded(stack.all_log_probs(seen_), common_log_probs_).permute({1, 2, 0}).to(at::kDouble);
      const auto host = table.contiguous().cpu();
      return codes_->sum_over_steps(
          {host.data_ptr<double>(), static_cast<std::size_t>(host.numel())}, stack.size());
    }
    Matrix result(data_.episodes(), stack.size());
    std::int64_t episode = 0;
    in_blocks([&](std::int64_t begin, std::int64_t end) {
      const auto common = common_ ? common_log_probs_.slice(0, begin, end) : common_log_probs_;
      const auto host = bounded(log_probs_of(stack, begin, end), common).t().contiguous().cpu();
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
      common_log_probs_ = common.all_log_probs(seen_).squeeze(0);
      return;
    }
    std::vector<at::Tensor> blocks;
    in_blocks([&](std::int64_t begin, std::int64_t end) {
      blocks.push_back(log_probs_of(common, begin, end).squeeze(0));
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
        return -(weights * stack.all_log_probs(seen_)).sum({1, 2});
      });
    } else {
      std::vector<BatchSampler> samplers;
      for (const auto slot : slots)
        samplers.emplace_back(data_, options_, slot, labels(slot / options_.k), round);
      step_until_plateau(optimiser, [&](Plateau& plateau) {
        const auto loss = batch_losses(stack, samplers);
        for (const auto& sampler : samplers) sampler.tell(plateau);
        return loss;
      });
    }
    stack.store(policies);
  }

  void make_kernels() {
    kernels_ = cuda::make_gpu_policies(
        policies_.architecture(),
        {.count = data_.steps(),
         .inputs = seen_.data_ptr<float>(),
         .row_of_step = row_of_step_.defined() ? row_of_step_.data_ptr<std::int64_t>() : nullptr,
         .actions = actions_.data_ptr()},
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

  /// Calls `work(begin, end)` for blocks of steps, one after the other.
  template <class Work>
  void in_blocks(const Work& work) const {
    constexpr std::int64_t kBlock = 32768;
    for (std::int64_t begin = 0; begin < data_.steps(); begin += kBlock) {
      run_.throw_if_stopped();
      work(begin, std::min(begin + kBlock, data_.steps()));
    }
  }

  at::Tensor log_probs_of(const TensorStack& stack, std::int64_t begin, std::int64_t end) const {
    const auto steps = at::arange(begin, end, at::TensorOptions(device_).dtype(at::kLong));
    return stack.log_probs(inputs_of(steps), actions_.slice(0, begin, end));
  }

  /// Continuous actions as networks predict them, on the device.
  at::Tensor predicted_actions() const {
    const auto width = view_.actions.predicted(data_.actions.dim());
    std::vector<float> rows(static_cast<std::size_t>(data_.steps() * width));
    view_.actions.apply(data_.actions.floats().span(), rows);
    return tensor_over(std::span<const float>(rows), {data_.steps(), width}).clone().to(device_);
  }

  /// Rows of the table, or of all steps, as the networks see them, on the device.
  at::Tensor observed(std::int64_t begin, std::int64_t end) const {
    const auto& observations = data_.observations;
    std::vector<float> rows(static_cast<std::size_t>((end - begin) * observations.dim()));
    if (observations.is_interned())
      std::ranges::copy(observations.table(), rows.begin());
    else
      observations.copy(begin, end, rows.data());
    std::vector<float> seen(static_cast<std::size_t>((end - begin) * view_.inputs.count()));
    view_.inputs.apply(rows, seen);
    return tensor_over(std::span<const float>(seen), {end - begin, view_.inputs.count()})
        .clone()
        .to(device_);
  }

  at::Tensor inputs_of(const at::Tensor& steps) const {
    return seen_.index_select(0,
                              row_of_step_.defined() ? row_of_step_.index_select(0, steps) : steps);
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
    const auto step =
        tensor_over(std::span<const std::int64_t>(steps), {rows * columns}).clone().to(device_);
    auto shape = std::vector<std::int64_t>{rows, columns};
    if (!data_.actions.is_discrete()) shape.push_back(actions_.size(1));
    const auto log_probs =
        stack.log_probs(inputs_of(step).view({rows, columns, view_.inputs.count()}),
                        actions_.index_select(0, step).view(shape));
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
  std::optional<StepCodes> codes_;
  at::Tensor seen_;         // [distinct or steps, inputs]
  at::Tensor row_of_step_;  // [steps] into seen_; undefined when seen_ holds every step
  at::Tensor actions_;      // [steps] or [steps, predicted]
  std::unique_ptr<cuda::GpuPolicies> kernels_;  // where they fit
  at::Tensor common_log_probs_;  // [steps], or [distinct, actions] with codes_; under common_
};

std::unique_ptr<PolicyLearner> make_by_torch(const Trajectories& data, const Options& options,
                                             const RunContext& run) {
  return std::make_unique<StackLearner>(data, options, run);
}
const TorchFunctionIs is_stack_learner(make_stack_learner, &make_by_torch);

}  // namespace

}  // namespace kindred::pg_kmeans
