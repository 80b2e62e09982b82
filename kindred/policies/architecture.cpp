#include "kindred/policies/architecture.h"

namespace kindred {

PolicyArchitecture architecture_for(const Trajectories& data, const NetworkInputs& inputs,
                                    std::int64_t hidden, std::int64_t layers) {
  return {.inputs = inputs.count(),
          .discrete = data.actions.is_discrete(),
          .actions = data.actions.is_discrete() ? data.actions.count() : data.actions.dim(),
          .hidden = std::vector<std::int64_t>(static_cast<std::size_t>(layers), hidden)};
}

}  // namespace kindred
