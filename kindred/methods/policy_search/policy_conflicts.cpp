#include "kindred/methods/policy_search/policy_conflicts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "kindred/core/random.h"
#include "kindred/core/vectorise.h"
#include "kindred/policies/exact_policies.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kMostSampled = 10000;              // of each half
constexpr double kMostProducts = 1.5e9;                   // of two steps and a number
constexpr std::int64_t kBlocks = 10;                      // of an episode
constexpr std::int64_t kLeastBlock = 2, kMostBlock = 50;  // steps
constexpr std::int64_t kCommonFolds = 5;
constexpr double kCommonRidge = 10.0;
constexpr double kFarthestResidual = 5.0;  // deviations
constexpr double kMostOfAnEpisode = 5.0;   // times the usual distance from the middle
constexpr float kNoDistance = 1e-9F;       // squared, below which states are the same
constexpr float kNowhere = std::numeric_limits<float>::infinity();

/// Sampled steps of one half: coordinates by the metric and residuals, each [numbers][steps].
struct Sample {
  std::vector<std::int64_t> steps;     // in order
  std::vector<std::int32_t> episodes;  // of each
  std::vector<float> states, residuals;
  std::int64_t dim = 0, targets = 0;

  std::size_t size() const { return steps.size(); }
};

/// Squared distances of a point, [numbers], from all: points are [numbers][n].
KINDRED_VECTORISE
void distances(std::size_t n, std::size_t numbers, const float* __restrict points,
               const float* __restrict point, float* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = 0.0F;
  for (std::size_t j = 0; j < numbers; ++j) {
    const float x = point[j];
    const float* __restrict column = points + j * n;
    for (std::size_t i = 0; i < n; ++i) out[i] += (column[i] - x) * (column[i] - x);
  }
}

/// One policy for everything, fitted without each fold of the episodes.
class CommonPolicy {
 public:
  CommonPolicy(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
               const Workers& workers)
      : data_(data),
        map_(map),
        targets_(targets),
        folds_(draw_folds(data.ids, kCommonFolds, 1).front()) {
    const StatisticsLayout layout{map.count(), targets.count()};
    const auto size = static_cast<std::size_t>(layout.size());
    const auto sums = cluster_sums(data, map, targets, folds_, kCommonFolds, workers);
    std::vector<double> whole(size, 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) whole[i % size] += sums[i];
    for (std::size_t fold = 0; fold < static_cast<std::size_t>(kCommonFolds); ++fold) {
      auto others = whole;
      for (std::size_t i = 0; i < size; ++i) others[i] -= sums[fold * size + i];
      policies_.push_back(solve_policy(layout, others, kCommonRidge));
    }
  }

  /// A step's state by the metric and what the policy misses of its action.
  void look(std::int64_t episode, std::int64_t step, std::span<double> state,
            std::span<double> residual) const {
    std::vector<float> row(static_cast<std::size_t>(map_.obs_dim()));
    std::vector<double> features(static_cast<std::size_t>(map_.count()));
    data_.observations.copy(step, step + 1, row.data());
    map_.apply(row, features);
    const auto n = std::ssize(state);
    const auto& metric = map_.metric();
    for (std::int64_t j = 0; j < n; ++j) {
      auto& to = state[static_cast<std::size_t>(j)];
      to = 0.0;
      for (auto i = metric.empty() ? j : n - 1; i >= j; --i)
        to += features[static_cast<std::size_t>(1 + i)] *
              (metric.empty() ? 1.0 : metric[static_cast<std::size_t>(i * n + j)]);
    }
    targets_.copy(data_.actions, step, step + 1, residual);
    const auto& policy =
        policies_[static_cast<std::size_t>(folds_[static_cast<std::size_t>(episode)])];
    for (std::size_t m = 0; m < features.size(); ++m)
      for (std::size_t d = 0; d < residual.size(); ++d)
        residual[d] -= features[m] * policy[m * residual.size() + d];
  }

 private:
  const Trajectories& data_;
  const FeatureMap& map_;
  const ActionTargets& targets_;
  std::vector<std::int32_t> folds_;
  std::vector<std::vector<double>> policies_;  // [folds]
};

