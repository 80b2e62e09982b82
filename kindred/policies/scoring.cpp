#include "kindred/policies/scoring.h"

#include <algorithm>
#include <cmath>

#include "kindred/policies/step_block.h"

namespace kindred {
namespace {

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

}  // namespace

std::vector<float> step_log_probs(const Trajectories& data, const NetworkView& view,
                                  const PolicyStack& stack, const Workers& workers) {
  std::vector<float> result(static_cast<std::size_t>(data.steps()));
  CpuPolicy policy(stack.architecture());
  policy.load(stack, 0);
  workers.chunks(data.steps(), Scored::kStepsOfAThread, [&](std::int64_t first, std::int64_t last) {
    StepBlock block(data, view);
    BlockScorer scorer(block, stack.architecture());
    for (auto begin = first; begin < last; begin += StepBlock::kMost) {
      workers.throw_if_stopped();
      block.look(begin, std::min(begin + StepBlock::kMost, last));
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
  const Scored scored{data, scoring, common};
  // A thread takes episodes, which no other writes to, and scores each block under all policies.
  workers.chunks(
      data.episodes(), scored.episodes_at_once(), [&](std::int64_t first, std::int64_t last) {
        StepBlock block(data, view);
        BlockScorer scorer(block, stack.architecture());
        scored.for_each_block(
            first, last, workers, [&](std::int64_t begin, std::int64_t end, std::int64_t episode) {
              block.look(begin, end);
              for (std::int64_t p = 0; p < stack.size(); ++p)
                scored.add(begin, scorer.score(policies[static_cast<std::size_t>(p)]), episode, p,
                           result);
            });
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
      for (std::int64_t begin = 0; begin < observations.distinct(); begin += StepBlock::kMost) {
        workers.throw_if_stopped();
        const auto n = std::min(StepBlock::kMost, observations.distinct() - begin);
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
