#include "kindred/data/join.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_set>

#include "kindred/core/error.h"
#include "kindred/data/episodes.h"
#include "kindred/data/sparse.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Parts = std::vector<Trajectories>;

std::string action_words(const Actions& actions) {
  return actions.is_discrete() ? "discrete" : fmt::format("{} numbers", actions.dim());
}

void require_alike(const Parts& parts, std::span<const std::string> names) {
  const auto& first = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto& part = parts[i];
    if (part.observations.dim() != first.observations.dim())
      throw DataFormatError(
          "'{}' has observations of {} numbers and '{}' of {}; files of one dataset have as many",
          names[i], part.observations.dim(), names[0], first.observations.dim());
    if (action_words(part.actions) != action_words(first.actions))
      throw DataFormatError(
          "the actions in '{}' are {} and those in '{}' {}; files of one dataset have the same",
          names[i], action_words(part.actions), names[0], action_words(first.actions));
  }
}

/// The values of all parts; nothing when one of them has none.
template <class T, class Get>
Column<T> joined(const Parts& parts, Get get) {
  std::int64_t size = 0;
  for (const auto& part : parts) {
    if (get(part).empty()) return {};
    size += get(part).size();
  }
  NewColumn<T> all(size, false);
  T* to = all.data();
  for (const auto& part : parts) to = std::ranges::copy(get(part), to).out;
  return all.column();
}

/// Those of the parts that are held: each has some, in a row over all of them.
std::optional<EpisodeRange> join_held(const Parts& parts) {
  if (std::ranges::none_of(parts, [](const auto& part) { return part.held.has_value(); }))
    return std::nullopt;
  std::optional<EpisodeRange> all;
  std::int64_t first = 0;
  for (const auto& part : parts) {
    if (const auto own = part.own(); own.size() > 0)
      all = EpisodeRange{all ? all->begin : first + own.begin, first + own.end};
    first += part.episodes();
  }
  return all.value_or(EpisodeRange{0, 0});
}

/// Per-step values of observations or actions, `width` numbers each: those of held episodes.
template <class T, class Get>
Column<T> join_held_steps(const Parts& parts, std::int64_t width, Get get) {
  std::int64_t steps = 0;
  for (const auto& part : parts) steps += part.steps();
  const bool sparse =
      std::ranges::any_of(parts, [](const auto& part) { return part.held.has_value(); });
  NewColumn<T> values(steps * width, sparse);
  T* to = values.data();
  for (const auto& part : parts) {
    const auto own = part.own();
    const auto begin = part.offsets[own.begin], end = part.offsets[own.end];
    get(part, begin, end, to + begin * width);
    to += part.steps() * width;
  }
  return values.column();
}

Observations join_observations(const Parts& parts) {
  const auto dim = parts[0].observations.dim();
  if (std::ranges::all_of(parts, [](const auto& part) { return part.observations.is_bytes(); }))
    return Observations::dense(
        join_held_steps<std::uint8_t>(parts, dim,
                                      [&](const auto& part, auto begin, auto end, auto* to) {
                                        const auto* from = part.observations.bytes().data();
                                        std::copy(from + begin * dim, from + end * dim, to);
                                      }),
        dim);
  return Observations::dense(
      join_held_steps<float>(parts, dim,
                             [](const auto& part, auto begin, auto end, auto* to) {
                               part.observations.copy(begin, end, to);
                             }),
      dim);
}

Actions join_actions(const Parts& parts) {
  const auto dim = parts[0].actions.dim();
  if (!parts[0].actions.is_discrete())
    return Actions::continuous(
        join_held_steps<float>(parts, dim,
                               [&](const auto& part, auto begin, auto end, auto* to) {
                                 const auto* from = part.actions.floats().data();
                                 std::copy(from + begin * dim, from + end * dim, to);
                               }),
        dim);
  std::int64_t count = 0;
  for (const auto& part : parts) count = std::max(count, part.actions.count());
  return Actions::discrete(
      join_held_steps<std::int32_t>(parts, 1,
                                    [](const auto& part, auto begin, auto end, auto* to) {
                                      const auto* from = part.actions.ints().data();
                                      std::copy(from + begin, from + end, to);
                                    }),
      count);
}

bool all_differ(const std::vector<std::string>& ids) {
  return std::unordered_set<std::string_view>(ids.begin(), ids.end()).size() == ids.size();
}

std::vector<std::string> join_ids(const Parts& parts, std::span<const std::string> names) {
  std::vector<std::string> plain, prefixed;
  const auto before = id_prefixes(names);
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const auto& id : parts[i].ids) {
      plain.push_back(id);
      prefixed.push_back(fmt::format("{}/{}", before[i], id));
    }
  return all_differ(plain) ? plain : prefixed;
}

std::string label_name(const Trajectories& data, std::int32_t label) {
  if (label < 0) return "";
  const auto number = static_cast<std::size_t>(label);
  return number < data.label_names.size() ? data.label_names[number] : std::to_string(label);
}

void join_labels(const Parts& parts, Trajectories& data) {
  if (std::ranges::all_of(parts, [](const auto& part) { return part.labels.empty(); })) return;
  const bool named =
      std::ranges::any_of(parts, [](const auto& part) { return !part.label_names.empty(); });
  FoundLabels found;
  for (const auto& part : parts)
    for (std::int64_t i = 0; i < part.episodes(); ++i) {
      const auto label = part.labels.empty() ? -1 : part.labels[i];
      if (named)
        found.texts.push_back(label_name(part, label));
      else
        found.numbers.push_back(label);
    }
  set_labels(data, found, "the files");
}

}  // namespace

Trajectories join_episodes(const Parts& parts, std::span<const std::string> names) {
  require_alike(parts, names);
  Trajectories data;
  std::vector<std::int64_t> offsets{0};
  for (const auto& part : parts)
    for (std::int64_t i = 0; i < part.episodes(); ++i)
      offsets.push_back(offsets.back() + part.length(i));
  data.offsets = std::move(offsets);
  data.held = join_held(parts);
  data.observations = join_observations(parts);
  data.actions = join_actions(parts);
  data.rewards = joined<float>(
      parts, [](const auto& p) -> auto& { return p.rewards; });
  data.terminals = joined<std::uint8_t>(
      parts, [](const auto& p) -> auto& { return p.terminals; });
  data.timeouts = joined<std::uint8_t>(
      parts, [](const auto& p) -> auto& { return p.timeouts; });
  data.oracle = joined<std::int32_t>(
      parts, [](const auto& p) -> auto& { return p.oracle; });
  data.ids = join_ids(parts, names);
  data.provenance = parts[0].provenance;
  data.observation_names = parts[0].observation_names;
  data.action_names = parts[0].action_names;
  join_labels(parts, data);
  if (data.label_names.empty())  // else a number may mean another policy in each file
    data.actors = joined<std::int32_t>(
        parts, [](const auto& p) -> auto& { return p.actors; });
  return data;
}

/// The stem of each file, or where two have the same their whole paths.
std::vector<std::string> id_prefixes(std::span<const std::string> names) {
  std::vector<std::string> stems;
  for (const auto& name : names) stems.push_back(fs::path(name).stem().string());
  return all_differ(stems) ? stems : std::vector<std::string>(names.begin(), names.end());
}

}  // namespace kindred
