// Diagonal: from the upper left corner to the goal in the lower right one, on an empty map.
//
// Observation: size x size x 3 (walls, agent, goal). A state is the agent's cell.
#pragma once

#include "kindred/envs/finite.h"
#include "kindred/envs/grid.h"

namespace kindred {

struct DiagonalOptions {
  std::int64_t size = 9;        ///< Rows and columns, the ring of walls included.
  double slip = 0.3;            ///< Probability that a random move replaces the chosen one.
  std::int64_t horizon = 40;    ///< Steps after which an episode is cut off.
  std::int64_t start_size = 4;  ///< Episodes start uniformly in rows and columns 1..start_size.
  OptionTable describe();
};

class Diagonal final : public FiniteEnvironment {
 public:
  using Options = DiagonalOptions;
  static constexpr const char* kName = "diagonal";
  static constexpr const char* kSummary =
      "Cross an empty map from the upper left corner to the goal in the lower right one.";

  explicit Diagonal(Options options = {});

  const Grid& grid() const { return grid_; }
  Cell goal() const { return {grid_.last(), grid_.last()}; }
  Cell agent(std::int32_t state) const { return grid_.cell_at(state); }
  std::int32_t state_of(Cell agent) const { return grid_.number_of(agent); }

  std::int32_t start(Random& random) const override;
  std::int32_t next(std::int32_t state, std::int32_t action, Random& random) const override;
  bool is_terminal(std::int32_t state) const override { return agent(state) == goal(); }
  void observe_state(std::int32_t state, std::span<float> out) const override;

 private:
  Grid grid_;
  int start_size_;
  SlipperyMoves moves_;
};

}  // namespace kindred
