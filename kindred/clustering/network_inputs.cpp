#include "kindred/clustering/network_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kindred {
namespace {

/// Sums over every step, in double.
struct Moments {
  std::vector<double> sum, squares;
  std::vector<std::uint8_t> nonzero;
};

/// Adds `rows` [n, dim], each as often as `times` says (once when empty).
void add_rows(std::span<const float> rows, std::span<const double> times, Moments& to) {
  const auto dim = to.sum.size();
  for (std::size_t r = 0; r < rows.size() / dim; ++r) {
    const double n = times.empty() ? 1.0 : times[r];
    if (n == 0.0) continue;
    for (std::size_t d = 0; d < dim; ++d) {
      const double x = rows[r * dim + d];
      to.sum[d] += n * x;
      to.squares[d] += n * x * x;
      to.nonzero[d] |= x != 0.0;
    }
  }
}

Moments moments(const Observations& observations) {
  const auto dim = static_cast<std::size_t>(observations.dim());
  Moments result{std::vector<double>(dim), std::vector<double>(dim),
                 std::vector<std::uint8_t>(dim)};
  if (observations.is_interned()) {
    std::vector<double> times(static_cast<std::size_t>(observations.distinct()), 0.0);
    for (const auto row : observations.index().span()) times[static_cast<std::size_t>(row)] += 1.0;
    add_rows(observations.table().span(), times, result);
    return result;
  }
  constexpr std::int64_t kBlock = 4096;
  std::vector<float> rows(static_cast<std::size_t>(kBlock) * dim);
  for (std::int64_t begin = 0; begin < observations.steps(); begin += kBlock) {
    const auto end = std::min(begin + kBlock, observations.steps());
    observations.copy(begin, end, rows.data());
    add_rows(std::span(rows).first(static_cast<std::size_t>(end - begin) * dim), {}, result);
  }
  return result;
}

bool zeros_and_ones(const Observations& observations) {
  const auto all = [](const auto& values) {
    return std::ranges::all_of(values.span(), [](auto x) { return x == 0 || x == 1; });
  };
  if (observations.is_bytes()) return all(observations.bytes());
  return all(observations.is_interned() ? observations.table() : observations.floats());
}

/// Whether rows reach the network as they lie.
bool takes_all_columns(const NetworkInputs& inputs) {
  if (inputs.count() != inputs.obs_dim) return false;
  for (std::int64_t i = 0; i < inputs.obs_dim; ++i)
    if (inputs.columns[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

/// In place, rows [n, inputs]. Several rows are one long loop, which fills whole vectors.
void scale_rows(const NetworkInputs& inputs, std::span<float> rows) {
  constexpr std::size_t kRowsAtOnce = 16;
  const auto most = std::min(kRowsAtOnce * inputs.mean.size(), rows.size());
  std::vector<float> mean, scale;
  while (mean.size() < most) {
    mean.insert(mean.end(), inputs.mean.begin(), inputs.mean.end());
    scale.insert(scale.end(), inputs.scale.begin(), inputs.scale.end());
  }
  for (std::size_t begin = 0; begin < rows.size(); begin += mean.size()) {
    const auto some = rows.subspan(begin, std::min(mean.size(), rows.size() - begin));
    for (std::size_t i = 0; i < some.size(); ++i) some[i] = (some[i] - mean[i]) * scale[i];
  }
}

}  // namespace

Standardize resolve_standardize(Standardize requested, const Observations& observations) {
  if (requested != Standardize::kAuto) return requested;
  return zeros_and_ones(observations) ? Standardize::kOff : Standardize::kOn;
}

NetworkInputs NetworkInputs::from(const Observations& observations, bool standardize) {
  const auto [sum, squares, nonzero] = moments(observations);
  const double n = static_cast<double>(observations.steps());
  NetworkInputs inputs;
  inputs.obs_dim = observations.dim();
  for (std::size_t d = 0; d < sum.size(); ++d) {
    const double mean = sum[d] / n;
    const double deviation = std::sqrt(std::max(0.0, squares[d] / n - mean * mean));
    const bool varies = deviation > 1e-6 * (1.0 + std::abs(mean));
    if (!(standardize ? varies : nonzero[d])) continue;
    inputs.columns.push_back(static_cast<std::int64_t>(d));
    inputs.mean.push_back(standardize ? static_cast<float>(mean) : 0.0F);
    inputs.scale.push_back(standardize ? static_cast<float>(1.0 / deviation) : 1.0F);
  }
  if (inputs.columns.empty()) {  // a policy that sees nothing is still a policy
    inputs.columns = {0};
    inputs.mean = {0.0F};
    inputs.scale = {0.0F};
  }
  return inputs;
}

void NetworkInputs::apply(std::span<const float> rows, std::span<float> out) const {
  if (takes_all_columns(*this)) {
    std::ranges::copy(rows, out.begin());
    scale_rows(*this, out.first(rows.size()));
    return;
  }
  float* to = out.data();
  for (const float* row = rows.data(); row < rows.data() + rows.size(); row += obs_dim)
    for (std::size_t i = 0; i < columns.size(); ++i) *to++ = (row[columns[i]] - mean[i]) * scale[i];
}

void NetworkInputs::gather(const Observations& observations, std::span<const std::int64_t> steps,
                           std::span<float> out) const {
  if (takes_all_columns(*this)) {
    observations.gather(steps, out.data());
    scale_rows(*this, out.first(steps.size() * columns.size()));
    return;
  }
  constexpr std::size_t kStepsAtOnce = 256;
  std::vector<float> rows;
  for (std::size_t begin = 0; begin < steps.size(); begin += kStepsAtOnce) {
    const auto some = steps.subspan(begin, std::min(kStepsAtOnce, steps.size() - begin));
    rows.resize(some.size() * static_cast<std::size_t>(obs_dim));
    observations.gather(some, rows.data());
    apply(rows, out.subspan(begin * columns.size(), some.size() * columns.size()));
  }
}

void NetworkInputs::save(ArrayFileWriter& file) const {
  file.write<std::int64_t>("inputs/obs_dim", std::vector<std::int64_t>{obs_dim});
  file.write<std::int64_t>("inputs/columns", columns);
  file.write<float>("inputs/mean", mean);
  file.write<float>("inputs/scale", scale);
}

NetworkInputs NetworkInputs::load(const ArrayFileReader& file) {
  NetworkInputs inputs;
  inputs.obs_dim = file.read_number<std::int64_t>("inputs/obs_dim");
  inputs.columns = file.read<std::int64_t>("inputs/columns", {kAnyExtent}).values;
  for (const auto column : inputs.columns)
    if (column < 0 || column >= inputs.obs_dim)
      file.refuse("inputs/columns", fmt::format("names column {} of observations of {} numbers",
                                                column, inputs.obs_dim));
  inputs.mean = file.read_finite<float>("inputs/mean", {inputs.count()}).values;
  inputs.scale = file.read_finite<float>("inputs/scale", {inputs.count()}).values;
  return inputs;
}

}  // namespace kindred
