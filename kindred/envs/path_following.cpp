#include "kindred/envs/path_following.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kindred {
namespace {

constexpr std::size_t kNumbers = 6;  // in an observation

EnvironmentSpec spec_of(const PathFollowingOptions& options) {
  return {.name = PathFollowing::kName,
          .summary = PathFollowing::kSummary,
          .observation_shape = {kNumbers},
          .action_kind = ActionKind::kContinuous,
          .action_width = 2,
          .action_names = {},
          .horizon = options.horizon,
          .states = 0,
          .clips_actions = true};
}

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

double distance_to_segment(Point p, Point a, Point b) {
  const Point along = {b.x - a.x, b.y - a.y};
  const double squared_length = along.x * along.x + along.y * along.y;
  const double dot = (p.x - a.x) * along.x + (p.y - a.y) * along.y;
  const double share = squared_length > 0.0 ? std::clamp(dot / squared_length, 0.0, 1.0) : 0.0;
  return distance(p, {a.x + share * along.x, a.y + share * along.y});
}

class PathFollowingLanes final : public Lanes {
 public:
  PathFollowingLanes(std::int64_t count, const PathFollowing& environment,
                     const PathFollowingOptions& options)
      : Lanes(count, environment.spec()),
        environment_(environment),
        options_(options),
        balls_(static_cast<std::size_t>(count)) {}

  void observe(LaneList lanes, std::span<float> out) const override {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const auto& [position, velocity] = balls_[static_cast<std::size_t>(lanes[i])];
      auto* number = &out[i * kNumbers];
      for (const Point point : {position, velocity, PathFollowing::kGoal}) {
        *number++ = static_cast<float>(point.x);
        *number++ = static_cast<float>(point.y);
      }
    }
  }

 protected:
  void start(std::int32_t lane) override {
    auto& ball = balls_[static_cast<std::size_t>(lane)];
    ball.velocity = {};
    ball.position.x = stream(lane).uniform(-1.5, -0.5);
    ball.position.y = stream(lane).uniform(-1.5, -0.5);
  }

  void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
               std::span<Ending> endings) override {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      auto& [position, velocity] = balls_[static_cast<std::size_t>(lanes[i])];
      push(position.x, velocity.x, actions.continuous[2 * i], stream(lanes[i]));
      push(position.y, velocity.y, actions.continuous[2 * i + 1], stream(lanes[i]));
      rewards[i] = static_cast<float>(environment_.reward_at(position));
      endings[i] = Ending::kNone;
    }
  }

 private:
  struct Ball {
    Point position, velocity;
  };

  void push(double& position, double& velocity, float action, Random& random) const {
    const double force = options_.force * static_cast<double>(std::clamp(action, -1.0f, 1.0f));
    velocity = options_.damping * (velocity + force + options_.noise * random.normal());
    position += velocity;
  }

  const PathFollowing& environment_;
  const PathFollowingOptions& options_;
  std::vector<Ball> balls_;
};

}  // namespace

double distance_to_polyline(Point point, std::span<const Point> polyline) {
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < polyline.size(); ++i)
    nearest = std::min(nearest, distance_to_segment(point, polyline[i - 1], polyline[i]));
  return nearest;
}

OptionTable PathFollowingOptions::describe() {
  return {
      integer("horizon", horizon, 1, 256, "Steps of every episode."),
      real("noise", noise, 0.0, 1.0, "Standard deviation of the noise on the velocity."),
      real("damping", damping, 0.0, 1.0, "Share of the velocity that a step keeps."),
      real("force", force, 0.0, 1.0, "Velocity that a full push adds."),
      choice("reward", reward, {"none", "free", "up-first", "right-first"},
             "Being near the goal, and near a path to it; none: every reward is 0."),
  };
}

PathFollowing::PathFollowing(Options options)
    : Environment(spec_of(checked(options)), to_json(options.describe())), options_(options) {}

std::unique_ptr<Lanes> PathFollowing::make_lanes(std::int64_t count) const {
  return std::make_unique<PathFollowingLanes>(count, *this, options_);
}

double PathFollowing::reward_at(Point position) const {
  if (options_.reward == PathReward::kNone) return 0.0;
  const double beyond = std::max(0.0, distance(position, {}) - kRadius);
  const double cost = distance(position, kGoal) + beyond * beyond;
  if (options_.reward == PathReward::kFree) return -cost;
  const auto& path = options_.reward == PathReward::kUpFirst ? kUpFirst : kRightFirst;
  return -cost - kPathCost * distance_to_polyline(position, path);
}

}  // namespace kindred
