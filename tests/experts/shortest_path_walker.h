// A policy for Extra that walks a shortest path to the goal and ignores special cells: the
// yardstick for an expert to which they are worth nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kindred/envs/extra_map.h"
#include "kindred/experts/policy.h"

namespace kindred {

/// Never to be asked on the goal, where an episode has ended.
class ShortestPathWalker final : public Policy {
 public:
  ShortestPathWalker()
      : Policy("shortest-path", "Any shortest path to the goal, each best move equally likely.") {}

  bool reads_states() const override { return false; }

  void distribution(const Situations& seen, std::span<float> out) const override {
    if (seen.count == 0) return;
    const auto dim = seen.observations.size() / static_cast<std::size_t>(seen.count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(seen.count); ++i)
      choose(decode_extra(seen.observations.subspan(i * dim, dim)),
             out.subspan(i * kMoves, kMoves));
  }

 private:
  static void choose(const ExtraMap& map, std::span<float> out) {
    std::vector<std::int32_t> distances(map.walls.size());
    walking_distances(map, map.goal, distances);
    float best = 0.0f;
    for (std::int32_t move = 0; move < kMoves; ++move) {
      const Cell next = neighbour(map.agent, static_cast<Move>(move));
      const bool nearer =
          !map.is_wall(next) && distances[map.index(next)] < distances[map.index(map.agent)];
      out[static_cast<std::size_t>(move)] = nearer ? 1.0f : 0.0f;
      best += nearer ? 1.0f : 0.0f;
    }
    for (auto& probability : out) probability /= best;
  }
};

}  // namespace kindred
