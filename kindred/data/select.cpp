#include "kindred/data/select.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/random.h"

namespace kindred {
namespace {

using Episodes = std::span<const std::int64_t>;

std::vector<std::int64_t> all_episodes(const Trajectories& data) {
  std::vector<std::int64_t> episodes(static_cast<std::size_t>(data.episodes()));
  std::iota(episodes.begin(), episodes.end(), 0);
  return episodes;
}

std::size_t checked_count(std::int64_t n, const Trajectories& data) {
  if (n < 1) throw InvalidArgument("cannot keep {} episodes: at least 1 is needed", n);
  return static_cast<std::size_t>(std::min(n, data.episodes()));
}

/// Per-step values, `width` numbers each, of the chosen episodes.
template <class T>
Column<T> select_steps(const Column<T>& column, std::int64_t width, const Trajectories& data,
                       Episodes episodes) {
  if (column.empty()) return {};
  std::int64_t steps = 0;
  for (const auto episode : episodes) steps += data.length(episode);
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(steps * width));
  for (const auto episode : episodes)
    values.insert(values.end(), column.data() + data.offsets[episode] * width,
                  column.data() + data.offsets[episode + 1] * width);
  return values;
}

template <class T>
Column<T> select_per_episode(const Column<T>& column, Episodes episodes) {
  if (column.empty()) return {};
  std::vector<T> values;
  for (const auto episode : episodes) values.push_back(column[episode]);
  return values;
}

Observations select_observations(const Trajectories& data, Episodes episodes) {
  const auto& source = data.observations;
  const auto dim = source.dim();
  if (source.is_interned())
    return Observations::interned(source.table(), dim,
                                  select_steps(source.index(), 1, data, episodes));
  if (source.is_bytes())
    return Observations::dense(select_steps(source.bytes(), dim, data, episodes), dim);
  return Observations::dense(select_steps(source.floats(), dim, data, episodes), dim);
}

Actions select_actions(const Trajectories& data, Episodes episodes) {
  const auto& source = data.actions;
  if (source.is_discrete())
    return Actions::discrete(select_steps(source.ints(), 1, data, episodes), source.count());
  return Actions::continuous(select_steps(source.floats(), source.dim(), data, episodes),
                             source.dim());
}

}  // namespace

Trajectories select_episodes(const Trajectories& data, Episodes episodes) {
  if (episodes.empty())
    throw InvalidArgument("no episodes selected: at least 1 of the {} is needed", data.episodes());
  for (const auto episode : episodes)
    if (episode < 0 || episode >= data.episodes())
      throw InvalidArgument("cannot select episode {}: there are {}, numbered from 0", episode,
                            data.episodes());

  Trajectories result;
  std::vector<std::int64_t> offsets = {0};
  for (const auto episode : episodes) {
    offsets.push_back(offsets.back() + data.length(episode));
    result.ids.push_back(data.ids[static_cast<std::size_t>(episode)]);
  }
  result.offsets = std::move(offsets);
  result.observations = select_observations(data, episodes);
  result.actions = select_actions(data, episodes);
  result.rewards = select_steps(data.rewards, 1, data, episodes);
  result.terminals = select_steps(data.terminals, 1, data, episodes);
  result.timeouts = select_steps(data.timeouts, 1, data, episodes);
  result.actors = select_steps(data.actors, 1, data, episodes);
  result.labels = select_per_episode(data.labels, episodes);
  result.oracle = select_per_episode(data.oracle, episodes);
  result.label_names = data.label_names;
  result.observation_names = data.observation_names;
  result.action_names = data.action_names;
  result.provenance = data.provenance;
  return result;
}

Trajectories filter_by_length(const Trajectories& data, std::int64_t min, std::int64_t max) {
  auto episodes = all_episodes(data);
  std::erase_if(episodes, [&](std::int64_t episode) {
    return data.length(episode) < min || data.length(episode) > max;
  });
  if (episodes.empty())
    throw InvalidArgument("none of the {} episodes has from {} to {} steps: widen the range",
                          data.episodes(), min, max);
  return select_episodes(data, episodes);
}

Trajectories shuffle_episodes(const Trajectories& data, std::uint64_t seed) {
  auto episodes = all_episodes(data);
  Random(seed, "shuffle").shuffle(std::span(episodes));
  return select_episodes(data, episodes);
}

Trajectories take_first(const Trajectories& data, std::int64_t n) {
  auto episodes = all_episodes(data);
  episodes.resize(checked_count(n, data));
  return select_episodes(data, episodes);
}

Trajectories sample_episodes(const Trajectories& data, std::int64_t n, std::uint64_t seed) {
  auto episodes = all_episodes(data);
  Random(seed, "sample").shuffle(std::span(episodes));
  episodes.resize(checked_count(n, data));
  std::ranges::sort(episodes);
  return select_episodes(data, episodes);
}

}  // namespace kindred
