#include "kindred/data/checks.h"

#include <bit>
#include <cmath>

namespace kindred {

void check_finite(std::span<const float> values, std::int64_t first_row, std::int64_t row_size,
                  const std::string& where) {
  constexpr std::uint32_t kExponent = 0x7f800000;  // all ones in inf and nan, and only there
  bool finite = true;
  for (const float value : values)  // no early end: this loop runs at the speed of memory
    finite &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
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
