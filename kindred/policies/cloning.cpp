#include "kindred/policies/cloning.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/core/shared_progress.h"
#include "kindred/data/draw_order.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/policies/step_trainer.h"

namespace kindred {
namespace {

constexpr std::int64_t kHeldOut = 10;        // every tenth
constexpr std::int64_t kEnoughEpisodes = 5;  // to spare one
constexpr double kRateDrop = 0.25;

/// The steps of one group, apart: most to train on, some to judge by.
struct Split {
  std::vector<Stretch> training, held_out;

  /// `thinning` decides which steps of episodes that count less than 1 are used.
  Split(const Trajectories& data, const std::vector<std::int64_t>& episodes,
        std::span<const double> weights, Random thinning) {
    const auto count = std::ssize(episodes);
    for (std::int64_t n = 0; n < count; ++n) {
      const auto episode = episodes[static_cast<std::size_t>(n)];
      const auto length = data.length(episode);
      auto first_held_out = length;
      if (count < kEnoughEpisodes)
        first_held_out -= length > 1 ? std::max<std::int64_t>(1, length / kHeldOut) : 0;
      else if (n % kHeldOut == kEnoughEpisodes - 1)
        first_held_out = 0;
      if (weights.empty()) {
        add(training, {episode, 0, first_held_out});
        add(held_out, {episode, first_held_out, length});
        continue;
      }
      for (std::int64_t t = 0; t < length; ++t)
        if (thinning.uniform() < weights[static_cast<std::size_t>(n)])
          add(t < first_held_out ? training : held_out, {episode, t, t + 1});
    }
    if (training.empty()) throw InvalidArgument("no step counts enough to clone a policy from");
    if (held_out.empty()) held_out = training;  // too few to spare any
  }

 private:
  static void add(std::vector<Stretch>& to, const Stretch& more) {
    if (more.begin == more.end) return;
    if (!to.empty() && to.back().episode == more.episode && to.back().end == more.begin)
      to.back().end = more.end;
    else
      to.push_back(more);
  }
};

/// Trains one policy; the stack always holds its best round.
class PolicyCloner {
 public:
  PolicyCloner(const Trajectories& data, const NetworkView& view, Split steps,
               const CloningOptions& options, PolicyStack& policies, std::int64_t index,
               const Workers& workers)
      : data_(data),
        trainer_(data, view, workers),
        held_out_(std::move(steps.held_out)),
        training_(data, std::move(steps.training), options.buffer_steps, policies.size(),
                  Random(static_cast<std::uint64_t>(options.seed), "buffer")),
        options_(options),
        policies_(policies),
        index_(index),
        policy_(policies.architecture()),
        random_(static_cast<std::uint64_t>(options.seed), "clone",
                static_cast<std::uint64_t>(index)),
        batch_(static_cast<std::size_t>(options.batch_steps)) {
    // As they lie in the file, where that is read again in every round.
    if (options.buffer_steps > 0) std::ranges::stable_sort(held_out_, {}, &Stretch::episode);
  }

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
      training_.refill();
      for (auto& step : batch_) step = training_.draw(random_);
      training_.drawn(options_.batch_steps);
      trainer_.gradient(policy_, batch_);
      policy_.update(adam);
    }
    ++summary_.rounds;
  }

  double held_out_loss() {
    double sum = 0.0;
    std::int64_t count = 0, expected = 0;
    std::vector<std::int64_t> block;
    const auto judge = [&] {
      trainer_.add_losses(policy_, block, sum);
      count += std::ssize(block);
      block.clear();
    };
    for (std::size_t i = 0; i < held_out_.size(); ++i) {
      if (count + std::ssize(block) >= expected) expected += expect_held_out(i);
      const auto& [episode, begin, end] = held_out_[i];
      for (auto t = begin; t < end; ++t) {
        block.push_back(data_.offsets[episode] + t);
        if (block.size() == StepTrainer::kStepsAtOnce) judge();
      }
    }
    if (!block.empty()) judge();
    const double loss = sum / static_cast<double>(count);
    if (!std::isfinite(loss))
      throw NumericError("cloning diverged (loss {}) at learning rate {}", loss,
                         options_.adam.learning_rate);
    return loss;
  }

  /// Has a disk read as many of them as the buffer has room for, from the i-th on; returns their
  /// steps.
  std::int64_t expect_held_out(std::size_t i) const {
    std::int64_t steps = 0;
    auto end = i;
    for (; end < held_out_.size() && steps < training_.room(); ++end)
      steps += held_out_[end].end - held_out_[end].begin;
    training_.expect(std::span(held_out_).subspan(i, end - i));
    return steps;
  }

  const Trajectories& data_;
  StepTrainer trainer_;
  std::vector<Stretch> held_out_;
  DrawBuffer training_;
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
    Split steps(data, groups[i], counted,
                Random(static_cast<std::uint64_t>(options.seed), "thin",
                       static_cast<std::uint64_t>(index)));
    summaries[i] =
        PolicyCloner(data, view, std::move(steps), options, policies, index, run).run(rounds);
  };
  run.chunks(policies.size(), 1, clone, [&] { rounds.tell(); });
  return summaries;
}

}  // namespace kindred
