// The checks every reader makes on the numbers it has read. Each throws DataFormatError with one
// sentence that begins with `where` (file and array) and names the first bad row.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kindred/core/error.h"

namespace kindred {

inline constexpr std::int64_t kMaxActions = 65536;

/// Every value is a finite float32; they are rows of `row_size`, the first being `first_row`.
void check_finite(std::span<const float> values, std::int64_t first_row, std::int64_t row_size,
                  const std::string& where);

/// Converts whole numbers in [0, kMaxActions) to out[values.size()]. T: int64 or double.
template <class T>
void to_discrete(std::span<const T> values, std::int64_t first_row, const std::string& where,
                 std::int32_t* out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    const bool whole = value >= T{0} && value < T{kMaxActions} &&
                       static_cast<T>(static_cast<std::int32_t>(value)) == value;
    if (!whole)
      throw DataFormatError(
          "{} has action {} in row {}, expected whole numbers from 0 to {}; "
          "actions that are not discrete need the option actions = continuous",
          where, value, first_row + static_cast<std::int64_t>(i), kMaxActions - 1);
    out[i] = static_cast<std::int32_t>(value);
  }
}

/// Converts flags, each 0 or 1, to out[values.size()]. T: int64 or double.
template <class T>
void to_flags(std::span<const T> values, std::int64_t first_row, const std::string& where,
              std::uint8_t* out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != T{0} && values[i] != T{1})
      throw DataFormatError("{} has {} in row {}, expected flags of 0 or 1", where, values[i],
                            first_row + static_cast<std::int64_t>(i));
    out[i] = values[i] != T{0};
  }
}

}  // namespace kindred
