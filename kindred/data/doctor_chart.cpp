#include "kindred/data/doctor_chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "kindred/core/random.h"
#include "kindred/core/vectorise.h"
#include "kindred/core/words.h"
#include "kindred/data/mind_memory.h"

namespace kindred::doctor {
namespace {

constexpr std::int64_t kSampleSteps = 20'000;
constexpr std::int64_t kSampleNumbers = 8'000'000;
constexpr std::int64_t kLeastSample = 2'000;
constexpr std::int64_t kMostColumns = 128;
constexpr std::int64_t kRowsBetween = 4096;  // one after the other, until memory is minded
constexpr std::size_t kRowsSideBySide = 16, kNumbersSideBySide = 512;

std::vector<ColumnFacts> named_columns(const std::vector<std::string>& names, std::int64_t dim,
                                       const char* kind) {
  std::vector<ColumnFacts> columns(static_cast<std::size_t>(dim));
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].name = names.empty() ? fmt::format("{} {}", kind, i)
                                    : fmt::format("{} '{}'", kind, printable(names[i]));
  return columns;
}

constexpr float kHighest = std::numeric_limits<float>::max();

/// Widens the ranges of columns by `count` numbers, and their farthest changes by the differences
/// from the numbers `back` before. Several rows lie side by side, so that no vector is cut short.
KINDRED_VECTORISE
void widen(const float* numbers, std::size_t count, std::size_t back, float* __restrict least,
           float* __restrict most, float* __restrict farthest,
           std::int32_t* __restrict not_finite) {
  for (std::size_t i = 0; i < count; ++i) {
    const float value = numbers[i];
    const bool finite = std::abs(value) <= kHighest;
    not_finite[i] |= !finite;
    least[i] = std::min(least[i], finite ? value : kHighest);
    most[i] = std::max(most[i], finite ? value : -kHighest);
    farthest[i] = std::max(farthest[i], std::abs(value - *(numbers + i - back)));
  }
}

/// The least and most of each column of rows, whether all are finite, and how far they change.
class Ranges {
 public:
  explicit Ranges(std::size_t dim)
      : dim_(dim),
        rows_(std::clamp<std::size_t>(kNumbersSideBySide / std::max<std::size_t>(dim, 1), 1,
                                      kRowsSideBySide)),
        least_(rows_ * dim, kHighest),
        most_(rows_ * dim, -kHighest),
        farthest_(rows_ * dim, 0.0f),
        not_finite_(rows_ * dim, 0) {}

  /// Rows that have nothing to do with each other.
  void add(std::span<const float> rows) {
    const auto most = rows_ * dim_;
    for (; !rows.empty(); rows = rows.subspan(std::min(most, rows.size())))
      add(rows.data(), std::min(most, rows.size()) / dim_, 0);
  }
  /// Rows [begin, end) of all steps: parts of episodes.
  void add(const Column<float>& rows, std::int64_t begin, std::int64_t end,
           const Column<std::int64_t>& offsets) {
    const float* first = rows.data();
    const auto dim = static_cast<std::int64_t>(dim_);
    for (auto step = begin; step < end;) {
      while (offsets[episode_ + 1] <= step) ++episode_;
      if (step == offsets[episode_]) add(first + step++ * dim, 1, 0);
      for (const auto part = std::min(end, offsets[episode_ + 1]); step < part;) {
        const auto some = std::min(part - step, static_cast<std::int64_t>(rows_));
        add(first + step * dim, static_cast<std::size_t>(some), dim_);
        step += some;
      }
    }
  }

  void describe(std::vector<ColumnFacts>& columns) const {
    for (std::size_t c = 0; c < dim_; ++c) {
      float least = kHighest, most = -kHighest;
      auto& facts = columns[c];
      for (auto i = c; i < least_.size(); i += dim_) {
        facts.finite = facts.finite && !not_finite_[i];
        least = std::min(least, least_[i]);
        most = std::max(most, most_[i]);
      }
      facts.least = std::min(least, most);
      facts.most = most;
    }
  }
  void describe_changes(std::vector<ColumnFacts>& columns) const {
    for (std::size_t c = 0; c < dim_; ++c) {
      columns[c].farthest = 0.0f;
      for (auto i = c; i < farthest_.size(); i += dim_)
        columns[c].farthest = std::max(columns[c].farthest, farthest_[i]);
    }
  }

 private:
  void add(const float* numbers, std::size_t rows, std::size_t back) {
    widen(numbers, rows * dim_, back, least_.data(), most_.data(), farthest_.data(),
          not_finite_.data());
  }

  std::size_t dim_, rows_;
  std::int64_t episode_ = 0;                    // of the last rows
  std::vector<float> least_, most_, farthest_;  // [rows, dim]
  std::vector<std::int32_t> not_finite_;        // the same
};

/// Has `look` go over all rows, some at a time and in order, and copies on the way those that were
/// drawn, each with the one after it.
template <class T, class Look>
Column<T> copy_drawn(const Column<T>& rows, std::int64_t dim,
                     const std::vector<std::int64_t>& drawn, Look look) {
  StepValues<T> copies;
  copies.reserve(2 * drawn.size() * static_cast<std::size_t>(dim));
  auto next = drawn.begin();
  const auto count = rows.size() / dim;
  for (std::int64_t begin = 0; begin < count; begin += kRowsBetween) {
    const auto end = std::min(begin + kRowsBetween, count);
    look(begin, end);
    for (; next != drawn.end() && *next < end; ++next)
      copies.insert(copies.end(), rows.begin() + *next * dim, rows.begin() + (*next + 2) * dim);
    mind_memory();
  }
  return copies;
}

/// What sampled steps say of columns that lie side by side.
struct SampleSums {
  explicit SampleSums(const std::vector<ColumnFacts>& columns)
      : sum(columns.size(), 0.0), squares(sum), count(sum), other(columns.size(), 0) {
    for (const auto& facts : columns) {
      least.push_back(facts.least);
      most.push_back(facts.most);
    }
  }

