#include "kindred/findings/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "kindred/data/truth.h"
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

Truth numbered_truth(std::span<const std::int32_t> labels, const std::vector<std::string>& names) {
  const auto occurring = count_labels(labels);
  if (occurring.consecutive()) return {as<std::int32_t>(labels), names};
  Truth truth;
  for (const auto label : labels)
    truth.labels.push_back(
        label < 0 ? -1
                  : static_cast<std::int32_t>(std::ranges::lower_bound(occurring.values, label) -
                                              occurring.values.begin()));
  for (const auto label : occurring.values) {
    const auto number = static_cast<std::size_t>(label);
    truth.names.push_back(
        label >= 0 && number < names.size() ? names[number] : fmt::format("true policy {}", label));
  }
  return truth;
}

}  // namespace kindred::findings
