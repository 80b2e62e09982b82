#include "kindred/envs/takeball.h"

#include <algorithm>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr int kPlanes = 3 + Takeball::kBalls;
enum Plane { kWalls, kAgent, kGoal, kFirstBall };

constexpr Takeball::Arrangement kInOrder = {0, 1, 2, 3};

std::vector<Takeball::Arrangement> all_arrangements() {
  std::vector<Takeball::Arrangement> all;
  auto arrangement = kInOrder;
  do all.push_back(arrangement);
  while (std::ranges::next_permutation(arrangement).found);
  return all;
}

TakeballOptions checked_start(TakeballOptions options) {
  options = checked(options);
  if (options.start_columns >= options.size - 2)
    throw InvalidArgument("takeball: {} start-columns reach the goal of a map of size {}; {} fit",
                          options.start_columns, options.size, options.size - 3);
  return options;
}

EnvironmentSpec spec_of(const char* name, const char* summary, const TakeballOptions& options,
                        std::size_t arrangements) {
  const std::int64_t phases = static_cast<std::int64_t>(arrangements) + 1;
  return {.name = name,
          .summary = summary,
          .observation_shape = {options.size, options.size, kPlanes},
          .action_kind = ActionKind::kDiscrete,
          .action_width = kMoves,
          .action_names = move_names(),
          .horizon = options.horizon,
          .states = Grid(options.size).free_cells() * phases,
          .binary_observations = true};
}

}  // namespace

OptionTable TakeballOptions::describe() {
  auto table = describe_grid(size, 6, slip, horizon);
  table.push_back(integer("start-columns", start_columns, 1, 30,
                          "Episodes start in the lowest row, uniformly in columns 1 to this."));
  return table;
}

Takeball::Takeball(Options options) : Takeball(kName, kSummary, options, {kInOrder}) {}

Takeball::Takeball(const char* name, const char* summary, Options options,
                   std::vector<Arrangement> arrangements)
    : FiniteEnvironment(spec_of(name, summary, checked_start(options), arrangements.size()),
                        to_json(options.describe())),
      grid_(options.size),
      start_columns_(static_cast<int>(options.start_columns)),
      arrangements_(std::move(arrangements)),
      moves_(spec().states, options.slip,
             [this](std::int32_t state, Move move) { return after(state, move); }) {}

TakeballPermuted::TakeballPermuted(Options options)
    : Takeball(kName, kSummary, options, all_arrangements()) {}

Cell Takeball::place(int i) const { return {1, 1 + i * (grid_.last() - 1) / (kBalls - 1)}; }

Takeball::State Takeball::decode(std::int32_t state) const {
  const auto phase = static_cast<std::size_t>(state / grid_.free_cells());
  return {grid_.cell_at(state % grid_.free_cells()),
          phase < arrangements_.size() ? &arrangements_[phase] : nullptr};
}

std::int32_t Takeball::start(Random& random) const {
  const auto column =
      1 + static_cast<int>(random.below(static_cast<std::uint64_t>(start_columns_)));
  const auto arrangement = static_cast<std::int32_t>(random.below(arrangements_.size()));
  return arrangement * grid_.free_cells() + grid_.number_of({grid_.last(), column});
}

std::int32_t Takeball::next(std::int32_t state, std::int32_t action, Random& random) const {
  return moves_.next(state, action, random);
}

std::int32_t Takeball::after(std::int32_t state, Move move) const {
  const Cell agent = grid_.after(decode(state).agent, move);
  bool on_ball = false;
  for (int i = 0; i < kBalls; ++i) on_ball |= agent == place(i);
  const auto taken = static_cast<std::int32_t>(arrangements_.size());
  const auto phase = on_ball ? taken : state / grid_.free_cells();
  return phase * grid_.free_cells() + grid_.number_of(agent);
}

void Takeball::observe_state(std::int32_t state, std::span<float> out) const {
  const auto [agent, balls] = decode(state);
  GridPicture picture(grid_, kPlanes, out);
  picture.mark(agent, kAgent);
  picture.mark(goal(), kGoal);
  if (!balls) return;
  for (int ball = 0; ball < kBalls; ++ball)
    picture.mark(place((*balls)[static_cast<std::size_t>(ball)]), kFirstBall + ball);
}

}  // namespace kindred
