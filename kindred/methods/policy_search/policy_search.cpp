#include "kindred/methods/policy_search/policy_search.h"

#include "kindred/clustering/stoppable.h"
#include "kindred/methods/pg_kmeans/exact.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/policy_search/search.h"

namespace kindred::policy_search {

Clustering fit(const Trajectories& data, const Options& requested, const RunContext& run) {
  auto options = resolve(requested, data);
  const auto policies = policy_class_for(data);
  const auto inner = as_pg_kmeans(options, policies);
  auto result = policies == PolicyClass::kFeatures ? stoppable([&](std::int64_t&) {
    return pg_kmeans::fit_exact_policies(data, pg_kmeans::resolve(inner, data), run,
                                         search_by_conflicts);
  })
                                                   : pg_kmeans::fit(data, inner, run);
  result.method = "policy-search";
  result.options = to_json(options.describe());
  return result;
}

Sharing sharing_of(const Options& options, const Trajectories& data, const RunContext& /*run*/) {
  resolve(options, data);
  return policy_class_for(data) == PolicyClass::kPlanes ? Sharing::kPolicies : Sharing::kEpisodes;
}

}  // namespace kindred::policy_search
