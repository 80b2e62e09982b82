// A dataset by the name that `kindred generate` knows it by, with options as an object.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "kindred/core/workers.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// `options`: those of GenerateOptions, of the environment, of MixtureOptions for a mixture, and
/// "experts", a list as select_experts takes it.
/// Throws InvalidArgument on a name, key or value there is not, Interrupted when asked to stop.
Trajectories generate_named(std::string_view name, const nlohmann::json& options, std::int64_t seed,
                            const Workers& workers);

}  // namespace kindred
