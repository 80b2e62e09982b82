// The autoencoder over minibatches of one dataset, wherever that is computed: in fused kernels on
// the CPU, in kernels on a GPU over data that stay there, or as LibTorch's operations.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/clustering/network_inputs.h"
#include "kindred/nn/autoencoder.h"
#include "kindred/nn/tensor_adam.h"

namespace kindred::latent {

struct CentroidTerms;

/// A loss and all that follows from it.
struct LossGradient {
  at::Tensor loss;      ///< A scalar.
  at::Tensor features;  ///< [selected, features]
  at::Tensor gradient;  ///< Of the autoencoder's parameters, then of the model's.
};

class DatasetAutoencoder {
 public:
  virtual ~DatasetAutoencoder() = default;

  /// The trajectories that the following functions are about. Their gradients have to be taken
  /// before others are selected.
  virtual void select(std::span<const std::int64_t> episodes) = 0;
  /// The same, in the order of the results' rows.
  const std::vector<std::int64_t>& selected() const { return selected_; }
  virtual std::int64_t steps() const = 0;
  /// Steps that are computed beside those, because sequences are made equally long.
  virtual std::int64_t padding() const { return 0; }

  /// As of AutoencoderEngine: [selected, features] and [selected], differentiable.
  virtual at::Tensor encode(const at::Tensor& parameters) = 0;
  virtual at::Tensor log_likelihood(const at::Tensor& parameters, const at::Tensor& features) = 0;

  /// How many trajectories are best evaluated at once; memory stays bounded.
  virtual std::int64_t at_once() const = 0;
  /// Whether the whole dataset is best encoded here, and not by a CPU.
  virtual bool is_on_gpu() const { return false; }
  /// Steps of Adam on this device; empty: by LibTorch.
  virtual AdamKernel adam() const { return {}; }
  /// A loss of these terms without LibTorch; none where it cannot be.
  virtual std::optional<LossGradient> gradient(const at::Tensor& /*parameters*/,
                                               const CentroidTerms& /*terms*/) {
    return std::nullopt;
  }

 protected:
  std::vector<std::int64_t> selected_;
};

/// `batch`: trajectories of a minibatch. `sharing`: on a CPU, who else takes a part in each; null:
/// nobody. Everything given must outlive the result.
std::unique_ptr<DatasetAutoencoder> make_dataset_autoencoder(
    const Trajectories& data, const NetworkInputs& inputs,
    const AutoencoderArchitecture& architecture, std::int64_t batch, const RunContext& run,
    PartSharing* sharing = nullptr);

}  // namespace kindred::latent
