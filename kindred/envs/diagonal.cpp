#include "kindred/envs/diagonal.h"

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr int kPlanes = 3;
enum Plane { kWalls, kAgent, kGoal };

DiagonalOptions checked_start(DiagonalOptions options) {
  options = checked(options);
  if (options.start_size >= options.size - 2)
    throw InvalidArgument("diagonal: start-size {} reaches the goal of a map of size {}; {} fits",
                          options.start_size, options.size, options.size - 3);
  return options;
}

EnvironmentSpec spec_of(const DiagonalOptions& options) {
  return {.name = Diagonal::kName,
          .summary = Diagonal::kSummary,
          .observation_shape = {options.size, options.size, kPlanes},
          .action_kind = ActionKind::kDiscrete,
          .action_width = kMoves,
          .action_names = move_names(),
          .horizon = options.horizon,
          .states = Grid(options.size).free_cells(),
          .binary_observations = true};
}

}  // namespace

OptionTable DiagonalOptions::describe() {
  auto table = describe_grid(size, 4, slip, horizon);
  table.push_back(integer("start-size", start_size, 1, 30,
                          "Episodes start uniformly in rows and columns 1 to this."));
  return table;
}

Diagonal::Diagonal(Options options)
    : FiniteEnvironment(spec_of(checked_start(options)), to_json(options.describe())),
      grid_(options.size),
      start_size_(static_cast<int>(options.start_size)),
      moves_(spec().states, options.slip, [this](std::int32_t state, Move move) {
        return state_of(grid_.after(agent(state), move));
      }) {}

std::int32_t Diagonal::start(Random& random) const {
  const auto drawn = static_cast<int>(random.below(static_cast<std::uint64_t>(start_size_) *
                                                   static_cast<std::uint64_t>(start_size_)));
  return state_of({1 + drawn / start_size_, 1 + drawn % start_size_});
}

std::int32_t Diagonal::next(std::int32_t state, std::int32_t action, Random& random) const {
  return moves_.next(state, action, random);
}

void Diagonal::observe_state(std::int32_t state, std::span<float> out) const {
  GridPicture picture(grid_, kPlanes, out);
  picture.mark(agent(state), kAgent);
  picture.mark(goal(), kGoal);
}

}  // namespace kindred
