// Features that a small network learns while it imitates all episodes at once: what of an
// observation matters for what is done there, where numbers and random features say it poorly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/data/trajectories.h"
#include "kindred/nn/mlp.h"
#include "kindred/policies/feature_map.h"

namespace kindred::policy_search {

/// The last hidden layer of the network, beside the numbers it reads where these are few.
class LearnedFeatures {
 public:
  /// `held_out`, [episodes], marks those the network never sees: by them its training ends, and by
  /// them its features can be compared with others. Throws Interrupted when asked to stop.
  LearnedFeatures(const Trajectories& data, FeatureMap numbers, const ActionTargets& targets,
                  std::span<const std::uint8_t> held_out, std::uint64_t seed,
                  const Workers& workers);

  /// Data with these features as its observations.
  Trajectories seen(const Trajectories& data, const Workers& workers) const;

 private:
  /// Steps as the network reads them: [steps, numbers].
  std::vector<float> inputs(const Trajectories& data, std::span<const std::int64_t> steps) const;
  double error(const Trajectories& data, const ActionTargets& targets,
               std::span<const std::int64_t> steps) const;

  FeatureMap numbers_;
  Mlp network_;
};

}  // namespace kindred::policy_search
