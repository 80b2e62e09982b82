#include "kindred/render/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kindred::render {
namespace {

constexpr double kSlack = 1e-9;  // a tick on the border counts in spite of rounding

double first_multiple(Range range, double step) { return std::ceil(range.low / step - kSlack); }
double last_multiple(Range range, double step) { return std::floor(range.high / step + kSlack); }

double round_step(Range range, int at_most, double smallest) {
  const double power = std::pow(10.0, std::floor(std::log10(range.width() / at_most)));
  for (const double decade : {power, 10.0 * power, 100.0 * power}) {
    for (const double multiple : {1.0, 2.0, 5.0}) {
      const double step = multiple * decade;
      const double count = last_multiple(range, step) - first_multiple(range, step) + 1.0;
      if (step >= smallest && count <= at_most) return step;
    }
  }
  return smallest;
}

/// Written with as many decimals as the step has; in powers of ten where that would be long.
std::string label_of(double value, double step) {
  const auto digits = [](double number) {
    return static_cast<int>(std::floor(std::log10(number)));
  };
  if (std::abs(value) < 1e6 && step >= 1e-4)
    return fmt::format("{:.{}f}", value, std::max(0, -digits(step)));
  return fmt::format("{:.{}g}", value, value == 0.0 ? 1 : digits(std::abs(value) / step) + 2);
}

Ticks ticks_at(Range range, double step) {
  Ticks ticks;
  const double last = last_multiple(range, step);
  for (double i = first_multiple(range, step); i <= last; ++i) {
    const double value = i == 0.0 ? 0.0 : i * step;  // never -0
    ticks.values.push_back(value);
    ticks.labels.push_back(label_of(value, step));
  }
  return ticks;
}

}  // namespace

void Range::include(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

Range Range::padded(double share) const {
  const double smallest = 1e-6 * std::max({1.0, std::abs(low), std::abs(high)});
  const double by = width() < smallest ? std::max(0.5, 0.05 * std::abs(low)) : share * width();
  return {low - by, high + by};
}

Range range_of(std::span<const double> values) {
  const auto [low, high] = std::ranges::minmax(values);
  return {low, high};
}

Ticks round_ticks(Range range, int at_most) {
  return ticks_at(range, round_step(range, at_most, 0.0));
}

Ticks whole_ticks(Range range, int at_most) {
  return ticks_at(range, round_step(range, at_most, 1.0));
}

}  // namespace kindred::render
