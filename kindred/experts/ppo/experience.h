// What a policy lives through between two updates, and what PPO makes of it: advantages and
// returns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/envs/environment.h"
#include "kindred/experts/network_policy.h"
#include "kindred/experts/ppo/options.h"
#include "kindred/nn/mlp.h"

namespace kindred::ppo {

/// Actor and critic, seen through one view.
struct Networks {
  InputView view;
  Mlp actor, critic;
  std::vector<float> log_deviation;  ///< Continuous actions only.
};

/// Columns over [lanes, lane_steps], lane by lane.
struct Experience {
  std::vector<float> observations;     ///< As the environment gave them; only if standardised.
  std::vector<float> inputs;           ///< As the networks saw them.
  std::vector<std::int32_t> discrete;  ///< The chosen actions,
  std::vector<float> continuous;       ///< of one kind.
  std::vector<float> log_probabilities, rewards, values;
  std::vector<float> cut_values;  ///< Value beyond a step where an episode was cut, not ended.
  std::vector<Ending> endings;
  std::vector<float> advantages, returns;  ///< By estimate_advantages.

  /// Of the episodes that ended: sums of raw rewards, and lengths.
  std::vector<double> episode_returns;
  std::vector<std::int64_t> episode_lengths;

  std::int64_t rows() const { return static_cast<std::int64_t>(rewards.size()); }
};

/// Mean and deviation of the rows seen so far, each column by itself. Beyond `memory` rows the old
/// ones fade: what an untrained policy does can be far from what is seen later.
class RunningStatistics {
 public:
  RunningStatistics(std::size_t columns, double memory)
      : memory_(memory), mean_(columns), squares_(columns) {}

  void add(std::span<const double> row);
  double mean(std::size_t column = 0) const { return mean_[column]; }
  double deviation(std::size_t column = 0) const;

  /// All of its numbers, and back again. Throws DataFormatError on those of other columns.
  std::vector<double> save() const;
  void restore(std::span<const double> saved);

 private:
  double memory_;
  double count_ = 0.0;
  std::vector<double> mean_, squares_;  // squares: sum of squared distances from the mean
};

/// Runs the lanes. Each episode draws from a stream of its own, and lanes are advanced in fixed
/// groups, so that the result does not depend on the number of threads.
class Collector {
 public:
  Collector(const Environment& environment, const PpoOptions& options);
  ~Collector();

  /// Abandons the running episodes and starts new ones; `round` names their streams.
  void restart(std::uint64_t round);
  /// Lets the actor act for lane_steps in every lane.
  void collect(const Networks& networks, Experience& out);

 private:
  struct Group;
  void run(Group& group, const Networks& networks, Experience& out) const;
  void act(Group& group, const Networks& networks, std::int64_t t, Experience& out) const;
  void close_episodes(Group& group, const Networks& networks, std::int64_t t,
                      Experience& out) const;
  void begin_episode(Group& group, std::int32_t lane) const;

  const Environment& environment_;
  PpoOptions options_;
  std::uint64_t round_ = 0;
  std::vector<std::unique_ptr<Group>> groups_;
};

/// Sets advantages (of mean 0 and deviation 1 over all rows) and returns, by generalised advantage
/// estimation. Rewards are multiplied by `reward_scale`.
void estimate_advantages(const PpoOptions& options, float reward_scale, Experience& experience);

}  // namespace kindred::ppo
