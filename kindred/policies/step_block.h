// What exact and rough scoring share: a block of steps as policies see them, and how what a policy
// says of them adds up to scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "kindred/nn/cpu_policy.h"
#include "kindred/nn/elementwise.h"
#include "kindred/policies/scoring.h"

namespace kindred {

/// The policies of a stack, ready to be used by several threads.
inline std::deque<CpuPolicy> load_policies(const PolicyStack& stack) {
  std::deque<CpuPolicy> policies;
  for (std::int64_t p = 0; p < stack.size(); ++p)
    policies.emplace_back(stack.architecture()).load(stack, p);
  return policies;
}

/// A block of steps as policies see them, looked at once for all policies.
class StepBlock {
 public:
  static constexpr std::int64_t kMost = 256;  ///< Their activations stay in cache.

  StepBlock(const Trajectories& data, const NetworkView& view)
      : data_(data),
        view_(view),
        rows_(static_cast<std::size_t>(kMost * view.inputs.obs_dim)),
        seen_(static_cast<std::size_t>(kMost * view.inputs.count())) {}

  /// Looks at steps [begin, end), at most kMost of them.
  void look(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    n_ = static_cast<std::size_t>(end - begin);
    data_.observations.copy(begin, end, rows_.data());
    view_.inputs.apply(std::span(rows_).first(n_ * static_cast<std::size_t>(view_.inputs.obs_dim)),
                       seen_);
    if (data_.actions.is_discrete()) return;
    const auto dim = data_.actions.dim();
    actions_.resize(static_cast<std::size_t>(kMost * view_.actions.predicted(dim)));
    const auto width = static_cast<std::size_t>(dim);
    view_.actions.apply(
        data_.actions.floats().span().subspan(static_cast<std::size_t>(begin) * width, n_ * width),
        actions_);
  }

  std::size_t size() const { return n_; }
  std::size_t inputs() const { return view_.inputs.columns.size(); }
  std::span<const float> seen() const { return std::span(seen_).first(n_ * inputs()); }
  bool discrete() const { return data_.actions.is_discrete(); }
  std::span<const std::int32_t> choices() const {
    return data_.actions.ints().span().subspan(static_cast<std::size_t>(begin_), n_);
  }
  std::span<const float> actions() const { return actions_; }  // [block, predicted]

 private:
  const Trajectories& data_;
  const NetworkView& view_;
  std::int64_t begin_ = 0;
  std::size_t n_ = 0;
  std::vector<float> rows_;  // [block, obs_dim]
  std::vector<float> seen_;  // [block, inputs]
  std::vector<float> actions_;
};

/// Log-probabilities of a block's steps under one policy after another.
class BlockScorer {
 public:
  BlockScorer(const StepBlock& block, const PolicyArchitecture& architecture)
      : block_(block), actions_(static_cast<std::size_t>(architecture.actions)) {}

  /// [steps of the block], valid until the next call.
  std::span<float> score(const CpuPolicy& policy) {
    log_probs_.resize(block_.size());
    if (!block_.discrete()) {
      policy.log_densities(block_.seen(), block_.actions(), log_probs_, pass_);
      return log_probs_;
    }
    of_all_actions_.resize(block_.size() * actions_);
    policy.all_log_probs(block_.seen(), of_all_actions_, pass_);
    for (std::size_t i = 0; i < log_probs_.size(); ++i)
      log_probs_[i] = of_all_actions_[i * actions_ + static_cast<std::size_t>(block_.choices()[i])];
    return log_probs_;
  }

 private:
  const StepBlock& block_;
  std::size_t actions_;
  Mlp::Pass pass_;
  std::vector<float> of_all_actions_;  // [steps, actions]
  std::vector<float> log_probs_;
};

/// What trajectories are scored on.
struct Scored {
  static constexpr std::int64_t kStepsOfAThread = 1 << 12;  ///< At once, of many more.

  const Trajectories& data;
  const Scoring& scoring;
  std::span<const float> common;

  /// Adds the steps of a block from `begin` on, the first of which is in trajectory `first` or a
  /// later one, to their trajectories' scores under policy `p`.
  void add(std::int64_t begin, std::span<float> log_probs, std::int64_t first, std::int64_t p,
           Matrix& scores) const {
    count_steps(begin, log_probs);
    const auto end = begin + std::ssize(log_probs);
    for (auto episode = first, t = begin; t < end; ++episode) {
      auto& place = scores(episode, p);
      double score = place;
      for (const auto last = std::min(end, data.offsets[episode + 1]); t < last; ++t)
        score =
            with_step(score, static_cast<double>(log_probs[static_cast<std::size_t>(t - begin)]),
                      scoring.over);
      place = score;
    }
  }

  /// Calls visit(begin, end, first) for the steps of trajectories [first, last), block by block.
  template <class Visit>
  void for_each_block(std::int64_t first, std::int64_t last, const Workers& workers,
                      const Visit& visit) const {
    for (auto begin = data.offsets[first]; begin < data.offsets[last]; begin += StepBlock::kMost) {
      workers.throw_if_stopped();
      while (begin >= data.offsets[first + 1]) ++first;
      visit(begin, std::min(begin + StepBlock::kMost, data.offsets[last]), first);
    }
  }

  /// What steps from `begin` on count, from their log-probabilities, in place.
  void count_steps(std::int64_t begin, std::span<float> log_probs) const {
    const auto floor = static_cast<float>(scoring.floor);
    if (common.empty())
      for (float& x : log_probs) x = std::max(floor, x);
    else
      mix_log_probs(std::ssize(log_probs), static_cast<float>(std::log1p(-scoring.common_share)),
                    static_cast<float>(std::log(scoring.common_share)), common.data() + begin,
                    floor, log_probs.data());
  }

  /// How many trajectories have about that many steps.
  std::int64_t episodes_at_once() const {
    return std::max<std::int64_t>(
        1, kStepsOfAThread * data.episodes() / std::max<std::int64_t>(1, data.steps()));
  }
};

}  // namespace kindred
