#include "kindred/policies/scoring.h"

#include <algorithm>
#include <cmath>

#include "kindred/nn/cpu_policy.h"

namespace kindred {
namespace {

constexpr std::int64_t kBlock = 256;  // activations of a block stay in cache
constexpr std::int64_t kStepsOfAThread = 1 << 14;

/// What a step counts, from its log-probability under a policy and under the common one.
template <class Number>
class StepScore {
 public:
  StepScore(const Scoring& scoring, std::span<const Number> common)
      : common_(common),
        floor_(scoring.floor),
        own_share_(std::log1p(-scoring.common_share)),
        common_share_(std::log(scoring.common_share)) {}

  double operator()(double log_prob, std::int64_t step) const {
    if (!common_.empty())
      log_prob =
          log_of_sum(own_share_ + log_prob,
                     common_share_ + static_cast<double>(common_[static_cast<std::size_t>(step)]));
    return std::max(floor_, log_prob);
  }

 private:
  std::span<const Number> common_;
  double floor_, own_share_, common_share_;
};

/// Log-probabilities of blocks of steps under one policy.
class BlockScorer {
 public:
  BlockScorer(const Trajectories& data, const NetworkView& view, const PolicyStack& stack,
              std::int64_t index)
      : data_(data), view_(view), policy_(stack.architecture()) {
    policy_.load(stack, index);
    const auto& shape = stack.architecture();
    rows_.resize(static_cast<std::size_t>(kBlock * view.inputs.obs_dim));
    seen_.resize(static_cast<std::size_t>(kBlock * view.inputs.count()));
    actions_.resize(static_cast<std::size_t>(kBlock * shape.actions));
  }

  /// Of steps [begin, end), at most kBlock of them, into out[end - begin].
  void score(std::int64_t begin, std::int64_t end, std::span<float> out) {
    const auto n = static_cast<std::size_t>(end - begin);
    data_.observations.copy(begin, end, rows_.data());
    const auto seen = std::span(seen_).first(n * view_.inputs.columns.size());
    view_.inputs.apply(std::span(rows_).first(n * static_cast<std::size_t>(view_.inputs.obs_dim)),
                       seen);
    if (data_.actions.is_discrete()) {
      policy_.all_log_probs(seen, actions_);
      const auto count = static_cast<std::int64_t>(actions_.size()) / kBlock;
      for (std::int64_t t = begin; t < end; ++t)
        out[static_cast<std::size_t>(t - begin)] =
            actions_[static_cast<std::size_t>((t - begin) * count + data_.actions.ints()[t])];
    } else {
      const auto dim = static_cast<std::size_t>(data_.actions.dim());
      view_.actions.apply(
          data_.actions.floats().span().subspan(static_cast<std::size_t>(begin) * dim, n * dim),
          actions_);
      policy_.log_densities(seen, actions_, out);
    }
  }

 private:
  const Trajectories& data_;
  const NetworkView& view_;
  CpuPolicy policy_;
  std::vector<float> rows_;     // [block, obs_dim]
  std::vector<float> seen_;     // [block, inputs]
  std::vector<float> actions_;  // [block, predicted]; discrete: log-probabilities of all actions
};

}  // namespace

std::vector<float> step_log_probs(const Trajectories& data, const NetworkView& view,
                                  const PolicyStack& stack, const Workers& workers) {
  std::vector<float> result(static_cast<std::size_t>(data.steps()));
  workers.chunks(data.steps(), kStepsOfAThread, [&](std::int64_t first, std::int64_t last) {
    BlockScorer scorer(data, view, stack, 0);
    for (auto begin = first; begin < last; begin += kBlock) {
      workers.throw_if_stopped();
      const auto end = std::min(begin + kBlock, last);
      scorer.score(begin, end,
                   std::span(result).subspan(static_cast<std::size_t>(begin),
                                             static_cast<std::size_t>(end - begin)));
    }
  });
  return result;
}

Matrix score_trajectories(const Trajectories& data, const NetworkView& view,
                          const PolicyStack& stack, const Scoring& scoring,
                          std::span<const float> common, const Workers& workers) {
  Matrix result(data.episodes(), stack.size(), score_of_no_steps(scoring.over));
  const StepScore step_score(scoring, common);
  // A thread takes a policy, and streams over the data with it: no two write to one column.
  workers.chunks(stack.size(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      BlockScorer scorer(data, view, stack, p);
      std::vector<float> log_probs(static_cast<std::size_t>(kBlock));
      std::int64_t episode = 0;
      for (std::int64_t begin = 0; begin < data.steps(); begin += kBlock) {
        workers.throw_if_stopped();
        const auto end = std::min(begin + kBlock, data.steps());
        scorer.score(begin, end, log_probs);
        for (std::int64_t t = begin; t < end; ++t) {
          while (t >= data.offsets[episode + 1]) ++episode;
          const double log_prob = log_probs[static_cast<std::size_t>(t - begin)];
          auto& score = result(episode, p);
          score = with_step(score, step_score(log_prob, t), scoring.over);
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
