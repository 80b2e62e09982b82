#include "kindred/policies/scoring.h"

#include <algorithm>
#include <numeric>

#include "kindred/nn/cpu_policy.h"

namespace kindred {
namespace {

constexpr std::int64_t kBlock = 256;  // activations of a block stay in cache

/// Log-probability of steps [begin, end) under one policy, into out[end - begin].
class StepScorer {
 public:
  StepScorer(const Trajectories& data, const PolicyArchitecture& architecture)
      : data_(data),
        policy_(architecture),
        all_(
            static_cast<std::size_t>(kBlock * (architecture.discrete ? architecture.actions : 0))) {
  }

  CpuPolicy& policy() { return policy_; }

  void score(std::span<const float> inputs, std::int64_t begin, std::int64_t end,
             std::span<float> out) {
    if (!data_.actions.is_discrete()) {
      const auto width = data_.actions.dim();
      policy_.log_densities(
          inputs,
          data_.actions.floats().span().subspan(static_cast<std::size_t>(begin * width),
                                                static_cast<std::size_t>((end - begin) * width)),
          out);
      return;
    }
    policy_.all_log_probs(inputs, all_);
    const auto actions = static_cast<std::int64_t>(all_.size()) / kBlock;
    for (std::int64_t t = begin; t < end; ++t)
      out[static_cast<std::size_t>(t - begin)] =
          all_[static_cast<std::size_t>((t - begin) * actions + data_.actions.ints()[t])];
  }

 private:
  const Trajectories& data_;
  CpuPolicy policy_;
  std::vector<float> all_;
};

}  // namespace

Matrix score_trajectories(const Trajectories& data, const NetworkInputs& inputs,
                          const PolicyStack& stack, double floor, const Workers& workers,
                          OverSteps over) {
  Matrix result(data.episodes(), stack.size(), score_of_no_steps(over));
  // A thread takes a policy, and streams over the data with it: no two write to one column.
  workers.chunks(stack.size(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      StepScorer scorer(data, stack.architecture());
      scorer.policy().load(stack, p);
      std::vector<float> seen(static_cast<std::size_t>(kBlock * inputs.count()));
      std::vector<float> rows(static_cast<std::size_t>(kBlock * inputs.obs_dim));
      std::vector<float> log_probs(static_cast<std::size_t>(kBlock));
      std::int64_t episode = 0;
      for (std::int64_t begin = 0; begin < data.steps(); begin += kBlock) {
        workers.throw_if_stopped();
        const auto end = std::min(begin + kBlock, data.steps());
        const auto n = static_cast<std::size_t>(end - begin);
        data.observations.copy(begin, end, rows.data());
        inputs.apply(std::span(rows).first(n * static_cast<std::size_t>(inputs.obs_dim)), seen);
        scorer.score(std::span(seen).first(n * static_cast<std::size_t>(inputs.count())), begin,
                     end, log_probs);
        for (std::int64_t t = begin; t < end; ++t) {
          while (t >= data.offsets[episode + 1]) ++episode;
          const double log_prob = log_probs[static_cast<std::size_t>(t - begin)];
          auto& score = result(episode, p);
          score = with_step(score, std::max(floor, log_prob), over);
        }
      }
    }
  });
  return result;
}

std::vector<double> table_log_probs(const Observations& observations, const NetworkInputs& inputs,
                                    const PolicyStack& stack, double floor,
                                    const Workers& workers) {
  const auto actions = stack.architecture().actions;
  const auto dim = observations.dim();
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
        for (std::int64_t code = 0; code < n * actions; ++code)
          result[static_cast<std::size_t>((begin * actions + code) * stack.size() + p)] =
              std::max(floor, static_cast<double>(log_probs[static_cast<std::size_t>(code)]));
      }
    }
  });
  return result;
}

}  // namespace kindred
