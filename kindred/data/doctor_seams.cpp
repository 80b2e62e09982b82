// The doctor's checks of where episodes begin and end: one cut in two goes on in the next; two
// glued together leap in between. Both need a notion of which state can follow another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "kindred/core/random.h"
#include "kindred/core/words.h"
#include "kindred/data/doctor_chart.h"
#include "kindred/data/least_squares.h"
#include "kindred/data/mind_memory.h"

namespace kindred::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kEnoughEpisodes = 20;  // to know how episodes begin
constexpr std::int64_t kSeamColumns = 64;
constexpr std::int64_t kOneHotActions = 16;
constexpr std::int64_t kStepsPerInput = 10;  // for a model of the motion
constexpr double kHighQuantile = 0.999;
constexpr double kLeastStep = 0.01;   // deviations: smaller changes are no leaps
constexpr double kLeap = 4.0;         // times what 999 of 1,000 steps stay below
constexpr double kFairMotion = 0.25;  // of the way of an average step
constexpr std::int64_t kRandomPairs = 10'000;
constexpr double kBeyondChance = 20.0;     // times as many seams as among random episodes
constexpr double kRareTransition = 0.002;  // of the visits to a state
constexpr std::int64_t kMostKept = 1'000;  // leaps, of data that leaps all the time
constexpr double kCommonShare = 0.005;     // of the episodes: a usual first or last state

/// What follows what in the steps of a dataset.
class Motion {
 public:
  virtual ~Motion() = default;
  /// Whether the state at `to` is what can come after step `from`, and not how episodes begin.
  virtual bool goes_on(std::int64_t from, std::int64_t to) const = 0;
  /// Whether between step and step + 1, inside an episode, another episode seems to begin.
  virtual bool begins_anew(std::int64_t step) const = 0;
};

double quantile(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
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

  bool begins_anew(std::int64_t step) const override {
    if (starts_known_ && like_start(chart_.all, step + 1) && unlike_start(step) &&
        surprise(step, step + 1) > 1.0)
      return true;
    return count_leaps(step, step + 1) >= several();
  }

 private:
  std::int64_t inputs() const { return std::ssize(columns_) + std::ssize(moving_) + choices_ + 1; }
  /// A change of the whole state, not of one odd column.
  std::int64_t several() const {
    return std::max(std::min<std::int64_t>(2, std::ssize(columns_)), std::ssize(columns_) / 4);
  }
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

  /// By how much each column misses its prediction.
  void misses(const StepRows& rows, std::int64_t from, std::int64_t to, std::vector<double>& in,
              std::vector<double>& out) const {
    input(rows, from, in);
    out.resize(columns_.size());
    apply_weights(weights_, in, out);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      out[c] = std::abs(change(rows, from, to, c) - out[c]);
  }

  double surprise(std::int64_t from, std::int64_t to) const {
    std::vector<double> in, out;
    misses(chart_.all, from, to, in, out);
    double most = 0.0;
    for (std::size_t c = 0; c < out.size(); ++c) most = std::max(most, out[c] / expected_[c]);
    return most;
  }

  void fit() {
    LeastSquares problem(inputs(), std::ssize(columns_));
    std::vector<double> in, out(columns_.size());
    const auto& rows = chart_.sampled;
    for (const auto step : chart_.sample) {
      input(rows, step, in);
      double way = 0.0;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        out[c] = change(rows, step, step + 1, c);
        way += std::abs(out[c]);
      }
      usual_way_ += way;
      problem.add(in, out);
    }
    weights_ = problem.weights();
    usual_way_ /= static_cast<double>(chart_.sample.size());
    std::vector<std::vector<double>> missed(columns_.size()), changed(columns_.size());
    for (auto* all : {&missed, &changed})
      for (auto& one : *all) one.reserve(chart_.sample.size());
    for (const auto step : chart_.sample) {
      misses(rows, step, step + 1, in, out);
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        missed[c].push_back(out[c]);
        changed[c].push_back(std::abs(change(rows, step, step + 1, c)));
      }
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      expected_.push_back(std::max(quantile(missed[c], kHighQuantile), kLeastStep));
      leap_.push_back(kLeap * std::max(quantile(changed[c], kHighQuantile), kLeastStep) *
                      facts(c).deviation);
    }
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
    }
    const auto inside = std::ranges::count_if(
        chart_.sample, [&](std::int64_t step) { return like_start(chart_.sampled, step + 1); });
    starts_known_ = inside * 100 <= std::ssize(chart_.sample);
  }

  /// Of many columns some lie outside by chance.
  bool like_start(const StepRows& rows, std::int64_t step) const {
    const auto allowed = std::ssize(columns_) / 8;
    return outside_starts(rows, step, allowed) <= allowed;
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

  bool begins_anew(std::int64_t step) const override {
    const auto from = at(step), to = at(step + 1);
    if (from == to || !last_[from] || !first_[to] || first_[from]) return false;
    return static_cast<double>(times(from, to)) <=
               std::max(1.0, kRareTransition * static_cast<double>(visits_[from])) &&
           times(to, from) == 0;
  }

 private:
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

/// Nothing where the steps do not show what follows what.
std::unique_ptr<Motion> motion_of(const Chart& chart) {
  if (chart.sample.empty()) return nullptr;
  if (chart.data.observations.is_interned()) {
    if (chart.data.episodes() < kEnoughEpisodes) return nullptr;
    return std::make_unique<CountedMotion>(chart);
  }
  auto motion = std::make_unique<LinearMotion>(chart);
  return motion->usable() ? std::move(motion) : nullptr;
}

/// How many seams would look as if an episode went on if the order of the file meant nothing.
double expected_by_chance(const Trajectories& data, const Motion& motion) {
  Random random(0, "doctor's pairs");
  std::int64_t tried = 0, gone_on = 0;
  for (std::int64_t i = 0; i < kRandomPairs; ++i) {
    const auto pick = [&] {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(data.episodes())));
    };
    mind_memory();
    const auto a = pick(), b = pick();
    if (b == a || b == a + 1) continue;
    ++tried;
    const auto last = data.offsets[a + 1] - 1, first = data.offsets[b];
    expect_steps(data, std::max(last - 1, data.offsets[a]), last + 1);
    expect_steps(data, first, first + 1);
    gone_on += motion.goes_on(last, first);
  }
  return tried == 0
             ? 0.0
             : static_cast<double>(gone_on * (data.episodes() - 1)) / static_cast<double>(tried);
}

