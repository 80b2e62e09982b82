// The doctor's check of labels: whether the order of the file explains them better than policies
// do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "kindred/core/words.h"
#include "kindred/data/doctor_chart.h"
#include "kindred/data/least_squares.h"
#include "kindred/data/mind_memory.h"
#include "kindred/data/truth.h"

namespace kindred::doctor {
namespace {

constexpr std::int64_t kEnoughLabelled = 20;  // episodes
constexpr std::int64_t kEnoughOfEach = 4;     // episodes of one label
constexpr double kOrderly = 0.1;              // of the runs of equal labels chance would give
constexpr double kExplained = 0.25;           // of what policies could explain beyond chance
constexpr std::int64_t kPolicyColumns = 32;
constexpr std::int64_t kPolicySteps = 64;  // of an episode
constexpr std::int64_t kMostChoices = 64;
constexpr std::int64_t kEpisodesOfLabel = 500;

/// A policy for every label, fitted to every other of its episodes; the others are guessed by it.
class PolicyGuess {
 public:
  virtual ~PolicyGuess() = default;
  virtual void learn(std::size_t label, std::int64_t step) = 0;
  virtual void finish() = 0;
  virtual double log_likelihood(std::size_t label, std::int64_t step) const = 0;
};

/// How often each action was taken in each of few states.
class TableGuess : public PolicyGuess {
 public:
  TableGuess(const Chart& chart, std::size_t labels)
      : chart_(chart),
        actions_(static_cast<std::size_t>(chart.data.actions.count())),
        states_(static_cast<std::size_t>(chart.data.observations.distinct())),
        counts_(labels * states_ * actions_, 0.0),
        visits_(labels * states_, 0.0) {}

  void learn(std::size_t label, std::int64_t step) override {
    counts_[row(label, step) * actions_ + action(step)] += 1.0;
    visits_[row(label, step)] += 1.0;
  }
  void finish() override {}
  double log_likelihood(std::size_t label, std::int64_t step) const override {
    const auto r = row(label, step);
    return std::log((counts_[r * actions_ + action(step)] + 1.0) /
                    (visits_[r] + static_cast<double>(actions_)));
  }

 private:
  std::size_t row(std::size_t label, std::int64_t step) const {
    return label * states_ + static_cast<std::size_t>(chart_.data.observations.index()[step]);
  }
  std::size_t action(std::int64_t step) const {
    return static_cast<std::size_t>(chart_.data.actions.ints()[step]);
  }

  const Chart& chart_;
  std::size_t actions_, states_;
  std::vector<double> counts_, visits_;
};

/// Actions, or marks of the action taken, linear in the numbers of the observation and in their
/// squares, with noise of their own.
class LinearGuess : public PolicyGuess {
 public:
  LinearGuess(const Chart& chart, std::size_t labels) : chart_(chart) {
    const auto all = std::ssize(chart.columns), kept = std::min(all, kPolicyColumns);
    for (std::int64_t i = 0; i < kept; ++i)
      columns_.push_back(chart.columns[static_cast<std::size_t>(i * all / kept)]);
    const auto& actions = chart.data.actions;
    outputs_ = actions.is_discrete() ? std::min(actions.count(), kMostChoices) : actions.dim();
    problems_.assign(labels, LeastSquares(2 * kept + 1, outputs_));
    squares_.assign(labels, std::vector<double>(static_cast<std::size_t>(outputs_), 0.0));
    learned_.resize(labels);
  }

  void learn(std::size_t label, std::int64_t step) override {
    problems_[label].add(input(step), output(step));
    learned_[label].push_back(step);
  }

  void finish() override {
    for (std::size_t label = 0; label < problems_.size(); ++label) {
      weights_.push_back(problems_[label].weights());
      for (const auto step : learned_[label]) {
        const auto missed = misses(label, step);
        for (std::size_t o = 0; o < missed.size(); ++o) squares_[label][o] += missed[o] * missed[o];
      }
      for (auto& square : squares_[label])
        square =
            square / static_cast<double>(std::max<std::size_t>(learned_[label].size(), 1)) + 1e-4;
    }
  }

  double log_likelihood(std::size_t label, std::int64_t step) const override {
    const auto missed = misses(label, step);
    double sum = 0.0;
    for (std::size_t o = 0; o < missed.size(); ++o)
      sum -= missed[o] * missed[o] / squares_[label][o] + std::log(squares_[label][o]);
    return 0.5 * sum;
  }

 private:
  std::vector<double> input(std::int64_t step) const {
    std::vector<double> in;
    for (const auto c : columns_) {
      const auto& facts = chart_.observations[static_cast<std::size_t>(c)];
      const double value = (chart_.seen(step, c) - facts.mean) / facts.deviation;
      in.push_back(value);
      in.push_back(value * value);
    }
    in.push_back(1.0);
    return in;
  }
  std::vector<double> output(std::int64_t step) const {
    std::vector<double> out(static_cast<std::size_t>(outputs_), 0.0);
    for (std::size_t o = 0; o < out.size(); ++o) {
      if (chart_.data.actions.is_discrete())
        out[o] = static_cast<std::size_t>(chart_.data.actions.ints()[step]) == o;
      else if (const auto& facts = chart_.actions[o]; facts.finite && facts.deviation > 0.0)
        out[o] = (chart_.done(step, static_cast<std::int64_t>(o)) - facts.mean) / facts.deviation;
    }
    return out;
  }
  std::vector<double> misses(std::size_t label, std::int64_t step) const {
    std::vector<double> guessed(static_cast<std::size_t>(outputs_));
    apply_weights(weights_[label], input(step), guessed);
    const auto out = output(step);
    for (std::size_t o = 0; o < out.size(); ++o) guessed[o] -= out[o];
    return guessed;
  }

