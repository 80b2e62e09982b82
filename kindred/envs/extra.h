// Extra: from a random start to a random goal on a random map with two special cells, which an
// expert visits, avoids or ignores.
//
// Each episode draws a map of its own (see extra_map.h). A special cell leaves the observation once
// reached, so that the observation is the whole state. The episode ends on the goal. The variant
// of the paper's reference code is size 7 with one-plane and cells-stay.
#pragma once

#include "kindred/envs/environment.h"
#include "kindred/envs/extra_map.h"

namespace kindred {

/// What the first visit of a special cell is worth: nothing is rewarded at all, or +10, -10 or 0
/// beside the rewards of walking (see ExtraOptions::distance).
enum class ExtraReward { kNone, kPlus, kMinus, kZero };

/// What 0.3 is paid for, per unit of the Manhattan distance to the goal: every unit that a step
/// adds, and returned for every one it takes away; or each step for the whole distance.
enum class ExtraDistance { kProgress, kLiteral };

struct ExtraOptions {
  std::int64_t size = 9;       ///< Rows and columns, the ring of walls included.
  double slip = 0.3;           ///< Probability that a random move replaces the chosen one.
  std::int64_t horizon = 40;   ///< Steps after which an episode is cut off.
  std::int64_t obstacles = 5;  ///< Walls inside the ring.
  bool one_plane = false;      ///< Both special cells in one plane of the observation.
  bool cells_stay = false;     ///< Special cells stay in the observation once reached.
  ExtraReward reward = ExtraReward::kNone;            ///< What special cells are worth.
  ExtraDistance distance = ExtraDistance::kProgress;  ///< How distance from the goal is paid for.
  OptionTable describe();
};

class Extra final : public Environment {
 public:
  using Options = ExtraOptions;
  static constexpr const char* kName = "extra";
  static constexpr const char* kSummary =
      "Cross a random map with two special cells to a random goal.";

  static constexpr float kGoalReward = 10.0f;
  static constexpr float kSpecialReward = 10.0f;  ///< Its sign is the option's.
  static constexpr float kStepCost = 0.3f;
  static constexpr float kDistanceCost = 0.3f;

  explicit Extra(Options options = {});

  std::unique_ptr<Lanes> make_lanes(std::int64_t count) const override;

 private:
  Options options_;
};

}  // namespace kindred
