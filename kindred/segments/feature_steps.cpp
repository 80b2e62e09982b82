#include "kindred/segments/feature_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "kindred/core/vectorise.h"
#include "kindred/nn/kmeans.h"
#include "kindred/policies/exact_policies.h"
#include "kindred/segments/state_gate.h"

namespace kindred {
namespace {

constexpr std::int64_t kFeatureFolds = 4;
// Fewer, and what a policy does only now and then (it starts, it falls) is taken for another's
// work.
constexpr std::int64_t kStepCosines = 160;
constexpr double kStepRidge = 10.0;
constexpr std::int64_t kStepRows = 64;     // features of so many steps stay in the cache
constexpr std::int64_t kStepBlock = 4096;  // steps a thread takes at a time
constexpr std::int64_t kStepParts = 4;     // whatever the threads, so that sums add up the same
constexpr std::int64_t kMostKept = std::int64_t{1} << 25;  // numbers: 128 MiB
constexpr std::int64_t kMostRegions = 12, kStepsForARegion = 5000, kRegionRows = 10'000;
constexpr double kElsewhere = 0.02;      // what steps of other regions count
constexpr std::size_t kGateRows = 2000;  // of each of the two
constexpr double kTails = 4.0;           // degrees of freedom of Student's distribution
constexpr double kMostOdds = 7.0;        // a state never is a proof

/// Gates are fitted on one half of the folds for the other.
std::int32_t half_of(std::int32_t fold) { return fold % 2; }

/// Features of steps, some rows at a time.
class FeatureRows {
 public:
  /// `kept` are those of all steps, or empty.
  FeatureRows(const Trajectories& data, const FeatureMap& map, std::span<const float> kept)
      : data_(data),
        map_(map),
        kept_(kept),
        seen_(static_cast<std::size_t>(kStepRows * map.obs_dim())),
        rows_(static_cast<std::size_t>(kStepRows * map.count())) {}

  /// Calls `use(first step, steps, their features)` for parts of [begin, end).
  template <class Use>
  void each(std::int64_t begin, std::int64_t end, const Use& use) {
    for (auto from = begin; from < end; from += kStepRows) {
      const auto n = std::min(kStepRows, end - from);
      if (kept_.empty()) {
        data_.observations.copy(from, from + n, seen_.data());
        map_.apply(std::span(seen_).first(static_cast<std::size_t>(n * map_.obs_dim())), rows_);
      } else {
        std::copy_n(kept_.begin() + from * map_.count(), n * map_.count(), rows_.begin());
      }
      use(from, n, rows_.data());
    }
  }

  /// The features of some steps, in rows `stride` apart that have room for FeatureMap::kRoom more.
  void gather(std::span<const std::int64_t> steps, double* out, std::int64_t stride) {
    if (kept_.empty()) {
      seen_.resize(std::max(seen_.size(), steps.size() * static_cast<std::size_t>(map_.obs_dim())));
      data_.observations.gather(steps, seen_.data());
      map_.apply(std::span(seen_).first(steps.size() * static_cast<std::size_t>(map_.obs_dim())),
                 out, stride);
      return;
    }
    for (const auto step : steps) {
      std::copy_n(kept_.begin() + step * map_.count(), map_.count(), out);
      out += stride;
    }
  }
  void gather(std::span<const std::int64_t> steps, float* out, std::int64_t stride) {
    const auto width = map_.count();
    if (kept_.empty()) {
      const auto room = width + FeatureMap::kRoom;
      rows_.resize(std::max(rows_.size(), steps.size() * static_cast<std::size_t>(room)));
      gather(steps, rows_.data(), room);
      for (std::int64_t t = 0; t < std::ssize(steps); ++t)
        std::transform(rows_.begin() + t * room, rows_.begin() + t * room + width, out + t * stride,
                       [](double x) { return static_cast<float>(x); });
      return;
    }
    for (const auto step : steps) {
      std::copy_n(kept_.begin() + step * width, width, out);
      out += stride;
    }
  }

