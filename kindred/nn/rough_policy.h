// A policy in whole numbers, for telling likely policies from unlikely ones at several times the
// rate of floats, where the processor adds up products of shorts and bytes (AVX-512 VNNI). Every
// step has scales of its own: it counts the same alone and among others. See
// docs/decisions/0036-rough-scores.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kindred/nn/elementwise.h"
#include "kindred/nn/policy_stack.h"

namespace kindred {

class RoughPolicy {
 public:
  /// Whether this processor can, and there is a hidden layer to gain from.
  static bool is_possible(const PolicyArchitecture& architecture);

  /// In shorts; or inputs in shorts and everything after them in bytes, which is rougher.
  enum class Numerals { kShorts, kBytes };

  /// Policy `index` of a stack. Only where it is possible, and all its parameters are finite.
  RoughPolicy(const PolicyStack& stack, std::int64_t index, Numerals numerals);

  /// One number of each of 16 steps.
  template <class T>
  struct alignas(64) Lanes {
    T of[16];
  };
  static constexpr std::size_t kVectors = kSideBySide / 16;
  template <class T>
  using OfSteps = std::array<Lanes<T>, kVectors>;

  /// What a layer reads: whole numbers, two or four of a step in a word, and what 1 stands for.
  struct Numbers {
    std::vector<OfSteps<std::uint32_t>> words;
    OfSteps<float> unit;
  };

  struct Buffers {
    std::vector<OfSteps<float>> numbers;  // what a layer makes, before it is rounded
    Numbers rounded;
  };
  /// Inputs [steps, width] of at most kSideBySide steps, as first layers read them. Those of a step
  /// with an input that is not finite come out as no numbers.
  static void read(std::span<const float> inputs, std::int64_t width, Buffers& buffers,
                   Numbers& numbers);
  /// What the heads say of the steps: [outputs, kSideBySide], in `buffers`. Continuous actions have
  /// as many means, then raw deviations.
  const float* forward(const Numbers& inputs, Buffers& buffers) const;

 private:
  struct Layer {
    std::int64_t inputs = 0, units = 0;
    bool in_bytes = false;                    // else in shorts
    float scale = 0.0F;                       // what a weight of 1 stands for
    std::vector<std::uint32_t> weights = {};  // as products read them
    std::vector<float> biases = {};           // [units]
  };
  std::vector<Layer> layers_;
  std::vector<float> output_factors_;  // what the last layer's numbers are still multiplied by
};

}  // namespace kindred
