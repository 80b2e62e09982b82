#include "kindred/findings/names.h"

#include "kindred/render/dimension_names.h"
#include "kindred/render/render.h"

namespace kindred::findings {

std::string observation_name(const Trajectories& data, std::int64_t i) {
  const auto dim = data.observations.dim();
  return std::ssize(data.observation_names) == dim
             ? data.observation_names[static_cast<std::size_t>(i)]
             : render::observation_name(environment_of(data), dim, i);
}

std::string action_name(const Trajectories& data, std::int64_t i) {
  const auto count = data.actions.is_discrete() ? data.actions.count() : data.actions.dim();
  return std::ssize(data.action_names) == count
             ? data.action_names[static_cast<std::size_t>(i)]
             : render::action_name(environment_of(data), count, i);
}

Json ids_of(const Trajectories& data) {
  for (std::size_t i = 0; i < data.ids.size(); ++i)
    if (data.ids[i] != std::to_string(i)) return data.ids;
  return nullptr;
}

}  // namespace kindred::findings
