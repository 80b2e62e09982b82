// Merging clusters in latent space down to k*: the counterpart of merging policies.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred::latent {

/// Which cluster each code belongs to. Codes without members belong to none (-1); the others are
/// joined until `target` clusters are left, always the two whose union has the least additional
/// squared distance to its mean (Ward's rule). `objective` is that of the unmerged codes; each step
/// lowers it by `weight` times the added distance per trajectory.
struct MergedCodes {
  std::vector<std::int32_t> cluster_of_code;  ///< Consecutive from 0, or -1.
  std::vector<MergeStep> steps;
};
MergedCodes merge_codes(const Matrix& latents, const std::vector<std::int32_t>& code_of_row,
                        std::int64_t codes, std::int64_t target, double objective, double weight);

}  // namespace kindred::latent
