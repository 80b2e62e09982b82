// The exact assignment problem on a sparse, rectangular table of whole numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

/// One entry of the table; what is not listed weighs 0.
struct MatchingEntry {
  std::int32_t row;
  std::int32_t column;
  std::int64_t weight;  ///< At least 0.
};

/// The largest total weight of a one-to-one matching of rows to columns. Each (row, column) occurs
/// at most once in `entries`, with 0 <= row < rows and 0 <= column < columns.
///
/// Shortest augmenting paths with dual prices (Jonker & Volgenant 1987), on the listed entries
/// only: never more than min(rows, columns) searches of O(entries log entries), usually far less.
std::int64_t maximum_matching_weight(std::span<const MatchingEntry> entries, std::int32_t rows,
                                     std::int32_t columns);

/// The same matching: [rows], the column of each, or -1 where it has none.
std::vector<std::int32_t> maximum_matching(std::span<const MatchingEntry> entries,
                                           std::int32_t rows, std::int32_t columns);

}  // namespace kindred