 private:
  const Trajectories& data_;
  const FeatureMap& map_;
  std::span<const float> kept_;
  std::vector<float> seen_;
  std::vector<double> rows_;
};

/// Calls `use(group, steps)` for steps [begin, end) of the same group, a few of them at a time:
/// neighbours that a region or a fold parts are looked at together with others of theirs.
template <class Group, class Use>
void each_group(std::int64_t begin, std::int64_t end, const Group& group_of, const Use& use) {
  for (auto from = begin; from < end; from += kStepBlock) {
    std::map<std::int64_t, std::vector<std::int64_t>> groups;
    for (auto t = from; t < std::min(from + kStepBlock, end); ++t)
      if (const auto group = group_of(static_cast<std::size_t>(t)); group >= 0)
        groups[group].push_back(t);
    for (const auto& [group, steps] : groups)
      for (std::size_t n = 0; n < steps.size(); n += StepProducts::kMostRows)
        use(group, std::span(steps).subspan(
                       n, std::min<std::size_t>(StepProducts::kMostRows, steps.size() - n)));
  }
}

KINDRED_VECTORISE
void add_times(std::int64_t n, double times, const double* __restrict from, double* __restrict to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += times * from[i];
}

/// Keeps at most `most` of the steps it sees, evenly spread.
class Spread {
 public:
  explicit Spread(std::size_t most) : most_(most) {}

  void add(std::int64_t step) { steps_.push_back(step); }
  double seen() const { return static_cast<double>(steps_.size()); }
  std::vector<std::int64_t> some() const {
    if (steps_.size() <= most_) return steps_;
    std::vector<std::int64_t> result(most_);
    for (std::size_t i = 0; i < most_; ++i) result[i] = steps_[i * steps_.size() / most_];
    return result;
  }

