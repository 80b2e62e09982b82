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
constexpr std::int64_t kRowsBetween = 4096;  // one after the other, until memory is minded

std::vector<ColumnFacts> named_columns(const std::vector<std::string>& names, std::int64_t dim,
                                       const char* kind) {
  std::vector<ColumnFacts> columns(static_cast<std::size_t>(dim));
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].name = names.empty() ? fmt::format("{} {}", kind, i)
                                    : fmt::format("{} '{}'", kind, printable(names[i]));
  return columns;
}

/// The least and most of each column of rows, and whether all are finite.
class Ranges {
 public:
  explicit Ranges(std::size_t dim)
      : least_(dim, kHighest), most_(dim, -kHighest), not_finite_(dim, 0) {}

  void add(std::span<const float> rows) {
    const std::size_t dim = least_.size();
    float* __restrict least = least_.data();  // apart from each other: columns go side by side
    float* __restrict most = most_.data();
    std::int32_t* __restrict not_finite = not_finite_.data();
    for (std::size_t row = 0; row + dim <= rows.size(); row += dim)
      for (std::size_t c = 0; c < dim; ++c) {
        const float value = rows[row + c];
        const bool finite = std::abs(value) <= kHighest;
        not_finite[c] |= !finite;
        least[c] = std::min(least[c], finite ? value : kHighest);
        most[c] = std::max(most[c], finite ? value : -kHighest);
      }
  }

  void describe(std::vector<ColumnFacts>& columns) const {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c].finite = !not_finite_[c];
      columns[c].least = std::min(least_[c], most_[c]);
      columns[c].most = most_[c];
    }
  }

 private:
  static constexpr float kHighest = std::numeric_limits<float>::max();
  std::vector<float> least_, most_;
  std::vector<std::int32_t> not_finite_;
};

/// Shows `look` all rows, some at a time and in order, and copies on the way those that were drawn,
/// each with the one after it.
template <class T, class Look>
Column<T> copy_drawn(const Column<T>& rows, std::int64_t dim,
                     const std::vector<std::int64_t>& drawn, Look look) {
  StepValues<T> copies;
  copies.reserve(2 * drawn.size() * static_cast<std::size_t>(dim));
  auto next = drawn.begin();
  const auto count = rows.size() / dim;
  for (std::int64_t begin = 0; begin < count; begin += kRowsBetween) {
    const auto end = std::min(begin + kRowsBetween, count);
    look(rows.slice(begin * dim, (end - begin) * dim).span());
    for (; next != drawn.end() && *next < end; ++next)
      copies.insert(copies.end(), rows.begin() + *next * dim, rows.begin() + (*next + 2) * dim);
    mind_memory();
  }
  return copies;
}

/// What the values of one column at the sampled steps add.
template <class Value>
void describe_sample(ColumnFacts& facts, const std::vector<std::int64_t>& steps, Value value) {
  double sum = 0.0, squares = 0.0, count = 0.0;
  const double shift = facts.least;  // keeps the squares of far-off columns exact
  for (const auto step : steps) {
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

Chart::Chart(const Trajectories& trajectories)
    : data(trajectories), all{data.observations, data.actions} {
  observations = named_columns(data.observation_names, data.observations.dim(), "observation");
  actions = named_columns(data.action_names, data.actions.dim(), "action");
  const auto drawn = draw_steps();
  for (std::int64_t i = 0; i < std::ssize(drawn); ++i) sample.push_back(2 * i);
  describe_observations(drawn);
  describe_actions(drawn);
  std::vector<std::int64_t> varying;
  for (std::size_t c = 0; c < observations.size(); ++c)
    if (observations[c].finite && observations[c].deviation > 0.0)
      varying.push_back(static_cast<std::int64_t>(c));
  const auto count = std::ssize(varying), kept = std::min(count, kMostColumns);
  for (std::int64_t i = 0; i < kept; ++i)
    columns.push_back(varying[static_cast<std::size_t>(i * count / kept)]);
}

std::vector<std::int64_t> Chart::draw_steps() const {
  const auto wanted = std::min(data.steps(), std::clamp(kSampleNumbers / data.observations.dim(),
                                                        kLeastSample, kSampleSteps));
  Random random(0, "doctor");
  std::vector<std::int64_t> drawn;
  std::int64_t episode = 0;
  for (std::int64_t i = 0; i < wanted; ++i) {
    const double place = (static_cast<double>(i) + random.uniform()) / static_cast<double>(wanted);
    auto step = std::min(static_cast<std::int64_t>(place * static_cast<double>(data.steps())),
                         data.steps() - 1);
    while (data.offsets[episode + 1] <= step) ++episode;
    if (step + 1 == data.offsets[episode + 1]) --step;
    if (step >= data.offsets[episode] && (drawn.empty() || step > drawn.back()))
      drawn.push_back(step);
  }
  return drawn;
}

void Chart::describe_observations(const std::vector<std::int64_t>& drawn) {
  const auto& rows = data.observations;
  const auto nothing = [](auto) {};
  Ranges ranges(observations.size());
  if (rows.is_interned()) {
    ranges.add(rows.table().span());
    sampled.observations = Observations::interned(rows.table(), rows.dim(),
                                                  copy_drawn(rows.index(), 1, drawn, nothing));
  } else if (rows.is_bytes()) {
    sampled.observations =
        Observations::dense(copy_drawn(rows.bytes(), rows.dim(), drawn, nothing), rows.dim());
  } else {
    sampled.observations = Observations::dense(
        copy_drawn(rows.floats(), rows.dim(), drawn, [&](auto some) { ranges.add(some); }),
        rows.dim());
  }
  if (!rows.is_bytes()) ranges.describe(observations);
  for (std::size_t c = 0; c < observations.size(); ++c) {
    auto& facts = observations[c];
    const auto value = [&](std::int64_t row) {
      return sampled.seen(row, static_cast<std::int64_t>(c));
    };
    if (rows.is_bytes() && !sample.empty()) {
      facts.least = facts.most = value(sample[0]);
      for (const auto row : sample) {
        facts.least = std::min(facts.least, value(row));
        facts.most = std::max(facts.most, value(row));
      }
    }
    describe_sample(facts, sample, value);
  }
}

void Chart::describe_actions(const std::vector<std::int64_t>& drawn) {
  if (data.actions.is_discrete()) {
    const auto [least, most] = std::ranges::minmax(data.actions.ints().span());
    actions[0].least = static_cast<float>(least);
    actions[0].most = static_cast<float>(most);
    sampled.actions = Actions::discrete(copy_drawn(data.actions.ints(), 1, drawn, [](auto) {}),
                                        data.actions.count());
  } else {
    Ranges ranges(actions.size());
    sampled.actions = Actions::continuous(copy_drawn(data.actions.floats(), data.actions.dim(),
                                                     drawn, [&](auto some) { ranges.add(some); }),
                                          data.actions.dim());
    ranges.describe(actions);
  }
  for (std::size_t c = 0; c < actions.size(); ++c)
    describe_sample(actions[c], sample, [&](std::int64_t row) {
      return sampled.done(row, static_cast<std::int64_t>(c));
    });
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
