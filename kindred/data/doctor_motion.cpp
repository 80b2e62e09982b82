#include "kindred/data/doctor_motion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <unordered_map>

#include "kindred/core/vectorise.h"
#include "kindred/data/least_squares.h"
#include "kindred/data/mind_memory.h"

namespace kindred::doctor {
namespace {

constexpr std::int64_t kEnoughEpisodes = 20;  // to know how episodes begin
constexpr std::int64_t kSeamColumns = 64;
constexpr std::int64_t kOneHotActions = 16;
constexpr std::int64_t kStepsPerInput = 10;  // for a model of the motion
constexpr double kHighQuantile = 0.999;
constexpr double kLeastStep = 0.01;        // deviations: smaller changes are no leaps
constexpr double kLeap = 4.0;              // times what 999 of 1,000 steps stay below
constexpr double kFairMotion = 0.25;       // of the way of an average step
constexpr double kRareTransition = 0.002;  // of the visits to a state
constexpr double kCommonShare = 0.005;     // of the episodes: a usual first or last state

/// A quantile near the highest of `count` numbers, of which only those above it are kept.
class UpperQuantile {
 public:
  UpperQuantile(double share, std::size_t count)
      : kept_(count - static_cast<std::size_t>(share * static_cast<double>(count - 1))) {
    highest_.reserve(kept_ + 1);
  }

  void add(std::span<const double> numbers) {
    if (highest_.size() == kept_) {
      int higher = 0;  // seldom: all are looked at side by side first
      for (const double number : numbers) higher |= number > highest_.front();
      if (!higher) return;
    }
    for (const double number : numbers) {
      if (highest_.size() == kept_ && !(number > highest_.front())) continue;
      highest_.push_back(number);
      std::ranges::push_heap(highest_, std::greater{});
      if (highest_.size() <= kept_) continue;
      std::ranges::pop_heap(highest_, std::greater{});
      highest_.pop_back();
    }
  }
  /// Once all numbers were added.
  double value() const { return highest_.front(); }

 private:
  std::size_t kept_;
  std::vector<double> highest_;  // a heap, the least of them first
};

/// Below it are the same floats as below `number`.
float least_float_from(double number) {
  const auto nearest = static_cast<float>(number);
  return nearest < number ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                          : nearest;
}

KINDRED_VECTORISE_ALIKE
void standardise(double mean, double deviation, double* numbers) {
  for (std::size_t e = 0; e < kExamplesAtOnce; ++e) numbers[e] = (numbers[e] - mean) / deviation;
}

/// Bounds of columns, repeated for several rows, so that rows are compared with them side by side.
struct RowBounds {
  static constexpr std::size_t kRows = 16;

  std::vector<float> least, most;  ///< Where episodes begin: [rows, columns].
  std::vector<float> leap;         ///< Changes below are no leaps.
  static void repeat(std::vector<float>& bounds) {
    const auto columns = bounds.size();
    bounds.resize(kRows * columns);
    for (auto i = columns; i < bounds.size(); ++i) bounds[i] = bounds[i - columns];
  }
};

/// Marks what lies outside of the bounds.
KINDRED_VECTORISE
void mark_outside(std::size_t count, const float* __restrict numbers, const float* __restrict least,
                  const float* __restrict most, std::uint8_t* __restrict outside) {
  for (std::size_t i = 0; i < count; ++i)
    outside[i] = (numbers[i] < least[i]) | (numbers[i] > most[i]);
}

/// Whether any number is so far from the one `back` before.
KINDRED_VECTORISE
bool any_leaps(std::size_t count, std::size_t back, const float* numbers, const float* leap) {
  int any = 0;
  for (std::size_t i = 0; i < count; ++i)
    any |= std::abs(numbers[i] - *(numbers + i - back)) >= leap[i];
  return any != 0;
}

static_assert(std::endian::native == std::endian::little, "marks are taken eight at a time");

/// How many of at most 64 marks are set; up to seven bytes behind them are read.
std::int64_t count_marks(const std::uint8_t* marks, std::size_t count) {
  static_assert(kSeamColumns <= 64);
  std::uint64_t sums = 0;  // eight of them, each in a byte
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, marks + i, sizeof eight);
    const auto beyond = i + 8 > count ? i + 8 - count : 0;  // marks of the next row
    sums += eight << 8 * beyond;
  }
  return static_cast<std::int64_t>(sums * 0x0101010101010101 >> 56);  // their sum
}

