// PG-Kmeans' networks on a GPU by kernels of our own: a round of training is one launch, scoring
// two, and nothing is read back in between (docs/decisions/0024-gpu-kernels.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kindred/cuda/kernels.h"
#include "kindred/nn/policy_stack.h"

namespace kindred::cuda {

/// Where the data lie in the GPU's memory; they are copied.
struct GpuSteps {
  std::int64_t count = 0;
  const float* inputs = nullptr;              ///< [rows, inputs]
  const std::int64_t* row_of_step = nullptr;  ///< [count]; none: the step itself
  const void* actions = nullptr;              ///< [count, actions] float, or [count] int64
};

/// What one policy is trained on.
struct Lesson {
  struct Part {
    std::int64_t begin, length;
  };
  std::vector<Part> parts;   ///< Neighbouring steps: episodes. Not empty.
  std::uint64_t stream = 0;  ///< Names its random numbers.
};

/// How a step's log-probability counts: mixed with that of the common policy, and no less than the
/// floor.
struct StepBound {
  const float* common = nullptr;  ///< [count], in the GPU's memory
  double common_share = 0.0;
  double floor = 0.0;
};

class GpuPolicies {
 public:
  virtual ~GpuPolicies() = default;

  /// Trains each policy on its lesson until the loss stops falling.
  virtual std::vector<TrainEnd> train(PolicyStack& policies, std::span<const Lesson> lessons,
                                      const TrainSettings& settings) = 0;

  /// Log-likelihoods of all episodes, [episodes, policies]; none where a number on the way was too
  /// large for the kernels.
  virtual std::optional<std::vector<double>> score(const PolicyStack& policies,
                                                   const StepBound& bound) = 0;
};

/// nullptr where there are no kernels for such policies or this GPU, or too little memory.
std::unique_ptr<GpuPolicies> make_gpu_policies(const PolicyArchitecture& architecture,
                                               const GpuSteps& steps,
                                               std::span<const std::int64_t> offsets);

}  // namespace kindred::cuda
