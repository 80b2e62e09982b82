// The doctor's checks of whole episodes: lengths, repetitions, flags and rewards.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kindred/core/random.h"
#include "kindred/core/words.h"
#include "kindred/data/doctor_chart.h"
#include "kindred/data/mind_memory.h"

namespace kindred::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kUsualLength = 20;  // where short episodes are usual, none is tiny
constexpr double kTinyShare = 0.005;       // of the median length
constexpr std::int64_t kComparable = 5;    // steps an episode needs to be told from others
constexpr double kSameTolerance = 0.02;    // of a column's deviation
constexpr std::size_t kNeighbours = 64;    // candidates for a copy, in order of a projection
constexpr std::int64_t kComparedRows = 64;
constexpr std::size_t kFirstNumbers = 4;  // kept of each episode

std::vector<std::string> episode_names(const Chart& chart,
                                       const std::vector<std::int64_t>& episodes) {
  std::vector<std::string> names;
  for (const auto i : episodes) names.push_back(chart.episode(i));
  return names;
}

Json episode_ids(const Chart& chart, const std::vector<std::int64_t>& episodes) {
  Json ids = Json::array();
  for (const auto i : episodes) ids.push_back(chart.data.ids[static_cast<std::size_t>(i)]);
  return ids;
}

/// Compares episodes step by step, in deviations of each column.
class EpisodeComparison {
 public:
  explicit EpisodeComparison(const Chart& chart) : chart_(chart) {
    Random random(0, "doctor's projection");
    weights_.resize(2 * (chart.columns.size() + chart.actions.size()));
    for (auto& weight : weights_) weight = random.normal();
    Random more(0, "doctor's first steps");
    for (std::size_t f = 0; f < kFirstNumbers; ++f)
      for (std::size_t i = 0; i < weights_.size() / 2; ++i) {
        first_weights_.push_back(more.normal());
        apart_[f] += 1.001 * kSameTolerance * std::abs(first_weights_.back());  // rounded
      }
  }

  /// Random sums of the first step: they differ where no comparison of all steps is needed to know.
  using FirstNumbers = std::array<double, kFirstNumbers>;
  FirstNumbers first_numbers(std::int64_t episode) const {
    FirstNumbers sums{};
    auto weight = first_weights_.begin();
    const auto first = chart_.data.offsets[episode];
    for (auto& sum : sums) {
      for (const auto c : chart_.columns) sum += *weight++ * seen(first, c);
      for (std::size_t a = 0; a < chart_.actions.size(); ++a) sum += *weight++ * done(first, a);
    }
    return sums;
  }
  /// Whether first steps with these numbers are further apart than the tolerance allows.
  bool begin_apart(const FirstNumbers& a, const FirstNumbers& b) const {
    for (std::size_t f = 0; f < kFirstNumbers; ++f)
      if (std::abs(a[f] - b[f]) > apart_[f]) return true;
    return false;
  }

  /// One number of the first and the fifth step: near for episodes that begin alike.
  double project(std::int64_t episode) const {
    mind_memory();
    double sum = 0.0;
    auto weight = weights_.begin();
    const auto first = chart_.data.offsets[episode];
    for (const auto step : {first, first + kComparable - 1}) {
      for (const auto c : chart_.columns) sum += *weight++ * seen(step, c);
      for (std::size_t a = 0; a < chart_.actions.size(); ++a) sum += *weight++ * done(step, a);
    }
    return sum;
  }

  /// The largest difference between two episodes over the steps both have; stops at the tolerance.
  double difference(std::int64_t a, std::int64_t b) const {
    mind_memory();
    for (const auto i : {a, b})
      expect_steps(chart_.data, chart_.data.offsets[i], chart_.data.offsets[i] + 1);
    const auto common = std::min(chart_.data.length(a), chart_.data.length(b));
    const auto rows = std::min(common, kComparedRows);
    double most = 0.0;
    for (std::int64_t i = 0; i < rows && most <= kSameTolerance; ++i) {
      const auto at = rows == 1 ? 0 : i * (common - 1) / (rows - 1);
      const auto x = chart_.data.offsets[a] + at, y = chart_.data.offsets[b] + at;
      for (const auto c : chart_.columns) most = std::max(most, std::abs(seen(x, c) - seen(y, c)));
      for (std::size_t c = 0; c < chart_.actions.size(); ++c)
        most = std::max(most, std::abs(done(x, c) - done(y, c)));
    }
    return most;
  }

