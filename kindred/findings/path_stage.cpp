// The plane of path-following: who was where, and single episodes step by step.
#include "kindred/findings/path_stage.h"

#include <algorithm>
#include <numeric>

#include "kindred/findings/run_data.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kEpisodes = 2000;  // that say how far the plane goes
constexpr std::size_t kGoal = 4;          // in an observation, after position and velocity
constexpr double kMargin = 0.05;

}  // namespace

PathStage::PathStage(const Trajectories& data) : data_(data) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(data.episodes()));
  std::iota(all.begin(), all.end(), 0);
  for (const auto episode : spread(all, kEpisodes))
    for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step) {
      const auto [x, y] = position(step);
      low_ = {std::min(low_.x, x), std::min(low_.y, y)};
      high_ = {std::max(high_.x, x), std::max(high_.y, y)};
    }
  low_ = {low_.x - kMargin, low_.y - kMargin};
  high_ = {high_.x + kMargin, high_.y + kMargin};
}

Json PathStage::setting() const {
  auto references = Json::array();
  for (const auto& polyline : {PathFollowing::kUpFirst, PathFollowing::kRightFirst}) {
    auto points = Json::array();
    for (const auto& point : polyline) points.push_back(point_json(point));
    references.push_back(points);
  }
  return {{"kind", "path"},
          {"references", references},
          {"range", {brief(low_.x), brief(high_.x), brief(low_.y), brief(high_.y)}}};
}

void PathStage::add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                          Json& trajectory) const {
  const auto begin = data_.offsets[episode];
  auto positions = Json::array();
  for (const auto step : steps) positions.push_back(point_json(position(begin + step)));
  const auto first = observation(begin);
  trajectory["path"] = {{"position", positions},
                        {"goal", point_json({first[kGoal], first[kGoal + 1]})}};
}

std::array<float, 6> PathStage::observation(std::int64_t step) const {
  std::array<float, 6> values;
  data_.observations.copy(step, step + 1, values.data());
  return values;
}

Point PathStage::position(std::int64_t step) const {
  const auto values = observation(step);
  return {values[0], values[1]};
}

Json PathStage::point_json(Point point) { return Json::array({brief(point.x), brief(point.y)}); }

}  // namespace kindred::findings
