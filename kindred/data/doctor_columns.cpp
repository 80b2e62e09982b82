// The doctor's checks of columns: what each holds, and what it is to the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kindred/core/words.h"
#include "kindred/data/doctor_chart.h"
#include "kindred/data/least_squares.h"
#include "kindred/data/mind_memory.h"

namespace kindred::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPlacesKept = 100;  // in details
constexpr double kScaleRatio = 1e4;       // between deviations of columns
constexpr double kOffsetRatio = 1e5;      // of a mean to the deviation: 100 float32 steps
constexpr double kCopyCorrelation = 0.9995;
constexpr double kEqualTolerance = 1e-4;  // of the deviation
constexpr double kEqualShare = 0.9;       // of steps: clipped actions are not equal
constexpr std::int64_t kEqualSteps = 4'000;
constexpr std::int64_t kLeastSteps = 50;  // fewer prove nothing about columns

/// Places of numbers that are not finite: how many, and the first of them.
struct Places {
  std::int64_t count = 0;
  std::vector<std::string> shown;
  Json kept = Json::array();

  void add(const Chart& chart, std::int64_t step, const std::string& column, float value) {
    if (++count > static_cast<std::int64_t>(kPlacesKept)) return;
    const auto episode = chart.episode_of(step);
    const auto inside = step - chart.data.offsets[episode];
    shown.push_back(fmt::format("{} in {} at step {} (row {}) of {}", value, column, inside, step,
                                chart.episode(episode)));
    kept.push_back({{"column", column},
                    {"episode", chart.data.ids[static_cast<std::size_t>(episode)]},
                    {"step", inside},
                    {"row", step},
                    {"value", fmt::format("{}", value)}});
  }
};

/// Whether observations are numbers, not pixels or marks.
bool has_measures(const Chart& chart) {
  return !chart.data.observations.is_bytes() &&
         std::ranges::any_of(chart.observations, &ColumnFacts::measures);
}

std::vector<std::int64_t> measuring(const Chart& chart) {
  std::vector<std::int64_t> chosen;
  if (!chart.data.observations.is_bytes() && std::ssize(chart.sample) >= kLeastSteps)
    for (const auto c : chart.columns)
      if (chart.observations[static_cast<std::size_t>(c)].measures()) chosen.push_back(c);
  return chosen;
}

std::vector<std::int64_t> measuring_actions(const Chart& chart) {
  std::vector<std::int64_t> chosen;
  if (std::ssize(chart.sample) >= kLeastSteps)
    for (std::size_t c = 0; c < chart.actions.size(); ++c)
      if (chart.actions[c].measures() && chart.actions[c].deviation > 0.0)
        chosen.push_back(static_cast<std::int64_t>(c));
  return chosen;
}

/// How an action can be found among observations.
struct Relation {
  const char* name;
  const char* words;
  double (*observed)(const StepRows&, std::int64_t step, std::int64_t column);
  std::int64_t action_offset;
};

constexpr Relation kRelations[] = {
    {"same", "the observation of the same step",
     [](const StepRows& rows, std::int64_t step, std::int64_t column) -> double {
       return rows.seen(step, column);
     },
     0},
    {"next", "the next observation",
     [](const StepRows& rows, std::int64_t step, std::int64_t column) -> double {
       return rows.seen(step + 1, column);
     },
     0},
    {"previous", "the observation before",
     [](const StepRows& rows, std::int64_t step, std::int64_t column) -> double {
       return rows.seen(step, column);
     },
     1},
    {"difference", "the change to the next observation",
     [](const StepRows& rows, std::int64_t step, std::int64_t column) -> double {
       return double{rows.seen(step + 1, column)} - rows.seen(step, column);
     },
     0}};

/// The share of sampled steps at which an action equals what the relation takes from a column.
double equal_share(const Chart& chart, const Relation& relation, std::int64_t action,
                   std::int64_t column) {
  const auto& facts = chart.actions[static_cast<std::size_t>(action)];
  const auto count = std::ssize(chart.sample);
  const auto stride = std::max<std::int64_t>(1, count / kEqualSteps);
  const double tolerance = kEqualTolerance * facts.deviation;
  std::int64_t looked = 0, equal = 0;
  for (std::int64_t i = 0; i < count; i += stride) {
    const auto step = chart.sample[static_cast<std::size_t>(i)];
    const double act = chart.sampled.done(step + relation.action_offset, action);
    equal += std::abs(relation.observed(chart.sampled, step, column) - act) <= tolerance;
    if (++looked == kLeastSteps && equal < kLeastSteps / 2) return 0.0;  // clearly not
  }
  return static_cast<double>(equal) / static_cast<double>(looked);
}