 private:
  double seen(std::int64_t step, std::int64_t column) const {
    return chart_.seen(step, column) /
           chart_.observations[static_cast<std::size_t>(column)].deviation;
  }
  double done(std::int64_t step, std::size_t column) const {
    const double deviation = chart_.actions[column].deviation;
    return deviation > 0.0 ? chart_.done(step, static_cast<std::int64_t>(column)) / deviation : 0.0;
  }

  const Chart& chart_;
  std::vector<double> weights_;
  std::vector<double> first_weights_;  // [numbers, columns and actions]
  FirstNumbers apart_{};               // differences that no repetition has
};

/// An episode that repeats an earlier one.
struct Repetition {
  std::int64_t copy, original;
  bool exact;
};

std::vector<Repetition> find_repetitions(const Chart& chart) {
  const EpisodeComparison compare(chart);
  std::vector<std::pair<double, std::int64_t>> order;
  std::vector<EpisodeComparison::FirstNumbers> firsts(
      static_cast<std::size_t>(chart.data.episodes()));
  for (std::int64_t i = 0; i < chart.data.episodes(); ++i)
    if (chart.data.length(i) >= kComparable)
      if (const double place = compare.project(i); std::isfinite(place)) {
        order.emplace_back(place, i);
        firsts[static_cast<std::size_t>(i)] = compare.first_numbers(i);
      }
  std::ranges::sort(order);
  const double width = static_cast<double>(2 * (chart.columns.size() + chart.actions.size()));
  std::vector<Repetition> repetitions;
  for (std::size_t i = 1; i < order.size(); ++i)
    for (std::size_t back = 1; back <= std::min(i, kNeighbours); ++back) {
      const auto& [place, episode] = order[i];
      const auto& [other_place, other] = order[i - back];
      if (place - other_place > kSameTolerance * width) break;
      if (compare.begin_apart(firsts[static_cast<std::size_t>(episode)],
                              firsts[static_cast<std::size_t>(other)]))
        continue;  // known from memory: steps of two episodes are two places of a file
      const double difference = compare.difference(episode, other);
      if (difference > kSameTolerance) continue;
      repetitions.push_back(
          {std::max(episode, other), std::min(episode, other),
           difference == 0.0 && chart.data.length(episode) == chart.data.length(other)});
      break;
    }
  std::ranges::sort(repetitions, {}, &Repetition::copy);
  return repetitions;
}

void add_repetitions(const Chart& chart, const std::vector<Repetition>& all, bool exact,
                     Found& found) {
  std::vector<std::string> words;
  Json pairs = Json::array();
  for (const auto& one : all) {
    if (one.exact != exact) continue;
    words.push_back(fmt::format("{} of {}", chart.episode(one.copy), chart.episode(one.original)));
    pairs.push_back({{"copy", chart.data.ids[static_cast<std::size_t>(one.copy)]},
                     {"of", chart.data.ids[static_cast<std::size_t>(one.original)]}});
  }
  if (words.empty()) return;
  found.push_back(
      {.key = exact ? "repeated-episode" : "nearly-repeated-episode",
       .evidence =
           fmt::format("{} {} another {}: {}", counted(std::ssize(words), "episode"),
                       words.size() == 1 ? "repeats" : "repeat",
                       exact ? "exactly" : "almost exactly, as far as both go", listed(words, 3)),
       .advice = "remove the copies: what is counted twice looks like a policy of its own",
       .details = {{"pairs", pairs}}});
}

/// Flags set before the last step of an episode.
struct InnerFlags {
  std::int64_t flags = 0;
  bool only_before_the_end = true;  ///< All in runs that go on to the last step.
  std::vector<std::int64_t> episodes;
};

InnerFlags find_inner_flags(const Trajectories& data, const Column<std::uint8_t>& column) {
  InnerFlags inner;
  for (std::int64_t i = 0; i < data.episodes() && !column.empty(); ++i) {
    const auto first = data.offsets[i], last = data.offsets[i + 1] - 1;
    const auto begin = column.begin() + first;
    const auto flags = std::count_if(begin, begin + (last - first), [](auto f) { return f != 0; });
    if (flags == 0) continue;
    inner.flags += flags;
    inner.episodes.push_back(i);
    const auto run = std::count_if(begin + (last - first - flags), begin + (last - first + 1),
                                   [](auto f) { return f != 0; });
    inner.only_before_the_end = inner.only_before_the_end && run == flags + 1;
  }
  return inner;
}

}  // namespace

void check_empty_episodes(const Chart& chart, Found& found) {
  std::vector<std::string> names;
  const auto given = chart.data.provenance.value("empty_episodes", nlohmann::json::array());
  for (const auto& name : given)
    if (name.is_string()) names.push_back(name);
  if (names.empty()) return;
  found.push_back(
      {.key = "empty-episode",
       .evidence = fmt::format("{} {} no steps: {}", counted(std::ssize(names), "episode"),
                               names.size() == 1 ? "has" : "have", listed(names)),
       .advice = "remove them; clustering refuses the file until then",
       .details = {{"episodes", names}}});
}

