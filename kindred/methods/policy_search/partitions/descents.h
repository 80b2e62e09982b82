// Ways from many clusters down to one: every start leaves an answer for every k it passes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kindred/methods/policy_search/partitions/partition_search.h"

namespace kindred::policy_search {

/// NMI from which two answers say the same.
inline constexpr double kAlike = 0.9;

/// What a search works with. It refers to its parts.
struct SearchContext {
  const Trajectories& data;
  const SearchOptions& options;
  const RunContext& run;
  std::int64_t fewest = options.links.least_clusters();  ///< Clusters that links allow.

  /// Fewer clusters than links keep apart are looked at only to compare with.
  const Links& links_for(std::int64_t k) const;
  /// Clusters that may be answered.
  std::int64_t most() const { return options.k > 0 ? options.k : options.k_max; }
};

/// One start's answers.
struct Descent {
  std::map<std::int64_t, ExactFit> fits;  ///< By k.
  std::map<std::int64_t, double> v;       ///< By the k that may be answered.
};

/// From `starts` random partitions into `most` clusters, rounds and joinings down to one.
std::vector<Descent> descend(const SearchContext& search, const Evidence& evidence,
                             std::int64_t starts, std::int64_t most);

/// The starts with an answer for k, the best by V first, each partition once.
std::vector<std::int64_t> distinct_starts(std::span<const Descent> descents, std::int64_t k,
                                          std::size_t most);

/// NMI of the answers that other starts have for its k with the answer.
std::vector<double> agreements(std::span<const Descent> descents, const Answer& answer);

}  // namespace kindred::policy_search
