// The routes of each cluster through the plane of path-following, and the forces along them.
#include <algorithm>
#include <numeric>

#include "kindred/envs/path_following.h"
#include "kindred/findings/behaviour.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kRoutes = 120, kRoutePoints = 50, kMeanEpisodes = 2000, kBins = 18;
constexpr std::int64_t kGoal = 4;  // in an observation, after position and velocity

Json pair_json(double x, double y) { return Json::array({brief(x), brief(y)}); }

class PathBehaviour final : public Behaviour {
 public:
  explicit PathBehaviour(const RunData& found) : found_(found) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(found.data.episodes()));
    std::iota(all.begin(), all.end(), 0);
    for (const auto episode : spread(all, kMeanEpisodes))
      for (auto step = found.data.offsets[episode]; step < found.data.offsets[episode + 1]; ++step)
        include(position(step));
    low_x_ -= 0.05, high_x_ += 0.05, low_y_ -= 0.05, high_y_ += 0.05;
  }

  std::int64_t step_numbers() const override { return 4; }

  Json clusters() const override {
    auto list = Json::array();
    for (const auto& members : found_.members) list.push_back(cluster(members));
    auto references = Json::array();
    for (const auto& polyline : {PathFollowing::kUpFirst, PathFollowing::kRightFirst}) {
      auto points = Json::array();
      for (const auto& point : polyline) points.push_back(pair_json(point.x, point.y));
      references.push_back(points);
    }
    return {{"kind", "path"},
            {"references", references},
            {"range", {brief(low_x_), brief(high_x_), brief(low_y_), brief(high_y_)}},
            {"bins", kBins},
            {"clusters", list}};
  }

  void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                 Json& trajectory) const override {
    const auto begin = found_.data.offsets[episode];
    auto positions = Json::array();
    for (const auto step : steps) positions.push_back(point_json(position(begin + step)));
    const auto goal = observation(begin);
    trajectory["path"] = {{"position", positions},
                          {"goal", pair_json(goal[kGoal], goal[kGoal + 1])}};
  }

 private:
  using Observation = std::array<float, 6>;

  Observation observation(std::int64_t step) const {
    Observation values;
    found_.data.observations.copy(step, step + 1, values.data());
    return values;
  }
  Point position(std::int64_t step) const {
    const auto values = observation(step);
    return {values[0], values[1]};
  }
  static Json point_json(Point point) { return pair_json(point.x, point.y); }

  void include(Point point) {
    low_x_ = std::min(low_x_, point.x), high_x_ = std::max(high_x_, point.x);
    low_y_ = std::min(low_y_, point.y), high_y_ = std::max(high_y_, point.y);
  }

  Json cluster(const std::vector<std::int64_t>& members) const {
    auto routes = Json::array();
    for (const auto episode : spread(members, kRoutes)) routes.push_back(route(episode));
    Json json = {{"routes", routes}, {"mean_route", mean_route(members)}};
    add_field(members, json);
    return json;
  }

  Json route(std::int64_t episode) const {
    auto points = Json::array();
    const auto length = found_.data.length(episode);
    for (std::int64_t step = 0; step < length; step += stride_for(length, kRoutePoints))
      points.push_back(point_json(position(found_.data.offsets[episode] + step)));
    points.push_back(point_json(position(found_.data.offsets[episode] + length - 1)));
    return points;
  }

  /// Means at equal times, of the episodes still running.
  Json mean_route(const std::vector<std::int64_t>& members) const {
    const auto some = spread(members, kMeanEpisodes);
    std::int64_t longest = 0;
    for (const auto episode : some) longest = std::max(longest, found_.data.length(episode));
    auto points = Json::array();
    for (std::int64_t step = 0; step < longest; step += stride_for(longest, kRoutePoints)) {
      Point sum;
      std::int64_t running = 0;
      for (const auto episode : some)
        if (step < found_.data.length(episode)) {
          const auto at = position(found_.data.offsets[episode] + step);
          sum.x += at.x, sum.y += at.y, ++running;
        }
      const auto count = static_cast<double>(running);
      points.push_back(pair_json(sum.x / count, sum.y / count));
    }
    return points;
  }

  std::size_t bin(Point at) const {
    const auto along = [](double value, double low, double high) {
      const auto i = static_cast<std::int64_t>(kBins * (value - low) / (high - low));
      return std::clamp<std::int64_t>(i, 0, kBins - 1);
    };
    return static_cast<std::size_t>(along(at.y, low_y_, high_y_) * kBins +
                                    along(at.x, low_x_, high_x_));
  }

  /// Steps spent in each square and the mean action there.
  void add_field(const std::vector<std::int64_t>& members, Json& json) const {
    std::vector<std::int64_t> visits(kBins * kBins, 0);
    std::vector<double> actions(2 * kBins * kBins, 0.0);
    const auto& data = found_.data;
    for (const auto episode : spread(members, 10 * kMeanEpisodes))
      for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step) {
        const auto square = bin(position(step));
        ++visits[square];
        for (std::size_t i = 0; i < 2; ++i)
          actions[2 * square + i] += data.actions.floats()[2 * step + static_cast<std::int64_t>(i)];
      }
    for (std::size_t i = 0; i < actions.size(); ++i)
      actions[i] /= static_cast<double>(std::max<std::int64_t>(visits[i / 2], 1));
    json["visits"] = visits;
    json["actions"] = brief_list(actions);
  }

  const RunData& found_;
  double low_x_ = -1.0, high_x_ = 1.0, low_y_ = -1.0, high_y_ = 1.0;
};

}  // namespace

std::unique_ptr<Behaviour> make_path_behaviour(const RunData& found) {
  return std::make_unique<PathBehaviour>(found);
}

}  // namespace kindred::findings
