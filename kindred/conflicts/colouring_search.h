// Divides behaviours among k policies so that no two of one policy conflict, by DSATUR's rule with
// backtracking; or shows that nobody can.
//
// A policy is kept as what its behaviours chose: a behaviour fits it when it chose nothing else
// anywhere, so that edges need never be looked at. A behaviour all of whose choices a policy has
// already made fits it at no cost, and is not decided on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kindred/conflicts/behaviours.h"

namespace kindred {

enum class Verdict { kFound, kImpossible, kUndecided };

/// When to give up.
struct SearchLimits {
  std::int64_t nodes = 10'000'000;  ///< Behaviours given to a policy, those taken back included.
  double seconds = 10.0;
  std::function<bool()> stop_requested = {};
};

struct SearchOutcome {
  Verdict verdict = Verdict::kUndecided;
  std::vector<std::int32_t> policy;  ///< [behaviours]: from 0 to below k, where one was found.
  std::int64_t nodes = 0;
};

/// `clique`: behaviours of which each conflicts with each; they are given to different policies
/// beforehand. `behaviours` with most choices come first.
SearchOutcome search_colouring(const Behaviours& behaviours, std::int32_t k,
                               std::span<const std::int32_t> clique, const SearchLimits& limits);

/// Which behaviours fit only one of k policies once the k of `clique` have one each, and others
/// that were given the only one they fit: they are divided alike in every division into k policies.
std::vector<bool> forced_behaviours(const Behaviours& behaviours,
                                    std::span<const std::int32_t> clique);

/// Each behaviour in turn to the policy that has made most of its choices, of those it fits; to a
/// new one where it fits none. Quick, whatever the number of policies.
std::vector<std::int32_t> best_fit(const Behaviours& behaviours);

}  // namespace kindred
