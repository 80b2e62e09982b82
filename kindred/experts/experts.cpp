#include "kindred/experts/experts.h"

#include "kindred/core/error.h"
#include "kindred/experts/recipes.h"

namespace kindred {

Policies make_experts(const Environment& environment) {
  if (const auto* diagonal = dynamic_cast<const Diagonal*>(&environment))
    return diagonal_experts(*diagonal);
  if (const auto* takeball = dynamic_cast<const Takeball*>(&environment))
    return takeball_experts(*takeball);
  if (const auto* bandit = dynamic_cast<const Bandit*>(&environment))
    return bandit_experts(*bandit);
  if (!recipes(environment.spec().name).empty()) return load_experts(environment);
  throw InvalidArgument("environment '{}' has no experts", environment.spec().name);
}

}  // namespace kindred
