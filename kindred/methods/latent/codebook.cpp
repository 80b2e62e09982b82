#include "kindred/methods/latent/codebook.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "kindred/methods/latent/encoder.h"
#include "kindred/nn/kmeans.h"
#include "kindred/nn/latent_losses.h"

namespace kindred::latent {
namespace {

constexpr double kClearly = 0.9;  // share of the present cost a new codebook must stay below
constexpr std::int64_t kStarts = 5;

}  // namespace

bool refit_codebook(at::Tensor& codes, const Matrix& latents, Random random, int threads) {
  const c10::NoGradGuard no_grad;
  if (latents.rows < codes.size(0)) return false;
  const auto z = to_tensor(latents, codes);
  const double cost =
      std::get<0>(squared_distances(z, codes).min(1)).sum().to(at::kDouble).item<double>();
  const auto found =
      kmeans(latents.values, latents.columns, codes.size(0), kStarts, random, threads);
  if (!(found.cost < kClearly * cost)) return false;
  Matrix centres(codes.size(0), latents.columns);
  centres.values = found.centres;
  codes.copy_(to_tensor(centres, codes));
  return true;
}

}  // namespace kindred::latent
