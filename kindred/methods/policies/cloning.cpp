#include "kindred/methods/policies/cloning.h"

#include <cmath>
#include <mutex>

#include "kindred/core/error.h"
#include "kindred/core/parallel.h"
#include "kindred/core/random.h"
#include "kindred/methods/policies/step_trainer.h"
#include "kindred/nn/cpu_policy.h"

namespace kindred {
namespace {

constexpr std::int64_t kHeldOut = 10;  // every tenth step

/// The steps of one group, apart: most to train on, some to judge by.
struct Split {
  std::vector<std::int64_t> training, held_out;

  Split(const Trajectories& data, const std::vector<std::int64_t>& episodes) {
    std::int64_t n = 0;
    for (const auto episode : episodes)
      for (auto t = data.offsets[episode]; t < data.offsets[episode + 1]; ++t)
        (++n % kHeldOut == 0 ? held_out : training).push_back(t);
    if (held_out.empty()) held_out = training;  // too few to spare any
  }
};

/// Adds up the rounds of all policies for whoever watches.
class RoundCounter {
 public:
  RoundCounter(std::int64_t total, const std::string& stage, const RunContext& run)
      : total_(static_cast<double>(total)), run_(run) {
    progress_.stage = stage;
  }

  void add(std::int64_t rounds) {
    const std::lock_guard lock(mutex_);
    progress_.fraction += static_cast<double>(rounds) / total_;
    run_.report(progress_);
  }

 private:
  double total_;
  const RunContext& run_;
  std::mutex mutex_;
  Progress progress_;
};

double checked_loss(double loss, const AdamOptions& adam) {
  if (!std::isfinite(loss))
    throw NumericError("cloning diverged (loss {}) at learning rate {}", loss, adam.learning_rate);
  return loss;
}

CloningSummary clone_one(StepTrainer& trainer, const Split& steps, const CloningOptions& options,
                         std::int64_t index, PolicyStack& policies, RoundCounter& rounds) {
  CpuPolicy policy(policies.architecture());
  policy.load(policies, index);
  Random random(static_cast<std::uint64_t>(options.seed), "clone",
                static_cast<std::uint64_t>(index));
  std::vector<std::int64_t> batch(static_cast<std::size_t>(options.batch_steps));
  CloningSummary summary;
  summary.loss_before = summary.loss =
      checked_loss(trainer.loss(policy, steps.held_out), options.adam);
  double reference = summary.loss;
  for (std::int64_t idle = 0; summary.rounds < options.max_rounds && idle < options.patience;) {
    for (std::int64_t b = 0; b < options.round_batches; ++b) {
      for (auto& step : batch) step = steps.training[random.below(steps.training.size())];
      trainer.train(policy, batch);
    }
    ++summary.rounds;
    rounds.add(1);
    const double loss = checked_loss(trainer.loss(policy, steps.held_out), options.adam);
    if (loss < summary.loss) {
      summary.loss = loss;
      policy.store(policies, index);
    }
    // Many small improvements add up to one that counts.
    idle = loss < reference - options.tolerance ? 0 : idle + 1;
    if (idle == 0) reference = loss;
    summary.converged = idle == options.patience;
  }
  rounds.add(options.max_rounds - summary.rounds);
  return summary;
}

}  // namespace

std::vector<CloningSummary> clone(const Trajectories& data, const PolicyInputs& inputs,
                                  const EpisodeGroups& groups, const CloningOptions& options,
                                  PolicyStack& policies, const RunContext& run) {
  if (static_cast<std::int64_t>(groups.size()) != policies.size())
    throw InvalidArgument("{} policies cannot be cloned from {} groups of episodes",
                          policies.size(), groups.size());
  for (const auto& group : groups)
    if (group.empty())
      throw InvalidArgument("a policy needs at least one episode to be cloned from");

  std::vector<CloningSummary> summaries(groups.size());
  if (options.max_rounds == 0) return summaries;
  RoundCounter rounds(options.max_rounds * policies.size(), options.stage, run);
  parallel_chunks(policies.size(), 1, run.threads, [&](std::int64_t index, std::int64_t) {
    StepTrainer trainer(data, inputs, options.adam);
    const auto i = static_cast<std::size_t>(index);
    summaries[i] = clone_one(trainer, Split(data, groups[i]), options, index, policies, rounds);
  });
  return summaries;
}

}  // namespace kindred