/// Numbers that move: the next observation is predicted from observation and action, linearly, and
/// a step is odd by how far it misses, in each column, what all but one in a thousand stay below.
class LinearMotion : public Motion {
 public:
  explicit LinearMotion(const Chart& chart) : chart_(chart) {
    const auto all = std::ssize(chart.columns), kept = std::min(all, kSeamColumns);
    for (std::int64_t i = 0; i < kept; ++i)
      columns_.push_back(chart.columns[static_cast<std::size_t>(i * all / kept)]);
    const auto& actions = chart.data.actions;
    if (actions.is_discrete())
      choices_ = actions.count() <= kOneHotActions ? actions.count() : 0;
    else
      for (std::size_t a = 0; a < chart.actions.size(); ++a)
        if (chart.actions[a].finite && chart.actions[a].deviation > 0.0) moving_.push_back(a);
    usable_ = !columns_.empty() && std::ssize(chart.sample) >= kStepsPerInput * inputs();
    if (!usable_) return;
    fit();
    find_starts();
  }

  bool usable() const { return usable_; }

  bool goes_on(std::int64_t from, std::int64_t to) const override {
    if (starts_known_ && like_start(chart_.all, to)) return false;
    if (!moves(from)) return false;       // what rests between episodes is the same after them
    return count_leaps(from, to) == 0 &&  // spares most the prediction
           surprise(from, to) <= 1.0;
  }

  void find_new_beginnings(std::int64_t begin, std::int64_t end,
                           std::vector<std::int64_t>& steps) const override {
    const auto columns = columns_.size();
    std::vector<float> room;
    std::vector<std::uint8_t> outside(RowBounds::kRows * columns + sizeof(std::uint64_t));
    for (auto to = begin + 1; to < end; to += RowBounds::kRows) {
      const auto count = std::min<std::int64_t>(RowBounds::kRows, end - to);
      const auto numbers = static_cast<std::size_t>(count) * columns;
      const float* rows = rows_of(to - 1, to + count, room) + columns;
      const bool leaps = any_leaps(numbers, columns, rows, bounds_.leap.data());
      if (starts_known_)
        mark_outside(numbers, rows, bounds_.least.data(), bounds_.most.data(), outside.data());
      else if (!leaps)
        continue;
      const std::uint8_t* marks = outside.data();
      for (auto step = to - 1; step < to - 1 + count; ++step, marks += columns)
        if ((starts_known_ && count_marks(marks, columns) <= outside_by_chance() &&
             unlike_start(step) && surprise(step, step + 1) > 1.0) ||
            (leaps && count_leaps(step, step + 1) >= several()))
          steps.push_back(step);
    }
  }

 private:
  std::int64_t inputs() const { return std::ssize(columns_) + std::ssize(moving_) + choices_ + 1; }
  /// A change of the whole state, not of one odd column.
  std::int64_t several() const {
    return std::max(std::min<std::int64_t>(2, std::ssize(columns_)), std::ssize(columns_) / 4);
  }
  /// Of many columns some lie outside of where episodes begin.
  std::int64_t outside_by_chance() const { return std::ssize(columns_) / 8; }
  const ColumnFacts& facts(std::size_t c) const {
    return chart_.observations[static_cast<std::size_t>(columns_[c])];
  }
  // Steps are rows of the data or of the sample.
  double seen(const StepRows& rows, std::int64_t step, std::size_t c) const {
    return (rows.seen(step, columns_[c]) - facts(c).mean) / facts(c).deviation;
  }
  double change(const StepRows& rows, std::int64_t from, std::int64_t to, std::size_t c) const {
    return (double{rows.seen(to, columns_[c])} - rows.seen(from, columns_[c])) / facts(c).deviation;
  }

