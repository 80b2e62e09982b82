// Trains policies of a stack side by side: threads take turns with them, a few updates at a time,
// so that none is without work while others still train. What becomes of a policy does not depend
// on the turns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kindred/nn/policy_stack.h"
#include "kindred/policies/step_trainer.h"

namespace kindred {

/// One update of a policy, true when it was the last. The trainer is the thread's own.
using PolicyUpdate = std::function<bool(CpuPolicy& policy, StepTrainer& trainer)>;

struct TrainingInTurns {
  std::span<const std::int64_t> policies;  ///< Of the stack.
  /// Called when a policy's training begins, from any thread.
  std::function<PolicyUpdate(std::int64_t policy)> begin;
  /// No more policies than this train side by side, or than there are threads where these are
  /// more; 0: as many as threads can take turns with.
  std::int64_t most_under_way = 0;
  std::function<void()> meanwhile = {};  ///< As that of PiecesInTurns.
};

/// Throws Interrupted when asked to stop.
void train_in_turns(PolicyStack& stack, const TrainingInTurns& training, const Trajectories& data,
                    const NetworkView& view, const Workers& workers);

}  // namespace kindred
