#include "kindred/nn/latent_losses.h"

#include <ATen/ATen.h>

namespace kindred {

at::Tensor squared_distances(const at::Tensor& z, const at::Tensor& centres) {
  return (z.unsqueeze(1) - centres.unsqueeze(0)).square().sum(-1);
}

at::Tensor codebook_spread(const at::Tensor& centres) {
  return squared_distances(centres, centres).clamp_max(1.0).mean();
}

at::Tensor gaussian_kl(const at::Tensor& mean, const at::Tensor& log_variance) {
  return 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(-1);
}

at::Tensor student_assignment(const at::Tensor& z, const at::Tensor& centres) {
  const auto q = (1.0 + squared_distances(z, centres)).reciprocal();
  return q / q.sum(1, /*keepdim=*/true);
}

at::Tensor target_distribution(const at::Tensor& q) {
  const auto p = q.square() / q.sum(0);
  return p / p.sum(1, /*keepdim=*/true);
}

at::Tensor assignment_kl(const at::Tensor& p, const at::Tensor& q) {
  return (p * (p.clamp_min(1e-30).log() - q.clamp_min(1e-30).log())).sum(1);
}

}  // namespace kindred
