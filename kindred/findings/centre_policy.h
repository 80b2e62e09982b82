// A fitted centre as a policy that acts in an environment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kindred/experts/policy.h"
#include "kindred/policies/centres.h"

namespace kindred {

/// How a policy chooses: by chance from its distribution, or the mean (the most likely action when
/// discrete).
enum class Acting { kSample, kMost };

/// Throws InvalidArgument unless policies fitted on such data can act in the environment;
/// `actions`: how many there are, or numbers per action. Data may not use the highest discrete
/// actions.
void require_acts_in(const EnvironmentSpec& spec, std::int64_t obs_dim, bool discrete,
                     std::int64_t actions);

class CentrePolicy final : public Policy {
 public:
  /// Throws as require_acts_in does. Actions the centres do not know are never taken.
  CentrePolicy(std::string name, std::shared_ptr<const PolicyCentres> centres, std::int64_t centre,
               const EnvironmentSpec& spec, Acting acting);

  bool reads_states() const override { return false; }
  void distribution(const Situations& seen, std::span<float> out) const override;

 private:
  std::shared_ptr<const PolicyCentres> centres_;
  std::int64_t centre_;
  std::int64_t width_;  // numbers in the environment's distribution over one action
  Acting acting_;
};

}  // namespace kindred
