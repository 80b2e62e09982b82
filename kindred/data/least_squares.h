// Linear least squares with a small ridge, for a few dozen inputs. Internal.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

/// Gathers examples one by one, then solves for the weights of all outputs at once.
class LeastSquares {
 public:
  LeastSquares(std::int64_t inputs, std::int64_t outputs);

  void add(std::span<const double> input, std::span<const double> output);
  /// [inputs, outputs]; `ridge` is relative to the mean square of the inputs.
  std::vector<double> weights(double ridge = 1e-6) const;

 private:
  std::size_t inputs_, outputs_;
  std::vector<double> squares_;   // [inputs, inputs], lower half
  std::vector<double> products_;  // [inputs, outputs]
};

/// input · weights, to out[outputs].
void apply_weights(std::span<const double> weights, std::span<const double> input,
                   std::span<double> out);

}  // namespace kindred
