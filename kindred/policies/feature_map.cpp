#include "kindred/policies/feature_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kindred/core/random.h"
#include "kindred/nn/vectorise.h"

namespace kindred {
namespace {

constexpr std::int64_t kMostCosines = 4096;

/// √2 cos x of every x, to 1e-9 for |x| below 1e5. Unlike std::cos it takes several at a time.
KINDRED_VECTORISE
void cosines_of(std::int64_t n, double* __restrict x) {
  constexpr double kPi = std::numbers::pi;
  for (std::int64_t i = 0; i < n; ++i) {
    const double turns = std::floor(x[i] / kPi + 0.5);
    const double odd = turns - 2.0 * std::floor(0.5 * turns);
    const double r = x[i] - turns * kPi, rr = r * r;  // r within ±π/2, where the series is short
    const double cosine =
        1.0 + rr * (-1.0 / 2 +
                    rr * (1.0 / 24 +
                          rr * (-1.0 / 720 +
                                rr * (1.0 / 40320 +
                                      rr * (-1.0 / 3628800 +
                                            rr * (1.0 / 479001600 + rr * (-1.0 / 87178291200)))))));
    x[i] = std::numbers::sqrt2 * (1.0 - 2.0 * odd) * cosine;
  }
}

/// to[c] += numbers[i] × directions[i, c].
KINDRED_VECTORISE
void add_projections(std::int64_t numbers, std::int64_t cosines, const double* __restrict number,
                     const double* __restrict directions, double* __restrict to) {
  for (std::int64_t i = 0; i < numbers; ++i)
    for (std::int64_t c = 0; c < cosines; ++c) to[c] += number[i] * directions[i * cosines + c];
}

/// A number varies when its deviation is more than rounding leaves of its size.
bool varies(double mean, double deviation) { return deviation > 1e-6 * std::abs(mean); }

}  // namespace

FeatureMap::FeatureMap(const Observations& observations, std::int64_t cosines, double length)
    : FeatureMap(NetworkInputs::from(observations, true), cosines, length) {}

FeatureMap::FeatureMap(NetworkInputs inputs, std::int64_t cosines, double length)
    : inputs_(std::move(inputs)), cosines_(cosines), length_(length) {
  Random random(0, "features", static_cast<std::uint64_t>(inputs_.count()));
  const double scale =
      1.0 / (length * std::sqrt(static_cast<double>(std::max<std::int64_t>(1, inputs_.count()))));
  directions_.resize(static_cast<std::size_t>(inputs_.count() * cosines));
  phases_.resize(static_cast<std::size_t>(cosines));
  // Drawn cosine by cosine, so that more of them begin with the same.
  for (std::int64_t c = 0; c < cosines; ++c) {
    for (std::int64_t i = 0; i < inputs_.count(); ++i)
      directions_[static_cast<std::size_t>(i * cosines + c)] = scale * random.normal();
    phases_[static_cast<std::size_t>(c)] = random.uniform(0.0, 2.0 * std::numbers::pi);
  }
}

void FeatureMap::apply(std::span<const float> rows, std::span<double> out) const {
  const auto n = static_cast<std::int64_t>(rows.size()) / inputs_.obs_dim;
  const auto width = static_cast<std::size_t>(inputs_.count());
  std::vector<float> scaled(static_cast<std::size_t>(n) * width);
  inputs_.apply(rows, scaled);
  for (std::size_t t = 0; t < static_cast<std::size_t>(n); ++t) {
    double* to = out.data() + t * static_cast<std::size_t>(count());
    *to++ = 1.0;
    const double* numbers = to;
    for (std::size_t i = 0; i < width; ++i)
      *to++ = std::clamp(static_cast<double>(scaled[t * width + i]), -kFarthest, kFarthest);
    std::ranges::copy(phases_, to);
    add_projections(inputs_.count(), cosines_, numbers, directions_.data(), to);
    cosines_of(cosines_, to);
  }
}

void FeatureMap::save(ArrayFileWriter& file) const {
  inputs_.save(file);
  file.write<std::int64_t>("cosines", std::vector<std::int64_t>{cosines_});
  file.write<double>("cosine_length", std::vector<double>{length_});
}

FeatureMap FeatureMap::load(const ArrayFileReader& file) {
  auto inputs = NetworkInputs::load(file);
  const auto cosines = file.read_number<std::int64_t>("cosines");
  if (cosines < 0 || cosines > kMostCosines)
    file.refuse("cosines", fmt::format("is {}, expected 0 to {}", cosines, kMostCosines));
  const double length =
      file.contains("cosine_length") ? file.read_number<double>("cosine_length") : 1.0;
  if (!(length > 0.0))
    file.refuse("cosine_length", fmt::format("is {}, expected more than 0", length));
  return {std::move(inputs), cosines, length};
}

ActionTargets::ActionTargets(const Actions& actions)
    : discrete_(actions.is_discrete()),
      actions_(actions.is_discrete() ? actions.count() : actions.dim()) {
  for (std::int64_t column = 0; column < actions_; ++column) {
    // About the first value, so that a large shift costs no digits.
    const double origin = actions.steps() > 0 ? value(actions, 0, column) : 0.0;
    usual_.push_back(origin);
    double sum = 0.0, squares = 0.0;
    for (std::int64_t t = 0; t < actions.steps(); ++t) {
      const double x = value(actions, t, column) - origin;
      sum += x;
      squares += x * x;
    }
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, actions.steps()));
    const double mean = sum / steps;
    const double deviation = std::sqrt(std::max(0.0, squares / steps - mean * mean));
    if (!varies(origin + mean, deviation)) continue;
    columns_.push_back(column);
    mean_.push_back(origin + mean);
    scale_.push_back(1.0 / deviation);
  }
  if (!columns_.empty()) return;
  columns_ = {0};
  mean_ = {actions.steps() > 0 ? value(actions, 0, 0) : 0.0};
  scale_ = {0.0};
}

