// What a training step does on a GPU beside the network itself: CAAE's terms over latent vectors,
// and Adam.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kindred/cuda/recurrence.h"

namespace kindred::cuda {

/// mean_i( −log p(τ_i) + α min_j ‖μ_j − z_i‖² ) − λ (1/k²) Σ_ij min{1, ‖μ_i − μ_j‖²}
struct CentroidTerms {
  Sequences sequences;
  int features = 0, centroids = 0;
  const float* latents = nullptr;  ///< [sequences, features]
  const float* codes = nullptr;    ///< [centroids, features]
  const float* sums = nullptr;     ///< [sequences]: log p(τ_i)
  bool mean_over_steps = false;    ///< log p(τ_i) counts per step.
  float alpha = 0.0F, lambda = 0.0F;

  std::int32_t* nearest = nullptr;  ///< [sequences]
  float* loss = nullptr;            ///< [1]
  float* d_sums = nullptr;          ///< [sequences]
  float* d_latents = nullptr;       ///< [sequences, features]: the attraction's part
  float* d_codes = nullptr;         ///< [centroids, features]
};
void find_centroid_terms(const CentroidTerms& task);

inline constexpr int kMostPieces = 8;
inline constexpr int kNormBlocks = 64;  ///< That add up squares of one piece.

/// A step of Adam for some vectors of numbers whose gradients have one norm.
struct AdamTask {
  struct Piece {
    float* parameter;
    const float* gradient;
    float *first, *second;
    std::int64_t numbers;
    float rate, epsilon;
  };
  Piece pieces[kMostPieces];
  int count = 0;
  float beta1 = 0.0F, beta2 = 0.0F;
  float max_norm = 0.0F;     ///< Infinite: gradients are taken as they are.
  float* squares = nullptr;  ///< [kMostPieces, kNormBlocks], to work with.
};
void take_step(const AdamTask& task);

}  // namespace kindred::cuda
