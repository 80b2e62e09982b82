#include "kindred/findings/state_rows.h"

#include <algorithm>
#include <cmath>

namespace kindred::findings {
namespace {

constexpr std::int64_t kNumbersAtOnce = 1 << 22;

/// Means of `width` blocks, of nearly equal size, of the `dim` numbers at `from`.
void pool(const float* from, std::int64_t dim, std::int64_t width, float* to) {
  for (std::int64_t block = 0; block < width; ++block) {
    const auto begin = block * dim / width, end = (block + 1) * dim / width;
    double sum = 0.0;
    for (auto i = begin; i < end; ++i) sum += from[i];
    to[block] = static_cast<float>(sum / static_cast<double>(end - begin));
  }
}

}  // namespace

StateRows state_rows(const Observations& observations, std::span<const std::int64_t> steps,
                     std::int64_t most) {
  const auto dim = observations.dim();
  StateRows rows{.width = std::min(dim, most), .values = {}};
  rows.values.resize(steps.size() * static_cast<std::size_t>(rows.width));
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(1, kNumbersAtOnce / dim));
  std::vector<float> some;
  for (std::size_t begin = 0; begin < steps.size(); begin += at_once) {
    const auto part = steps.subspan(begin, std::min(at_once, steps.size() - begin));
    some.resize(part.size() * static_cast<std::size_t>(dim));
    observations.gather(part, some.data());
    for (std::size_t i = 0; i < part.size(); ++i)
      pool(some.data() + i * static_cast<std::size_t>(dim), dim, rows.width,
           rows.values.data() + (begin + i) * static_cast<std::size_t>(rows.width));
  }
  return rows;
}

void standardise(std::vector<float>& values, std::int64_t width) {
  const auto w = static_cast<std::size_t>(width);
  const auto rows = values.size() / std::max<std::size_t>(1, w);
  for (std::size_t column = 0; column < w && rows > 0; ++column) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < rows; ++i) sum += values[i * w + column];
    const double mean = sum / static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i)
      squares += std::pow(values[i * w + column] - mean, 2) / static_cast<double>(rows);
    const double deviation = std::sqrt(squares);
    // Rounding makes a constant column deviate a little.
    const bool constant = !(deviation > 1e-6 * std::abs(mean));
    for (std::size_t i = 0; i < rows; ++i)
      values[i * w + column] =
          constant ? 0.0f : static_cast<float>((values[i * w + column] - mean) / deviation);
  }
}

}  // namespace kindred::findings
