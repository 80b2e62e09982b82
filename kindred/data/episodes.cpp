#include "kindred/data/episodes.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr std::int64_t kMostActors = 1 << 20;  // beyond that the numbers mean something else

/// The first `size` values of a column, without copying them.
template <class T>
Column<T> first(Column<T> column, std::int64_t size) {
  if (column.size() <= size) return column;
  const auto whole = std::make_shared<const Column<T>>(std::move(column));
  return Column<T>(whole->span().first(static_cast<std::size_t>(size)), whole);
}

Observations first(const Observations& rows, std::int64_t steps) {
  if (rows.is_interned())
    return Observations::interned(rows.table(), rows.dim(), first(rows.index(), steps));
  if (rows.is_bytes())
    return Observations::dense(first(rows.bytes(), steps * rows.dim()), rows.dim());
  return Observations::dense(first(rows.floats(), steps * rows.dim()), rows.dim());
}

Actions first(const Actions& actions, std::int64_t steps) {
  if (actions.is_discrete())
    return Actions::discrete(first(actions.ints(), steps), actions.count());
  return Actions::continuous(first(actions.floats(), steps * actions.dim()), actions.dim());
}

/// Texts as numbers, and what each number is called; nobody's is -1.
FoundLabels number_texts(const std::vector<std::string>& texts) {
  FoundLabels result;
  result.texts = texts;
  std::erase(result.texts, "");
  std::ranges::sort(result.texts);
  result.texts.erase(std::unique(result.texts.begin(), result.texts.end()), result.texts.end());
  for (const auto& text : texts)
    result.numbers.push_back(
        text.empty() ? -1 : std::ranges::lower_bound(result.texts, text) - result.texts.begin());
  return result;
}

/// From one label per step to one per episode; nothing when one changes within an episode.
std::optional<std::vector<std::int64_t>> of_episodes(const Trajectories& data,
                                                     std::span<const std::int64_t> labels) {
  std::vector<std::int64_t> shrunk;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto episode = labels.subspan(static_cast<std::size_t>(data.offsets[i]),
                                        static_cast<std::size_t>(data.length(i)));
    if (std::ranges::count(episode, episode[0]) != data.length(i)) return std::nullopt;
    shrunk.push_back(episode[0]);
  }
  return shrunk;
}

}  // namespace

std::vector<std::int64_t> cut_episodes(std::int64_t rows, std::span<const std::uint8_t> terminals,
                                       std::span<const std::uint8_t> timeouts, std::int64_t cap,
                                       bool keep_partial) {
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto i = static_cast<std::size_t>(row);
    const bool terminal = !terminals.empty() && terminals[i];
    const bool timeout = timeouts.empty() ? row + 1 - offsets.back() >= cap : timeouts[i] != 0;
    if (terminal || timeout) offsets.push_back(row + 1);
  }
  if (keep_partial && offsets.back() < rows) offsets.push_back(rows);
  return offsets;
}

void set_labels(Trajectories& data, std::span<const std::int64_t> labels) {
  const auto usable = [](std::int64_t label) {
    return label >= -1 && label <= std::numeric_limits<std::int32_t>::max();
  };
  if (!std::ranges::all_of(labels, usable)) {
    data.provenance["labels"] = "ignored: a label is negative or too large";
    return;
  }
  if (std::ranges::all_of(labels, [](auto label) { return label == -1; })) {
    data.provenance["labels"] = "ignored: none is known";
    return;
  }
  data.labels = std::vector<std::int32_t>(labels.begin(), labels.end());
}

FoundLabels labels_from(std::vector<std::string> texts) {
  FoundLabels found;
  for (const auto& text : texts) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!text.empty() && (error != std::errc{} || end != text.data() + text.size()))
      return {{}, std::move(texts)};
    found.numbers.push_back(number);
  }
  return found;
}

void set_actors(Trajectories& data, std::span<const std::int64_t> of_steps) {
  const auto [least, most] = std::ranges::minmax(of_steps);
  if (least < 0 || most > kMostActors) {
    data.provenance["labels"] = "ignored: they change within an episode, and some name no policy";
    return;
  }
  data.actors = StepValues<std::int32_t>(of_steps.begin(), of_steps.end());
  data.labels = most_frequent_actors(data);
}

void set_labels(Trajectories& data, const FoundLabels& found, const std::string& where) {
  const auto numbered = number_texts(found.texts);
  const auto& all = found.texts.empty() ? found.numbers : numbered.numbers;
  const auto count = std::ssize(all), steps = data.offsets[data.episodes()];
  if (count != data.episodes() && count < steps)
    throw DataFormatError("{} has {} labels, expected one for each of {} episodes or {} steps",
                          where, count, data.episodes(), steps);
  if (count == data.episodes()) {
    set_labels(data, all);
  } else if (const auto labels = of_episodes(data, all)) {
    set_labels(data, *labels);
  } else {
    set_actors(data, std::span(all).first(static_cast<std::size_t>(steps)));
  }
  if (!data.labels.empty()) data.label_names = numbered.texts;
}

Trajectories cut_into_episodes(Trajectories flat, const ReadOptions& options,
                               const std::string& where) {
  const std::int64_t rows = flat.steps();
  auto offsets = cut_episodes(rows, flat.terminals.span(), flat.timeouts.span(),
                              options.episode_cap, options.keep_partial);
  if (offsets.size() == 1)
    throw DataFormatError(
        "{}: none of its {} rows ends an episode, expected a terminal or timeout "
        "flag; set keep-partial to keep them as one episode",
        where, rows);
  const std::int64_t kept = offsets.back();
  flat.observations = first(flat.observations, kept);
  flat.actions = first(flat.actions, kept);
  flat.rewards = first(std::move(flat.rewards), kept);
  flat.terminals = first(std::move(flat.terminals), kept);
  flat.timeouts = first(std::move(flat.timeouts), kept);

  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) flat.ids.push_back(std::to_string(i));
  flat.offsets = std::move(offsets);
  return flat;
}

EndFlags end_flags(const Trajectories& data, const std::string& what) {
  const auto copy = [&](const Column<std::uint8_t>& flags) {
    std::vector<std::uint8_t> copied(flags.begin(), flags.end());
    copied.resize(static_cast<std::size_t>(data.steps()), 0);
    return copied;
  };
  EndFlags flags{copy(data.terminals), copy(data.timeouts)};
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto last = static_cast<std::size_t>(data.offsets[i + 1] - 1);
    for (auto step = static_cast<std::size_t>(data.offsets[i]); step < last; ++step)
      if (flags.terminals[step] || flags.timeouts[step])
        throw DataFormatError(
            "episode {} ('{}') has an end flag at its step {} of {}, where {} "
            "would cut it; write minari, robomimic or kindred instead",
            i, data.ids[static_cast<std::size_t>(i)],
            static_cast<std::int64_t>(step) - data.offsets[i], data.length(i), what);
    if (!flags.terminals[last]) flags.timeouts[last] = 1;
  }
  return flags;
}

}  // namespace kindred
