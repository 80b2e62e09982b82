// A small network on one CPU core: rows in, rows out, gradients back. The network itself is only
// its parameters; what a pass computes lies in a Pass, so that several threads can use one network
// at once, each with a Pass of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/nn/layers.h"

namespace kindred {

struct MlpShape {
  std::int64_t inputs = 0;
  std::vector<std::int64_t> hidden = {64, 64};  ///< Units of each hidden layer; there may be none.
  std::int64_t outputs = 0;                     ///< Of each head.
  std::int64_t heads = 1;                       ///< Output layers beside each other.
  Activation activation = Activation::kTanh;    ///< Of the hidden layers.
  bool sparse = false;                          ///< Most inputs are 0, and are skipped.

  /// How many parameters there are, without padding.
  std::int64_t parameters() const;
  bool operator==(const MlpShape&) const = default;
};

class Mlp {
 public:
  /// All parameters 0. Throws InvalidArgument on an impossible shape.
  explicit Mlp(MlpShape shape);

  const MlpShape& shape() const { return shape_; }
  /// Numbers per row of outputs and their gradients: one head's after the other's, then zeros.
  std::int64_t output_stride() const { return output_.outputs; }

  /// Weights normal with deviation 1/sqrt(inputs), times `output_gain` in the heads.
  void initialise(Random random, double output_gain);

  /// Weight [inputs, width] and bias [width] of each layer, one after the other; widths padded with
  /// zeros to whole lanes.
  std::span<const float> parameters() const { return parameters_; }
  /// Throws InvalidArgument unless there are as many as parameters() has.
  void set_parameters(std::span<const float> values);
  /// Calls change(parameters), which may write to them.
  template <class Change>
  void change_parameters(const Change& change) {
    change(std::span<float>(parameters_));
    parameters_changed();
  }
  /// The same without the padding: how networks are kept in files.
  std::vector<float> packed() const;
  /// Throws InvalidArgument unless there are shape().parameters() of them.
  void unpack(std::span<const float> values);

  struct Pass {
    std::vector<std::vector<float>> hidden;  // per layer [rows, width]
    std::vector<float> outputs;              // [rows, output_stride]
    std::vector<float> delta, below;         // [rows, width]
    std::vector<float> output_gradient;      // as output_parameters_
    std::vector<float> turned;               // its weights transposed
    std::vector<float> columns, inputs;      // of input_gradient
  };

  /// x: [rows, inputs] → [rows, output_stride], which lives in `pass`.
  std::span<const float> forward(std::int64_t rows, const float* x, Pass& pass) const;

  /// After forward on the same rows: adds the gradient of a loss whose gradient with respect to the
  /// outputs is `delta` [rows, output_stride] (0 in the padding) to `gradient`, shaped as
  /// the parameters; or sets `gradient` to it.
  void backward(std::int64_t rows, const float* x, std::span<const float> delta, Pass& pass,
                std::span<float> gradient, bool add = true) const;

  /// After forward on the same rows: the gradient of that loss with respect to `count` of the
  /// inputs, from number `first` on: [rows, padded(count)], which lives in `pass`. Throws
  /// InvalidArgument on a network without hidden layers.
  std::span<const float> input_gradient(std::int64_t rows, std::span<const float> delta,
                                        std::int64_t first, std::int64_t count, Pass& pass) const;

 private:
  struct Layer {
    Linear linear;
    std::int64_t inputs, outputs;  // without the padding
  };
  bool reads_inputs(std::size_t layer) const { return layer == 0 || shape_.hidden.empty(); }
  /// What the hidden layer makes of x, its activation included.
  void forward(std::size_t layer, std::int64_t rows, const float* x, std::vector<float>& out) const;
  void parameter_gradient(std::size_t layer, const Linear& linear, std::int64_t rows,
                          const float* x, const float* delta, float* gradient, bool add) const;
  void head_gradients(std::int64_t rows, const float* x, const float* delta, Pass& pass,
                      std::span<float> gradient, bool add) const;
  void parameters_changed();
  /// Calls visit(offset in the parameters, offset in output_parameters_) for each row of a head's
  /// weight and for its bias: shape_.outputs numbers.
  template <class Visit>
  void for_each_head_row(const Visit& visit) const;
  /// From the last hidden layer to the first: calls visit(layer, the gradient of what it made,
  /// before its activation).
  template <class Visit>
  void walk_back(std::int64_t rows, std::span<const float> delta, Pass& pass,
                 const Visit& visit) const;

  MlpShape shape_;
  std::vector<Layer> layers_;  // hidden, then heads
  std::vector<float> parameters_;
  std::vector<float> transposed_;  // weights of hidden layers that do not read the inputs
  // All heads as one layer: heads of a few numbers would each fill a part of a vector.
  Linear output_;
  std::vector<float> output_parameters_, output_transposed_;
};

}  // namespace kindred
