#include "kindred/envs/extra.h"

#include <algorithm>
#include <cstdlib>

#include "kindred/core/error.h"

namespace kindred {
namespace {

ExtraOptions checked_obstacles(ExtraOptions options) {
  options = checked(options);
  // On crowded maps few drawings connect all cells, and finding one takes long.
  const auto most = Grid(options.size).free_cells() / 3;
  if (options.obstacles > most)
    throw InvalidArgument("extra: {} obstacles crowd a map of size {}; at most {} fit",
                          options.obstacles, options.size, most);
  return options;
}

EnvironmentSpec spec_of(const ExtraOptions& options) {
  return {.name = Extra::kName,
          .summary = Extra::kSummary,
          .observation_shape = {options.size, options.size, ExtraPlanes{options.one_plane}.count()},
          .action_kind = ActionKind::kDiscrete,
          .action_width = kMoves,
          .action_names = move_names(),
          .horizon = options.horizon,
          .states = 0,
          .binary_observations = true};
}

float special_reward(ExtraReward reward) {
  switch (reward) {
    case ExtraReward::kPlus:
      return Extra::kSpecialReward;
    case ExtraReward::kMinus:
      return -Extra::kSpecialReward;
    default:
      return 0.0f;
  }
}

float distance(Cell a, Cell b) {
  return static_cast<float>(std::abs(a.row - b.row) + std::abs(a.column - b.column));
}

/// Each lane keeps its observation as it changes, and where in it things are.
class ExtraLanes final : public Lanes {
 public:
  ExtraLanes(std::int64_t count, const EnvironmentSpec& spec, const ExtraOptions& options)
      : Lanes(count, spec),
        options_(options),
        size_(static_cast<int>(options.size)),
        planes_{options.one_plane},
        dim_(static_cast<std::size_t>(spec.observation_dim())),
        special_reward_(special_reward(options.reward)),
        drawer_(size_, static_cast<int>(options.obstacles)),
        walks_(static_cast<std::size_t>(count)),
        pictures_(static_cast<std::size_t>(count) * dim_) {}

  void observe(LaneList lanes, std::span<float> out) const override {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      std::copy_n(pictures_.begin() + offset(lanes[i]), dim_,
                  out.begin() + static_cast<std::ptrdiff_t>(i * dim_));
  }

 protected:
  void start(std::int32_t lane) override {
    const ExtraMap& map = drawer_.draw(stream(lane));
    paint(map, planes_, picture(lane));
    walks_[static_cast<std::size_t>(lane)] = {
        map.agent, map.goal, {*map.special[0], *map.special[1]}, {true, true}};
  }

  void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
               std::span<Ending> endings) override {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      auto& walk = walks_[static_cast<std::size_t>(lanes[i])];
      const Cell before = walk.agent;
      const bool reached = take_step(
          walk, picture(lanes[i]), executed(actions.discrete[i], options_.slip, stream(lanes[i])));
      rewards[i] = options_.reward == ExtraReward::kNone ? 0.0f : reward(walk, before, reached);
      endings[i] = walk.agent == walk.goal ? Ending::kTerminal : Ending::kNone;
    }
  }

 private:
  struct Walk {
    Cell agent, goal;
    std::array<Cell, ExtraMap::kSpecialCells> special;
    std::array<bool, ExtraMap::kSpecialCells> waiting;  // not reached yet
  };

  std::ptrdiff_t offset(std::int32_t lane) const {
    return lane * static_cast<std::ptrdiff_t>(dim_);
  }

  std::span<float> picture(std::int32_t lane) {
    return std::span(pictures_).subspan(static_cast<std::size_t>(offset(lane)), dim_);
  }

  float& mark(std::span<float> picture, Cell cell, int plane) const {
    return picture[GridPicture::index(size_, planes_.count(), cell, plane)];
  }

  /// Moves the agent; returns whether it reached a special cell for the first time.
  bool take_step(Walk& walk, std::span<float> picture, Move move) const {
    const Cell target = neighbour(walk.agent, move);
    if (mark(picture, target, ExtraPlanes::kWalls) != 0.0f) return false;
    mark(picture, walk.agent, ExtraPlanes::kAgent) = 0.0f;
    mark(picture, target, ExtraPlanes::kAgent) = 1.0f;
    walk.agent = target;
    for (int i = 0; i < ExtraMap::kSpecialCells; ++i) {
      auto& waiting = walk.waiting[static_cast<std::size_t>(i)];
      if (!waiting || walk.special[static_cast<std::size_t>(i)] != target) continue;
      waiting = false;
      if (!options_.cells_stay) mark(picture, target, planes_.special(i)) = 0.0f;
      return true;
    }
    return false;
  }

  float reward(const Walk& walk, Cell before, bool reached) const {
    const float now = distance(walk.agent, walk.goal);
    const float paid =
        options_.distance == ExtraDistance::kLiteral ? now : now - distance(before, walk.goal);
    return (reached ? special_reward_ : 0.0f) +
           (walk.agent == walk.goal ? Extra::kGoalReward : 0.0f) - Extra::kStepCost -
           Extra::kDistanceCost * paid;
  }

  const ExtraOptions& options_;
  int size_;
  ExtraPlanes planes_;
  std::size_t dim_;
  float special_reward_;
  ExtraMapDrawer drawer_;
  std::vector<Walk> walks_;
  std::vector<float> pictures_;  // [lanes, observation_dim]
};

}  // namespace

OptionTable ExtraOptions::describe() {
  auto table = describe_grid(size, 7, slip, horizon);
  table.push_back(integer("obstacles", obstacles, 0, 320, "Walls inside the ring."));
  table.push_back(flag("one-plane", one_plane, "Both special cells share a plane."));
  table.push_back(
      flag("cells-stay", cells_stay, "Special cells stay in the observation once reached."));
  table.push_back(choice("reward", reward, {"none", "plus", "minus", "zero"},
                         "What special cells are worth; none: every reward is 0."));
  table.push_back(choice("distance", distance, {"progress", "literal"},
                         "Pay for the distance to the goal that a step adds, or for all of it."));
  return table;
}

Extra::Extra(Options options)
    : Environment(spec_of(checked_obstacles(options)), to_json(options.describe())),
      options_(options) {}

std::unique_ptr<Lanes> Extra::make_lanes(std::int64_t count) const {
  return std::make_unique<ExtraLanes>(count, spec(), options_);
}

}  // namespace kindred
