// A replay of training is one policy that changes all the time: labels follow the order of
// recording, and within a cluster too episodes come the nearer to the next policy the later they
// are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred::policy_search {

/// Of episodes in the order of recording.
struct Drift {
  /// Standard errors by which labels follow the order (Kruskal and Wallis 1952), and by which the
  /// members of a cluster do: from the last policy, towards the next.
  double z = 0.0, z_within = 0.0;
  std::vector<std::int64_t> changes;  ///< The first of each next cluster, as nearly as can be.
};

/// `costs` are nats per step of every episode under the policies of every cluster, [episodes, k].
Drift look_for_drift(std::span<const std::int32_t> labels, const Matrix& costs);

/// Why there may be one policy, in words.
std::string in_words(const Drift& drift, std::span<const std::string> ids);

}  // namespace kindred::policy_search