/// Pairs (copy, original) among `chosen`; each copy once. row(step, room) are the columns of one.
template <class Row>
std::vector<std::pair<std::int64_t, std::int64_t>> copies_among(
    const Chart& chart, const std::vector<ColumnFacts>& columns,
    const std::vector<std::int64_t>& chosen, Row row) {
  std::vector<std::pair<std::int64_t, std::int64_t>> copies;
  if (chosen.size() < 2) return copies;
  std::vector<double> means, deviations;
  for (const auto c : chosen) {
    means.push_back(columns[static_cast<std::size_t>(c)].mean);
    deviations.push_back(columns[static_cast<std::size_t>(c)].deviation);
  }
  ProductSums products(chosen.size(), chosen.size());
  std::vector<float> room;
  for (const auto step : chart.sample) {
    const float* values = row(step, room);
    double* out = products.add_row();
    for (std::size_t i = 0; i < chosen.size(); ++i) out[i] = values[chosen[i]] - means[i];
  }
  const auto correlation = [&, count = static_cast<double>(chart.sample.size())](auto i, auto j) {
    return products.sum(i, j) / count / (deviations[i] * deviations[j]);
  };
  for (std::size_t j = 1; j < chosen.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      if (std::abs(correlation(i, j)) < kCopyCorrelation) continue;
      copies.emplace_back(chosen[j], chosen[i]);
      break;
    }
  return copies;
}

void add_copies(const std::vector<ColumnFacts>& columns,
                const std::vector<std::pair<std::int64_t, std::int64_t>>& copies, Found& found) {
  if (copies.empty()) return;
  std::vector<std::string> words;
  Json pairs = Json::array();
  for (const auto& [copy, original] : copies) {
    const auto& a = columns[static_cast<std::size_t>(copy)].name;
    const auto& b = columns[static_cast<std::size_t>(original)].name;
    words.push_back(fmt::format("{} of {}", a, b));
    pairs.push_back({{"copy", a}, {"of", b}});
  }
  found.push_back({.key = "copied-column",
                   .evidence = fmt::format(
                       "{} nearly a copy, up to scale and offset: {}",
                       copies.size() == 1 ? "One column is" : "Several columns are", listed(words)),
                   .advice = "leave one of each pair out (--obs-key), since copies count twice",
                   .details = {{"pairs", pairs}}});
}

/// The names of the columns with the largest and the smallest deviation, where they differ widely.
void add_scales(const std::vector<ColumnFacts>& columns, const std::vector<std::int64_t>& chosen,
                Found& found) {
  if (chosen.size() < 2) return;
  const auto by_deviation = [&](std::int64_t a, std::int64_t b) {
    return columns[static_cast<std::size_t>(a)].deviation <
           columns[static_cast<std::size_t>(b)].deviation;
  };
  const auto [least, most] = std::ranges::minmax_element(chosen, by_deviation);
  const auto& small = columns[static_cast<std::size_t>(*least)];
  const auto& large = columns[static_cast<std::size_t>(*most)];
  if (small.deviation <= 0.0 || large.deviation < kScaleRatio * small.deviation) return;
  found.push_back({.key = "scales-differ",
                   .evidence = fmt::format("{} varies by {:.2g} and {} by {:.2g}", large.name,
                                           large.deviation, small.name, small.deviation),
                   .advice = "check the units, and whether a few huge values stand for 'missing'",
                   .details = {{"largest", large.name},
                               {"largest_deviation", large.deviation},
                               {"smallest", small.name},
                               {"smallest_deviation", small.deviation}}});
}

/// "2π" for 6.28, else the number.
std::string period_words(double period) {
  constexpr double kPi = std::numbers::pi;
  for (const auto& [value, words] : {std::pair{2 * kPi, "2π"},
                                     {kPi, "π"},
                                     {360.0, "360"},
                                     {180.0, "180"},
                                     {2.0, "2"},
                                     {1.0, "1"}})
    if (std::abs(period / value - 1.0) < 0.03) return words;
  return fmt::format("{:.3g}", period);
}

/// How often a column goes from one end of its range to the other within a step, and how often far
/// but not so far: an angle does only the first.
struct Leaps {
  std::int64_t across = 0, far = 0;
  std::int64_t first = -1;  ///< The step before the first leap.
};

/// What counts as across, of columns that range as far.
float across_range(const ColumnFacts& facts) { return 0.85f * (facts.most - facts.least); }

