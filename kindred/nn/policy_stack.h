// S independent policies of one architecture, trained and evaluated together: every parameter is
// one array with a leading dimension S. This holds the numbers; CpuPolicy computes with one policy
// at a time on a core, TensorStack with all of them at once through LibTorch.
//
// Discrete actions: a categorical distribution. Continuous: a diagonal Gaussian whose standard
// deviation is softplus(.) + 1e-5 of a layer of its own. Hidden layers are ReLU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"

namespace kindred {

/// What one policy of a stack looks like.
struct PolicyArchitecture {
  std::int64_t inputs = 0;
  bool discrete = true;
  std::int64_t actions = 0;  ///< Number of actions, or numbers per action when continuous.
  std::vector<std::int64_t> hidden = {128, 128};

  bool operator==(const PolicyArchitecture&) const = default;
};

/// One weight or bias of every policy of a stack.
struct StackParameter {
  std::int64_t rows,
      columns;                ///< Of one policy's: a weight's inputs and outputs; a bias has a row.
  std::vector<float> values;  ///< [size, rows, columns]

  std::int64_t count() const { return rows * columns; }
  /// One policy's: [rows, columns].
  std::span<float> of(std::int64_t policy) { return {values.data() + policy * count(), width()}; }
  std::span<const float> of(std::int64_t policy) const {
    return {values.data() + policy * count(), width()};
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(count()); }
};

class PolicyStack {
 public:
  /// All parameters zero.
  PolicyStack(PolicyArchitecture architecture, std::int64_t size);

  /// Draws policy `index` anew: weights and biases uniform in ±1/sqrt(fan_in).
  void initialise(std::int64_t index, Random random);

  const PolicyArchitecture& architecture() const { return architecture_; }
  std::int64_t size() const { return size_; }
  /// Weight and bias of every hidden layer, then of the head(s).
  std::span<StackParameter> parameters() { return parameters_; }
  std::span<const StackParameter> parameters() const { return parameters_; }

  /// A copy of the policies at `indices`, in that order.
  PolicyStack select(std::span<const std::int64_t> indices) const;
  /// Overwrites policies `indices[i]` by `source`'s policy i.
  void assign(std::span<const std::int64_t> indices, const PolicyStack& source);

 private:
  PolicyArchitecture architecture_;
  std::int64_t size_ = 0;
  std::vector<StackParameter> parameters_;
};

}  // namespace kindred
