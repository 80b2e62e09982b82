#include "kindred/data/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/data/mind_memory.h"
#include "kindred/data/sparse.h"

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

using Stretches = std::span<const Stretch>;

void require_episode(const Trajectories& data, std::int64_t episode) {
  if (episode < 0 || episode >= data.episodes())
    throw InvalidArgument("cannot select episode {}: there are {}, numbered from 0", episode,
                          data.episodes());
}

std::vector<Stretch> whole(const Trajectories& data, Episodes episodes) {
  std::vector<Stretch> stretches;
  for (const auto episode : episodes) {
    require_episode(data, episode);
    stretches.push_back({episode, 0, data.length(episode)});
  }
  return stretches;
}

/// Per-step values, `width` numbers each, of the chosen stretches.
template <class T>
Column<T> select_steps(const Column<T>& column, std::int64_t width, const Trajectories& data,
                       Stretches stretches) {
  if (column.empty()) return {};
  std::int64_t steps = 0;
  for (const auto& one : stretches) steps += one.end - one.begin;
  NewColumn<T> values(steps * width, data.held.has_value());
  T* to = values.data();
  const auto own = data.own();
  for (const auto& one : stretches) {
    mind_memory();
    const auto* episode = column.data() + data.offsets[one.episode] * width;
    if (one.episode >= own.begin && one.episode < own.end) {
      expect_pages(episode + one.begin * width,
                   static_cast<std::size_t>((one.end - one.begin) * width) * sizeof(T));
      std::copy(episode + one.begin * width, episode + one.end * width, to);
    }
    to += (one.end - one.begin) * width;
  }
  return values.column();
}

/// The stretches of episodes that are held, where these are in order.
std::optional<EpisodeRange> held_of(const Trajectories& data, Stretches stretches) {
  if (!data.held) return std::nullopt;
  if (!std::ranges::is_sorted(stretches, {}, &Stretch::episode))
    throw InvalidArgument("episodes of which others hold some cannot be put in another order");
  const auto place = [&](std::int64_t episode) {
    return std::ranges::lower_bound(stretches, episode, {}, &Stretch::episode) - stretches.begin();
  };
  return EpisodeRange{place(data.held->begin), place(data.held->end)};
}

/// What other processes see of every episode, too: of all.
template <class T>
Column<T> select_known_steps(const Column<T>& column, const Trajectories& data,
                             Stretches stretches) {
  Trajectories all;
  all.offsets = data.offsets;
  return select_steps(column, 1, all, stretches);
}

template <class T>
Column<T> select_per_episode(const Column<T>& column, Stretches stretches) {
  if (column.empty()) return {};
  std::vector<T> values;
  for (const auto& one : stretches) values.push_back(column[one.episode]);
  return values;
}

Observations select_observations(const Trajectories& data, Stretches stretches) {
  const auto& source = data.observations;
  const auto dim = source.dim();
  if (source.is_interned())
    return Observations::interned(source.table(), dim,
                                  select_steps(source.index(), 1, data, stretches));
  if (source.is_bytes())
    return Observations::dense(select_steps(source.bytes(), dim, data, stretches), dim);
  return Observations::dense(select_steps(source.floats(), dim, data, stretches), dim);
}

Actions select_actions(const Trajectories& data, Stretches stretches) {
  const auto& source = data.actions;
  if (source.is_discrete())
    return Actions::discrete(select_steps(source.ints(), 1, data, stretches), source.count());
  return Actions::continuous(select_steps(source.floats(), source.dim(), data, stretches),
                             source.dim());
}

void require_stretches(const Trajectories& data, Stretches stretches) {
  if (stretches.empty())
    throw InvalidArgument("no episodes selected: at least 1 of the {} is needed", data.episodes());
  for (const auto& [episode, begin, end] : stretches) {
    require_episode(data, episode);
    if (begin < 0 || begin >= end || end > data.length(episode))
      throw InvalidArgument("cannot select steps {} to {} of episode {}, which has {}", begin, end,
                            episode, data.length(episode));
  }
}

}  // namespace

bool is_whole(const Trajectories& data, const Stretch& stretch) {
  return stretch.begin == 0 && stretch.end == data.length(stretch.episode);
}

std::string name_of_stretch(const std::string& id, const Stretch& stretch) {
  return stretch.begin == 0 ? id : fmt::format("{}@{}", id, stretch.begin);
}

std::vector<std::uint8_t> timeouts_of(const Trajectories& data, Stretches stretches) {
  std::vector<std::uint8_t> timeouts;
  for (const auto& one : stretches) {
    const auto first = data.offsets[one.episode];
    for (auto step = first + one.begin; step < first + one.end; ++step)
      timeouts.push_back(data.timeouts.empty() ? 0 : data.timeouts[step]);
    const auto last = first + one.end - 1;
    if (data.terminals.empty() || !data.terminals[last]) timeouts.back() = 1;
  }
  return timeouts;
}