  /// The columns of steps [begin, end): where they lie if these are all, else copied to `room`.
  const float* rows_of(std::int64_t begin, std::int64_t end, std::vector<float>& room) const {
    const auto& rows = chart_.data.observations;
    if (!rows.is_bytes() && std::ssize(columns_) == rows.dim())
      return rows.floats().data() + begin * rows.dim();
    room.resize(static_cast<std::size_t>(end - begin) * columns_.size());
    float* out = room.data();
    for (auto step = begin; step < end; ++step, out += columns_.size())
      chart_.all.copy(step, columns_, out);
    return room.data();
  }

  /// Columns that change as they hardly ever do.
  std::int64_t count_leaps(std::int64_t from, std::int64_t to) const {
    float before[kSeamColumns], after[kSeamColumns];
    chart_.all.copy(from, columns_, before);
    chart_.all.copy(to, columns_, after);
    int leaps = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      leaps += std::abs(double{after[c]} - before[c]) > leap_[c];
    return leaps;
  }

  double way(const StepRows& rows, std::int64_t from, std::int64_t to) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < columns_.size(); ++c) sum += std::abs(change(rows, from, to, c));
    return sum;
  }
  /// Whether the step into this one went a fair part of the usual way.
  bool moves(std::int64_t step) const {
    return !std::ranges::binary_search(chart_.data.offsets.span(), step) &&
           way(chart_.all, step - 1, step) > kFairMotion * usual_way_;
  }

  void input(const StepRows& rows, std::int64_t step, std::vector<double>& out) const {
    out.assign(static_cast<std::size_t>(inputs()), 0.0);
    std::size_t i = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) out[i++] = seen(rows, step, c);
    for (const auto a : moving_)
      out[i++] = (rows.done(step, static_cast<std::int64_t>(a)) - chart_.actions[a].mean) /
                 chart_.actions[a].deviation;
    if (choices_ > 0) out[i + static_cast<std::size_t>(rows.actions.ints()[step])] = 1.0;
    out.back() = 1.0;
  }

  /// By how much the state at `to` misses its prediction, in the worst column.
  double surprise(std::int64_t from, std::int64_t to) const {
    std::vector<double> in, out(columns_.size());
    input(chart_.all, from, in);
    apply_weights(weights_, in, out);
    double most = 0.0;
    for (std::size_t c = 0; c < out.size(); ++c)
      most = std::max(most, std::abs(change(chart_.all, from, to, c) - out[c]) / expected_[c]);
    return most;
  }

  /// Sampled steps side by side: what the prediction looks at, and how the columns change.
  struct Examples {
    std::size_t count = 0;
    std::vector<double> in;      ///< [inputs, kExamplesAtOnce]
    std::vector<double> change;  ///< [columns, kExamplesAtOnce]
  };

  /// Calls look(examples) for all steps of the sample, some at a time.
  template <class Look>
  void for_examples(Look look) const {
    Examples some;
    some.in.resize(static_cast<std::size_t>(inputs()) * kExamplesAtOnce, 0.0);
    some.change.resize(columns_.size() * kExamplesAtOnce, 0.0);
    for (std::span rest(chart_.sample); !rest.empty(); rest = rest.subspan(some.count)) {
      some.count = std::min(rest.size(), kExamplesAtOnce);
      gather(rest.first(some.count), some);
      look(some);
    }
  }

  /// The same numbers as input() and change().
  void gather(std::span<const std::int64_t> steps, Examples& some) const {
    const auto& rows = chart_.sampled;
    const auto moved = columns_.size() * kExamplesAtOnce;
    const auto chosen = moved + moving_.size() * kExamplesAtOnce;
    std::fill(some.in.begin() + static_cast<std::ptrdiff_t>(chosen), some.in.end(), 0.0);
    float before[kSeamColumns], after[kSeamColumns];
    for (std::size_t e = 0; e < steps.size(); ++e) {
      rows.copy(steps[e], columns_, before);
      rows.copy(steps[e] + 1, columns_, after);
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        some.in[c * kExamplesAtOnce + e] = before[c];
        some.change[c * kExamplesAtOnce + e] = double{after[c]} - before[c];
      }
      for (std::size_t a = 0; a < moving_.size(); ++a)
        some.in[moved + a * kExamplesAtOnce + e] =
            rows.done(steps[e], static_cast<std::int64_t>(moving_[a]));
      if (choices_ > 0)
        some.in[chosen + static_cast<std::size_t>(rows.actions.ints()[steps[e]]) * kExamplesAtOnce +
                e] = 1.0;
      some.in[some.in.size() - kExamplesAtOnce + e] = 1.0;
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      standardise(facts(c).mean, facts(c).deviation, &some.in[c * kExamplesAtOnce]);
      standardise(0.0, facts(c).deviation, &some.change[c * kExamplesAtOnce]);
    }
    for (std::size_t a = 0; a < moving_.size(); ++a) {
      const auto& action = chart_.actions[moving_[a]];
      standardise(action.mean, action.deviation, &some.in[moved + a * kExamplesAtOnce]);
    }
  }

  void fit() {
    LeastSquares problem(inputs(), std::ssize(columns_));
    std::vector<double> in(static_cast<std::size_t>(inputs())), out(columns_.size());
    for_examples([&](const Examples& some) {
      for (std::size_t e = 0; e < some.count; ++e) {
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = some.in[i * kExamplesAtOnce + e];
        double way = 0.0;
        for (std::size_t c = 0; c < out.size(); ++c) {
          out[c] = some.change[c * kExamplesAtOnce + e];
          way += std::abs(out[c]);
        }
        usual_way_ += way;
        problem.add(in, out);
      }
    });
    weights_ = problem.weights();
    usual_way_ /= static_cast<double>(chart_.sample.size());
    const UpperQuantile none(kHighQuantile, chart_.sample.size());
    std::vector<UpperQuantile> missed(columns_.size(), none), changed(columns_.size(), none);
    std::vector<double> misses(columns_.size() * kExamplesAtOnce);
    for_examples([&](Examples& some) {
      apply_weights_at_once(weights_, some.in, misses);
      for (std::size_t i = 0; i < misses.size(); ++i) {
        misses[i] = std::abs(some.change[i] - misses[i]);
        some.change[i] = std::abs(some.change[i]);
      }
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        missed[c].add({&misses[c * kExamplesAtOnce], some.count});
        changed[c].add({&some.change[c * kExamplesAtOnce], some.count});
      }
    });
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      expected_.push_back(std::max(missed[c].value(), kLeastStep));
      leap_.push_back(kLeap * std::max(changed[c].value(), kLeastStep) * facts(c).deviation);
      bounds_.leap.push_back(static_cast<float>(leap_[c]));  // more than a leap rounds to no less
    }
    RowBounds::repeat(bounds_.leap);
  }

  /// The box in which episodes begin, known where other steps hardly ever lie in it.
  void find_starts() {
    const auto& data = chart_.data;
    if (data.episodes() < kEnoughEpisodes) return;
    std::vector<std::vector<double>> firsts_of(columns_.size());  // in one pass over the episodes
    for (std::int64_t i = 0; i < data.episodes(); ++i) {
      mind_memory();
      for (std::size_t c = 0; c < columns_.size(); ++c)
        firsts_of[c].push_back(seen(chart_.all, data.offsets[i], c));
    }
    for (auto& firsts : firsts_of) {
      std::ranges::sort(firsts);
      const auto cut =
          std::max<std::size_t>(1, firsts.size() / 100);  // one may begin inside another
      const double least = firsts[cut], most = firsts[firsts.size() - 1 - cut];
      const double margin = 0.1 * (most - least) + 0.001;
      const auto& column = facts(least_start_.size());
      least_start_.push_back(column.mean + column.deviation * (least - margin));
      most_start_.push_back(column.mean + column.deviation * (most + margin));
      bounds_.least.push_back(least_float_from(least_start_.back()));
      bounds_.most.push_back(-least_float_from(-most_start_.back()));
    }
    RowBounds::repeat(bounds_.least);
    RowBounds::repeat(bounds_.most);
    const auto inside = std::ranges::count_if(
        chart_.sample, [&](std::int64_t step) { return like_start(chart_.sampled, step + 1); });
    starts_known_ = inside * 100 <= std::ssize(chart_.sample);
  }

  bool like_start(const StepRows& rows, std::int64_t step) const {
    return outside_starts(rows, step, outside_by_chance()) <= outside_by_chance();
  }
  bool unlike_start(std::int64_t step) const {
    return outside_starts(chart_.all, step, several()) >= several();
  }
  /// How many columns lie outside the box; stops counting beyond `most`.
  std::int64_t outside_starts(const StepRows& rows, std::int64_t step, std::int64_t most) const {
    std::int64_t outside = 0;
    for (std::size_t c = 0; c < columns_.size() && outside <= most; ++c) {
      const double value = rows.seen(step, columns_[c]);
      outside += value < least_start_[c] || value > most_start_[c];
    }
    return outside;
  }

  const Chart& chart_;
  std::vector<std::int64_t> columns_;
  std::vector<std::size_t> moving_;  // continuous actions
  std::int64_t choices_ = 0;         // discrete ones
  bool usable_ = false, starts_known_ = false;
  double usual_way_ = 0.0;        // of a step, on average
  std::vector<double> weights_;   // [inputs, columns]
  std::vector<double> expected_;  // [columns]: a high quantile of misses, in deviations
  // In the column's own units: changes that hardly ever are, and where episodes begin.
  std::vector<double> leap_, least_start_, most_start_;
  RowBounds bounds_;  // the same
};

