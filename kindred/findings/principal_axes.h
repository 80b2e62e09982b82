// The directions in which rows of numbers vary most.
#pragma once

#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred::findings {

struct PrincipalAxes {
  Matrix directions;           ///< [count, columns]: of length 1, that of most variance first.
  std::vector<double> shares;  ///< [count]: of the whole variance; 0 where nothing varies.
};

/// The first `count` axes of rows whose columns have mean 0. An axis has two directions: the one
/// whose largest number is positive (of nearly equal ones, the first). Needs finite numbers and at
/// least `count` columns.
PrincipalAxes principal_axes(const Matrix& centred_rows, std::int64_t count);

}  // namespace kindred::findings
