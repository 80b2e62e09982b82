// Finds the policies behind episodes whose observations are planes of zeros and ones, and how many
// there are.
//
// Policies in closed form on such planes are quick but too simple, so they only give the first
// labels. From there networks take over: every cluster has two, each trained on half of the
// episodes and asked about the other half, so an episode is always judged by networks that have not
// seen it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/policy_search/evidence/evidence.h"
#include "kindred/methods/policy_search/evidence/links.h"
#include "kindred/policies/plane_view.h"
#include "kindred/policies/sparse_network.h"

namespace kindred::policy_search {

struct PlaneSearchOptions {
  std::int64_t k = 0;  ///< 0: to be found.
  std::int64_t k_max = 12;
  std::int64_t starts = 4;  ///< Of policies in closed form; networks go on from the best.
  std::int64_t seed = 0;
  double ridge = 10.0;
  Links links{};
};

/// The answer with k clusters that networks ended at.
struct PlaneAnswer {
  std::vector<std::int32_t> labels;     ///< [episodes]
  Matrix scores;                        ///< [episodes, k], by networks that have not seen them.
  std::vector<double> costs;            ///< [episodes]: nats, that of naming the label included.
  double v = 0.0;                       ///< Less what an episode costs, per step.
  std::vector<SparseNetwork> networks;  ///< [2 k]: k for either half.
  std::vector<ExactRound> rounds;       ///< Objectives: log-likelihoods of what was held out.
  PairedGain gain;                      ///< Over one cluster less.

  std::int64_t k() const { return scores.columns; }
};

struct PlaneSearchResult {
  std::shared_ptr<const PlaneView> view;
  std::vector<PlaneAnswer> answers;  ///< By k.
  std::size_t chosen = 0;
  PlaneAnswer again;  ///< From another start, with as many clusters; none where there is one start.

  const PlaneAnswer& answer() const { return answers[chosen]; }
};

/// Throws InvalidArgument when the data are not planes of zeros and ones with discrete actions.
/// Collective: every process has all episodes, and does some of the starts and of the networks.
PlaneSearchResult search_planes(const Trajectories& data, const PlaneSearchOptions& options,
                                const RunContext& run);

class PlaneSearch;

/// Judges partitions of such data that anybody made, by networks as the search has them. It refers
/// to the data.
class PlaneJudge {
 public:
  PlaneJudge(const Trajectories& data, const Workers& workers);
  ~PlaneJudge();

  /// Errors are nats, [episodes].
  HeldOutScore score(std::span<const std::int32_t> labels, std::int64_t k) const;

 private:
  std::unique_ptr<const PlaneSearch> search_;
};

}  // namespace kindred::policy_search
