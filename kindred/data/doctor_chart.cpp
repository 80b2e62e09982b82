#include "kindred/data/doctor_chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "kindred/core/random.h"
#include "kindred/core/words.h"
#include "kindred/data/mind_memory.h"

namespace kindred::doctor {
namespace {

constexpr std::int64_t kSampleSteps = 20'000;
constexpr std::int64_t kSampleNumbers = 8'000'000;
constexpr std::int64_t kLeastSample = 2'000;
constexpr std::int64_t kMostColumns = 128;
constexpr std::size_t kRowsBetween = 4096;  // one after the other, until memory is minded

std::vector<ColumnFacts> named_columns(const std::vector<std::string>& names, std::int64_t dim,
                                       const char* kind) {
  std::vector<ColumnFacts> columns(static_cast<std::size_t>(dim));
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].name = names.empty() ? fmt::format("{} {}", kind, i)
                                    : fmt::format("{} '{}'", kind, printable(names[i]));
  return columns;
}

/// The least and most of each column of `values`, and whether all are finite.
void find_ranges(std::span<const float> values, std::vector<ColumnFacts>& columns) {
  constexpr float kHighest = std::numeric_limits<float>::max();
  const std::size_t dim = columns.size();
  std::vector<float> least(dim, kHighest), most(dim, -kHighest);
  std::vector<std::uint8_t> bad(dim, 0);
  for (std::size_t row = 0; row + dim <= values.size(); row += dim) {
    if (row / dim % kRowsBetween == 0) mind_memory();
    for (std::size_t c = 0; c < dim; ++c) {
      const float value = values[row + c];
      const bool finite = std::abs(value) <= kHighest;
      bad[c] |= static_cast<std::uint8_t>(!finite);
      least[c] = finite && value < least[c] ? value : least[c];
      most[c] = finite && value > most[c] ? value : most[c];
    }
  }
  for (std::size_t c = 0; c < dim; ++c) {
    columns[c].finite = !bad[c];
    columns[c].least = std::min(least[c], most[c]);
    columns[c].most = most[c];
  }
}

/// What the values of one column at the sampled steps add.
template <class Value>
void describe_sample(ColumnFacts& facts, const std::vector<std::int64_t>& steps, Value value) {
  double sum = 0.0, squares = 0.0, count = 0.0;
  const double shift = facts.least;  // keeps the squares of far-off columns exact
  std::size_t looked_at = 0;
  for (const auto step : steps) {
    if (++looked_at % kStepsBetween == 0) mind_memory();
    const float v = value(step);
    if (!std::isfinite(v)) continue;
    facts.binary = facts.binary && (v == facts.least || v == facts.most);
    sum += v - shift;
    squares += (v - shift) * (v - shift);
    count += 1.0;
  }
  if (count == 0.0) return;
  facts.mean = shift + sum / count;
  facts.deviation = std::sqrt(std::max(0.0, squares / count - (sum / count) * (sum / count)));
}

}  // namespace

Chart::Chart(const Trajectories& trajectories) : data(trajectories) {
  observations = named_columns(data.observation_names, data.observations.dim(), "observation");
  actions = named_columns(data.action_names, data.actions.dim(), "action");
  take_sample();
  describe_observations();
  describe_actions();
  std::vector<std::int64_t> varying;
  for (std::size_t c = 0; c < observations.size(); ++c)
    if (observations[c].finite && observations[c].deviation > 0.0)
      varying.push_back(static_cast<std::int64_t>(c));
  const auto count = std::ssize(varying), kept = std::min(count, kMostColumns);
  for (std::int64_t i = 0; i < kept; ++i)
    columns.push_back(varying[static_cast<std::size_t>(i * count / kept)]);
}

void Chart::take_sample() {
  const auto wanted = std::min(data.steps(), std::clamp(kSampleNumbers / data.observations.dim(),
                                                        kLeastSample, kSampleSteps));
  Random random(0, "doctor");
  std::int64_t episode = 0;
  for (std::int64_t i = 0; i < wanted; ++i) {
    const double place = (static_cast<double>(i) + random.uniform()) / static_cast<double>(wanted);
    auto step = std::min(static_cast<std::int64_t>(place * static_cast<double>(data.steps())),
                         data.steps() - 1);
    while (data.offsets[episode + 1] <= step) ++episode;
    if (step + 1 == data.offsets[episode + 1]) --step;
    if (step >= data.offsets[episode] && (sample.empty() || step > sample.back()))
      sample.push_back(step);
  }
}

void Chart::describe_observations() {
  const auto& rows = data.observations;
  if (!rows.is_bytes()) find_ranges(rows.floats().span(), observations);  // the table if interned
  for (std::size_t c = 0; c < observations.size(); ++c) {
    auto& facts = observations[c];
    const auto value = [&](std::int64_t step) { return seen(step, static_cast<std::int64_t>(c)); };
    if (rows.is_bytes() && !sample.empty()) {
      facts.least = facts.most = value(sample[0]);
      for (const auto step : sample) {
        facts.least = std::min(facts.least, value(step));
        facts.most = std::max(facts.most, value(step));
      }
    }
    describe_sample(facts, sample, value);
  }
}

void Chart::describe_actions() {
  if (data.actions.is_discrete()) {
    const auto [least, most] = std::ranges::minmax(data.actions.ints().span());
    actions[0].least = static_cast<float>(least);
    actions[0].most = static_cast<float>(most);
  } else {
    find_ranges(data.actions.floats().span(), actions);
  }
  for (std::size_t c = 0; c < actions.size(); ++c)
    describe_sample(actions[c], sample,
                    [&](std::int64_t step) { return done(step, static_cast<std::int64_t>(c)); });
}

std::string Chart::episode(std::int64_t number) const {
  const auto& id = data.ids[static_cast<std::size_t>(number)];
  return id == std::to_string(number) ? "episode " + id
                                      : fmt::format("episode '{}'", printable(id));
}

std::int64_t Chart::episode_of(std::int64_t step) const {
  return std::ranges::upper_bound(data.offsets.span(), step) - data.offsets.begin() - 1;
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  if (names.empty()) return "";
  const bool all = names.size() <= most;
  const auto shown = std::span(names).first(all ? names.size() - 1 : most);
  const auto last = all ? names.back() : fmt::format("{} more", names.size() - most);
  return shown.empty() ? last : fmt::format("{} and {}", fmt::join(shown, ", "), last);
}

std::string counted(std::int64_t count, const std::string& thing) {
  return fmt::format("{} {}{}", grouped(count), thing, count == 1 ? "" : "s");
}

}  // namespace kindred::doctor
