// Finds out whether a dataset has few distinct observations, and keeps each of them once if so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred {

/// The same observations, interned when at most one row in eight, and no more than 65,536, are
/// distinct; otherwise `observations` as they are. Rows are equal when their bytes are, so the
/// result is exact. The search ends as soon as too many rows were distinct, so that continuous
/// data cost almost nothing. Table rows are in order of first appearance. Throws nothing.
Observations intern(Observations observations);

/// Which of the distinct observations, however many there are, each step sees: numbers from 0 in
/// order of first appearance, or of interned ones in the order of their table.
std::vector<std::int32_t> number_states(const Observations& observations);

/// How many rows of so many steps may be distinct for them to be interned.
std::int64_t most_distinct(std::int64_t steps);

/// Rows of a table in order of first appearance, and for some steps which of them each has.
struct DistinctRows {
  std::vector<float> table;        ///< [distinct, dim]
  StepValues<std::int32_t> index;  ///< [steps]
};

/// Those of steps [begin, end) of dense observations; nothing when more than `limit` are distinct.
std::optional<DistinctRows> distinct_rows(const Observations& observations, std::int64_t begin,
                                          std::int64_t end, std::int64_t limit);
/// Those of rows [n, dim] one after the other.
std::optional<DistinctRows> distinct_rows(std::span<const float> rows, std::int64_t dim,
                                          std::int64_t limit);

}  // namespace kindred
