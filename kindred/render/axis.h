// Axes: the range of the data, round ticks inside it, and where a value stands in the picture.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kindred::render {

struct Range {
  double low = 0.0;
  double high = 0.0;

  double width() const { return high - low; }
  void include(double value);
  /// Wider by `share` at both ends, and never empty.
  Range padded(double share) const;
};

/// From the least to the greatest of the values, of which there is at least one.
Range range_of(std::span<const double> values);

struct Ticks {
  std::vector<double> values;
  std::vector<std::string> labels;
};

/// Multiples of 1, 2 or 5 times a power of ten within the range: as many as possible, but at most
/// `at_most` (no less than 2).
Ticks round_ticks(Range range, int at_most);

/// As round_ticks, but only whole numbers.
Ticks whole_ticks(Range range, int at_most);

/// Maps a range to pixels from `from` to `to`, which may run backwards.
struct Scale {
  Range range;
  double from = 0.0;
  double to = 0.0;

  double operator()(double value) const {
    return from + (value - range.low) / range.width() * (to - from);
  }
};

}  // namespace kindred::render
