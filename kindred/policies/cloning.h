// Behaviour cloning until it stops paying: each policy of a stack trained on its own episodes.
//
// Every tenth of a policy's episodes is held out, whole: the steps of one episode resemble each
// other too much to judge by. A policy with fewer than five episodes holds out the last tenth of
// the steps of each instead, or is judged by what it trains on when all are single steps. After
// each round of minibatches the loss on the held-out steps tells whether the policy became better.
// When it no longer does, training goes back to the best round and on at a lower rate, until that
// does not help either; the best round is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kindred/clustering/network_view.h"
#include "kindred/core/progress.h"
#include "kindred/nn/adam.h"
#include "kindred/nn/policy_stack.h"

namespace kindred {

struct CloningOptions {
  std::int64_t max_rounds = 40;
  std::int64_t round_batches = 500;  ///< Minibatches in a round.
  std::int64_t batch_steps = 512;    ///< Steps in a minibatch, drawn uniformly.
  std::int64_t patience = 3;         ///< Rounds without improvement before the rate falls.
  std::int64_t rate_drops = 2;       ///< How often it does, to a quarter; then policies converged.
  double tolerance = 1e-3;           ///< Improvement of the loss per step that counts.
  /// Steps that all policies together draw from at a time where data is larger than memory
  /// (data/draw_order.h); 0: all.
  std::int64_t buffer_steps = 0;
  AdamOptions adam;
  std::int64_t seed = 0;
  std::string stage = "cloning";  ///< What progress reports call it.
};

/// How the training of one policy went; losses are -log π per held-out step.
struct CloningSummary {
  std::int64_t rounds = 0;
  bool converged = false;
  double loss_before = 0.0;
  double loss = 0.0;
};

/// The episodes of each policy; a group may share episodes with others.
using EpisodeGroups = std::vector<std::vector<std::int64_t>>;

/// How much each episode of each group counts, from 0 to 1; empty, for a group or all of them: 1.
using EpisodeWeights = std::vector<std::vector<double>>;

/// Trains policy g of `policies` on the steps of groups[g], from what it is now; with no round it
/// stays as it is. Of an episode that counts w, each step is used with probability w. The result
/// does not depend on the number of threads. Throws InvalidArgument when a group is empty,
/// NumericError when training diverges, Interrupted when asked to stop.
std::vector<CloningSummary> clone_policies(const Trajectories& data, const NetworkView& view,
                                           const EpisodeGroups& groups,
                                           const CloningOptions& options, PolicyStack& policies,
                                           const RunContext& run,
                                           const EpisodeWeights& weights = {});

}  // namespace kindred
