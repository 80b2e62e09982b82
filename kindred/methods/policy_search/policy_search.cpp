#include "kindred/methods/policy_search/policy_search.h"

#include "kindred/clustering/stoppable.h"
#include "kindred/methods/policy_search/closed_form.h"
#include "kindred/methods/policy_search/planes.h"

namespace kindred::policy_search {

Clustering fit(const Trajectories& data, const Options& options, const RunContext& run) {
  resolve(options, data);
  return fit_with(policy_class_for(data), data, options, run);
}

Clustering fit_with(PolicyClass policies, const Trajectories& data, const Options& options,
                    const RunContext& run) {
  return stoppable([&](std::int64_t&) {
    return policies == PolicyClass::kPlanes
               ? fit_on_planes(data, options, run)
               : fit_in_closed_form(data, options, policies == PolicyClass::kTables, run);
  });
}

Sharing sharing_of(const Options& options, const Trajectories& data, const RunContext& /*run*/) {
  resolve(options, data);
  return policy_class_for(data) == PolicyClass::kPlanes ? Sharing::kPolicies : Sharing::kEpisodes;
}

}  // namespace kindred::policy_search
