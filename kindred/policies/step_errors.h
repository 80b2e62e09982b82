// Squared errors of steps under exact policies, from the steps themselves: no sums are needed.
#pragma once

#include <span>
#include <vector>

#include "kindred/policies/feature_map.h"

namespace kindred {

class StepErrors {
 public:
  /// Policies side by side on the first `features` of a map: `weights` are [features, columns].
  struct Policies {
    std::int64_t features;
    std::span<const double> weights;
  };

  /// Of several such sets, each with its own number of features. Map and targets must outlive this.
  StepErrors(const FeatureMap& map, const ActionTargets& targets,
             const std::vector<Policies>& policies);

  /// Of steps [first, last), added up, for each set: [policies × targets]. Valid until the next
  /// call.
  const std::vector<std::vector<double>>& of(const Trajectories& data, std::int64_t first,
                                             std::int64_t last);

 private:
  struct Set {
    std::int64_t features, columns, width;  // padded
    std::vector<double> weights;            // [features, width]
  };

  const FeatureMap& map_;
  const ActionTargets& targets_;
  std::vector<Set> sets_;
  std::int64_t width_ = 0;                  // the largest
  std::int64_t stride_;                     // of rows
  std::vector<double> nothing_;             // [width]
  std::vector<float> rows_;                 // [kRows, observation]
  std::vector<double> features_, guesses_;  // [kRows, stride]
  std::vector<double> wanted_;              // [kRows, width]
  std::vector<std::vector<double>> errors_;
};

}  // namespace kindred
