#include "kindred/experts/episode_block.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace kindred {
namespace {

template <class T>
void append(std::vector<T>& log, const std::vector<T>& values) {
  log.insert(log.end(), values.begin(), values.end());
}

/// Runs a block of episodes side by side until the last has ended.
class BlockRun {
 public:
  BlockRun(const Environment& environment, std::vector<const Policy*> policies, std::int64_t count,
           const Workers& workers)
      : spec_(environment.spec()),
        policies_(std::move(policies)),
        workers_(workers),
        lanes_(environment.make_lanes(count)),
        running_(static_cast<std::size_t>(count)) {
    std::iota(running_.begin(), running_.end(), 0);
  }

  void take_turns(const TurnOptions& options, std::int64_t first, std::uint64_t seed,
                  std::uint64_t first_stream) {
    for (const auto lane : running_)
      turns_.emplace_back(options, std::ssize(policies_), first, spec_.horizon,
                          Random(seed, "turns", first_stream + static_cast<std::uint64_t>(lane)));
  }

  EpisodeBlock run(std::uint64_t seed, std::uint64_t first_stream) {
    for (const auto lane : running_)
      lanes_->reset(lane, Random(seed, "rollout", first_stream + static_cast<std::uint64_t>(lane)));
    while (!running_.empty()) {
      workers_.throw_if_stopped();
      look();
      choose();
      lanes_->step(running_, {discrete_, continuous_}, rewards_, endings_);
      record();
      drop_ended();
    }
    return in_episode_order();
  }

 private:
  void look() {
    const auto n = running_.size();
    rewards_.resize(n);
    endings_.resize(n);
    if (spec_.has_states()) {
      states_.resize(n);
      lanes_->states(running_, states_);
    }
    const auto sees = [](const Policy* policy) { return !policy->reads_states(); };
    if (!spec_.has_states() || std::ranges::any_of(policies_, sees)) {
      observations_.resize(n * static_cast<std::size_t>(spec_.observation_dim()));
      lanes_->observe(running_, observations_);
    }
  }

  void choose() {
    const auto n = running_.size();
    const auto width = static_cast<std::size_t>(distribution_width(spec_));
    const auto dim = static_cast<std::size_t>(spec_.action_width);
    distributions_.resize(n * width);
    if (turns_.empty())
      distribution_of(*policies_[0], distributions_);
    else
      distributions_of_actors(width);
    if (spec_.is_discrete())
      discrete_.resize(n);
    else
      continuous_.resize(n * dim);
    for (std::size_t i = 0; i < n; ++i) {
      const auto distribution = std::span(distributions_).subspan(i * width, width);
      Random& stream = lanes_->stream(running_[i]);
      if (spec_.is_discrete())
        discrete_[i] = draw_discrete(distribution, stream);
      else
        draw_continuous(distribution, stream, std::span(continuous_).subspan(i * dim, dim));
    }
    if (spec_.clips_actions)
      for (float& number : continuous_) number = std::clamp(number, -1.0f, 1.0f);
  }

  void distribution_of(const Policy& policy, std::span<float> out) const {
    policy.distribution({std::ssize(running_), states_, observations_}, out);
  }

  /// Each running lane's by whoever acts in it.
  void distributions_of_actors(std::size_t width) {
    actors_.clear();
    for (const auto lane : running_)
      actors_.push_back(turns_[static_cast<std::size_t>(lane)].next(lanes_->near_failure(lane)));
    std::vector<float> of_policy(distributions_.size());
    for (std::int32_t actor = 0; actor < std::ssize(policies_); ++actor) {
      if (std::ranges::find(actors_, actor) == actors_.end()) continue;
      distribution_of(*policies_[static_cast<std::size_t>(actor)], of_policy);
      for (std::size_t i = 0; i < actors_.size(); ++i)
        if (actors_[i] == actor)
          std::copy_n(of_policy.data() + i * width, width, distributions_.data() + i * width);
    }
  }