Sample sample_half(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
                   const CommonPolicy& common, const StepHalves& halves, int which,
                   const Workers& workers) {
  Sample sample;
  sample.dim = map.inputs().count();
  sample.targets = targets.count();
  std::vector<std::int64_t> steps;
  for (std::int64_t t = 0; t < data.steps(); ++t)
    if (halves.of_steps()[static_cast<std::size_t>(t)] == which) steps.push_back(t);
  const auto most = std::min(
      kMostSampled,
      static_cast<std::int64_t>(
          std::sqrt(kMostProducts / static_cast<double>(std::max<std::int64_t>(1, sample.dim)))));
  if (std::ssize(steps) > most) {
    Random random(0, "conflicts", static_cast<std::uint64_t>(which));
    random.shuffle(std::span(steps));
    steps.resize(static_cast<std::size_t>(most));
    std::ranges::sort(steps);
  }
  sample.steps = std::move(steps);
  const auto n = sample.size();
  sample.episodes.resize(n);
  for (std::size_t s = 0; s < n; ++s)
    sample.episodes[s] = static_cast<std::int32_t>(
        std::ranges::upper_bound(data.offsets.span(), sample.steps[s]) - data.offsets.begin() - 1);
  sample.states.resize(n * static_cast<std::size_t>(sample.dim));
  sample.residuals.resize(n * static_cast<std::size_t>(sample.targets));
  workers.chunks(static_cast<std::int64_t>(n), 256, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> state(static_cast<std::size_t>(sample.dim)),
        residual(static_cast<std::size_t>(sample.targets));
    for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
      common.look(sample.episodes[s], sample.steps[s], state, residual);
      for (std::size_t j = 0; j < state.size(); ++j)
        sample.states[j * n + s] = static_cast<float>(state[j]);
      for (std::size_t d = 0; d < residual.size(); ++d)
        sample.residuals[d * n + s] = static_cast<float>(residual[d]);
    }
  });
  return sample;
}

/// Residuals in deviations, and none beyond a few of them. Returns the deviations, [targets].
std::vector<double> standardise(std::array<Sample, 2>& halves) {
  std::vector<double> deviations;
  for (std::size_t d = 0; d < static_cast<std::size_t>(halves[0].targets); ++d) {
    double squares = 0.0, count = 0.0;
    for (const auto& half : halves)
      for (std::size_t s = 0; s < half.size(); ++s, ++count)
        squares += std::pow(half.residuals[d * half.size() + s], 2);
    const double scale = count > 0.0 ? std::sqrt(std::max(squares / count, kLeastNoise)) : 1.0;
    for (auto& half : halves)
      for (std::size_t s = 0; s < half.size(); ++s) {
        auto& x = half.residuals[d * half.size() + s];
        x = static_cast<float>(
            std::clamp(static_cast<double>(x) / scale, -kFarthestResidual, kFarthestResidual));
      }
    deviations.push_back(scale);
  }
  return deviations;
}

/// What one step of a group tells of another: how much farther the action in a like state of that
/// group is than in a state of its own.
struct Telling {
  float farther = 0.0F;
  float foretold = 0.0F;    // of that, along the difference of the two policies
  std::int32_t other = -1;  // the like state; -1: there is none
};

/// The sampled steps of a half by the groups that the other half found.
struct Groups {
  std::vector<std::int32_t> of_step;
  std::vector<std::vector<std::int32_t>> members;  // [k]

  std::vector<float> expected;  // [steps, k, targets]: by each group's policy, in deviations

  Groups(const Sample& sample, const HalvedLabels& partition, int which, const Trajectories& seen,
         std::span<const double> deviations, const Workers& workers)
      : members(static_cast<std::size_t>(partition.k)),
        expected(sample.size() * members.size() * deviations.size()) {
    const auto& policies = *partition.policies[static_cast<std::size_t>(1 - which)];
    workers.chunks(std::ssize(sample.steps), 64, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> row(static_cast<std::size_t>(policies.obs_dim()));
      for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
        seen.observations.copy(sample.steps[s], sample.steps[s] + 1, row.data());
        const auto targets = policies.expected_targets(row);
        for (std::size_t i = 0; i < targets.size(); ++i)
          expected[s * targets.size() + i] =
              static_cast<float>(targets[i] / deviations[i % deviations.size()]);
      }
    });
    const auto& labels = partition.labels[static_cast<std::size_t>(1 - which)];
    for (std::size_t s = 0; s < sample.size(); ++s) {
      of_step.push_back(labels[static_cast<std::size_t>(sample.episodes[s])]);
      members[static_cast<std::size_t>(of_step.back())].push_back(static_cast<std::int32_t>(s));
    }
  }
};

