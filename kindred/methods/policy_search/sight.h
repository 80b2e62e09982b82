// The data in one view, and what policies on features are made of there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kindred/methods/policy_search/conflicts/common_policy.h"
#include "kindred/methods/policy_search/evidence/feature_evidence.h"
#include "kindred/methods/policy_search/rules.h"
#include "kindred/methods/policy_search/views.h"

namespace kindred::policy_search {

/// Steps of the usual mix of all episodes that every policy has also seen (partial pooling).
inline constexpr double kPooledSteps = 30.0;

struct Sight {
  View view = View::kRecorded;
  Trajectories data;
  std::shared_ptr<const ActionTargets> targets;
  std::optional<FeatureMap> map;     // none where policies are tables
  Trajectories states;               // that are compared, before a network learns of them
  std::optional<FeatureMap> metric;  // of these
  bool is_learned = false;
  std::vector<double> noise_of_one;  // on the sample that the metric was learned on
  /// Where actions are centred in episodes, the variance of what is left out, in that of targets.
  std::vector<double> left_out;
  std::shared_ptr<const FeatureEvidence> features, linear;  // once summarised

  /// Learns along what policies change, on a sample of the steps.
  static Sight look(View view, const Trajectories& recorded, Trajectories seen,
                    std::int64_t cosines, const Workers& workers);

  /// The same view with what a network learns of it as observations (LearnedFeatures).
  Sight learned(std::span<const std::uint8_t> held_out, std::uint64_t seed,
                const Workers& workers) const;

  /// Half of the data, or all of it, on these features: one pass over the steps.
  std::shared_ptr<const FeatureEvidence> evidence(const Trajectories& of, const FeatureMap& by,
                                                  double ridge, const Workers& workers,
                                                  const std::string& device = "cpu",
                                                  Communicator& ranks = *one_process()) const;

  /// One for all episodes, of what was summarised.
  CommonPolicy common_policy(double ridge) const;

  /// V in nats per step of the actions as recorded, so that views can be compared: what was left
  /// out of an episode must be told too.
  double comparable(double v, std::span<const double> noise) const;
  double v_of_one() const;
};

}  // namespace kindred::policy_search
