// The options of policy search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/core/progress.h"
#include "kindred/data/trajectories.h"

namespace kindred::policy_search {

struct Options {
  std::int64_t k = 0;
  std::int64_t k_max = 12;
  std::int64_t restarts = 32;
  std::int64_t seed = 0;
  std::int64_t random_features = 100;
  double l2 = 10.0;
  std::string constraints;

  OptionTable describe();
};

/// What policies are made of: features of observations, a table of them, or small networks on
/// planes of zeros and ones.
enum class PolicyClass { kFeatures, kTables, kPlanes };
PolicyClass policy_class_for(const Trajectories& data);

/// Throws InvalidArgument when the options do not fit the data.
Options resolve(Options options, const Trajectories& data);
std::vector<UnusedOptions> unused_options(const Options& options, const Trajectories& data,
                                          const RunContext& run);

}  // namespace kindred::policy_search