/// What a step tells of every group but its own: [k]. `distance` and `apart` are how far states and
/// actions of all others are.
std::vector<Telling> tell_all(const Sample& sample, const Groups& groups, const Rules& rules,
                              std::span<const float> distance, std::span<const float> apart,
                              std::size_t step) {
  const auto own = static_cast<std::size_t>(groups.of_step[step]);
  const auto like = static_cast<float>(rules.like * rules.like);
  const auto same = static_cast<float>(rules.same_distance * rules.same_distance);
  const auto nearest = [&](std::size_t group) {
    std::int32_t found = -1;
    float least = kNowhere;
    for (const auto s : groups.members[group])
      if (distance[static_cast<std::size_t>(s)] < least) {
        least = distance[static_cast<std::size_t>(s)];
        found = s;
      }
    return std::pair(found, least + kNoDistance);
  };
  std::vector<Telling> result(groups.members.size());
  const float own_distance = nearest(own).second;
  for (std::size_t group = 0; group < result.size(); ++group) {
    if (group == own) continue;
    const auto [other, there] = nearest(group);
    if (other < 0 || there > like * own_distance) continue;
    float best = same;
    std::int32_t found = -1;
    for (const auto s : groups.members[own]) {
      const float here = distance[static_cast<std::size_t>(s)] + kNoDistance;
      const float ratio = here > there ? here / there : there / here;
      if (ratio >= best) continue;
      best = ratio;
      found = s;
    }
    if (found < 0) continue;
    const auto here = static_cast<std::size_t>(found), away = static_cast<std::size_t>(other);
    const auto targets = static_cast<std::size_t>(sample.targets);
    const float* expected = groups.expected.data() + step * result.size() * targets;
    float foretold = 0.0F;
    for (std::size_t d = 0; d < targets; ++d)
      foretold += (sample.residuals[d * sample.size() + here] -
                   sample.residuals[d * sample.size() + away]) *
                  (expected[own * targets + d] - expected[group * targets + d]);
    result[group] = {apart[away] - apart[here], foretold, other};
  }
  return result;
}

/// What the episodes of one group tell of another.
struct Direction {
  struct Sums {
    double farther = 0.0, foretold = 0.0, steps = 0.0;
  };
  std::map<std::int32_t, Sums> episodes;
  double met = 0.0, looked_at = 0.0;
  float most = -kNowhere;
  std::array<std::int64_t, 2> example{-1, -1};

  void add(const Sample& sample, std::size_t step, const Telling& telling) {
    ++looked_at;
    if (telling.other < 0) return;
    ++met;
    auto& sums = episodes[sample.episodes[step]];
    sums.farther += static_cast<double>(telling.farther);
    sums.foretold += static_cast<double>(telling.foretold);
    ++sums.steps;
    if (telling.farther <= most) return;
    most = telling.farther;
    example = {sample.steps[step], sample.steps[static_cast<std::size_t>(telling.other)]};
  }
};

struct MeanAndError {
  double mean = 0.0, error = 0.0, freedom = 0.0;
};

/// Over episodes: the root of its steps is what an episode counts, and none counts that is much
/// farther than usual from the middle.
MeanAndError over_episodes(const Direction& direction, double Direction::Sums::*what) {
  std::vector<double> values, weights;
  for (const auto& [episode, sums] : direction.episodes) {
    values.push_back(sums.*what / sums.steps);
    weights.push_back(std::sqrt(sums.steps));
  }
  const double middle = median(values);
  std::vector<double> distance;
  for (const double value : values) distance.push_back(std::abs(value - middle));
  const double most = kMostOfAnEpisode * (median(distance) + 1e-9);
  double total = 0.0, sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::clamp(values[i], middle - most, middle + most);
    total += weights[i];
    sum += weights[i] * values[i];
  }
  const double mean = sum / total, n = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    squares += std::pow(weights[i] * (values[i] - mean), 2);
  return {mean, std::sqrt(squares * n / (n - 1.0)) / total + 1e-9, n - 1.0};
}

/// Of a normal variable as likely as Student's t of so many degrees of freedom (Wallace 1959).
double as_normal(double t, double freedom) {
  const double z = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) *
                   std::sqrt(freedom * std::log1p(t * t / freedom));
  return t < 0.0 ? -z : z;
}

