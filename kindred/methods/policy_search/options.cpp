#include "kindred/methods/policy_search/options.h"

#include <limits>
#include <utility>

#include "kindred/clustering/clustering.h"
#include "kindred/policies/plane_view.h"

namespace kindred::policy_search {

namespace {

Option formerly(std::string name, Option option) {
  option.former_name = std::move(name);
  return option;
}

}  // namespace

OptionTable Options::describe() {
  constexpr auto kMany = std::numeric_limits<std::int64_t>::max();
  return {
      integer_or_auto("k", k, 10000,
                      "How many policies to find; auto: find out how many there are."),
      integer("k-max", k_max, 1, 1000,
              "Where k is auto, look for so many policies, and further while more predict better."),
      integer("restarts", restarts, 1, 1000, "Random starts of the search."),
      integer("seed", seed, 0, kMany, "Every random number follows from this seed."),
      formerly("cosines",
               integer("random-features", random_features, 0, 4096,
                       "Random Fourier features of the observation that policies are linear in, "
                       "besides its numbers; unused where policies are tables.")),
      formerly("ridge", real("l2", l2, 1e-9, std::numeric_limits<double>::infinity(),
                             "L2 penalty of each policy's weights.")),
      formerly("seeds",
               text("constraints", constraints,
                    "CSV file of what is known of some episodes: columns episode and label, or "
                    "episode, other and link ('together' or 'apart').")),
  };
}

PolicyClass policy_class_for(const Trajectories& data) {
  // A table knows nothing of how observations resemble each other: numbers that take many values
  // are better seen through features.
  constexpr std::int64_t kManyValues = 4;
  const auto& seen = data.observations;
  if (!data.actions.is_discrete()) return PolicyClass::kFeatures;
  if (seen.is_interned())
    return seen.distinct() > kManyValues * seen.dim() ? PolicyClass::kFeatures
                                                      : PolicyClass::kTables;
  return PlaneView::suits(data) ? PolicyClass::kPlanes : PolicyClass::kFeatures;
}

Options resolve(Options options, const Trajectories& data) {
  if (options.k > 0) resolve_merge_to(options.k, 0, data);
  return options;
}

std::vector<UnusedOptions> unused_options(const Options& options, const Trajectories& data,
                                          const RunContext& /*run*/) {
  const auto policies = policy_class_for(data);
  const bool planes = policies == PolicyClass::kPlanes, tables = policies == PolicyClass::kTables;
  const std::string instead = planes ? "networks" : "tables";
  std::vector<UnusedOptions> unused;
  const auto add = [&](const std::string& name, const std::string& purpose) {
    unused.push_back({{name}, purpose + "; leave it out"});
  };
  if (options.k > 0) add("k-max", "'-k auto'");
  if (planes || tables)
    add("random-features", "policies on features, and this data gets " + instead);
  if (tables) add("l2", "policies on features, and this data gets " + instead);
  if (planes) add("restarts", "policies on features or in tables, and this data gets " + instead);
  return unused;
}

}  // namespace kindred::policy_search
