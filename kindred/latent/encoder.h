// A trained encoder: trajectories in, latent vectors out.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/clustering/network_inputs.h"
#include "kindred/nn/autoencoder.h"

namespace kindred::latent {

struct Encoder {
  NetworkInputs inputs;
  AutoencoderArchitecture architecture;
  at::Tensor parameters;  ///< The whole autoencoder's, on the CPU.
  /// latent = features · weight + bias, [features, features] and [1, features]; the features
  /// themselves when undefined.
  at::Tensor weight, bias;

  /// Latent vectors of every trajectory, [episodes, features]; memory is bounded by a block.
  Matrix encode(const Trajectories& data, const Workers& workers) const;

  void save(ArrayFileWriter& file) const;
  static Encoder load(const ArrayFileReader& file);
};

/// The same where each process of the run encodes some. Collective.
Matrix encode_in_shares(const Encoder& encoder, const Trajectories& data, const RunContext& run);

/// Codes in latent space, each belonging to a cluster: the nearest code decides.
class LatentCentres final : public Centres {
 public:
  /// codes: [codes, features]; cluster_of_code: consecutive from 0.
  LatentCentres(Encoder encoder, Matrix codes, std::vector<std::int32_t> cluster_of_code);

  std::int64_t count() const override { return count_; }
  /// Minus the squared distance to the cluster's nearest code.
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  Matrix score_latents(const Matrix& latents) const;
  bool sums_over_steps() const override { return false; }
  void save(ArrayFileWriter& file) const override;

 private:
  Encoder encoder_;
  Matrix codes_;
  std::vector<std::int32_t> cluster_of_code_;
  std::int64_t count_;
};

/// [rows, columns] of a tensor of two dimensions as doubles, and back.
Matrix to_matrix(const at::Tensor& tensor);
at::Tensor to_tensor(const Matrix& matrix, const at::Tensor& like);

/// Stores a tensor, or reads one back; float32. Throws DataFormatError when it has another shape
/// than expected.
void write_tensor(ArrayFileWriter& file, const std::string& name, const at::Tensor& tensor);
at::Tensor read_tensor(const ArrayFileReader& file, const std::string& name,
                       const std::vector<std::int64_t>& shape);

}  // namespace kindred::latent
