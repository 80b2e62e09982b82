#include "kindred/policies/scoring.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "kindred/nn/cpu_policy.h"
#include "kindred/nn/elementwise.h"

namespace kindred {
namespace {

constexpr std::int64_t kBlock = 256;               // activations of a block stay in cache
constexpr std::int64_t kStepsOfAThread = 1 << 13;  // at once: a small share of what there is

/// The policies of a stack, ready to be used by several threads.
std::deque<CpuPolicy> load_policies(const PolicyStack& stack) {
  std::deque<CpuPolicy> policies;
  for (std::int64_t p = 0; p < stack.size(); ++p)
    policies.emplace_back(stack.architecture()).load(stack, p);
  return policies;
}

/// Log-probabilities of a block of steps, which is looked at once, under one policy after another.
class BlockScorer {
 public:
  BlockScorer(const Trajectories& data, const NetworkView& view,
              const PolicyArchitecture& architecture)
      : data_(data),
        view_(view),
        rows_(static_cast<std::size_t>(kBlock * view.inputs.obs_dim)),
        seen_(static_cast<std::size_t>(kBlock * view.inputs.count())),
        actions_(static_cast<std::size_t>(kBlock * architecture.actions)),
        log_probs_(static_cast<std::size_t>(kBlock)) {}

  /// Looks at steps [begin, end), at most kBlock of them.
  void look(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    n_ = static_cast<std::size_t>(end - begin);
    data_.observations.copy(begin, end, rows_.data());
    view_.inputs.apply(std::span(rows_).first(n_ * static_cast<std::size_t>(view_.inputs.obs_dim)),
                       seen_);
    if (data_.actions.is_discrete()) return;
    const auto dim = static_cast<std::size_t>(data_.actions.dim());
    view_.actions.apply(
        data_.actions.floats().span().subspan(static_cast<std::size_t>(begin) * dim, n_ * dim),
        actions_);
  }

  /// Of the steps looked at: [end - begin], valid until the next call.
  std::span<float> score(const CpuPolicy& policy) {
    const auto seen = std::span(seen_).first(n_ * view_.inputs.columns.size());
    if (data_.actions.is_discrete()) {
      policy.all_log_probs(seen, actions_, pass_);
      const auto count = actions_.size() / static_cast<std::size_t>(kBlock);
      for (std::size_t i = 0; i < n_; ++i)
        log_probs_[i] =
            actions_[i * count + static_cast<std::size_t>(
                                     data_.actions.ints()[begin_ + static_cast<std::int64_t>(i)])];
    } else {
      policy.log_densities(seen, actions_, log_probs_, pass_);
    }
    return std::span(log_probs_).first(n_);
  }

 private:
  const Trajectories& data_;
  const NetworkView& view_;
  Mlp::Pass pass_;
  std::int64_t begin_ = 0;
  std::size_t n_ = 0;
  std::vector<float> rows_;     // [block, obs_dim]
  std::vector<float> seen_;     // [block, inputs]
  std::vector<float> actions_;  // [block, predicted]; discrete: log-probabilities of all actions
  std::vector<float> log_probs_;
};

/// What a step counts, from its log-probability under a policy and under the common one.
class StepScore {
 public:
  StepScore(const Scoring& scoring, std::span<const double> common)
      : common_(common),
        floor_(scoring.floor),
        own_share_(std::log1p(-scoring.common_share)),
        common_share_(std::log(scoring.common_share)) {}

  double operator()(double log_prob, std::int64_t code) const {
    if (!common_.empty())
      log_prob = log_of_sum(own_share_ + log_prob,
                            common_share_ + common_[static_cast<std::size_t>(code)]);
    return std::max(floor_, log_prob);
  }