/// Few states: a state follows another where that was seen, and begins anew where it hardly ever
/// was and episodes end in the one and begin in the other.
class CountedMotion : public Motion {
 public:
  explicit CountedMotion(const Chart& chart) : state_(chart.data.observations.index()) {
    const auto& data = chart.data;
    const auto states = static_cast<std::size_t>(data.observations.distinct());
    std::vector<std::int64_t> firsts(states, 0), lasts(states, 0);
    visits_.assign(states, 0);
    for (std::int64_t i = 0; i < data.episodes(); ++i) {
      const auto begin = data.offsets[i], end = data.offsets[i + 1];
      ++firsts[at(begin)];
      ++lasts[at(end - 1)];
      for (auto step = begin; step < end; ++step) {
        ++visits_[at(step)];
        if (step + 1 < end) ++pairs_[pair(at(step), at(step + 1))];
      }
    }
    const double common = kCommonShare * static_cast<double>(data.episodes());
    for (std::size_t s = 0; s < states; ++s) {
      first_.push_back(static_cast<double>(firsts[s]) >= common && firsts[s] > 1);
      last_.push_back(static_cast<double>(lasts[s]) >= common && lasts[s] > 1);
    }
  }

  bool goes_on(std::int64_t from, std::int64_t to) const override {
    return !first_[at(to)] && times(at(from), at(to)) >= 2;
  }

