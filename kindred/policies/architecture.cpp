#include "kindred/policies/architecture.h"

namespace kindred {

PolicyArchitecture architecture_for(const Trajectories& data, const NetworkView& view,
                                    std::int64_t hidden, std::int64_t layers) {
  return {.inputs = view.inputs.count(),
          .discrete = data.actions.is_discrete(),
          .actions = data.actions.is_discrete() ? data.actions.count()
                                                : view.actions.predicted(data.actions.dim()),
          .hidden = std::vector<std::int64_t>(static_cast<std::size_t>(layers), hidden)};
}

}  // namespace kindred