/// Of several columns, in one pass over the steps: [columns].
std::vector<Leaps> count_leaps(const Chart& chart, const std::vector<std::int64_t>& columns) {
  std::vector<float> across, far, before(columns.size()), now(columns.size());
  for (const auto column : columns) {
    const auto& facts = chart.observations[static_cast<std::size_t>(column)];
    across.push_back(across_range(facts));
    far.push_back(0.3f * (facts.most - facts.least));
  }
  std::vector<Leaps> leaps(columns.size());
  for (std::int64_t i = 0; i < chart.data.episodes(); ++i) {
    mind_memory();
    for (auto step = chart.data.offsets[i]; step < chart.data.offsets[i + 1]; ++step) {
      chart.all.copy(step, columns, now.data());
      std::swap(now, before);
      if (step == chart.data.offsets[i]) continue;
      int any = 0;  // seldom: all columns are looked at side by side first
      for (std::size_t c = 0; c < now.size(); ++c) any |= std::abs(before[c] - now[c]) > far[c];
      for (std::size_t c = 0; any && c < now.size(); ++c) {
        const float leap = std::abs(before[c] - now[c]);
        if (leap <= far[c]) continue;
        ++(leap > across[c] ? leaps[c].across : leaps[c].far);
        if (leap > across[c] && leaps[c].first < 0) leaps[c].first = step - 1;
      }
    }
  }
  return leaps;
}

/// Values lie all over the range, not at its ends, as a switch's would.
bool spreads(const Chart& chart, std::int64_t column) {
  const auto& facts = chart.observations[static_cast<std::size_t>(column)];
  const double range = double{facts.most} - facts.least;
  const auto inner = std::ranges::count_if(chart.sample, [&](std::int64_t step) {
    const double place = (chart.sampled.seen(step, column) - double{facts.least}) / range;
    return place > 0.1 && place < 0.9;
  });
  return inner * 4 >= std::ssize(chart.sample);
}

}  // namespace

void check_finite_numbers(const Chart& chart, Found& found) {
  Places places;
  const auto look = [&](const std::vector<ColumnFacts>& columns, auto value) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].finite) continue;
      for (std::int64_t step = 0; step < chart.data.steps(); ++step)
        if (const float v = value(step, static_cast<std::int64_t>(c)); !std::isfinite(v))
          places.add(chart, step, columns[c].name, v);
    }
  };
  look(chart.observations, [&](auto step, auto column) { return chart.seen(step, column); });
  look(chart.actions, [&](auto step, auto column) { return chart.done(step, column); });
  for (std::int64_t step = 0; step < chart.data.rewards.size(); ++step)
    if (!std::isfinite(chart.data.rewards[step]))
      places.add(chart, step, "the reward", chart.data.rewards[step]);
  if (places.count == 0) return;
  found.push_back(
      {.key = "not-finite",
       .evidence =
           fmt::format("{} not finite: {}",
                       places.count == 1 ? "1 number is" : grouped(places.count) + " numbers are",
                       listed(places.shown, 3)),
       .advice = "repair these numbers or remove these episodes; clustering refuses observations "
                 "and actions that are not finite",
       .details = {{"count", places.count}, {"places", places.kept}}});
}

void check_actions_among_observations(const Chart& chart, Found& found) {
  const auto columns = measuring(chart);
  for (const auto& relation : kRelations) {
    std::vector<std::string> pairs;
    Json details = Json::array();
    double least = 1.0;
    for (const auto action : measuring_actions(chart))
      for (const auto column : columns) {
        const double share = equal_share(chart, relation, action, column);
        if (share < kEqualShare) continue;
        const auto& act = chart.actions[static_cast<std::size_t>(action)].name;
        const auto& seen = chart.observations[static_cast<std::size_t>(column)].name;
        pairs.push_back(fmt::format("{} is {}", act, seen));
        details.push_back({{"action", act}, {"observation", seen}, {"share", share}});
        least = std::min(least, share);
        break;
      }
    if (pairs.empty()) continue;
    const bool change = relation.name == std::string_view("difference");
    found.push_back(
        {.key = change ? "action-is-change" : "action-is-observation",
         .severity = change ? Severity::kNote : Severity::kWarning,
         .evidence = fmt::format("In at least {:.0f} % of the steps an action equals {}: {}",
                                 std::floor(100.0 * least), relation.words, listed(pairs)),
         .advice = change ? "fine where the world moves by the action; else these actions were "
                            "made from observations and show no policy"
                          : "leave that observation out (--obs-key), or record what the policy "
                            "decided: equal columns show how it was recorded, not who acted",
         .details = {{"relation", relation.name}, {"pairs", details}}});
  }
}

