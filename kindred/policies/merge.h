// Merging clusters down to k* (the paper's Algorithm 4), on the likelihood matrix alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred {

/// Which pair to merge: the one whose merge lowers the objective least, or the paper's printed
/// rule.
enum class MergeRule { kLeastLoss, kPrinted };

/// Merges until `target` clusters are alive. `scores` is [episodes, k]; `labels` and `alive` ([k])
/// are changed in place. The cluster merged away gives its trajectories to the other, whose policy
/// stays as it is. Where trajectories are impossible (-inf, without a floor), the pair that makes
/// the fewest impossible comes first, then the one that loses least on the others.
std::vector<MergeStep> merge_clusters(const Matrix& scores, std::int64_t target, MergeRule rule,
                                      std::vector<std::int32_t>& labels,
                                      std::vector<std::uint8_t>& alive);

}  // namespace kindred
