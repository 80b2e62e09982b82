#include "kindred/render/episode.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/core/error.h"

namespace kindred::render {
namespace {

Ending ending_of(const Trajectories& data, std::int64_t last_step) {
  if (!data.terminals.empty() && data.terminals[last_step]) return Ending::kTerminal;
  if (!data.timeouts.empty() && data.timeouts[last_step]) return Ending::kTimeout;
  return Ending::kNone;
}

std::optional<Group> truth_of(const Trajectories& data, std::int64_t number) {
  if (data.labels.empty() || data.labels[number] < 0) return std::nullopt;
  const auto label = static_cast<std::size_t>(data.labels[number]);
  return Group{data.labels[number], label < data.label_names.size()
                                        ? data.label_names[label]
                                        : fmt::format("policy {}", label)};
}

bool all_finite(const auto& values) {
  return std::ranges::all_of(values, [](auto value) { return std::isfinite(value); });
}

template <class T>
std::vector<T> part(const Column<T>& column, std::int64_t begin, std::int64_t end) {
  return {column.data() + begin, column.data() + end};
}

void require_finite(const Episode& episode) {
  if (!all_finite(episode.observations) || !all_finite(episode.continuous_actions))
    throw InvalidArgument(
        "episode {} holds a value that is not a finite number, so it cannot be drawn",
        episode.number);
}

}  // namespace

std::span<const float> Episode::observation(std::int64_t step) const {
  return std::span(observations)
      .subspan(static_cast<std::size_t>(step * observation_dim),
               static_cast<std::size_t>(observation_dim));
}

std::string Episode::heading() const {
  std::string text = fmt::format("Episode {}", number);
  if (id != std::to_string(number)) text += fmt::format(" ({})", id);
  if (truth) text += " · " + truth->name;
  return text;
}

std::string Episode::summary() const {
  std::string text = fmt::format("{} {}", length, length == 1 ? "step" : "steps");
  if (!returns.empty()) text += fmt::format(" · return {:.5g}", returns.back());
  if (ending == Ending::kTerminal) text += " · terminated";
  if (ending == Ending::kTimeout) text += " · cut off";
  return text;
}

Episode take_episode(const Trajectories& data, std::int64_t number,
                     std::span<const std::int32_t> clusters) {
  if (number < 0 || number >= data.episodes())
    throw InvalidArgument("there is no episode {}; the dataset holds episodes 0 to {}", number,
                          data.episodes() - 1);
  const auto begin = data.offsets[number], end = data.offsets[number + 1];
  Episode episode{.number = number,
                  .id = data.ids[static_cast<std::size_t>(number)],
                  .length = end - begin,
                  .observation_dim = data.observations.dim(),
                  .ending = ending_of(data, end - 1),
                  .truth = truth_of(data, number)};
  episode.observations.resize(static_cast<std::size_t>(episode.length * episode.observation_dim));
  data.observations.copy(begin, end, episode.observations.data());
  if (data.actions.is_discrete()) {
    episode.action_width = data.actions.count();
    episode.discrete_actions = part(data.actions.ints(), begin, end);
  } else {
    const auto width = episode.action_width = data.actions.dim();
    episode.continuous_actions = part(data.actions.floats(), begin * width, end * width);
  }
  if (!data.rewards.empty()) {
    const auto rewards = part(data.rewards, begin, end);
    episode.returns.assign(rewards.begin(), rewards.end());
    std::partial_sum(episode.returns.begin(), episode.returns.end(), episode.returns.begin());
    if (!all_finite(episode.returns)) episode.returns.clear();
  }
  if (!clusters.empty()) {
    const auto cluster = clusters[static_cast<std::size_t>(number)];
    episode.cluster = Group{cluster, fmt::format("cluster {}", cluster)};
  }
  require_finite(episode);
  return episode;
}

}  // namespace kindred::render