/// Seams that a terminal flag made are told apart: the flag is at fault, not the cutting.
void add_cuts(const Chart& chart, const std::vector<std::int64_t>& seams, bool terminal,
              Found& found) {
  const auto& data = chart.data;
  std::vector<std::string> words;
  Json rows = Json::array();
  for (const auto i : seams) {
    const auto last = data.offsets[i + 1] - 1;
    if ((!data.terminals.empty() && data.terminals[last]) != terminal) continue;
    words.push_back(
        fmt::format("{} in {} (row {})", chart.episode(i), chart.episode(i + 1), last + 1));
    rows.push_back({{"episode", data.ids[static_cast<std::size_t>(i)]},
                    {"next", data.ids[static_cast<std::size_t>(i + 1)]},
                    {"row", last + 1}});
  }
  if (words.empty()) return;
  const bool one = words.size() == 1;
  found.push_back(
      {.key = terminal ? "terminal-ends-nothing" : "cut-episode",
       .evidence = fmt::format("{} {} on in the next{}: {}", counted(std::ssize(words), "episode"),
                               one ? "goes" : "go",
                               terminal ? ", though a terminal flag is set" : "", listed(words, 3)),
       .advice = terminal ? "clear the flag there, so that the parts are one episode again"
                          : "join the parts, or raise --episode-cap if that cut them",
       .details = {{"seams", rows}}});
}

void find_cuts(const Chart& chart, const Motion& motion, Found& found) {
  const auto& data = chart.data;
  std::vector<std::int64_t> seams;
  for (std::int64_t i = 0; i + 1 < data.episodes(); ++i) {
    mind_memory();
    if (motion.goes_on(data.offsets[i + 1] - 1, data.offsets[i + 1])) seams.push_back(i);
  }
  if (seams.empty() ||
      static_cast<double>(seams.size()) < kBeyondChance * expected_by_chance(data, motion))
    return;
  add_cuts(chart, seams, true, found);
  add_cuts(chart, seams, false, found);
}

void find_glue(const Chart& chart, const Motion& motion, Found& found) {
  const auto& data = chart.data;
  std::int64_t leaps = 0;
  std::vector<std::string> words;
  Json rows = Json::array();
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    mind_memory();
    for (auto step = data.offsets[i]; step + 1 < data.offsets[i + 1]; ++step) {
      if (!motion.begins_anew(step) || ++leaps > kMostKept) continue;
      const auto inside = step + 1 - data.offsets[i];
      words.push_back(
          fmt::format("{} before its step {} (row {})", chart.episode(i), inside, step + 1));
      rows.push_back({{"episode", data.ids[static_cast<std::size_t>(i)]},
                      {"step", inside},
                      {"row", step + 1}});
    }
  }
  if (words.empty()) return;
  found.push_back(
      {.key = "glued-episodes",
       .evidence = fmt::format("The state leaps as between two episodes {}: {}",
                               leaps == 1 ? std::string("once") : grouped(leaps) + " times",
                               listed(words, 3)),
       .advice = "mark an end (a timeout) there, or leave these episodes out",
       .details = {{"leaps", rows}}});
}

}  // namespace

void check_seams(const Chart& chart, Found& found) {
  const auto motion = motion_of(chart);
  if (!motion) return;
  find_cuts(chart, *motion, found);
  find_glue(chart, *motion, found);
}

}  // namespace kindred::doctor