double ActionTargets::value(const Actions& actions, std::int64_t step, std::int64_t column) {
  if (actions.is_discrete()) return actions.ints()[step] == column ? 1.0 : 0.0;
  return actions.floats()[step * actions.dim() + column];
}

void ActionTargets::copy(const Actions& actions, std::int64_t begin, std::int64_t end,
                         std::span<double> out) const {
  auto to = out.begin();
  for (auto t = begin; t < end; ++t)
    for (std::size_t i = 0; i < columns_.size(); ++i)
      *to++ = (value(actions, t, columns_[i]) - mean_[i]) * scale_[i];
}

std::vector<double> ActionTargets::in_units(std::span<const double> weights) const {
  const auto width = static_cast<std::size_t>(actions_), targets = columns_.size();
  std::vector<double> result(weights.size() / targets * width, 0.0);
  std::ranges::copy(usual_, result.begin());
  for (std::size_t i = 0; i < targets; ++i) {
    const auto column = static_cast<std::size_t>(columns_[i]);
    if (scale_[i] == 0.0) continue;  // nothing varies
    result[column] = mean_[i];
    for (std::size_t m = 0; m < weights.size() / targets; ++m)
      result[m * width + column] += weights[m * targets + i] / scale_[i];
  }
  return result;
}

std::vector<double> ActionTargets::deviations(std::span<const double> variances) const {
  std::vector<double> result(static_cast<std::size_t>(actions_), 0.0);
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (scale_[i] > 0.0)
      result[static_cast<std::size_t>(columns_[i])] = std::sqrt(variances[i]) / scale_[i];
  return result;
}

void ActionTargets::save(ArrayFileWriter& file) const {
  file.write<std::int64_t>("actions", std::vector<std::int64_t>{discrete_ ? 1 : 0, actions_});
  file.write<std::int64_t>("action_columns", columns_, {count()});
  file.write<double>("action_mean", mean_, {count()});
  file.write<double>("action_scale", scale_, {count()});
  file.write<double>("action_usual", usual_, {actions_});
}

ActionTargets ActionTargets::load(const ArrayFileReader& file) {
  ActionTargets targets;
  const auto actions = file.read<std::int64_t>("actions", {2}).values;
  targets.discrete_ = actions[0] != 0;
  targets.actions_ = actions[1];
  targets.columns_ = file.read<std::int64_t>("action_columns", {kAnyExtent}).values;
  for (const auto column : targets.columns_)
    if (column < 0 || column >= targets.actions_)
      file.refuse("action_columns",
                  fmt::format("holds {}, expected 0 to {}", column, targets.actions_ - 1));
  targets.mean_ = file.read_finite<double>("action_mean", {targets.count()}).values;
  targets.scale_ = file.read_finite<double>("action_scale", {targets.count()}).values;
  targets.usual_.assign(static_cast<std::size_t>(targets.actions_), 0.0);
  if (file.contains("action_usual"))  // runs of before had none
    targets.usual_ = file.read_finite<double>("action_usual", {targets.actions_}).values;
  return targets;
}

}  // namespace kindred
