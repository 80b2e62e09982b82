// Linear least squares with a small ridge, for a few dozen inputs. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

/// Sums, over rows of numbers, of the products of any two: what least squares and correlations are
/// made of. Rows are added in their order, some at a time.
class ProductSums {
 public:
  /// Of the first `factors` numbers of a row with all `width` of them.
  ProductSums(std::size_t factors, std::size_t width);

  /// Where to write the numbers of one more row.
  double* add_row();
  /// Of numbers i <= j, where i is a factor.
  double sum(std::size_t i, std::size_t j);

 private:
  void add_pending();

  std::size_t factors_, stride_;
  std::vector<double> sums_;     // [factors, stride]
  std::vector<double> pending_;  // [rows, stride], with zeros at their ends
  std::size_t pending_rows_ = 0;
};

/// Gathers examples one by one, then solves for the weights of all outputs at once.
class LeastSquares {
 public:
  LeastSquares(std::int64_t inputs, std::int64_t outputs);

  void add(std::span<const double> input, std::span<const double> output);
  /// [inputs, outputs]; `ridge` is relative to the mean square of the inputs.
  std::vector<double> weights(double ridge = 1e-6);

 private:
  std::size_t inputs_, outputs_;
  ProductSums products_;  // of inputs, with inputs and outputs
};

/// input · weights, to out[outputs].
void apply_weights(std::span<const double> weights, std::span<const double> input,
                   std::span<double> out);

/// So many examples side by side.
constexpr std::size_t kExamplesAtOnce = 16;
/// The same, to the bit, for examples side by side: input[inputs, examples], out[outputs,
/// examples].
void apply_weights_at_once(std::span<const double> weights, std::span<const double> input,
                           std::span<double> out);

}  // namespace kindred
