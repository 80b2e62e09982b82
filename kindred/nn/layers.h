// What networks on one CPU core are built from, forwards and backwards over row-major buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kindred/nn/elementwise.h"
#include "kindred/nn/gemm.h"

namespace kindred {

/// Makes room for n floats; what a buffer once held it keeps for the next batch.
inline void grow(std::vector<float>& buffer, std::int64_t n) {
  if (static_cast<std::int64_t>(buffer.size()) < n) buffer.resize(static_cast<std::size_t>(n));
}

/// Rows that go through several layers together: what layers hand to each other then stays in the
/// second cache. A multiple of the rows of every tile of a product.
inline constexpr std::int64_t kRowsTogether = 192;

/// Calls visit(begin, count) for so many rows, from the first to the last, and at least once.
template <class Visit>
void for_rows_together(std::int64_t rows, const Visit& visit) {
  std::int64_t begin = 0;
  do {
    visit(begin, std::min(kRowsTogether, rows - begin));
    begin += kRowsTogether;
  } while (begin < rows);
}

/// x [rows, inputs] · weight + bias → [rows, outputs]. A layer says where its numbers are: weight
/// [inputs, outputs] and bias [outputs] lie at these offsets of a network's parameters and of their
/// gradient, the transposed weight lies at the weight's offset of a vector of its own.
struct Linear {
  static constexpr std::int64_t kNoBias = -1;

  std::int64_t inputs = 0, outputs = 0;  ///< As in memory: outputs are a multiple of kLane.
  std::int64_t weight = 0, bias = kNoBias;
  std::int64_t padding = 0;  ///< So many outputs, the last, are always 0, as is their gradient.

  /// Where `rectify`, through a ReLU.
  void forward(std::int64_t rows, const float* x, const float* parameters, float* out,
               bool rectify = false) const;
  void forward(std::int64_t rows, const float* x, const float* parameters, std::vector<float>& out,
               bool rectify = false) const {
    grow(out, rows * outputs);
    forward(rows, x, parameters, out.data(), rectify);
  }
  /// The parameters' gradient, added or set, given the gradient `delta` of what forward() made of
  /// x.
  void parameter_gradient(std::int64_t rows, const float* x, const float* delta, float* gradient,
                          bool add = true) const;
  /// The same where there are few outputs, and inputs are a multiple of kLane: vectors are filled
  /// by inputs instead.
  void narrow_parameter_gradient(std::int64_t rows, const float* x, const float* delta,
                                 float* gradient, std::vector<float>& transposed, bool add) const;
  /// The gradient of x [rows, inputs], set or added. Where x came through a ReLU, `rectified` is
  /// x, and the gradient is that of what the ReLU was given.
  void pass_back(std::int64_t rows, const float* delta, const float* transposed, float* below,
                 bool add = false, const float* rectified = nullptr) const;
  void pass_back(std::int64_t rows, const float* delta, const float* transposed,
                 std::vector<float>& below, bool add = false,
                 const float* rectified = nullptr) const {
    grow(below, rows * inputs);
    pass_back(rows, delta, transposed, below.data(), add, rectified);
  }
  void transpose_weight(const float* parameters, float* transposed) const;

  /// The first two for x most of which is 0.
  void forward_sparse(std::int64_t rows, const float* x, const float* parameters,
                      std::vector<float>& out) const;
  void parameter_gradient_sparse(std::int64_t rows, const float* x, const float* delta,
                                 float* gradient, bool add = true) const;
};

enum class Activation { kRelu, kTanh };

void activate(Activation activation, std::int64_t n, float* x);
/// Turns the gradient of what activate() gave into that of what it was given.
void activation_gradient(Activation activation, std::int64_t n, const float* activated,
                         float* gradient);

/// Sums the steps' gradients into the distinct rows they came from; the steps' own when each step
/// has its own row, in the same order.
const float* gather_gradients(std::int64_t rows, std::int64_t width,
                              const std::vector<std::int32_t>& row_of_step,
                              const std::vector<float>& per_step, std::vector<float>& per_row);

}  // namespace kindred
