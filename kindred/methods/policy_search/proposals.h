// Partitions proposed in one view of the data: for every k the one with which policies predict
// best.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/methods/policy_search/partitions/descents.h"
#include "kindred/methods/policy_search/sight.h"

namespace kindred::policy_search {

struct Proposals : Sight {
  /// On the features that predict best, and the same as evidence; only `policies` where they are
  /// tables.
  std::shared_ptr<const FeatureEvidence> by;
  std::shared_ptr<const Evidence> policies;
  std::vector<Descent> descents;
  std::vector<Answer> answers;  ///< By k, from 1; some k may be missing.
  bool conflicts = false;       ///< Whether the clusters of an answer do.
  EpisodeEffect episodes;       ///< Where none do.

  /// The answer with k clusters or, where there is none, the one that predicts best.
  const Answer& best(std::int64_t k) const;
  /// Than any answer with fewer clusters, by more than a policy in two parts would.
  bool predicts_better(std::size_t answer, const Rules& rules) const;
  /// V in units in which views can be compared, of the marked episodes where there are marks.
  double v_of(const Answer& answer, std::span<const std::uint8_t> marked) const;
};

/// Paths down from many random clusters on few features, where they cost little, some on all
/// features, Ward's linkage on both, and what was proposed before in other views; further up as
/// long as more clusters predict better. `to` has its evidence. Collective.
void propose(const SearchContext& search, std::span<const Proposals> before, Proposals& to);

/// Adds the best answer with one more cluster that splitting one of an answer's gives. Returns
/// whether there is one.
bool split_for_more(const SearchContext& search, std::size_t answer, Proposals& to);

}  // namespace kindred::policy_search
