#include "kindred/findings/principal_axes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace kindred::findings {
namespace {

/// Summed here, in the order of the rows: a matrix product sums in another with other threads.
Matrix covariance_of(const Matrix& rows) {
  Matrix result(rows.columns, rows.columns);
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t a = 0; a < rows.columns; ++a)
      for (std::int64_t b = 0; b < rows.columns; ++b)
        result(a, b) += rows(i, a) * rows(i, b) / static_cast<double>(rows.rows);
  return result;
}

/// LAPACK's last bits depend on its number of threads.
void round_off(std::span<double> direction) {
  for (double& value : direction) value = std::round(1e10 * value) / 1e10;
}

/// Turns a direction around where its largest number, or the first that nearly is, is negative.
void make_upright(std::span<double> direction) {
  double largest = 0.0;
  for (const double value : direction) largest = std::max(largest, std::abs(value));
  const auto first = std::ranges::find_if(
      direction, [&](double value) { return std::abs(value) >= 0.999 * largest; });
  if (*first < 0.0)
    for (double& value : direction) value = -value;
}

}  // namespace

PrincipalAxes principal_axes(const Matrix& centred_rows, std::int64_t count) {
  const auto n = centred_rows.columns;
  Matrix covariance = covariance_of(centred_rows);
  const auto [variances, columns] =
      at::linalg_eigh(at::from_blob(covariance.values.data(), {n, n}, at::kDouble));
  const auto directions = columns.t().contiguous();  // as rows, that of least variance first
  const auto total = variances.sum().item<double>();
  PrincipalAxes axes{.directions = Matrix(count, n), .shares = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto* from = directions.data_ptr<double>() + (n - 1 - i) * n;
    const auto to = std::span(axes.directions.values)
                        .subspan(static_cast<std::size_t>(i * n), static_cast<std::size_t>(n));
    std::copy_n(from, n, to.begin());
    round_off(to);
    make_upright(to);
    const double variance = variances[n - 1 - i].item<double>();
    axes.shares.push_back(total > 0.0 ? std::max(0.0, variance / total) : 0.0);
  }
  return axes;
}

}  // namespace kindred::findings