  std::vector<float> least, most;
  std::vector<double> sum, squares, count;  ///< Of finite values, from the least one on.
  std::vector<std::int32_t> other;          ///< Whether one is neither the least nor the most.
};

KINDRED_VECTORISE_ALIKE
void add_sample(std::size_t dim, const float* __restrict row, const float* __restrict least,
                const float* __restrict most, double* __restrict sum, double* __restrict squares,
                double* __restrict count, std::int32_t* __restrict other) {
  for (std::size_t c = 0; c < dim; ++c) {
    const bool finite = std::abs(row[c]) <= kHighest;
    other[c] |= finite & (row[c] != least[c]) & (row[c] != most[c]);
    // From the least on: keeps the squares of far-off columns exact.
    const double value = finite ? row[c] - double{least[c]} : 0.0;
    sum[c] += value;
    squares[c] += value * value;
    count[c] += finite ? 1.0 : 0.0;
  }
}

/// The least and most of bytes, in the sampled steps: row(step, room) are the numbers of one.
template <class Row>
void describe_range(std::vector<ColumnFacts>& columns, const std::vector<std::int64_t>& steps,
                    Row row) {
  std::vector<float> room;
  for (const auto step : steps) {
    const float* values = row(step, room);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      auto& facts = columns[c];
      facts.least = step == steps[0] ? values[c] : std::min(facts.least, values[c]);
      facts.most = step == steps[0] ? values[c] : std::max(facts.most, values[c]);
    }
  }
}

/// What the sampled steps add: row(step, room) are the numbers of one.
template <class Row>
void describe_sample(std::vector<ColumnFacts>& columns, const std::vector<std::int64_t>& steps,
                     Row row) {
  SampleSums sums(columns);
  std::vector<float> room;
  for (const auto step : steps)
    add_sample(columns.size(), row(step, room), sums.least.data(), sums.most.data(),
               sums.sum.data(), sums.squares.data(), sums.count.data(), sums.other.data());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    auto& facts = columns[c];
    const double count = sums.count[c];
    if (count == 0.0) continue;
    const double mean = sums.sum[c] / count;
    facts.binary = !sums.other[c];
    facts.mean = facts.least + mean;
    facts.deviation = std::sqrt(std::max(0.0, sums.squares[c] / count - mean * mean));
  }
}

}  // namespace

Chart::Chart(const Trajectories& trajectories)
    : data(trajectories), all{data.observations, data.actions} {
  observations = named_columns(data.observation_names, data.observations.dim(), "observation");
  actions = named_columns(data.action_names, data.actions.dim(), "action");
  const auto drawn = draw_steps();
  sample.resize(drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) sample[i] = static_cast<std::int64_t>(2 * i);
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
  drawn.reserve(static_cast<std::size_t>(wanted));
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
  const auto nothing = [](auto, auto) {};
  const auto seen = [&](std::int64_t row, auto& room) { return sampled.seen(row, room); };
  if (rows.is_bytes()) {
    sampled.observations =
        Observations::dense(copy_drawn(rows.bytes(), rows.dim(), drawn, nothing), rows.dim());
    describe_range(observations, sample, seen);
  } else {
    Ranges ranges(observations.size());
    if (rows.is_interned()) {
      ranges.add(rows.table().span());
      sampled.observations = Observations::interned(rows.table(), rows.dim(),
                                                    copy_drawn(rows.index(), 1, drawn, nothing));
    } else {
      const auto look = [&](auto begin, auto end) {
        ranges.add(rows.floats(), begin, end, data.offsets);
      };
      sampled.observations =
          Observations::dense(copy_drawn(rows.floats(), rows.dim(), drawn, look), rows.dim());
      ranges.describe_changes(observations);
    }
    ranges.describe(observations);
  }
  describe_sample(observations, sample, seen);
}

void Chart::describe_actions(const std::vector<std::int64_t>& drawn) {
  const auto& rows = data.actions;
  if (rows.is_discrete()) {
    const auto [least, most] = std::ranges::minmax(rows.ints().span());
    actions[0].least = static_cast<float>(least);
    actions[0].most = static_cast<float>(most);
    sampled.actions =
        Actions::discrete(copy_drawn(rows.ints(), 1, drawn, [](auto, auto) {}), rows.count());
  } else {
    Ranges ranges(actions.size());
    const auto look = [&](auto begin, auto end) {
      ranges.add(rows.floats(), begin, end, data.offsets);
    };
    sampled.actions =
        Actions::continuous(copy_drawn(rows.floats(), rows.dim(), drawn, look), rows.dim());
    ranges.describe(actions);
  }
  describe_sample(actions, sample,
                  [&](std::int64_t row, auto& room) { return sampled.done(row, room); });
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
