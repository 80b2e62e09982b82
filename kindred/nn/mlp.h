// A small tanh network on one CPU core: rows in, rows out, gradients back. The network itself is
// only its parameters; what a pass computes lies in a Pass, so that several threads can use one
// network at once, each with a Pass of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"

namespace kindred {

struct MlpShape {
  std::int64_t inputs = 0;
  std::vector<std::int64_t> hidden = {64, 64};  ///< At least one; each a multiple of 16.
  std::int64_t outputs = 0;
  bool sparse = false;  ///< Most inputs are 0, and are skipped.

  /// How many parameters there are, without padding.
  std::int64_t parameters() const;
  bool operator==(const MlpShape&) const = default;
};

class Mlp {
 public:
  /// All parameters 0. Throws InvalidArgument on an impossible shape.
  explicit Mlp(MlpShape shape);

  const MlpShape& shape() const { return shape_; }
  /// Numbers per row of outputs and their gradients: the outputs, then zeros.
  std::int64_t output_stride() const { return layers_.back().width; }

  /// Weights normal with deviation 1/sqrt(inputs), times `output_gain` in the last layer.
  void initialise(Random random, double output_gain);

  /// Weight [inputs, width] and bias [width] of each layer, one after the other; widths padded.
  std::span<const float> parameters() const { return parameters_; }
  /// Throws InvalidArgument unless there are as many as parameters() has.
  void set_parameters(std::span<const float> values);
  /// The same without the padding: how networks are kept in files.
  std::vector<float> packed() const;
  /// Throws InvalidArgument unless there are shape().parameters() of them.
  void unpack(std::span<const float> values);

  struct Pass {
    std::vector<std::vector<float>> activations;  // per layer [rows, width]
    std::vector<float> delta, below;              // [rows, width]
  };

  /// x: [rows, inputs] → [rows, output_stride], which lives in `pass`.
  std::span<const float> forward(std::int64_t rows, const float* x, Pass& pass) const;

  /// After forward on the same rows: adds the gradient of a loss whose gradient with respect to the
  /// outputs is `delta` [rows, output_stride] (0 in the padding) to `gradient`, shaped as the
  /// parameters.
  void backward(std::int64_t rows, const float* x, std::span<const float> delta, Pass& pass,
                std::span<float> gradient) const;

 private:
  struct Layer {
    std::int64_t inputs, outputs, width, weight, bias, transposed;
  };
  void parameters_changed();

  MlpShape shape_;
  std::vector<Layer> layers_;
  std::vector<float> parameters_;
  std::vector<float> transposed_;  // weights of all layers but the first, for the way back
};

}  // namespace kindred
