#include "kindred/policies/training_turns.h"

#include <deque>
#include <memory>

#include "kindred/core/turns.h"

namespace kindred {
namespace {

/// Policies that train side by side are in memory with what Adam remembers of them.
constexpr std::int64_t kPoliciesOfAThread = 4;

}  // namespace

void train_in_turns(PolicyStack& stack, const TrainingInTurns& training, const Trajectories& data,
                    const NetworkView& view, const Workers& workers) {
  const std::int64_t threads = workers.pool->threads();
  std::deque<StepTrainer> trainers;  // [threads]
  while (std::ssize(trainers) < threads) trainers.emplace_back(data, view, workers);
  const auto begin = [&](std::int64_t piece) -> PieceStep {
    const auto index = training.policies[static_cast<std::size_t>(piece)];
    const auto policy = std::make_shared<CpuPolicy>(stack.architecture());
    policy->load(stack, index);
    return [&, index, policy, update = training.begin(index)](std::int64_t seat) {
      const bool was_last = update(*policy, trainers[static_cast<std::size_t>(seat)]);
      if (was_last) policy->store(stack, index);
      return was_last;
    };
  };
  take_turns(workers, {.pieces = std::ssize(training.policies),
                       .begin = begin,
                       .most_under_way = training.most_under_way > 0 ? training.most_under_way
                                                                     : kPoliciesOfAThread * threads,
                       .meanwhile = training.meanwhile});
}

}  // namespace kindred
