// How policies and steps lie in a GPU's memory, told to the host and to the kernels alike.
//
// Networks are padded with zeros: inputs and one that is always 1 (whose weights are the first
// layer's bias) to a multiple of 16, both hidden layers to 64 or 128, outputs to 16 or 32. What is
// padding stays zero, because nothing it touches has a gradient.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define KINDRED_BOTH __host__ __device__
#else
#define KINDRED_BOTH
#endif

namespace kindred::cuda {

/// A policy's shape as the kernels see it, padded, and what of it is real.
struct Shape {
  int inputs = 0, actions = 0;
  bool discrete = false;
  int input_tiles = 0;  ///< Of 16 inputs.
  int hidden = 0;
  int outputs = 0;

  KINDRED_BOTH int padded_inputs() const { return 16 * input_tiles; }
};

/// An image is all numbers of a policy: weights of the first layer [padded_inputs, hidden], of the
/// second [hidden, hidden], of the heads [hidden, outputs], the second layer's bias, the heads'.
struct ImageLayout {
  int inputs, hidden, outputs;

  KINDRED_BOTH explicit constexpr ImageLayout(int padded_inputs, int width, int padded_outputs)
      : inputs(padded_inputs), hidden(width), outputs(padded_outputs) {}

  /// Rows of both hidden layers are turned by eights, so that threads that write a column's
  /// gradients meet in no bank of shared memory.
  KINDRED_BOTH constexpr int turned(int row, int column) const {
    return row * hidden + (column ^ ((row & 7) << 3));
  }
  KINDRED_BOTH constexpr int first(int input, int unit) const { return turned(input, unit); }
  KINDRED_BOTH constexpr int second(int below, int unit) const {
    return turned(inputs + below, unit);
  }
  KINDRED_BOTH constexpr int heads() const { return (inputs + hidden) * hidden; }
  KINDRED_BOTH constexpr int head(int unit, int output) const {
    return heads() + unit * outputs + output;
  }
  KINDRED_BOTH constexpr int second_bias() const { return heads() + hidden * outputs; }
  KINDRED_BOTH constexpr int head_bias() const { return second_bias() + hidden; }
  KINDRED_BOTH constexpr int size() const { return head_bias() + outputs; }
};

/// A Gaussian's mean and raw deviation of one number are neighbours, so that one thread has both.
KINDRED_BOTH inline int mean_output(int action) { return 2 * action; }
KINDRED_BOTH inline int deviation_output(int action) { return 2 * action + 1; }

/// One step: inputs as halves, the same as bfloat16, and the action as outputs / 2 floats, or one
/// integer.
struct StepLayout {
  int input_tiles, outputs;

  KINDRED_BOTH explicit constexpr StepLayout(int tiles, int padded_outputs)
      : input_tiles(tiles), outputs(padded_outputs) {}

  KINDRED_BOTH constexpr int bfloats() const { return 32 * input_tiles; }
  KINDRED_BOTH constexpr int action() const { return 64 * input_tiles; }
  KINDRED_BOTH constexpr int bytes() const { return action() + 2 * outputs; }
};

/// The number of a policy's step that takes place `row` in the batch of training step `step`: a
/// hash of where it is wanted, so that every thread of a GPU, and a test, can tell without the
/// others.
KINDRED_BOTH inline std::uint32_t drawn(std::uint64_t stream, std::uint32_t step, std::uint32_t row,
                                        std::uint32_t count) {
  std::uint64_t x = stream + 0x9E3779B97F4A7C15ULL * ((std::uint64_t{step} << 32 | row) + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return static_cast<std::uint32_t>(((x >> 32) * count) >> 32);
}

}  // namespace kindred::cuda