  const Chart& chart_;
  std::vector<std::int64_t> columns_;
  std::int64_t outputs_ = 0;
  std::vector<LeastSquares> problems_;
  std::vector<std::vector<std::int64_t>> learned_;
  std::vector<std::vector<double>> weights_, squares_;
};

template <class Visit>
void visit_steps(const Trajectories& data, std::int64_t episode, Visit visit) {
  mind_memory();
  expect_steps(data, data.offsets[episode], data.offsets[episode + 1]);
  const auto count = std::min(data.length(episode), kPolicySteps);
  for (std::int64_t i = 0; i < count; ++i)
    visit(data.offsets[episode] + i * data.length(episode) / count);
}

/// Episodes with a label, in the order of the file, and the labels numbered from 0 without gaps.
struct Labelled {
  std::vector<std::int64_t> episodes;
  std::vector<std::size_t> labels;
  std::vector<std::int64_t> sizes;

  explicit Labelled(std::span<const std::int32_t> given) {
    std::vector<std::int32_t> known;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i] < 0) continue;  // unknown
      episodes.push_back(static_cast<std::int64_t>(i));
      known.push_back(given[i]);
    }
    const auto counts = count_labels(known);
    for (const auto label : known)
      labels.push_back(static_cast<std::size_t>(std::ranges::lower_bound(counts.values, label) -
                                                counts.values.begin()));
    sizes = counts.sizes;
  }
  /// How often the label stays until it changes, and how often it would in random order.
  double runs() const {
    double count = labels.empty() ? 0.0 : 1.0;
    for (std::size_t i = 1; i < labels.size(); ++i) count += labels[i] != labels[i - 1];
    return count;
  }
  double runs_by_chance() const {
    const auto n = static_cast<double>(labels.size());
    double count = 1.0 + n;
    for (const auto size : sizes) count -= static_cast<double>(size * size) / n;
    return count;
  }
};

/// The share of held-out episodes whose label the policies guess right, each label counting alike.
/// Of each label some hundred episodes are looked at.
double guessed_share(const Chart& chart, const Labelled& given) {
  const auto k = given.sizes.size();
  std::unique_ptr<PolicyGuess> guess;
  if (chart.data.observations.is_interned() && chart.data.actions.is_discrete())
    guess = std::make_unique<TableGuess>(chart, k);
  else
    guess = std::make_unique<LinearGuess>(chart, k);
  std::vector<std::size_t> held_out;
  std::vector<std::int64_t> met(k, 0);
  for (std::size_t i = 0; i < given.episodes.size(); ++i) {
    const auto label = given.labels[i];
    const auto turn = met[label]++, stride = 1 + given.sizes[label] / kEpisodesOfLabel;
    if (turn % stride != 0) continue;
    if (turn / stride % 2 == 1)
      held_out.push_back(i);
    else
      visit_steps(chart.data, given.episodes[i],
                  [&](std::int64_t step) { guess->learn(label, step); });
  }
  guess->finish();
  std::vector<double> right(k, 0.0), tried(k, 0.0), likelihood(k);
  for (const auto i : held_out) {
    std::ranges::fill(likelihood, 0.0);
    visit_steps(chart.data, given.episodes[i], [&](std::int64_t step) {
      for (std::size_t label = 0; label < k; ++label)
        likelihood[label] += guess->log_likelihood(label, step);
    });
    const auto best = std::ranges::max_element(likelihood) - likelihood.begin();
    right[given.labels[i]] += static_cast<std::size_t>(best) == given.labels[i];
    tried[given.labels[i]] += 1.0;
  }
  double share = 0.0;
  for (std::size_t label = 0; label < k; ++label) share += right[label] / tried[label];
  return share / static_cast<double>(k);
}

void examine_order(const Chart& chart, std::span<const std::int32_t> labels,
                   const std::string& whose, Found& found) {
  const bool table = chart.data.observations.is_interned() && chart.data.actions.is_discrete();
  if (!table && std::ranges::none_of(chart.observations, &ColumnFacts::measures))
    return;  // no policy this simple acts on pictures
  const Labelled given(labels);
  const auto k = static_cast<double>(given.sizes.size());
  if (std::ssize(given.episodes) < kEnoughLabelled || chart.columns.empty() || k < 2 ||
      std::ranges::min(given.sizes) < kEnoughOfEach)
    return;
  const double runs = given.runs(), chance = given.runs_by_chance();
  if (chance < 2.0 * k || runs - k > kOrderly * (chance - k)) return;
  const double share = guessed_share(chart, given), blind = 1.0 / k;
  if (share > blind + kExplained * (1.0 - blind)) return;
  found.push_back({.key = "order-explains-labels",
                   .evidence = fmt::format(
                       "The {} labels come in {:.0f} blocks of the file ({:.0f} by chance), but "
                       "policies fitted "
                       "to them tell only {:.0f} % of other episodes right ({:.0f} % by chance)",
                       whose, runs, chance, 100.0 * share, 100.0 * blind),
                   .advice = "ask whether the labels are sessions or files rather than policies",
                   .details = {{"whose", whose},
                               {"runs", runs},
                               {"runs_by_chance", chance},
                               {"guessed", share},
                               {"guessed_by_chance", blind}}});
}

}  // namespace

void check_label_order(const Chart& chart, Found& found) {
  if (!chart.data.labels.empty()) examine_order(chart, chart.data.labels.span(), "true", found);
}

}  // namespace kindred::doctor

namespace kindred {

std::vector<Diagnosis> examine_labels(const Trajectories& data,
                                      std::span<const std::int32_t> labels,
                                      const std::string& whose) {
  std::vector<Diagnosis> found;
  doctor::examine_order(doctor::Chart(data), labels, whose, found);
  return found;
}

}  // namespace kindred