/// Standard errors by which the mean over both directions is above 0.
double standard_errors(const Direction& there, const Direction& back,
                       double Direction::Sums::*what) {
  const auto a = over_episodes(there, what), b = over_episodes(back, what);
  const double variance = a.error * a.error + b.error * b.error;
  const double freedom =
      variance * variance / (std::pow(a.error, 4) / a.freedom + std::pow(b.error, 4) / b.freedom);
  return as_normal((a.mean + b.mean) / std::sqrt(variance), freedom);
}

PairVerdict judge(const Direction& there, const Direction& back, const Rules& rules,
                  PairVerdict verdict) {
  const double looked_at = there.looked_at + back.looked_at;
  verdict.met = looked_at > 0.0 ? (there.met + back.met) / looked_at : 0.0;
  const auto fewest = std::min(std::ssize(there.episodes), std::ssize(back.episodes));
  if (fewest < rules.fewest_episodes) return verdict;
  verdict.z = standard_errors(there, back, &Direction::Sums::farther);
  verdict.foretold = standard_errors(there, back, &Direction::Sums::foretold);
  const bool differ = verdict.z >= rules.different ||
                      (verdict.z >= rules.differ_little && verdict.foretold >= rules.as_foretold);
  verdict.relation = differ ? Relation::kDifferent : Relation::kSame;
  verdict.example = there.most >= back.most
                        ? there.example
                        : std::array<std::int64_t, 2>{back.example[1], back.example[0]};
  return verdict;
}

}  // namespace

StepHalves::StepHalves(const Trajectories& data)
    : halves_(static_cast<std::size_t>(data.steps()), 0) {
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto block = std::clamp(data.length(i) / kBlocks, kLeastBlock, kMostBlock);
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      halves_[static_cast<std::size_t>(t)] =
          static_cast<std::uint8_t>((t - data.offsets[i]) / block % 2);
  }
}

Trajectories StepHalves::half(const Trajectories& data, int which) const {
  std::vector<std::int64_t> steps, offsets{0};
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      if (halves_[static_cast<std::size_t>(t)] == which) steps.push_back(t);
    if (std::ssize(steps) == offsets.back()) steps.push_back(data.offsets[i]);
    offsets.push_back(std::ssize(steps));
  }
  Trajectories result;
  const auto dim = data.observations.dim(), width = data.actions.dim();
  if (data.observations.is_interned()) {
    std::vector<std::int32_t> index;
    for (const auto t : steps) index.push_back(data.observations.index()[t]);
    result.observations = Observations::interned(data.observations.table(), dim,
                                                 Column<std::int32_t>(std::move(index)));
  } else {
    std::vector<float> seen(steps.size() * static_cast<std::size_t>(dim));
    data.observations.gather(steps, seen.data());
    result.observations = Observations::dense(Column<float>(std::move(seen)), dim);
  }
  if (data.actions.is_discrete()) {
    std::vector<std::int32_t> done;
    for (const auto t : steps) done.push_back(data.actions.ints()[t]);
    result.actions = Actions::discrete(Column<std::int32_t>(std::move(done)), data.actions.count());
  } else {
    std::vector<float> done;
    for (const auto t : steps)
      done.insert(done.end(), data.actions.floats().data() + t * width,
                  data.actions.floats().data() + (t + 1) * width);
    result.actions = Actions::continuous(Column<float>(std::move(done)), width);
  }
  result.offsets = std::move(offsets);
  result.ids = data.ids;
  return result;
}

std::vector<std::int32_t> labels_in(const Evidence& half, std::span<const std::int32_t> labels,
                                    std::int64_t k) {
  const auto costs = half.costs_everywhere(labels, k, half.score(labels, k));
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < half.episodes(); ++i) {
    std::vector<double> sums(static_cast<std::size_t>(k), 0.0);
    for (auto p = half.first_piece(i); p < half.first_piece(i + 1); ++p)
      for (std::int64_t j = 0; j < k; ++j) sums[static_cast<std::size_t>(j)] += costs(p, j);
    result.push_back(static_cast<std::int32_t>(std::ranges::min_element(sums) - sums.begin()));
  }
  return result;
}

