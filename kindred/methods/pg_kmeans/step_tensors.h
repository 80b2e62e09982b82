// Steps of a dataset as LibTorch tensors, and how a policy network sees an observation.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "kindred/data/array_file.h"
#include "kindred/data/trajectories.h"
#include "kindred/nn/policy_stack.h"

namespace kindred::pg_kmeans {

/// Which numbers of an observation reach the network, and how they are scaled.
struct PolicyInputs {
  std::int64_t obs_dim = 0;
  at::Tensor columns;            ///< [inputs] int64
  at::Tensor mean;               ///< [inputs] float
  at::Tensor inverse_deviation;  ///< [inputs] float

  /// Leaves out columns that are zero throughout (they never receive a gradient); with
  /// `standardize` also those that never vary, and scales the others by mean and deviation.
  static PolicyInputs from(const Observations& observations, bool standardize);

  std::int64_t count() const { return columns.size(0); }
  void to(const at::Device& device);
  /// [rows, obs_dim] → [rows, inputs]
  at::Tensor operator()(const at::Tensor& observations) const;

  void save(ArrayFileWriter& file) const;
  static PolicyInputs load(const ArrayFileReader& file);
};

/// Observations and actions of all steps, on a device. Keeps references into `data`, no copies, when
/// the device is the CPU.
class StepTensors {
 public:
  StepTensors(const Trajectories& data, const at::Device& device);

  /// Rows of the given steps: [n, obs_dim] float.
  at::Tensor observations(const at::Tensor& steps) const;
  at::Tensor observations(std::int64_t begin, std::int64_t end) const;
  /// [n] int64, or [n, act_dim] float.
  at::Tensor actions(const at::Tensor& steps) const;
  at::Tensor actions(std::int64_t begin, std::int64_t end) const;

 private:
  at::Tensor rows_;     // [steps, obs_dim], or the table [distinct, obs_dim]
  at::Tensor index_;    // [steps] into the table; undefined when dense
  at::Tensor actions_;  // [steps] int64 or [steps, act_dim]
};

/// The architecture that fits `data` through `inputs`.
PolicyArchitecture architecture_for(const Trajectories& data, const PolicyInputs& inputs,
                                    std::int64_t hidden, std::int64_t layers);

/// Log-likelihood of every trajectory under each policy, each step's at least `floor`: streams over
/// blocks of steps, so memory is bounded by the block. [episodes, stack.size()], row-major.
std::vector<double> log_likelihoods(const Trajectories& data, const StepTensors& steps,
                                    const PolicyInputs& inputs, const PolicyStack& stack,
                                    double floor);

/// Log-probabilities of all actions in each row of a table of observations: [rows × actions, size].
std::vector<double> table_log_probs(const at::Tensor& rows, const PolicyStack& stack,
                                    double floor);

/// A tensor over a column's own memory.
template <class T>
at::Tensor view_of(const Column<T>& column, std::vector<std::int64_t> shape) {
  return at::from_blob(const_cast<T*>(column.data()), shape,
                          c10::CppTypeToScalarType<T>::value);
}

}  // namespace kindred::pg_kmeans