 private:
  std::size_t most_;
  std::vector<std::int64_t> steps_;
};

/// log(e^a + e^b)
double log_add(double a, double b) {
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

}  // namespace

FeatureSteps::FeatureSteps(const Trajectories& data, const Workers& workers)
    : data_(data),
      workers_(workers),
      map_(data.observations, kStepCosines),
      targets_(data.actions),
      layout_{map_.count(), targets_.count()},
      fold_of_(step_folds(data, kFeatureFolds)) {
  find_regions();
  const auto width = map_.count();
  if (data.steps() * width > kMostKept) return;
  StepValues<float> kept(static_cast<std::size_t>(data.steps() * width));
  workers_.chunks(data.steps(), kStepBlock, [&](std::int64_t begin, std::int64_t end) {
    FeatureRows rows(data_, map_, {});
    rows.each(begin, end, [&](std::int64_t from, std::int64_t n, const double* row) {
      for (std::int64_t i = 0; i < n * width; ++i)
        kept[static_cast<std::size_t>(from * width + i)] = static_cast<float>(row[i]);
    });
  });
  kept_ = std::move(kept);
}

void FeatureSteps::find_regions() {
  regions_ = std::clamp<std::int64_t>(data_.steps() / kStepsForARegion, 1, kMostRegions);
  const auto dim = map_.inputs().count();
  const auto numbers = map_.with_cosines(0);
  const auto stride = std::max<std::int64_t>(1, data_.steps() / kRegionRows);
  std::vector<std::int64_t> steps;
  for (std::int64_t t = 0; t < data_.steps(); t += stride) steps.push_back(t);
  const auto width = numbers.count() + FeatureMap::kRoom;
  std::vector<double> points, row(static_cast<std::size_t>(kStepRows * width));
  points.reserve(steps.size() * static_cast<std::size_t>(dim));
  FeatureRows rows(data_, numbers, {});
  for (std::size_t from = 0; from < steps.size(); from += kStepRows) {
    const auto some = std::span(steps).subspan(
        from, std::min(static_cast<std::size_t>(kStepRows), steps.size() - from));
    rows.gather(some, row.data(), width);
    for (std::int64_t t = 0; t < std::ssize(some); ++t)
      points.insert(points.end(), row.begin() + t * width + 1, row.begin() + t * width + 1 + dim);
  }
  Random random(0, "regions");
  centres_ = kmeans(points, dim, regions_, 2, random, workers_, 50).centres;
  region_of_ = regions_in(data_);
}

std::vector<std::int32_t> FeatureSteps::regions_in(const Trajectories& data) const {
  std::vector<std::int32_t> result(static_cast<std::size_t>(data.steps()), 0);
  if (regions_ == 1) return result;
  const auto dim = map_.inputs().count();
  const auto numbers = map_.with_cosines(0);
  workers_.chunks(data.steps(), kStepBlock, [&](std::int64_t begin, std::int64_t end) {
    FeatureRows rows(data, numbers, {});
    rows.each(begin, end, [&](std::int64_t from, std::int64_t n, const double* row) {
      for (auto t = from; t < from + n; ++t, row += 1 + dim) {
        double nearest = std::numeric_limits<double>::infinity();
        for (std::int64_t r = 0; r < regions_; ++r) {
          double distance = 0.0;
          for (std::int64_t i = 0; i < dim; ++i)
            distance += std::pow(row[1 + i] - centres_[static_cast<std::size_t>(r * dim + i)], 2);
          if (distance >= nearest) continue;
          nearest = distance;
          result[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(r);
        }
      }
    });
  });
  return result;
}

FeatureSteps::Sums FeatureSteps::sums(std::span<const std::int32_t> labels, std::int64_t k) const {
  const auto size = static_cast<std::size_t>(layout_.size());
  const auto groups = static_cast<std::size_t>(kFeatureFolds * regions_ * k);
  std::vector<std::vector<std::vector<double>>> parts(kStepParts);  // [groups]: few have steps
  workers_.chunks(kStepParts, 1, [&](std::int64_t part, std::int64_t) {
    auto& own = parts[static_cast<std::size_t>(part)];
    own.resize(groups);
    FeatureRows rows(data_, map_, kept_);
    StepProducts products(layout_, ProductsAs::kFloats);
    std::vector<double> action(static_cast<std::size_t>(layout_.targets));
    const auto group_of = [&](std::size_t t) {
      return labels[t] < 0 ? -1 : (fold_of_[t] * regions_ + region_of_[t]) * k + labels[t];
    };
    each_group(data_.steps() * part / kStepParts, data_.steps() * (part + 1) / kStepParts, group_of,
               [&](std::int64_t group, std::span<const std::int64_t> steps) {
                 workers_.throw_if_stopped();
                 rows.gather(steps, products.float_rows(), products.stride());
                 float* wanted = products.float_rows() + layout_.features;
                 for (const auto t : steps) {
                   targets_.copy(data_.actions, t, t + 1, action);
                   std::ranges::transform(action, wanted,
                                          [](double x) { return static_cast<float>(x); });
                   wanted += products.stride();
                 }
                 products.add_float_rows(std::ssize(steps));
                 auto& sums = own[static_cast<std::size_t>(group)];
                 const bool has_some = !sums.empty();
                 sums.resize(size);
                 products.finish(sums.data(), /*accumulate=*/has_some);
               });
  });
  Sums all(groups * size, 0.0);
  for (const auto& part : parts)
    for (std::size_t group = 0; group < groups; ++group)
      for (std::size_t p = 0; p < part[group].size(); ++p) all[group * size + p] += part[group][p];
  return all;
}

std::vector<std::vector<double>> FeatureSteps::solve(const Sums& sums, std::int64_t k,
                                                     std::int64_t without) const {
  const auto width = padded(k * layout_.targets, kDoubleLane);
  std::vector<std::vector<double>> policies(static_cast<std::size_t>(regions_));
  for (std::int64_t region = 0; region < regions_; ++region) {
    auto& here = policies[static_cast<std::size_t>(region)];
    here.resize(static_cast<std::size_t>(layout_.features * width));
    for (std::int64_t j = 0; j < k; ++j) {
      // What a policy does elsewhere counts a little: where it hardly was it acts as it usually
      // does.
      std::vector<double> own(static_cast<std::size_t>(layout_.size()), 0.0);
      for (std::int64_t fold = 0; fold < kFeatureFolds; ++fold)
        for (std::int64_t other = 0; other < regions_ && fold != without; ++other)
          add_times(layout_.size(), other == region ? 1.0 : kElsewhere,
                    sums.data() + ((fold * regions_ + other) * k + j) * layout_.size(), own.data());
      const auto weights = solve_policy(layout_, own, kStepRidge);
      for (std::int64_t m = 0; m < layout_.features; ++m)
        std::copy_n(weights.data() + m * layout_.targets, layout_.targets,
                    here.data() + m * width + j * layout_.targets);
    }
  }
  return policies;
}

std::vector<float> FeatureSteps::errors(const Trajectories& data, std::int64_t k,
                                        std::span<const Policies> policies,
                                        std::span<const std::int32_t> folds,
                                        std::span<const std::int32_t> regions) const {
  const auto kept = &data == &data_ ? std::span<const float>(kept_) : std::span<const float>();
  const auto targets = layout_.targets, columns = k * targets;
  const auto width = padded(columns, kDoubleLane);
  const auto stride = std::max(layout_.features + FeatureMap::kRoom, width);
  const std::vector<double> nothing(static_cast<std::size_t>(width), 0.0);
  std::vector<float> result(static_cast<std::size_t>(data.steps() * columns));
  workers_.chunks(data.steps(), kStepBlock, [&](std::int64_t begin, std::int64_t end) {
    FeatureRows rows(data, map_, kept);
    std::vector<double> features(static_cast<std::size_t>(StepProducts::kMostRows * stride));
    std::vector<double> guesses(features.size()), wanted(static_cast<std::size_t>(targets));
    const auto group_of = [&](std::size_t t) {
      return (folds.empty() ? 0 : folds[t]) * regions_ + regions[t];
    };
    each_group(begin, end, group_of, [&](std::int64_t group, std::span<const std::int64_t> steps) {
      const auto& weights = policies[static_cast<std::size_t>(group / regions_)]
                                    [static_cast<std::size_t>(group % regions_)];
      rows.gather(steps, features.data(), stride);
      project(std::ssize(steps), layout_.features, width, stride, features.data(), weights.data(),
              nothing.data(), guesses.data());
      const double* guess = guesses.data();
      for (const auto t : steps) {
        targets_.copy(data.actions, t, t + 1, wanted);
        float* out = result.data() + t * columns;
        for (std::int64_t c = 0; c < columns; ++c) {
          const double missed = wanted[static_cast<std::size_t>(c % targets)] - guess[c];
          out[c] = static_cast<float>(missed * missed);
        }
        guess += stride;
      }
    });
  });
  return result;
}

JudgedSteps FeatureSteps::judge(std::span<const std::int32_t> labels, std::int64_t k) const {
  const auto all = sums(labels, k);
  std::vector<Policies> policies(kFeatureFolds);
  workers_.chunks(kFeatureFolds, 1, [&](std::int64_t fold, std::int64_t) {
    policies[static_cast<std::size_t>(fold)] = solve(all, k, fold);
  });
  const auto missed = errors(data_, k, policies, fold_of_, region_of_);
  const auto width = layout_.targets;
  JudgedSteps judged{.nats = Matrix(data_.steps(), k)};
  judged.noise.assign(static_cast<std::size_t>(width), 0.0);
  double counted = 0.0;
  for (std::int64_t t = 0; t < data_.steps(); ++t) {
    const auto label = labels[static_cast<std::size_t>(t)];
    if (label < 0) continue;
    ++counted;
    for (std::int64_t d = 0; d < width; ++d)
      judged.noise[static_cast<std::size_t>(d)] +=
          static_cast<double>(missed[static_cast<std::size_t>((t * k + label) * width + d)]);
  }
  for (auto& variance : judged.noise) {
    variance = std::max(variance / counted, kLeastNoise);
    judged.usual -= 0.5 * std::log(variance);
  }
  weigh(missed, judged.noise, judged.nats);
  return judged;
}

void FeatureSteps::weigh(std::span<const float> missed, std::span<const double> noise,
                         Matrix& nats) const {
  std::vector<double> scale;
  for (const double variance : noise) scale.push_back(1.0 / (kTails * variance));
  const double power = -0.5 * (kTails + static_cast<double>(layout_.targets));
  workers_.chunks(nats.rows * nats.columns, kStepBlock, [&](std::int64_t begin, std::int64_t end) {
    const float* error = missed.data() + begin * layout_.targets;
    for (auto i = begin; i < end; ++i) {
      double sum = 0.0;
      for (const double one : scale) sum += one * static_cast<double>(*error++);
      nats.values[static_cast<std::size_t>(i)] = power * std::log1p(sum);
    }
  });
  limit_steps(nats);
}

std::vector<double> FeatureSteps::gate(std::span<const std::int32_t> labels, std::int32_t first,
                                       std::int32_t second, std::int32_t without) const {
  Spread firsts(kGateRows), seconds(kGateRows);
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (half_of(fold_of_[t]) == without) continue;
    if (labels[t] == first) firsts.add(static_cast<std::int64_t>(t));
    if (labels[t] == second) seconds.add(static_cast<std::int64_t>(t));
  }
  auto steps = firsts.some();
  const auto others = seconds.some();
  if (steps.empty() || others.empty()) {  // by the state nothing can be expected
    std::vector<double> odds(static_cast<std::size_t>(map_.count()), 0.0);
    odds.front() = std::log((firsts.seen() + 1.0) / (seconds.seen() + 1.0));
    return odds;
  }
  TwoKinds sample{.features = map_.count(),
                  .firsts = std::ssize(steps),
                  .first_weight = firsts.seen() / static_cast<double>(steps.size()),
                  .second_weight = seconds.seen() / static_cast<double>(others.size())};
  steps.insert(steps.end(), others.begin(), others.end());
  sample.rows.resize(steps.size() * static_cast<std::size_t>(map_.count()));
  FeatureRows(data_, map_, kept_).gather(steps, sample.rows.data(), map_.count());
  return fit_log_odds(sample);
}

std::vector<double> FeatureSteps::as_one(const Matrix& nats, std::span<const std::int32_t> labels,
                                         std::int32_t first, std::int32_t second) const {
  std::vector<double> gates[2];
  workers_.chunks(2, 1, [&](std::int64_t half, std::int64_t) {
    gates[half] = gate(labels, first, second, static_cast<std::int32_t>(half));
  });
  std::vector<double> result(labels.size());
  workers_.chunks(data_.steps(), kStepBlock, [&](std::int64_t begin, std::int64_t end) {
    FeatureRows rows(data_, map_, kept_);
    rows.each(begin, end, [&](std::int64_t from, std::int64_t n, const double* row) {
      for (auto t = from; t < from + n; ++t, row += layout_.features) {
        const auto& gate = gates[half_of(fold_of_[static_cast<std::size_t>(t)])];
        const double odds = std::clamp(std::inner_product(gate.begin(), gate.end(), row, 0.0),
                                       -kMostOdds, kMostOdds);
        result[static_cast<std::size_t>(t)] = log_add(nats(t, first) - std::log1p(std::exp(-odds)),
                                                      nats(t, second) - std::log1p(std::exp(odds)));
      }
    });
  });
  return result;
}

Matrix FeatureSteps::judge_others(const JudgedSteps& judged, std::span<const std::int32_t> labels,
                                  const Trajectories& others) const {
  constexpr std::int64_t kNone = -1;
  const auto k = judged.nats.columns;
  const std::vector<Policies> policies{solve(sums(labels, k), k, kNone)};
  Matrix nats(others.steps(), k);
  weigh(errors(others, k, policies, {}, regions_in(others)), judged.noise, nats);
  return nats;
}

}  // namespace kindred