Trajectories with_noise_as_action(const Trajectories& data, const FeatureMap& map,
                                  const ActionTargets& targets, const Workers& workers) {
  constexpr double kLeastSquare = 1e-4;  // of the usual: logarithms of less say nothing more
  const CommonPolicy common(data, map, targets, workers);
  const auto width = targets.count();
  std::vector<double> squares(static_cast<std::size_t>(data.steps() * width));
  workers.chunks(data.episodes(), 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> state(static_cast<std::size_t>(map.inputs().count())),
        residual(static_cast<std::size_t>(width));
    for (auto t = data.offsets[begin]; t < data.offsets[end]; ++t) {
      const auto episode =
          std::ranges::upper_bound(data.offsets.span(), t) - data.offsets.begin() - 1;
      common.look(episode, t, state, residual);
      for (std::size_t d = 0; d < residual.size(); ++d)
        squares[static_cast<std::size_t>(t * width) + d] = residual[d] * residual[d];
    }
  });
  std::vector<double> usual(static_cast<std::size_t>(width), kLeastNoise);
  for (std::size_t i = 0; i < squares.size(); ++i)
    usual[i % usual.size()] += squares[i] / static_cast<double>(data.steps());
  std::vector<float> actions;
  actions.reserve(squares.size());
  for (std::size_t i = 0; i < squares.size(); ++i)
    actions.push_back(
        static_cast<float>(std::log(squares[i] / usual[i % usual.size()] + kLeastSquare)));
  auto result = data;
  result.actions = Actions::continuous(Column<float>(std::move(actions)), width);
  return result;
}

std::vector<std::vector<PairVerdict>> find_conflicts(
    const Trajectories& data, const Trajectories& seen, const FeatureMap& map,
    const ActionTargets& targets, const StepHalves& halves,
    std::span<const HalvedLabels> partitions, const Rules& rules, const Workers& workers) {
  const CommonPolicy common(data, map, targets, workers);
  std::array<Sample, 2> samples;
  for (const int which : {0, 1})
    samples[static_cast<std::size_t>(which)] =
        sample_half(data, map, targets, common, halves, which, workers);
  const auto deviations = standardise(samples);
  // What each step tells, in an order that depends on no thread.
  std::vector<std::array<std::vector<std::vector<Telling>>, 2>> told(partitions.size());
  for (const int which : {0, 1}) {
    const auto& sample = samples[static_cast<std::size_t>(which)];
    const auto n = sample.size();
    for (auto& of_partition : told) of_partition[static_cast<std::size_t>(which)].resize(n);
    std::vector<Groups> groups;
    for (const auto& partition : partitions)
      groups.emplace_back(sample, partition, which, seen, deviations, workers);
    workers.chunks(static_cast<std::int64_t>(n), 64, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> state(static_cast<std::size_t>(sample.dim)),
          residual(static_cast<std::size_t>(sample.targets)), distance(n), apart(n);
      for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
        for (std::size_t j = 0; j < state.size(); ++j) state[j] = sample.states[j * n + s];
        for (std::size_t d = 0; d < residual.size(); ++d) residual[d] = sample.residuals[d * n + s];
        distances(n, state.size(), sample.states.data(), state.data(), distance.data());
        distances(n, residual.size(), sample.residuals.data(), residual.data(), apart.data());
        for (std::size_t other = 0; other < n; ++other)
          if (sample.episodes[other] == sample.episodes[s]) distance[other] = kNowhere;
        for (std::size_t p = 0; p < partitions.size(); ++p)
          told[p][static_cast<std::size_t>(which)][s] =
              tell_all(sample, groups[p], rules, distance, apart, s);
      }
    });
  }
  std::vector<std::vector<PairVerdict>> result;
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const auto k = static_cast<std::size_t>(partitions[p].k);
    std::vector<Direction> directions(k * k);
    for (const int which : {0, 1}) {
      const auto& sample = samples[static_cast<std::size_t>(which)];
      const auto& labels = partitions[p].labels[static_cast<std::size_t>(1 - which)];
      for (std::size_t s = 0; s < sample.size(); ++s) {
        const auto own =
            static_cast<std::size_t>(labels[static_cast<std::size_t>(sample.episodes[s])]);
        for (std::size_t group = 0; group < k; ++group)
          if (group != own)
            directions[own * k + group].add(sample, s,
                                            told[p][static_cast<std::size_t>(which)][s][group]);
      }
    }
    auto& verdicts = result.emplace_back();
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = a + 1; b < k; ++b)
        verdicts.push_back(
            judge(directions[a * k + b], directions[b * k + a], rules,
                  {.first = static_cast<std::int32_t>(a), .second = static_cast<std::int32_t>(b)}));
  }
  return result;
}

}  // namespace kindred::policy_search