void check_tiny_episodes(const Chart& chart, Found& found) {
  const auto& data = chart.data;
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(data.episodes()));
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = data.length(static_cast<std::int64_t>(i));
  auto sorted = lengths;
  std::ranges::nth_element(sorted, sorted.begin() + std::ssize(sorted) / 2);
  const auto median = sorted[sorted.size() / 2];
  if (median < kUsualLength) return;
  const auto tiny = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(kTinyShare * static_cast<double>(median)));
  std::vector<std::int64_t> episodes;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] <= tiny) episodes.push_back(static_cast<std::int64_t>(i));
  if (episodes.empty()) return;
  found.push_back(
      {.key = "tiny-episode",
       .evidence = fmt::format("{} {} no more than {} (half have {} or more): {}",
                               counted(std::ssize(episodes), "episode"),
                               episodes.size() == 1 ? "has" : "have", counted(tiny, "step"),
                               grouped(median), listed(episode_names(chart, episodes))),
       .advice = fmt::format("leave them out with --min-length {}", tiny + 1),
       .details = {{"most_steps", tiny}, {"episodes", episode_ids(chart, episodes)}}});
}

void check_repeated_episodes(const Chart& chart, Found& found) {
  // In a world of few states good episodes coincide by chance.
  if (chart.data.observations.is_interned() || chart.columns.empty()) return;
  const auto repetitions = find_repetitions(chart);
  add_repetitions(chart, repetitions, true, found);
  add_repetitions(chart, repetitions, false, found);
}

void check_flags(const Chart& chart, Found& found) {
  const auto& data = chart.data;
  for (const auto& [column, name] :
       {std::pair{&data.terminals, "terminal"}, std::pair{&data.timeouts, "timeout"}}) {
    const auto inner = find_inner_flags(data, *column);
    if (inner.flags == 0) continue;
    found.push_back(
        {.key = "flag-inside",
         .severity = inner.only_before_the_end ? Severity::kNote : Severity::kWarning,
         .evidence = fmt::format("{} {} set before the last step of {}{}: {}",
                                 counted(inner.flags, name + std::string(" flag")),
                                 inner.flags == 1 ? "is" : "are",
                                 inner.episodes.size() == 1 ? "its episode" : "their episodes",
                                 inner.only_before_the_end ? ", up to the end" : "",
                                 listed(episode_names(chart, inner.episodes))),
         .advice = inner.only_before_the_end
                       ? "nothing, where success is marked until the end"
                       : "cut the episodes there, or clear the flags if they end nothing",
         .details = {{"flag", name},
                     {"flags", inner.flags},
                     {"episodes", episode_ids(chart, inner.episodes)}}});
  }
  const auto flagged = [&](std::int64_t episode) {
    const auto last = data.offsets[episode + 1] - 1;
    return (!data.terminals.empty() && data.terminals[last]) ||
           (!data.timeouts.empty() && data.timeouts[last]);
  };
  const auto last = data.episodes() - 1;
  if (data.timeouts.empty() || last < 1 || flagged(last)) return;
  for (std::int64_t i = 0; i < last; ++i)
    if (!flagged(i)) return;  // this file does not mark ends
  found.push_back({.key = "unfinished-episode",
                   .severity = Severity::kNote,
                   .evidence = fmt::format("The last one, {} with {}, is the only one without a "
                                           "flag at its end",
                                           chart.episode(last), counted(data.length(last), "step")),
                   .advice = "leave it out with --no-keep-partial if the recording broke off",
                   .details = {{"episodes", episode_ids(chart, {last})}}});
}

void check_rewards(const Chart& chart, Found& found) {
  const auto& rewards = chart.data.rewards;
  const char* advice =
      "nothing to do: only return-kmeans and --truth-return-change look at rewards";
  if (rewards.empty()) {
    found.push_back({.key = "no-rewards",
                     .severity = Severity::kNote,
                     .evidence = "There are no rewards",
                     .advice = advice});
    return;
  }
  const bool constant = std::ranges::all_of(rewards, [&](float r) { return r == rewards[0]; });
  if (!constant || rewards.size() < 2) return;
  found.push_back({.key = "constant-rewards",
                   .severity = Severity::kNote,
                   .evidence = fmt::format("Every reward is {:.4g}", rewards[0]),
                   .advice = advice,
                   .details = {{"value", rewards[0]}}});
}

}  // namespace kindred::doctor