  void record() {
    append(lane_log_, running_);
    if (spec_.has_states())
      append(log_.states, states_);
    else if (spec_.binary_observations)
      log_.bytes.insert(log_.bytes.end(), observations_.begin(), observations_.end());
    else
      append(log_.observations, observations_);
    append(log_.discrete, discrete_);
    append(log_.continuous, continuous_);
    append(log_.rewards, rewards_);
    append(log_.actors, actors_);
    append(log_.endings, endings_);
  }

  void drop_ended() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < running_.size(); ++i)
      if (endings_[i] == Ending::kNone) running_[kept++] = running_[i];
    running_.resize(kept);
  }

  /// Steps were recorded as they happened: every first step, then every second step, …
  EpisodeBlock in_episode_order() {
    EpisodeBlock result;
    result.offsets.assign(static_cast<std::size_t>(lanes_->count()) + 1, 0);
    for (const auto lane : lane_log_) ++result.offsets[static_cast<std::size_t>(lane) + 1];
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());

    auto next = result.offsets;
    std::vector<std::size_t> place;  // of each recorded step
    place.reserve(lane_log_.size());
    for (const auto lane : lane_log_)
      place.push_back(static_cast<std::size_t>(next[static_cast<std::size_t>(lane)]++));

    const auto reorder = [&](const auto& from, auto& to) {
      to.resize(from.size());
      const auto width = from.size() / place.size();
      for (std::size_t i = 0; i < place.size(); ++i)
        for (std::size_t d = 0; d < width; ++d) to[place[i] * width + d] = from[i * width + d];
    };
    reorder(log_.states, result.steps.states);
    reorder(log_.bytes, result.steps.bytes);
    reorder(log_.observations, result.steps.observations);
    reorder(log_.discrete, result.steps.discrete);
    reorder(log_.continuous, result.steps.continuous);
    reorder(log_.rewards, result.steps.rewards);
    reorder(log_.actors, result.steps.actors);
    reorder(log_.endings, result.steps.endings);
    return result;
  }

  const EnvironmentSpec& spec_;
  std::vector<const Policy*> policies_;
  const Workers& workers_;
  std::unique_ptr<Lanes> lanes_;
  std::vector<std::int32_t> running_;  // lanes whose episode has not ended, ascending
  std::vector<Turns> turns_;           // of every lane; none where one policy acts
  // Of the present step, one entry per running lane:
  std::vector<std::int32_t> states_, discrete_, actors_;
  std::vector<float> observations_, distributions_, continuous_, rewards_;
  std::vector<Ending> endings_;
  // Of all steps so far:
  std::vector<std::int32_t> lane_log_;
  Steps log_;
};

}  // namespace

void EpisodeBlock::keep_steps(std::int64_t count) {
  if (offsets.back() <= count) return;
  const auto all = static_cast<std::size_t>(offsets.back()), kept = static_cast<std::size_t>(count);
  const auto shorten = [&](auto& column) { column.resize(column.size() / all * kept); };
  shorten(steps.states);
  shorten(steps.bytes);
  shorten(steps.observations);
  shorten(steps.discrete);
  shorten(steps.continuous);
  shorten(steps.rewards);
  shorten(steps.actors);
  shorten(steps.endings);
  offsets.erase(std::ranges::lower_bound(offsets, count), offsets.end());
  offsets.push_back(count);
  if (kept > 0 && steps.endings.back() == Ending::kNone) steps.endings.back() = Ending::kTimeout;
}

EpisodeBlock run_episodes(const Environment& environment, const Policy& policy, std::uint64_t seed,
                          std::uint64_t first_stream, std::int64_t count, const Workers& workers) {
  return BlockRun(environment, {&policy}, count, workers).run(seed, first_stream);
}

EpisodeBlock run_episodes(const Environment& environment, const Policies& policies,
                          std::int64_t first, const TurnOptions& turns, std::uint64_t seed,
                          std::uint64_t first_stream, std::int64_t count, const Workers& workers) {
  std::vector<const Policy*> all;
  for (const auto& policy : policies) all.push_back(policy.get());
  BlockRun block(environment, std::move(all), count, workers);
  block.take_turns(turns, first, seed, first_stream);
  return block.run(seed, first_stream);
}

}  // namespace kindred
