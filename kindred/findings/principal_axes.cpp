#include "kindred/findings/principal_axes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// A symmetric matrix, turned until it is diagonal: the rows of `axes` are its eigenvectors then.
/// Jacobi's way, pair by pair; latent vectors and clusters are few.
struct Turning {
  Matrix matrix, axes;

  explicit Turning(Matrix symmetric)
      : matrix(std::move(symmetric)), axes(matrix.rows, matrix.rows) {
    for (std::int64_t i = 0; i < axes.rows; ++i) axes(i, i) = 1.0;
    double total = 0.0;
    for (std::int64_t i = 0; i < axes.rows; ++i) total += matrix(i, i);
    constexpr int kMostSweeps = 60;  // after about ten nothing is left
    for (int sweep = 0; sweep < kMostSweeps && turn_every_pair(1e-18 * total); ++sweep) {
    }
  }

 private:
  /// Whether there was anything to turn: more than `least`.
  bool turn_every_pair(double least) {
    bool turned = false;
    for (std::int64_t p = 0; p < matrix.rows; ++p)
      for (std::int64_t q = p + 1; q < matrix.rows; ++q) {
        if (std::abs(matrix(p, q)) <= least) continue;
        turn(p, q);
        turned = true;
      }
    return turned;
  }

  /// The rotation of axes p and q that makes matrix(p, q) zero; the smaller of the two there are.
  void turn(std::int64_t p, std::int64_t q) {
    const double cot = (matrix(q, q) - matrix(p, p)) / (2.0 * matrix(p, q));
    const double t = std::copysign(1.0, cot) / (std::abs(cot) + std::hypot(1.0, cot));
    const double c = 1.0 / std::hypot(1.0, t), s = t * c;
    const auto rotate = [&](double& a, double& b) {
      const double was = a;
      a = c * was - s * b;
      b = s * was + c * b;
    };
    for (std::int64_t i = 0; i < matrix.rows; ++i) rotate(matrix(i, p), matrix(i, q));
    for (std::int64_t i = 0; i < matrix.rows; ++i) rotate(matrix(p, i), matrix(q, i));
    for (std::int64_t i = 0; i < matrix.rows; ++i) rotate(axes(p, i), axes(q, i));
    matrix(p, q) = matrix(q, p) = 0.0;
  }
};

/// The last bits depend on the machine.
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
  const Turning turning(covariance_of(centred_rows));
  const auto variance = [&](std::int64_t axis) { return turning.matrix(axis, axis); };
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), variance);
  double total = 0.0;
  for (std::int64_t axis = 0; axis < n; ++axis) total += variance(axis);
  PrincipalAxes axes{.directions = Matrix(count, n), .shares = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto axis = order[static_cast<std::size_t>(i)];
    const auto to = std::span(axes.directions.values)
                        .subspan(static_cast<std::size_t>(i * n), static_cast<std::size_t>(n));
    std::ranges::copy(turning.axes.row(axis), to.begin());
    round_off(to);
    make_upright(to);
    axes.shares.push_back(total > 0.0 ? std::max(0.0, variance(axis) / total) : 0.0);
  }
  return axes;
}

}  // namespace kindred::findings
