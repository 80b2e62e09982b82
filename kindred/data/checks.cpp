#include "kindred/data/checks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kindred/data/mind_memory.h"

namespace kindred {

namespace {

bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;  // all ones in inf and nan, and only there
  bool finite = true;
  for (const float value : values)  // no early end: this loop runs at the speed of memory
    finite &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
  return finite;
}

}  // namespace

void check_finite(std::span<const float> values, std::int64_t first_row, std::int64_t row_size,
                  const std::string& where) {
  constexpr std::size_t kAtOnce = 1 << 20;
  bool finite = true;
  for (std::size_t begin = 0; begin < values.size(); begin += kAtOnce) {
    finite &= all_finite(values.subspan(begin, std::min(kAtOnce, values.size() - begin)));
    mind_memory();
  }
  if (finite) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const auto at = static_cast<std::int64_t>(i);
    throw DataFormatError(
        "{} has {} in row {}, column {}, expected finite 32-bit numbers; remove "
        "or repair that episode ('kindred info' says where else)",
        where, values[i], first_row + at / row_size, at % row_size);
  }
}

}  // namespace kindred