void check_constant_columns(const Chart& chart, Found& found) {
  const auto add = [&](const std::vector<ColumnFacts>& columns, Severity severity,
                       const char* advice) {
    std::vector<std::string> words;
    Json names = Json::array();
    for (const auto& column : columns) {
      if (!column.constant()) continue;
      words.push_back(fmt::format("{} ({:.4g})", column.name, column.least));
      names.push_back(column.name);
    }
    if (words.empty()) return;
    found.push_back(
        {.key = "constant-column",
         .severity = severity,
         .evidence = fmt::format(
             "{} never {}: {}",
             words.size() == 1 ? std::string("1 column") : fmt::format("{} columns", words.size()),
             words.size() == 1 ? "changes" : "change", listed(words)),
         .advice = advice,
         .details = {{"columns", names}}});
  };
  if (chart.data.steps() < kLeastSteps) return;
  if (has_measures(chart))
    add(chart.observations, Severity::kNote,
        "harmless if it is so in the world; else look how it was recorded");
  add(chart.actions, Severity::kWarning,
      "look how the action was recorded: what never changes shows no policy");
}

void check_scales(const Chart& chart, Found& found) {
  add_scales(chart.observations, measuring(chart), found);
  add_scales(chart.actions, measuring_actions(chart), found);
}

void check_precision(const Chart& chart, Found& found) {
  std::vector<std::string> words;
  Json details = Json::array();
  for (const auto c : measuring(chart)) {
    const auto& facts = chart.observations[static_cast<std::size_t>(c)];
    if (std::abs(facts.mean) < kOffsetRatio * facts.deviation) continue;
    words.push_back(fmt::format("{} is near {:.4g} and varies by {:.2g}", facts.name, facts.mean,
                                facts.deviation));
    details.push_back(
        {{"column", facts.name}, {"mean", facts.mean}, {"deviation", facts.deviation}});
  }
  if (words.empty()) return;
  found.push_back(
      {.key = "precision-lost",
       .evidence = fmt::format("32-bit numbers leave little of a column: {}", listed(words)),
       .advice = "subtract its first value, or leave it out (--obs-key)",
       .details = {{"columns", details}}});
}

void check_copied_columns(const Chart& chart, Found& found) {
  add_copies(chart.observations,
             copies_among(chart, chart.observations, measuring(chart),
                          [&](auto step, auto& room) { return chart.sampled.seen(step, room); }),
             found);
  add_copies(chart.actions,
             copies_among(chart, chart.actions, measuring_actions(chart),
                          [&](auto step, auto& room) { return chart.sampled.done(step, room); }),
             found);
}

void check_wrapping(const Chart& chart, Found& found) {
  constexpr std::int64_t kLeastLeaps = 3;
  std::vector<std::string> words;
  Json details = Json::array();
  auto columns = measuring(chart);
  std::erase_if(columns, [&](std::int64_t c) {
    const auto& facts = chart.observations[static_cast<std::size_t>(c)];
    return !(facts.farthest > across_range(facts)) || !spreads(chart, c);  // most do not leap
  });
  if (columns.empty()) return;
  const auto leaps_of = count_leaps(chart, columns);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& leaps = leaps_of[i];
    // An angle leaps seldom, and hardly ever half way.
    if (leaps.across < kLeastLeaps || leaps.far * 10 > leaps.across ||
        leaps.across * 10 > chart.data.steps())
      continue;
    const auto& facts = chart.observations[static_cast<std::size_t>(columns[i])];
    const auto period = period_words(double{facts.most} - facts.least);
    const auto episode = chart.episode_of(leaps.first);
    words.push_back(
        fmt::format("{} leaps by {} {} (first at step {} of {})", facts.name, period,
                    leaps.across == 1 ? "once" : fmt::format("{} times", grouped(leaps.across)),
                    leaps.first - chart.data.offsets[episode], chart.episode(episode)));
    details.push_back({{"column", facts.name},
                       {"period", double{facts.most} - facts.least},
                       {"leaps", leaps.across},
                       {"first_row", leaps.first}});
  }
  if (words.empty()) return;
  found.push_back(
      {.key = "angle-wraps",
       .evidence = fmt::format("From one end of its range to the other within a step: {}",
                               listed(words, 3)),
       .advice = "store sine and cosine of the angle in its place",
       .details = {{"columns", details}}});
}

}  // namespace kindred::doctor
