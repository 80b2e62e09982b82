#include "kindred/policies/cloning.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/core/shared_progress.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/policies/step_trainer.h"

namespace kindred {
namespace {

constexpr std::int64_t kHeldOut = 10;        // every tenth
constexpr std::int64_t kEnoughEpisodes = 5;  // to spare one
constexpr double kRateDrop = 0.25;

/// The steps of one group, apart: most to train on, some to judge by.
struct Split {
  std::vector<std::int64_t> training, held_out;

  /// `thinning` decides which steps of episodes that count less than 1 are used.
  Split(const Trajectories& data, const std::vector<std::int64_t>& episodes,
        std::span<const double> weights, Random thinning) {
    const auto count = std::ssize(episodes);
    const auto counts = [&](std::int64_t n) {
      return weights.empty() || thinning.uniform() < weights[static_cast<std::size_t>(n)];
    };
    for (std::int64_t n = 0; n < count; ++n) {
      const auto episode = episodes[static_cast<std::size_t>(n)];
      const auto begin = data.offsets[episode];
      const auto end = data.offsets[episode + 1];
      auto first_held_out = end;
      if (count < kEnoughEpisodes)
        first_held_out -= end - begin > 1 ? std::max<std::int64_t>(1, (end - begin) / kHeldOut) : 0;
      else if (n % kHeldOut == kEnoughEpisodes - 1)
        first_held_out = begin;
      for (auto t = begin; t < end; ++t)
        if (counts(n)) (t < first_held_out ? training : held_out).push_back(t);
    }
    if (training.empty()) throw InvalidArgument("no step counts enough to clone a policy from");
    if (held_out.empty()) held_out = training;  // too few to spare any
  }
};

/// Trains one policy; the stack always holds its best round.
class PolicyCloner {
 public:
  PolicyCloner(const Trajectories& data, const NetworkView& view,
               const std::vector<std::int64_t>& episodes, std::span<const double> weights,
               const CloningOptions& options, PolicyStack& policies, std::int64_t index,
               const Workers& workers)
      : trainer_(data, view, workers),
        steps_(data, episodes, weights,
               Random(static_cast<std::uint64_t>(options.seed), "thin",
                      static_cast<std::uint64_t>(index))),
        options_(options),
        policies_(policies),
        index_(index),
        policy_(policies.architecture()),
        random_(static_cast<std::uint64_t>(options.seed), "clone",
                static_cast<std::uint64_t>(index)),
        batch_(static_cast<std::size_t>(options.batch_steps)) {}

  CloningSummary run(SharedProgress& rounds) {
    policy_.load(policies_, index_);
    summary_.loss_before = summary_.loss = held_out_loss();
    auto adam = options_.adam;
    for (std::int64_t drops = 0; train_until_idle(adam, rounds); ++drops) {
      summary_.converged = drops == options_.rate_drops;
      if (summary_.converged) break;
      policy_.load(policies_, index_);
      adam.learning_rate *= kRateDrop;
    }
    rounds.add(options_.max_rounds - summary_.rounds);
    return summary_;
  }

 private:
  /// False when the rounds are used up first.
  bool train_until_idle(const AdamOptions& adam, SharedProgress& rounds) {
    double reference = summary_.loss;
    for (std::int64_t idle = 0; idle < options_.patience;) {
      if (summary_.rounds == options_.max_rounds) return false;
      train_round(adam);
      rounds.add(1);
      const double loss = held_out_loss();
      if (loss < summary_.loss) {
        summary_.loss = loss;
        policy_.store(policies_, index_);
      }
      // Many small improvements add up to one that counts.
      idle = loss < reference - options_.tolerance ? 0 : idle + 1;
      if (idle == 0) reference = loss;
    }
    return true;
  }

  void train_round(const AdamOptions& adam) {
    for (std::int64_t b = 0; b < options_.round_batches; ++b) {
      for (auto& step : batch_) step = steps_.training[random_.below(steps_.training.size())];
      trainer_.gradient(policy_, batch_);
      policy_.update(adam);
    }
    ++summary_.rounds;
  }

  double held_out_loss() {
    const double loss = trainer_.loss(policy_, steps_.held_out);
    if (!std::isfinite(loss))
      throw NumericError("cloning diverged (loss {}) at learning rate {}", loss,
                         options_.adam.learning_rate);
    return loss;
  }

  StepTrainer trainer_;
  Split steps_;
  const CloningOptions& options_;
  PolicyStack& policies_;
  std::int64_t index_;
  CpuPolicy policy_;
  Random random_;
  std::vector<std::int64_t> batch_;
  CloningSummary summary_;
};

}  // namespace

std::vector<CloningSummary> clone_policies(const Trajectories& data, const NetworkView& view,
                                           const EpisodeGroups& groups,
                                           const CloningOptions& options, PolicyStack& policies,
                                           const RunContext& run, const EpisodeWeights& weights) {
  if (static_cast<std::int64_t>(groups.size()) != policies.size())
    throw InvalidArgument("{} policies cannot be cloned from {} groups of episodes",
                          policies.size(), groups.size());
  for (const auto& group : groups)
    if (group.empty())
      throw InvalidArgument("a policy needs at least one episode to be cloned from");

  std::vector<CloningSummary> summaries(groups.size());
  if (options.max_rounds == 0) return summaries;
  SharedProgress rounds(options.max_rounds * policies.size(), [&](double fraction) {
    run.report({.stage = options.stage, .fraction = fraction, .sizes = {}});
  });
  const auto clone = [&](std::int64_t index, std::int64_t) {
    const auto i = static_cast<std::size_t>(index);
    const auto counted = i < weights.size() ? std::span(weights[i]) : std::span<const double>();
    summaries[i] =
        PolicyCloner(data, view, groups[i], counted, options, policies, index, run).run(rounds);
  };
  run.chunks(policies.size(), 1, clone, [&] { rounds.tell(); });
  return summaries;
}

}  // namespace kindred
