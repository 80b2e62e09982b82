// Takeball: fetch one of four balls at the top of the map, then go to the goal at its lower right.
//
// Stepping on a ball takes it, and all balls vanish: the observation says whether a ball has been
// taken, not which. Observation: size x size x 7 (walls, agent, goal, one plane per ball). The
// episode ends on the goal, with or without a ball.
#pragma once

#include <array>

#include "kindred/envs/finite.h"
#include "kindred/envs/grid.h"

namespace kindred {

struct TakeballOptions {
  std::int64_t size = 9;           ///< Rows and columns, the ring of walls included.
  double slip = 0.3;               ///< Probability that a random move replaces the chosen one.
  std::int64_t horizon = 40;       ///< Steps after which an episode is cut off.
  std::int64_t start_columns = 3;  ///< Episodes start in the lowest row, columns 1..start_columns.
  OptionTable describe();
};

/// Balls lie in the top row, in four evenly spread places; ball number i lies in place i.
class Takeball : public FiniteEnvironment {
 public:
  using Options = TakeballOptions;
  static constexpr const char* kName = "takeball";
  static constexpr const char* kSummary =
      "Fetch one of four balls in the top row, then go to the goal in the lower right corner.";
  static constexpr int kBalls = 4;

  /// Which place each ball lies in.
  using Arrangement = std::array<int, kBalls>;

  /// What a state number stands for; no arrangement once a ball has been taken.
  struct State {
    Cell agent;
    const Arrangement* balls;
  };

  explicit Takeball(Options options = {});

  const Grid& grid() const { return grid_; }
  Cell goal() const { return {grid_.last(), grid_.last()}; }
  Cell place(int i) const;
  State decode(std::int32_t state) const;

  std::int32_t start(Random& random) const override;
  std::int32_t next(std::int32_t state, std::int32_t action, Random& random) const override;
  bool is_terminal(std::int32_t state) const override { return decode(state).agent == goal(); }
  void observe_state(std::int32_t state, std::span<float> out) const override;

 protected:
  Takeball(const char* name, const char* summary, Options options,
           std::vector<Arrangement> arrangements);

 private:
  std::int32_t after(std::int32_t state, Move move) const;

  Grid grid_;
  int start_columns_;
  std::vector<Arrangement> arrangements_;
  // State number: free_cells * (arrangement, or arrangements_.size() when taken) + agent's cell.
  SlipperyMoves moves_;
};

/// As Takeball, but each episode draws which ball lies in which place.
class TakeballPermuted final : public Takeball {
 public:
  static constexpr const char* kName = "takeball-permuted";
  static constexpr const char* kSummary =
      "As takeball, but each episode draws at random which ball lies in which place.";

  explicit TakeballPermuted(Options options = {});
};

}  // namespace kindred
