#include "kindred/latent/codebook.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "kindred/latent/encoder.h"
#include "kindred/nn/kmeans.h"
#include "kindred/nn/latent_losses.h"

namespace kindred::latent {
namespace {

constexpr double kClearly = 0.9;  // share of the present cost a new codebook must stay below
constexpr std::int64_t kStarts = 5;

}  // namespace

AfterRound refit_codebook(at::Tensor& codes, const RoundEnd& round, const Options& options,
                          std::int64_t restart, const Workers& workers) {
  const c10::NoGradGuard no_grad;
  const auto& latents = round.recent;
  if (latents.rows < codes.size(0)) return AfterRound::kGoOn;
  const auto z = to_tensor(latents, codes);
  const double cost =
      std::get<0>(squared_distances(z, codes).min(1)).sum().to(at::kDouble).item<double>();
  Random random(static_cast<std::uint64_t>(options.seed), "refit",
                static_cast<std::uint64_t>(restart << 40 | round.steps));
  const auto found =
      kmeans(latents.values, latents.columns, codes.size(0), kStarts, random, workers);
  if (!(found.cost < kClearly * cost)) return AfterRound::kGoOn;
  Matrix centres(codes.size(0), latents.columns);
  centres.values = found.centres;
  codes.copy_(to_tensor(centres, codes));
  return AfterRound::kParametersReplaced;
}

}  // namespace kindred::latent
