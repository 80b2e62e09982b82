// What the best policy does under each reading of Extra's penalty, by value iteration: the evidence
// for docs/decisions/0009-extra-reward.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "kindred/envs/extra.h"

namespace kindred {
namespace {

constexpr int kSize = 9, kObstacles = 5, kHorizon = 40, kMaps = 60, kSweeps = 300;
constexpr double kSlipShare = 0.3, kTie = 1e-7;
using Moves = std::array<double, kMoves>;

/// One map as a table: a state is a cell and which special cells have been reached.
class Planner {
 public:
  Planner(const ExtraMap& map, ExtraDistance distance, double special)
      : map_(map), distance_(distance), special_(special), policy_(std::size_t{kSize} * kSize * 4) {
    std::vector<double> values(policy_.size(), 0.0);
    // Bounded, since a cell walled in on all sides has no end of costs.
    for (int sweep = 0; sweep < kSweeps && improve(values) > 1e-9; ++sweep) continue;
  }

  /// Probability of having reached both special cells after kHorizon steps.
  double both() const {
    std::vector<double> now(policy_.size(), 0.0);
    now[state(map_.agent, 0)] = 1.0;
    for (int t = 0; t < kHorizon; ++t) {
      std::vector<double> next(now.size(), 0.0);
      for_each_state([&](Cell cell, std::size_t reached) {
        const auto from = state(cell, reached);
        if (cell == map_.goal) {
          next[from] += now[from];
          return;
        }
        for (std::int32_t move = 0; move < kMoves; ++move) {
          const double chance = (1.0 - kSlipShare) * policy_[from][static_cast<std::size_t>(move)] +
                                kSlipShare / kMoves;
          next[after(cell, reached, move)] += now[from] * chance;
        }
      });
      now = std::move(next);
    }
    double sum = 0.0;
    for_each_state([&](Cell cell, std::size_t reached) {
      if (reached == 3) sum += now[state(cell, reached)];
    });
    return sum;
  }

 private:
  static std::size_t state(Cell cell, std::size_t reached) {
    return static_cast<std::size_t>(cell.row * kSize + cell.column) * 4 + reached;
  }

  template <class Visit>
  void for_each_state(Visit visit) const {
    for (int row = 1; row < kSize - 1; ++row)
      for (int column = 1; column < kSize - 1; ++column)
        for (std::size_t reached = 0; reached < 4; ++reached)
          if (!map_.is_wall({row, column})) visit(Cell{row, column}, reached);
  }

  Cell target(Cell cell, std::int32_t move) const {
    const auto there = neighbour(cell, static_cast<Move>(move));
    return map_.is_wall(there) ? cell : there;
  }

  std::size_t reached_at(Cell cell, std::size_t reached) const {
    for (std::size_t i = 0; i < 2; ++i)
      if (map_.special[i] == cell) reached |= std::size_t{1} << i;
    return reached;
  }

  std::size_t after(Cell cell, std::size_t reached, std::int32_t move) const {
    const auto there = target(cell, move);
    return state(there, reached_at(there, reached));
  }

  double steps_to_goal(Cell cell) const {
    return std::abs(cell.row - map_.goal.row) + std::abs(cell.column - map_.goal.column);
  }

  double reward(Cell cell, std::size_t reached, Cell there) const {
    const double before = distance_ == ExtraDistance::kProgress ? steps_to_goal(cell) : 0.0;
    return (reached_at(there, reached) != reached ? special_ : 0.0) +
           (there == map_.goal ? Extra::kGoalReward : 0.0) - Extra::kStepCost -
           Extra::kDistanceCost * (steps_to_goal(there) - before);
  }

  /// One sweep; returns the largest change of a value. Equally good moves share the policy.
  double improve(std::vector<double>& values) {
    double change = 0.0;
    for_each_state([&](Cell cell, std::size_t reached) {
      if (cell == map_.goal) return;
      Moves worth;
      double mean = 0.0;
      for (std::int32_t move = 0; move < kMoves; ++move) {
        const auto there = target(cell, move);
        const double then = there == map_.goal ? 0.0 : values[after(cell, reached, move)];
        worth[static_cast<std::size_t>(move)] = reward(cell, reached, there) + then;
        mean += worth[static_cast<std::size_t>(move)] / kMoves;
      }
      const double best = std::ranges::max(worth);
      const auto ties = std::ranges::count_if(worth, [&](double w) { return w > best - kTie; });
      auto& value = values[state(cell, reached)];
      for (std::size_t move = 0; move < worth.size(); ++move)
        policy_[state(cell, reached)][move] =
            worth[move] > best - kTie ? 1.0 / static_cast<double>(ties) : 0.0;
      const double better = (1.0 - kSlipShare) * best + kSlipShare * mean;
      change = std::max(change, std::abs(better - value));
      value = better;
    });
    return change;
  }

  const ExtraMap& map_;
  ExtraDistance distance_;
  double special_;
  std::vector<Moves> policy_;
};

double plus_visits_both(ExtraDistance distance) {
  ExtraMapDrawer drawer(kSize, kObstacles);
  double sum = 0.0;
  for (std::uint64_t i = 0; i < kMaps; ++i) {
    Random random(7, "maps", i);
    const auto map = drawer.draw(random);
    sum += Planner(map, distance, Extra::kSpecialReward).both() / kMaps;
  }
  return sum;
}

TEST(ExtraReward, OnlyProgressMakesVisitingBothCellsWorthwhile) {
  const double literal = plus_visits_both(ExtraDistance::kLiteral);
  const double progress = plus_visits_both(ExtraDistance::kProgress);
  RecordProperty("literal", std::to_string(literal));
  RecordProperty("progress", std::to_string(progress));
  EXPECT_LT(literal, 0.5) << "an expert that visits both in 85% of episodes would be possible";
  EXPECT_GT(progress, 0.95);
}

}  // namespace
}  // namespace kindred