  void find_new_beginnings(std::int64_t begin, std::int64_t end,
                           std::vector<std::int64_t>& steps) const override {
    for (auto step = begin; step + 1 < end; ++step)
      if (begins_anew(step)) steps.push_back(step);
  }

 private:
  bool begins_anew(std::int64_t step) const {
    const auto from = at(step), to = at(step + 1);
    if (from == to || !last_[from] || !first_[to] || first_[from]) return false;
    return static_cast<double>(times(from, to)) <=
               std::max(1.0, kRareTransition * static_cast<double>(visits_[from])) &&
           times(to, from) == 0;
  }

  std::size_t at(std::int64_t step) const { return static_cast<std::size_t>(state_[step]); }
  static std::uint64_t pair(std::size_t from, std::size_t to) { return from << 32 | to; }
  std::int64_t times(std::size_t from, std::size_t to) const {
    const auto found = pairs_.find(pair(from, to));
    return found == pairs_.end() ? 0 : found->second;
  }

  const Column<std::int32_t>& state_;
  std::vector<std::int64_t> visits_;
  std::unordered_map<std::uint64_t, std::int64_t> pairs_;
  std::vector<bool> first_, last_;
};

}  // namespace

std::unique_ptr<Motion> motion_of(const Chart& chart) {
  if (chart.sample.empty()) return nullptr;
  if (chart.data.observations.is_interned()) {
    if (chart.data.episodes() < kEnoughEpisodes) return nullptr;
    return std::make_unique<CountedMotion>(chart);
  }
  auto motion = std::make_unique<LinearMotion>(chart);
  return motion->usable() ? std::move(motion) : nullptr;
}

}  // namespace kindred::doctor
