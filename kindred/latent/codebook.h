// A codebook that is trained together with the encoder, as CAAE and VQ-VAE have it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kindred/latent/model.h"
#include "kindred/latent/options.h"

namespace kindred::latent {

/// Gradients move only the codes that are nearest to something, so codes that start far from every
/// latent vector would never be used, and two codes in one cluster never part. Given the latent
/// vectors, the codebook nearest to them is a k-means solution: this replaces the codes by one
/// (k-means++, a few starts) when that brings the vectors clearly nearer to their codes. Other
/// terms of a loss (how far codes are apart, what is decoded from them) may rise by that.
AfterRound refit_codebook(at::Tensor& codes, const RoundEnd& round, const Options& options,
                          std::int64_t restart, const Workers& workers);

}  // namespace kindred::latent
