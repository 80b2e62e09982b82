// The terms that representation methods add to the reconstruction, as functions of latent vectors.
// All are differentiable. z: [batch, features]; centres: [k, features].
#pragma once

namespace at {
class Tensor;
}

namespace kindred {

/// ‖z_i − μ_j‖²: [batch, k].
at::Tensor squared_distances(const at::Tensor& z, const at::Tensor& centres);

/// CAAE's codebook regulariser (1/m²) Σ_ij min{1, ‖μ_i − μ_j‖²}: a scalar, to be made large.
at::Tensor codebook_spread(const at::Tensor& centres);

/// KL(N(mean, e^log_variance) ‖ N(0, I)) of each row: [batch].
at::Tensor gaussian_kl(const at::Tensor& mean, const at::Tensor& log_variance);

/// DEC's soft assignment q: Student's t with one degree of freedom, rows sum to one: [batch, k].
at::Tensor student_assignment(const at::Tensor& z, const at::Tensor& centres);

/// DEC's target p_ij ∝ q_ij² / Σ_i q_ij, rows sum to one; q must be that of all trajectories.
at::Tensor target_distribution(const at::Tensor& q);

/// KL(p ‖ q) of each row: [batch].
at::Tensor assignment_kl(const at::Tensor& p, const at::Tensor& q);

}  // namespace kindred
