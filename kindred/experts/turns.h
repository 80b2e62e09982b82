// Policies that take turns within an episode: who takes over from whom, and when.
#pragma once

#include <cstdint>

#include "kindred/core/options.h"
#include "kindred/core/random.h"

namespace kindred {

enum class TakeOver { kNever, kOnce, kRate, kNearFailure };

struct TurnOptions {
  TakeOver when = TakeOver::kNever;
  double rate = 0.01;          ///< Chance of it at every step, where it happens at a rate.
  std::int64_t latest = 0;     ///< The last step at which it may happen once; 0: the horizon.
  double share = 1.0;          ///< Of the episodes, in which somebody may take over at all.
  std::int64_t hand_over = 0;  ///< Steps after it in which either of the two acts, by chance.

  bool any() const { return when != TakeOver::kNever; }
  OptionTable describe();
};

/// Who acts in one episode, step by step. Whoever takes over is any other policy, with equal
/// chances. Near a failure it happens when that comes near, and not again for a while.
class Turns {
 public:
  /// `first` of `policies` begins an episode of at most `horizon` steps.
  Turns(const TurnOptions& options, std::int64_t policies, std::int64_t first, std::int64_t horizon,
        Random random);

  /// Who acts next.
  std::int32_t next(bool near_failure);

 private:
  bool somebody_takes_over(bool near_failure);

  const TurnOptions& options_;
  std::int64_t policies_;
  std::int32_t acting_;
  std::int32_t before_;
  Random random_;
  bool may_change_;
  std::int64_t once_at_ = 0;
  std::int64_t step_ = 0;
  std::int64_t since_;  // steps since somebody took over
};

}  // namespace kindred
