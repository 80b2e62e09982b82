#include "kindred/policies/feature_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kindred/core/random.h"
#include "kindred/nn/elementwise.h"

namespace kindred {
namespace {

constexpr std::int64_t kMostCosines = 4096;
constexpr std::size_t kColumnsAtOnce = 8;
constexpr std::int64_t kBlockRows = 128;  // stay in the cache between passes over them

/// Angles [.., columns] in half turns, rows padded to whole lanes.
std::vector<double> in_half_turns(std::span<const double> angles, std::int64_t columns) {
  const auto width = padded(columns, kDoubleLane);
  std::vector<double> turns;
  for (std::int64_t i = 0; i < std::ssize(angles); ++i) {
    turns.push_back(angles[static_cast<std::size_t>(i)] / std::numbers::pi);
    if (i % columns == columns - 1)
      turns.resize(turns.size() + static_cast<std::size_t>(width - columns), 0.0);
  }
  return turns;
}

/// A number varies when its deviation is more than rounding leaves of its size.
bool varies(double mean, double deviation) { return deviation > 1e-6 * std::abs(mean); }

}  // namespace

FeatureMap::FeatureMap(const Observations& observations, std::int64_t cosines, double length)
    : FeatureMap(NetworkInputs::from(observations, true), cosines, length) {}

FeatureMap::FeatureMap(NetworkInputs inputs, std::int64_t cosines, double length,
                       std::vector<double> metric)
    : inputs_(std::move(inputs)), cosines_(cosines), length_(length), metric_(std::move(metric)) {
  const auto numbers = inputs_.count();
  Random random(0, "features", static_cast<std::uint64_t>(numbers));
  const double scale =
      1.0 / (length * std::sqrt(static_cast<double>(std::max<std::int64_t>(1, numbers))));
  directions_.resize(static_cast<std::size_t>(numbers * cosines));
  phases_.resize(static_cast<std::size_t>(cosines));
  // Drawn cosine by cosine, so that more of them begin with the same.
  for (std::int64_t c = 0; c < cosines; ++c) {
    std::vector<double> drawn;
    for (std::int64_t i = 0; i < numbers; ++i) drawn.push_back(random.normal());
    for (std::int64_t i = 0; i < numbers; ++i)
      directions_[static_cast<std::size_t>(i * cosines + c)] =
          metric_.empty() ? scale * drawn[static_cast<std::size_t>(i)]
                          : std::inner_product(drawn.begin(), drawn.begin() + i + 1,
                                               metric_.begin() + i * numbers, 0.0) /
                                length;
    phases_[static_cast<std::size_t>(c)] = random.uniform(0.0, 2.0 * std::numbers::pi);
  }
  turns_ = in_half_turns(directions_, cosines);
  first_turns_ = in_half_turns(phases_, cosines);
  for (std::int64_t i = 0; i < inputs_.count(); ++i) {
    const auto column = inputs_.columns[static_cast<std::size_t>(i)];
    if (!runs_.empty() && column == runs_.back().column + runs_.back().size)
      ++runs_.back().size;
    else
      runs_.push_back({i, column, 1});
  }
}

void FeatureMap::apply(std::span<const float> rows, std::span<double> out) const {
  const auto n = std::ssize(rows) / obs_dim(), stride = count() + kRoom;
  std::vector<double> block(static_cast<std::size_t>(std::min(n, kBlockRows) * stride));
  for (std::int64_t begin = 0; begin < n; begin += kBlockRows) {
    const auto part = std::min(kBlockRows, n - begin);
    apply(rows.subspan(static_cast<std::size_t>(begin * obs_dim()),
                       static_cast<std::size_t>(part * obs_dim())),
          block.data(), stride);
    for (std::int64_t t = 0; t < part; ++t)
      std::copy_n(block.data() + t * stride, count(), out.data() + (begin + t) * count());
  }
}

void FeatureMap::apply(std::span<const float> rows, double* out, std::int64_t stride) const {
  const auto n = std::ssize(rows) / obs_dim(), numbers = inputs_.count();
  for (std::int64_t begin = 0; begin < n; begin += kBlockRows) {
    const auto part = std::min(kBlockRows, n - begin);
    const float* const row = rows.data() + begin * obs_dim();
    double* const to = out + begin * stride;
    for (std::int64_t t = 0; t < part; ++t) to[t * stride] = 1.0;
    for (const auto& [input, column, size] : runs_)
      standardise_rows(part, size, row + column, obs_dim(), inputs_.mean.data() + input,
                       inputs_.scale.data() + input, static_cast<float>(kFarthest), to + 1 + input,
                       stride);
    if (cosines_ == 0) continue;
    double* const cosines = to + 1 + numbers;
    project(part, numbers, std::ssize(first_turns_), stride, to + 1, turns_.data(),
            first_turns_.data(), cosines);
    root_two_cosines(part, cosines_, stride, cosines);
  }
}

void FeatureMap::save(ArrayFileWriter& file) const {
  inputs_.save(file);
  file.write<std::int64_t>("cosines", std::vector<std::int64_t>{cosines_});
  file.write<double>("cosine_length", std::vector<double>{length_});
  if (!metric_.empty()) file.write<double>("metric", metric_, {inputs_.count(), inputs_.count()});
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
  std::vector<double> metric;
  if (file.contains("metric"))
    metric = file.read_finite<double>("metric", {inputs.count(), inputs.count()}).values;
  return {std::move(inputs), cosines, length, std::move(metric)};
}

ActionTargets::ActionTargets(const Actions& actions)
    : discrete_(actions.is_discrete()),
      actions_(actions.is_discrete() ? actions.count() : actions.dim()) {
  const auto width = static_cast<std::size_t>(actions_);
  // About the first value, so that a large shift costs no digits.
  for (std::int64_t column = 0; column < actions_; ++column)
    usual_.push_back(actions.steps() > 0 ? value(actions, 0, column) : 0.0);
  std::vector<double> sums(width, 0.0), squares(width, 0.0);
  for (std::size_t first = 0; first < width; first += kColumnsAtOnce) {
    const auto columns = std::min(kColumnsAtOnce, width - first);
    double sum[kColumnsAtOnce] = {}, square[kColumnsAtOnce] = {};
    for (std::int64_t t = 0; t < actions.steps(); ++t)
      for (std::size_t c = 0; c < columns; ++c) {
        const double x =
            value(actions, t, static_cast<std::int64_t>(first + c)) - usual_[first + c];
        sum[c] += x;
        square[c] += x * x;
      }
    std::copy_n(sum, columns, sums.data() + first);
    std::copy_n(square, columns, squares.data() + first);
  }
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, actions.steps()));
  for (std::size_t c = 0; c < width; ++c) {
    const double mean = sums[c] / steps;
    const double deviation = std::sqrt(std::max(0.0, squares[c] / steps - mean * mean));
    if (!varies(usual_[c] + mean, deviation)) continue;
    columns_.push_back(static_cast<std::int64_t>(c));
    mean_.push_back(usual_[c] + mean);
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

void ActionTargets::copy(const Actions& actions, std::int64_t begin, std::int64_t end, double* out,
                         std::int64_t stride) const {
  const auto standardised = [&](const auto& value_of) {
    for (auto t = begin; t < end; ++t, out += stride)
      for (std::size_t i = 0; i < columns_.size(); ++i)
        out[i] = (value_of(t, columns_[i]) - mean_[i]) * scale_[i];
  };
  if (discrete_) {
    const auto* chosen = actions.ints().data();
    standardised(
        [=](std::int64_t t, std::int64_t column) { return chosen[t] == column ? 1.0 : 0.0; });
  } else {
    const auto* rows = actions.floats().data();
    standardised([=, dim = actions.dim()](std::int64_t t, std::int64_t column) {
      return static_cast<double>(rows[t * dim + column]);
    });
  }
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

double ActionTargets::log_units() const {
  double sum = 0.0;
  for (const double scale : scale_)
    if (scale > 0.0) sum -= std::log(scale);
  return sum;
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
