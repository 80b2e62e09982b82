// What one representation method adds to the autoencoder: its loss between encoder and decoder, and
// where its cluster centres come from. The training around it is the same for all (fit.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred::latent {

/// One minibatch on its way through the autoencoder.
struct TrainingStep {
  std::int64_t number;                     ///< Of the training step.
  std::span<const std::int64_t> episodes;  ///< [batch]
  at::Tensor features;                     ///< [batch, features]: what the encoder says.
  /// Mean over the batch of −Σ_t log p(a_t | z, s_t) (or its mean over t), z: [batch, features].
  std::function<at::Tensor(const at::Tensor& z)> reconstruction;
};

/// The loss of a model whose decoder sees the latent vector itself and that adds, to the mean over
/// the batch, alpha times the squared distance to the nearest code and takes away lambda times
/// codebook_spread(codes). It need not be differentiated: it is known how.
struct CentroidTerms {
  at::Tensor codes;  ///< [k, features], the model's only parameter.
  double alpha = 0.0, lambda = 0.0;
  bool mean_over_steps = false;  ///< Of the reconstruction; set by whoever trains.
};

/// What a model may look at between rounds of training.
struct RoundEnd {
  std::int64_t steps;                   ///< Training steps so far.
  const Matrix& recent;                 ///< Latent vectors seen in this round.
  std::function<Matrix()> all_latents;  ///< Encodes the whole dataset: a pass over the data.
};

/// kLossReplaced: the parameters were replaced and the loss is another one from here on, so that
/// losses before and after cannot be compared.
enum class AfterRound { kGoOn, kParametersReplaced, kLossReplaced, kFinished };

class Model {
 public:
  virtual ~Model() = default;

  /// What is trained besides the autoencoder.
  virtual std::vector<at::Tensor> parameters() { return {}; }
  /// The loss of one minibatch, a scalar.
  virtual at::Tensor loss(const TrainingStep& step) = 0;
  /// The same loss in training step `number`, where it is of that kind.
  virtual std::optional<CentroidTerms> centroid_terms(std::int64_t /*number*/) const {
    return std::nullopt;
  }
  /// The vector a trajectory is clustered by, from the encoder's features.
  virtual at::Tensor latent(const at::Tensor& features) const { return features; }
  /// latent() as a linear map, when it is one.
  virtual at::Tensor latent_weight() const { return {}; }
  virtual at::Tensor latent_bias() const { return {}; }

  /// Called before the first step of a restart.
  virtual void begin(const std::function<Matrix()>& /*all_latents*/) {}
  virtual AfterRound end_round(const RoundEnd& /*round*/) { return AfterRound::kGoOn; }
  /// Cluster centres at present, [k, features]; undefined as long as there are none.
  virtual at::Tensor centres() const = 0;
  /// Called after the last step with the latent vectors of all trajectories.
  virtual void conclude(const Matrix& /*latents*/) {}

  /// State beyond parameters().
  virtual void save(ArrayFileWriter& /*file*/) const {}
  virtual void load(const ArrayFileReader& /*file*/, std::int64_t /*episodes*/) {}
};

}  // namespace kindred::latent