Trajectories select_stretches(const Trajectories& data, Stretches stretches) {
  require_stretches(data, stretches);
  const bool cuts =
      std::ranges::any_of(stretches, [&](const auto& one) { return !is_whole(data, one); });
  Trajectories result;
  std::vector<std::int64_t> offsets = {0};
  for (const auto& one : stretches) {
    offsets.push_back(offsets.back() + one.end - one.begin);
    result.ids.push_back(name_of_stretch(data.ids[static_cast<std::size_t>(one.episode)], one));
  }
  result.offsets = std::move(offsets);
  result.observations = select_observations(data, stretches);
  result.actions = select_actions(data, stretches);
  result.held = held_of(data, stretches);
  result.rewards = select_known_steps(data.rewards, data, stretches);
  result.terminals = select_known_steps(data.terminals, data, stretches);
  result.timeouts = cuts ? Column<std::uint8_t>(timeouts_of(data, stretches))
                         : select_known_steps(data.timeouts, data, stretches);
  result.actors = select_known_steps(data.actors, data, stretches);
  result.labels = cuts && !data.actors.empty() ? Column<std::int32_t>(most_frequent_actors(result))
                                               : select_per_episode(data.labels, stretches);
  if (!cuts) result.oracle = select_per_episode(data.oracle, stretches);
  result.label_names = data.label_names;
  result.observation_names = data.observation_names;
  result.action_names = data.action_names;
  result.provenance = data.provenance;
  return result;
}

Trajectories select_episodes(const Trajectories& data, Episodes episodes) {
  return select_stretches(data, whole(data, episodes));
}

Trajectories slice_episodes(const Trajectories& data, const EpisodeRange& range) {
  const auto first = data.offsets[range.begin];
  const auto steps = data.offsets[range.end] - first;
  const auto of_steps = [&](const auto& column, std::int64_t width = 1) {
    return column.empty() ? column : column.slice(first * width, steps * width);
  };
  const auto of_episodes = [&](const auto& column) {
    return column.empty() ? column : column.slice(range.begin, range.size());
  };
  Trajectories result;
  std::vector<std::int64_t> offsets;
  for (auto i = range.begin; i <= range.end; ++i) offsets.push_back(data.offsets[i] - first);
  result.offsets = std::move(offsets);
  const auto& rows = data.observations;
  if (rows.is_interned())
    result.observations = Observations::interned(rows.table(), rows.dim(), of_steps(rows.index()));
  else if (rows.is_bytes())
    result.observations = Observations::dense(of_steps(rows.bytes(), rows.dim()), rows.dim());
  else
    result.observations = Observations::dense(of_steps(rows.floats(), rows.dim()), rows.dim());
  const auto& actions = data.actions;
  result.actions =
      actions.is_discrete()
          ? Actions::discrete(of_steps(actions.ints()), actions.count())
          : Actions::continuous(of_steps(actions.floats(), actions.dim()), actions.dim());
  result.rewards = of_steps(data.rewards);
  result.terminals = of_steps(data.terminals);
  result.timeouts = of_steps(data.timeouts);
  result.actors = of_steps(data.actors);
  result.labels = of_episodes(data.labels);
  result.oracle = of_episodes(data.oracle);
  result.ids.assign(data.ids.begin() + range.begin, data.ids.begin() + range.end);
  result.label_names = data.label_names;
  result.observation_names = data.observation_names;
  result.action_names = data.action_names;
  result.provenance = data.provenance;
  return result;
}

Trajectories own_part(const Trajectories& data) {
  return data.held ? slice_episodes(data, *data.held) : data;
}

std::vector<std::int64_t> equal_parts(std::span<const std::int64_t> offsets, std::int64_t parts) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t part = 0; part <= parts; ++part)
    bounds.push_back(std::ranges::lower_bound(offsets, offsets.back() / parts * part +
                                                           offsets.back() % parts * part / parts) -
                     offsets.begin());
  return bounds;
}

std::vector<LabelledStretch> labelled_stretches(std::span<const std::int32_t> labels,
                                                std::span<const std::int64_t> offsets) {
  std::vector<LabelledStretch> stretches;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto first = offsets[i];
    const auto of_episode = labels.subspan(static_cast<std::size_t>(first),
                                           static_cast<std::size_t>(offsets[i + 1] - first));
    for (auto begin = of_episode.begin(); begin != of_episode.end();) {
      const auto end =
          std::find_if(begin, of_episode.end(), [&](const auto label) { return label != *begin; });
      if (*begin >= 0)
        stretches.push_back(
            {{static_cast<std::int64_t>(i), begin - of_episode.begin(), end - of_episode.begin()},
             *begin});
      begin = end;
    }
  }
  return stretches;
}

std::vector<std::int64_t> episodes_by_length(std::span<const std::int64_t> offsets,
                                             std::int64_t min, std::int64_t max) {
  std::vector<std::int64_t> episodes;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    if (const auto length = offsets[i + 1] - offsets[i]; length >= min && length <= max)
      episodes.push_back(static_cast<std::int64_t>(i));
  return episodes;
}

std::vector<std::int64_t> sampled_episodes(std::int64_t episodes, std::int64_t n,
                                           std::uint64_t seed) {
  std::vector<std::int64_t> sample(static_cast<std::size_t>(episodes));
  std::iota(sample.begin(), sample.end(), 0);
  Random(seed, "sample").shuffle(std::span(sample));
  sample.resize(static_cast<std::size_t>(std::min(n, episodes)));
  std::ranges::sort(sample);
  return sample;
}

Trajectories filter_by_length(const Trajectories& data, std::int64_t min, std::int64_t max) {
  const auto episodes = episodes_by_length(data.offsets.span(), min, max);
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
  return select_episodes(
      data,
      sampled_episodes(data.episodes(), static_cast<std::int64_t>(checked_count(n, data)), seed));
}

}  // namespace kindred
