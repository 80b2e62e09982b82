// The trajectory autoencoder on a GPU by kernels of our own, over trajectories that stay in its
// memory: forward and backward are launches that nothing waits for
// (docs/decisions/0032-autoencoders-on-gpus.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kindred/nn/autoencoder.h"

namespace kindred::cuda {

/// A dataset in the host's memory, as the network sees it; it is copied.
struct GpuTrajectories {
  std::span<const std::int64_t> offsets;              ///< [episodes + 1]
  std::span<const float> observations;                ///< [rows, inputs]
  std::span<const std::int32_t> observation_of_step;  ///< [steps]; empty: the step itself
  std::span<const std::int32_t> discrete_actions;     ///< [steps], or empty
  std::span<const float> continuous_actions;          ///< [steps, actions], or empty
};

/// One thread block finds what the codes have to do with each other.
inline constexpr std::int64_t kMostCodes = 64;

/// What CAAE's loss has beside the network (kindred/methods/caae).
struct CentroidLoss {
  const float* codes = nullptr;  ///< [count, features], in the GPU's memory
  std::int64_t count = 0;        ///< At most kMostCodes.
  double alpha = 0.0;            ///< Of the distance to the nearest one.
  double lambda = 0.0;           ///< Of how far they are apart.
  bool mean_over_steps = false;  ///< The reconstruction of a trajectory is its steps' mean.
};

/// Pointers are into the GPU's memory; `parameters` as AutoencoderLayout has them. Calls put work
/// into the default stream and return. What goes forward stays here until the next select(), for
/// the way back.
class GpuAutoencoder {
 public:
  virtual ~GpuAutoencoder() = default;

  /// The trajectories that the following calls are about, in this order. Not empty.
  virtual void select(std::span<const std::int64_t> episodes) = 0;

  /// features: [selected, features]
  virtual void encode(const float* parameters, float* features) = 0;
  /// From the gradient of `features`, as encode() left them, that of the encoder's parameters; the
  /// others in `d_parameters` stay as they are.
  virtual void encode_back(const float* parameters, const float* features, const float* d_features,
                           float* d_parameters) = 0;

  /// sums: Σ_t log p(a_t | features, s_t) of each trajectory, [selected]
  virtual void log_likelihood(const float* parameters, const float* features, float* sums) = 0;
  /// The gradients of features, added to what is there, and of the decoder's parameters.
  virtual void log_likelihood_back(const float* parameters, const float* d_sums, float* d_features,
                                   float* d_parameters) = 0;

  /// CAAE's loss, [1], with everything it depends on: features as encode() leaves them, and the
  /// gradient, that of the parameters followed by that of the codes.
  virtual void centroid_gradient(const float* parameters, const CentroidLoss& terms, float* loss,
                                 float* features, float* gradient) = 0;
};

/// nullptr where there are no kernels for such a network, no such GPU or too little memory on it.
std::unique_ptr<GpuAutoencoder> make_gpu_autoencoder(const AutoencoderArchitecture& architecture,
                                                     const GpuTrajectories& data);

}  // namespace kindred::cuda
