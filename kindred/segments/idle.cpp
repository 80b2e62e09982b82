#include "kindred/segments/idle.h"

#include <algorithm>
#include <cmath>

namespace kindred {
namespace {

constexpr double kStill = 1e-3;            // of a number's deviation
constexpr std::int64_t kSampled = 10'000;  // steps that deviations are taken from

/// Rows of numbers: observations or continuous actions.
struct Rows {
  std::int64_t width = 0;
  std::vector<float> values;

  const float* row(std::int64_t i) const { return values.data() + i * width; }
};

std::vector<double> still_below(const Rows& rows) {
  const auto count = std::ssize(rows.values) / rows.width;
  std::vector<double> limits;
  for (std::int64_t d = 0; d < rows.width; ++d) {
    double sum = 0.0, squares = 0.0;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(rows.row(i)[d]);
    const double mean = sum / static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i)
      squares += std::pow(static_cast<double>(rows.row(i)[d]) - mean, 2);
    limits.push_back(kStill * std::sqrt(squares / static_cast<double>(count)));
  }
  return limits;
}

bool same(const float* a, const float* b, const std::vector<double>& limits) {
  for (std::size_t d = 0; d < limits.size(); ++d)
    if (std::abs(static_cast<double>(a[d]) - static_cast<double>(b[d])) > limits[d]) return false;
  return true;
}

Rows observed(const Trajectories& data, const std::vector<std::int64_t>& steps) {
  Rows rows{.width = data.observations.dim(), .values = {}};
  rows.values.resize(steps.size() * static_cast<std::size_t>(rows.width));
  data.observations.gather(steps, rows.values.data());
  return rows;
}

Rows acted(const Trajectories& data, const std::vector<std::int64_t>& steps) {
  Rows rows{.width = data.actions.dim(), .values = {}};
  for (const auto step : steps)
    for (std::int64_t d = 0; d < rows.width; ++d)
      rows.values.push_back(data.actions.is_discrete()
                                ? static_cast<float>(data.actions.ints()[step])
                                : data.actions.floats()[step * rows.width + d]);
  return rows;
}

}  // namespace

std::vector<IdleStretch> idle_stretches(const Trajectories& data, std::int64_t least) {
  std::vector<std::int64_t> sample;
  const auto stride = std::max<std::int64_t>(1, data.steps() / kSampled);
  for (std::int64_t t = 0; t < data.steps(); t += stride) sample.push_back(t);
  const auto still_seen = still_below(observed(data, sample));
  const auto still_acted = still_below(acted(data, sample));
  std::vector<IdleStretch> found;
  for (std::int64_t e = 0; e < data.episodes(); ++e) {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(data.length(e)));
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i] = data.offsets[e] + static_cast<std::int64_t>(i);
    const auto seen = observed(data, steps), done = acted(data, steps);
    std::int64_t begin = 0;
    for (std::int64_t i = 1; i <= data.length(e); ++i) {
      if (i < data.length(e) && same(seen.row(i), seen.row(i - 1), still_seen) &&
          same(done.row(i), done.row(i - 1), still_acted))
        continue;
      if (i - begin >= least) found.push_back({.episode = e, .begin = begin, .end = i});
      begin = i;
    }
  }
  return found;
}

}  // namespace kindred
