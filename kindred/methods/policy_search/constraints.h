// What the user knows of some episodes, where a file says so.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/methods/policy_search/evidence/links.h"
#include "kindred/methods/policy_search/options.h"

namespace kindred::policy_search {

struct Constraints {
  Links links;
  std::vector<std::int32_t> labels;  ///< [episodes]; -1: unknown. Empty where no label is known.

  /// The new number of each cluster, so that known labels below k are kept; found[i] is the label
  /// of episodes[i].
  std::vector<std::int32_t> numbers(std::span<const std::int32_t> found,
                                    std::span<const std::int64_t> episodes, std::int64_t k) const;
};

/// Of the file that the options name, if any. Throws InvalidArgument when the file
/// contradicts itself or the options.
Constraints load_constraints(const Trajectories& data, const Options& options);

}  // namespace kindred::policy_search
