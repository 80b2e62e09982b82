// What a policy is taken to see and to do, besides what was recorded. A view is a dataset made from
// another: the same steps, with more or other numbers in them, so that whatever looks at data can
// look at it.
#pragma once

#include <string>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/methods/policy_search/conflicts/common_policy.h"
#include "kindred/policies/feature_map.h"

namespace kindred::policy_search {

enum class View {
  kRecorded,        ///< As recorded.
  kPreviousAction,  ///< The action before besides: policies that smooth.
  kChange,          ///< The change of the observation since the step before besides.
  kRelative,        ///< Actions less the numbers of the observation they are targets for, and both
                    ///< less their means in the episode: hidden goals, calibration.
  kNoise,           ///< How far actions are from what one policy expects, instead of actions.
};

/// One or two words.
std::string name_of(View view);

/// Those that can be made of the data, the recorded one first.
std::vector<View> views_of(const Trajectories& data);

/// The data as the view has it; observations are dense, ids and offsets the same.
Trajectories seen_as(View view, const Trajectories& data);

/// The variance of the means over episodes that relative actions are centred about, [targets], in
/// that of `targets`, which are those of the view.
std::vector<double> variance_left_out(const Trajectories& data, const ActionTargets& targets);

/// The data with what one policy leaves unexplained as actions: the logarithm of each squared
/// residual. Policies that differ in nothing but their noise differ in it.
Trajectories with_noise_as_action(const Trajectories& data, const Trajectories& seen,
                                  const CommonPolicy& common, const ActionTargets& targets,
                                  const Workers& workers);

}  // namespace kindred::policy_search