 private:
  std::span<const double> common_;
  double floor_, own_share_, common_share_;
};

/// The same of a block of steps from `begin` on, in place.
void count_steps(const Scoring& scoring, std::span<const float> common, std::int64_t begin,
                 std::span<float> log_probs) {
  const auto floor = static_cast<float>(scoring.floor);
  if (common.empty())
    for (float& x : log_probs) x = std::max(floor, x);
  else
    mix_log_probs(static_cast<std::int64_t>(log_probs.size()),
                  static_cast<float>(std::log1p(-scoring.common_share)),
                  static_cast<float>(std::log(scoring.common_share)), common.data() + begin, floor,
                  log_probs.data());
}

}  // namespace

std::vector<float> step_log_probs(const Trajectories& data, const NetworkView& view,
                                  const PolicyStack& stack, const Workers& workers) {
  std::vector<float> result(static_cast<std::size_t>(data.steps()));
  CpuPolicy policy(stack.architecture());
  policy.load(stack, 0);
  workers.chunks(data.steps(), kStepsOfAThread, [&](std::int64_t first, std::int64_t last) {
    BlockScorer scorer(data, view, stack.architecture());
    for (auto begin = first; begin < last; begin += kBlock) {
      workers.throw_if_stopped();
      scorer.look(begin, std::min(begin + kBlock, last));
      std::ranges::copy(scorer.score(policy), result.begin() + begin);
    }
  });
  return result;
}

Matrix score_trajectories(const Trajectories& data, const NetworkView& view,
                          const PolicyStack& stack, const Scoring& scoring,
                          std::span<const float> common, const Workers& workers) {
  Matrix result(data.episodes(), stack.size(), score_of_no_steps(scoring.over));
  const auto policies = load_policies(stack);
  const auto episodes_at_once = std::max<std::int64_t>(
      1, kStepsOfAThread * data.episodes() / std::max<std::int64_t>(1, data.steps()));
  // A thread takes episodes, which no other writes to, and scores each block under all policies.
  workers.chunks(data.episodes(), episodes_at_once, [&](std::int64_t first, std::int64_t last) {
    BlockScorer scorer(data, view, stack.architecture());
    auto first_of_block = first;  // the episode that holds the block's first step
    for (auto begin = data.offsets[first]; begin < data.offsets[last]; begin += kBlock) {
      workers.throw_if_stopped();
      scorer.look(begin, std::min(begin + kBlock, data.offsets[last]));
      while (begin >= data.offsets[first_of_block + 1]) ++first_of_block;
      for (std::int64_t p = 0; p < stack.size(); ++p) {
        const auto counts = scorer.score(policies[static_cast<std::size_t>(p)]);
        count_steps(scoring, common, begin, counts);
        auto episode = first_of_block;
        auto t = begin;
        for (const float count : counts) {
          while (t >= data.offsets[episode + 1]) ++episode;
          auto& score = result(episode, p);
          score = with_step(score, static_cast<double>(count), scoring.over);
          ++t;
        }
      }
    }
  });
  return result;
}

std::vector<double> table_scores(const Observations& observations, const NetworkInputs& inputs,
                                 const PolicyStack& stack, const Scoring& scoring,
                                 std::span<const double> common, const Workers& workers) {
  const auto actions = stack.architecture().actions;
  const auto dim = observations.dim();
  const StepScore step_score(scoring, common);
  std::vector<double> result(
      static_cast<std::size_t>(observations.distinct() * actions * stack.size()));
  workers.chunks(stack.size(), 1, [&](std::int64_t first, std::int64_t last) {
    CpuPolicy policy(stack.architecture());
    std::vector<float> seen, log_probs;
    for (std::int64_t p = first; p < last; ++p) {
      policy.load(stack, p);
      for (std::int64_t begin = 0; begin < observations.distinct(); begin += kBlock) {
        workers.throw_if_stopped();
        const auto n = std::min(kBlock, observations.distinct() - begin);
        seen.resize(static_cast<std::size_t>(n * inputs.count()));
        log_probs.resize(static_cast<std::size_t>(n * actions));
        inputs.apply(observations.table().span().subspan(static_cast<std::size_t>(begin * dim),
                                                         static_cast<std::size_t>(n * dim)),
                     seen);
        policy.all_log_probs(seen, log_probs);
        for (std::int64_t i = 0; i < n * actions; ++i) {
          const auto code = begin * actions + i;
          result[static_cast<std::size_t>(code * stack.size() + p)] =
              step_score(log_probs[static_cast<std::size_t>(i)], code);
        }
      }
    }
  });
  return result;
}

}  // namespace kindred
