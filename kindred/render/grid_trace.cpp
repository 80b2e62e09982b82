#include "kindred/render/grid_trace.h"

#include <algorithm>

#include "kindred/core/error.h"

namespace kindred::render {
namespace {

/// The move that leads from one cell to another, where there is one.
std::optional<Move> move_between(Cell from, Cell to) {
  for (std::int32_t move = 0; move < kMoves; ++move)
    if (neighbour(from, static_cast<Move>(move)) == to) return static_cast<Move>(move);
  return std::nullopt;
}

std::string move_name(std::optional<Move> move) {
  return move ? move_names()[static_cast<std::size_t>(*move)] : "elsewhere";
}

}  // namespace

bool GridTrace::slipped(std::size_t step) const {
  return step + 1 < cells.size() &&
         cells[step + 1] != scenes[step].after(cells[step], chosen[step]);
}

std::vector<std::size_t> GridTrace::slips() const {
  std::vector<std::size_t> found;
  for (std::size_t step = 0; step < chosen.size(); ++step)
    if (slipped(step)) found.push_back(step);
  return found;
}

std::string GridTrace::went(std::size_t step) const {
  return move_name(move_between(cells[step], cells[step + 1]));
}

std::string GridTrace::describe(std::size_t step) const {
  return fmt::format("step {}: chose {}, the move was {}", step, move_name(chosen[step]),
                     went(step));
}

std::optional<Cell> GridTrace::end() const {
  return cells.size() > scenes.size() ? std::optional(cells.back()) : std::nullopt;
}

std::optional<std::size_t> GridTrace::taken_at(const GridObject& object) const {
  for (std::size_t step = 1; step < cells.size(); ++step) {
    const auto& before = scenes[step - 1].objects;
    if (std::ranges::find(before, object) == before.end()) return std::nullopt;
    if (cells[step] == object.cell) return step;
  }
  return std::nullopt;
}

GridTrace trace_grid(const Episode& episode) {
  const auto shape = find_grid_shape(episode.observation(0));
  if (!shape)
    throw InvalidArgument(
        "episode {} is not one of a gridworld: its observations of {} numbers do not show walls "
        "around one agent; draw it as curves",
        episode.number, episode.observation_dim);
  if (!episode.is_discrete() || episode.action_width > kMoves)
    throw InvalidArgument(
        "episode {} is not one of a gridworld: its actions are not the {} moves; "
        "draw it as curves",
        episode.number, kMoves);
  GridTrace trace;
  for (std::int64_t step = 0; step < episode.length; ++step) {
    auto scene = decode_grid(episode.observation(step), *shape);
    if (!scene)
      throw InvalidArgument("the observation of step {} of episode {} shows no gridworld", step,
                            episode.number);
    trace.cells.push_back(scene->agent);
    trace.scenes.push_back(std::move(*scene));
    trace.chosen.push_back(
        static_cast<Move>(episode.discrete_actions[static_cast<std::size_t>(step)]));
  }
  const auto& last = trace.scenes.back();
  if (episode.ending == Ending::kTerminal && last.goal && move_between(last.agent, *last.goal))
    trace.cells.push_back(*last.goal);
  return trace;
}

}  // namespace kindred::render
