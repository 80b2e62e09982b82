// Gridworlds: what their observations show, and single episodes step by step.
#include "kindred/findings/grid_stage.h"

#include <algorithm>
#include <optional>

#include "kindred/core/error.h"
#include "kindred/render/episode.h"
#include "kindred/render/grid_trace.h"
#include "kindred/render/render.h"

namespace kindred::findings {

GridStage::GridStage(const Trajectories& data)
    : data_(data), environment_(environment_of(data)), shape_(*find_grid_shape(observation(0))) {
  const auto& observations = data.observations;
  if (observations.is_interned())
    for (std::int64_t i = 0; i < observations.distinct(); ++i)
      scenes_.push_back(scene_of({observations.table().data() + i * observations.dim(),
                                  static_cast<std::size_t>(observations.dim())}));
  fixed_ = has_fixed_map();
}

Json GridStage::setting() const {
  const auto first = scene(0);
  std::vector<int> walls;
  if (fixed_)
    for (const auto cell : first.walls) walls.push_back(number(cell, first.size));
  std::optional<int> goal;
  if (!fixed_) goal = number({first.size - 1, first.size - 1}, side());
  if (fixed_ && first.goal) goal = number(*first.goal, side());
  const auto names = move_names();
  const std::vector<std::string> actions(names.begin(), names.begin() + data_.actions.count());
  return {{"kind", "grid"},
          {"frame", fixed_ ? "map" : "goal"},
          {"size", first.size},
          {"walls", walls},
          {"goal", goal ? Json(*goal) : Json()},
          {"action_names", actions},
          {"object_name", object_in(environment_)}};
}

void GridStage::add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                          Json& trajectory) const {
  const auto trace = render::trace_grid(render::take_episode(data_, episode, {}));
  const auto& first = trace.scenes.front();
  const auto cell = [&](Cell at) { return number(at, first.size); };
  const auto cell_if = [&](std::optional<Cell> at) { return at ? Json(cell(*at)) : Json(); };
  Json walls, agents = Json::array(), objects = Json::array(), slips = Json::array();
  if (!fixed_)
    for (const auto at : first.walls) walls.push_back(cell(at));
  for (const auto kept : steps) {
    const auto step = static_cast<std::size_t>(kept);
    agents.push_back(cell(trace.cells[step]));
    auto lying = Json::array();
    for (const auto& object : trace.scenes[step].objects)
      lying.push_back({object.number, cell(object.cell)});
    objects.push_back(lying);
    slips.push_back(trace.slipped(step) ? Json(trace.went(step)) : Json());
  }
  trajectory["grid"] = {{"walls", walls},  {"goal", cell_if(first.goal)},
                        {"agent", agents}, {"objects", objects},
                        {"slips", slips},  {"end", cell_if(trace.end())}};
}

GridScene GridStage::scene(std::int64_t step) const {
  return scenes_.empty() ? scene_of(observation(step))
                         : scenes_[static_cast<std::size_t>(data_.observations.index()[step])];
}

std::vector<float> GridStage::observation(std::int64_t step) const {
  std::vector<float> values(static_cast<std::size_t>(data_.observations.dim()));
  data_.observations.copy(step, step + 1, values.data());
  return values;
}

GridScene GridStage::scene_of(std::span<const float> values) const {
  auto decoded = decode_grid(values, shape_);
  if (!decoded)
    throw InvalidArgument(
        "an observation does not show a grid of {} x {} cells, though the first one does",
        shape_[0], shape_[1]);
  return *std::move(decoded);
}

bool GridStage::has_fixed_map() const {
  const auto first = scene(0);
  const auto same = [&](const GridScene& other) {
    return other.walls == first.walls && other.goal == first.goal;
  };
  if (!scenes_.empty()) return std::ranges::all_of(scenes_, same);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(data_.episodes(), 100); ++i)
    if (!same(scene(data_.offsets[i]))) return false;
  return true;
}

}  // namespace kindred::findings
