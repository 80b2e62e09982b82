#include "kindred/policies/step_trainer.h"

#include <algorithm>

namespace kindred {

void StepTrainer::look(std::span<const std::int64_t> steps) {
  workers_.throw_if_stopped();
  seen_.resize(steps.size() * view_.inputs.columns.size());
  view_.inputs.gather(data_.observations, steps, seen_);
}

void StepTrainer::gather_actions(std::span<const std::int64_t> steps) {
  const auto dim = static_cast<std::size_t>(data_.actions.dim());
  const auto width = static_cast<std::size_t>(view_.actions.predicted(data_.actions.dim()));
  constexpr std::size_t kAhead = 32;  // steps are drawn from all over memory
  const float* const all = data_.actions.floats().data();
  auto& rows = view_.actions.as_they_are() ? actions_ : unscaled_;
  rows.resize(steps.size() * dim);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i + kAhead < steps.size())
      __builtin_prefetch(all + static_cast<std::size_t>(steps[i + kAhead]) * dim);
    std::copy_n(all + static_cast<std::size_t>(steps[i]) * dim, dim, rows.data() + i * dim);
  }
  if (view_.actions.as_they_are()) return;
  actions_.resize(steps.size() * width);
  view_.actions.apply(unscaled_, actions_);
}

double StepTrainer::gradient(CpuPolicy& policy, std::span<const std::int64_t> steps) {
  look(steps);
  const float share = 1.0F / static_cast<float>(steps.size());
  if (!data_.actions.is_discrete()) {
    gather_actions(steps);
    weights_.assign(steps.size(), share);
    return policy.gradient_on_actions(seen_, actions_, weights_, buffers_);
  }
  const auto width = static_cast<std::size_t>(data_.actions.count());
  actions_.assign(steps.size() * width, 0.0F);
  for (std::size_t i = 0; i < steps.size(); ++i)
    actions_[i * width + static_cast<std::size_t>(data_.actions.ints()[steps[i]])] = share;
  return policy.gradient_on_weights(seen_, actions_, buffers_);
}

void StepTrainer::add_losses(CpuPolicy& policy, std::span<const std::int64_t> steps, double& sum) {
  look(steps);
  if (data_.actions.is_discrete()) {
    const auto width = static_cast<std::size_t>(data_.actions.count());
    log_probs_.resize(steps.size() * width);
    policy.all_log_probs(seen_, log_probs_, buffers_.pass);
    for (std::size_t i = 0; i < steps.size(); ++i)
      sum -= log_probs_[i * width + static_cast<std::size_t>(data_.actions.ints()[steps[i]])];
  } else {
    gather_actions(steps);
    log_probs_.resize(steps.size());
    policy.log_densities(seen_, actions_, log_probs_, buffers_.pass);
    for (const float log_prob : log_probs_) sum -= log_prob;
  }
}

}  // namespace kindred
