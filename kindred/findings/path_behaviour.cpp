// The routes of each cluster through the plane of path-following, and the forces along them.
#include <algorithm>

#include "kindred/findings/behaviour.h"
#include "kindred/findings/path_stage.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kRoutes = 120, kRoutePoints = 50, kMeanEpisodes = 2000, kBins = 18;

class PathBehaviour final : public Behaviour {
 public:
  explicit PathBehaviour(const RunData& found) : found_(found), stage_(found.data) {}

  std::int64_t step_numbers() const override { return 4; }

  Json clusters() const override {
    auto list = Json::array();
    for (const auto& members : found_.members) list.push_back(cluster(members));
    auto json = stage_.setting();
    json["bins"] = kBins;
    json["clusters"] = list;
    return json;
  }

  void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                 Json& trajectory) const override {
    stage_.add_steps(episode, steps, trajectory);
  }

 private:
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
      points.push_back(PathStage::point_json(stage_.position(found_.data.offsets[episode] + step)));
    points.push_back(
        PathStage::point_json(stage_.position(found_.data.offsets[episode] + length - 1)));
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
          const auto at = stage_.position(found_.data.offsets[episode] + step);
          sum.x += at.x, sum.y += at.y, ++running;
        }
      const auto count = static_cast<double>(running);
      points.push_back(PathStage::point_json({sum.x / count, sum.y / count}));
    }
    return points;
  }

  std::size_t bin(Point at) const {
    const auto low = stage_.low(), high = stage_.high();
    const auto along = [](double value, double from, double to) {
      const auto i = static_cast<std::int64_t>(kBins * (value - from) / (to - from));
      return std::clamp<std::int64_t>(i, 0, kBins - 1);
    };
    return static_cast<std::size_t>(along(at.y, low.y, high.y) * kBins +
                                    along(at.x, low.x, high.x));
  }

  /// Steps spent in each square and the mean action there.
  void add_field(const std::vector<std::int64_t>& members, Json& json) const {
    std::vector<std::int64_t> visits(kBins * kBins, 0);
    std::vector<double> actions(2 * kBins * kBins, 0.0);
    const auto& data = found_.data;
    for (const auto episode : spread(members, 10 * kMeanEpisodes))
      for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step) {
        const auto square = bin(stage_.position(step));
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
  PathStage stage_;
};

}  // namespace

std::unique_ptr<Behaviour> make_path_behaviour(const RunData& found) {
  return std::make_unique<PathBehaviour>(found);
}

}  // namespace kindred::findings
