// Episodes of random actions, written down: what the environment tests compare.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "kindred/envs/registry.h"

namespace kindred {

/// What this build can make.
inline std::vector<EnvironmentInfo> available_environments() {
  std::vector<EnvironmentInfo> available;
  std::ranges::copy_if(environments(), std::back_inserter(available), &EnvironmentInfo::available);
  return available;
}

/// A name as GoogleTest allows it.
inline std::string test_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

/// One step of an episode: what was seen, done and returned.
struct PlayedStep {
  std::vector<float> observation;
  std::int32_t state = -1;  // where the environment has states
  std::vector<float> action;
  float reward = 0.0f;
  Ending ending = Ending::kNone;

  friend bool operator==(const PlayedStep&, const PlayedStep&) = default;
};

struct PlayedEpisode {
  std::vector<PlayedStep> steps;
  PlayedStep last;  // what was seen after the last step

  friend bool operator==(const PlayedEpisode&, const PlayedEpisode&) = default;
};

/// What is seen in a lane now.
inline PlayedStep look(const Environment& environment, const Lanes& lanes, std::int32_t lane) {
  PlayedStep seen;
  seen.observation.resize(static_cast<std::size_t>(environment.spec().observation_dim()));
  lanes.observe({&lane, 1}, seen.observation);
  if (environment.spec().has_states()) lanes.states({&lane, 1}, {&seen.state, 1});
  return seen;
}

/// Uniform among the actions, or in [-1, 1] for each number of a continuous one.
inline std::vector<float> random_action(const EnvironmentSpec& spec, Random& random) {
  if (spec.is_discrete())
    return {static_cast<float>(random.below(static_cast<std::uint64_t>(spec.action_width)))};
  std::vector<float> action(static_cast<std::size_t>(spec.action_width));
  for (auto& value : action) value = static_cast<float>(random.uniform(-1.0, 1.0));
  return action;
}

/// Steps the named lanes with one action each; fills in what they did and what came back.
inline void step_lanes(const EnvironmentSpec& spec, Lanes& lanes, LaneList named,
                       std::vector<PlayedStep*> steps) {
  std::vector<std::int32_t> discrete;
  std::vector<float> continuous, rewards(named.size());
  std::vector<Ending> endings(named.size());
  for (const auto* step : steps) {
    if (spec.is_discrete())
      discrete.push_back(static_cast<std::int32_t>(step->action.at(0)));
    else
      continuous.insert(continuous.end(), step->action.begin(), step->action.end());
  }
  lanes.step(named, {discrete, continuous}, rewards, endings);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i]->reward = rewards[i];
    steps[i]->ending = endings[i];
  }
}

/// Plays episodes `first` … `first + count - 1` of `seed` side by side. Lane i plays episode
/// first + i, and the lanes are named in descending order when `backwards`.
inline std::vector<PlayedEpisode> play(const Environment& environment, std::uint64_t seed,
                                       std::int32_t first, std::int32_t count,
                                       bool backwards = false) {
  const auto lanes = environment.make_lanes(count);
  std::vector<Random> action_streams;
  std::vector<std::int32_t> running;
  for (std::int32_t i = 0; i < count; ++i) {
    const auto episode = static_cast<std::uint64_t>(std::int64_t{first} + i);
    lanes->reset(i, Random(seed, "lane", episode));
    action_streams.emplace_back(seed, "actions", episode);
    running.push_back(backwards ? count - 1 - i : i);
  }

  std::vector<PlayedEpisode> episodes(static_cast<std::size_t>(count));
  while (!running.empty()) {
    std::vector<PlayedStep*> steps;
    for (const auto lane : running) {
      auto& step = episodes[static_cast<std::size_t>(lane)].steps.emplace_back(
          look(environment, *lanes, lane));
      step.action =
          random_action(environment.spec(), action_streams[static_cast<std::size_t>(lane)]);
      steps.push_back(&step);
    }
    step_lanes(environment.spec(), *lanes, running, steps);
    std::erase_if(running, [&](std::int32_t lane) {
      auto& episode = episodes[static_cast<std::size_t>(lane)];
      if (episode.steps.back().ending == Ending::kNone) return false;
      episode.last = look(environment, *lanes, lane);
      return true;
    });
  }
  return episodes;
}

}  // namespace kindred
