// Who acts at each step, where whoever acts usually goes on: a hidden Markov model whose states are
// policies. At every step the next one is another policy with chance `rate`, each with the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/workers.h"

namespace kindred {

/// A step's log-likelihoods under each of k policies, [steps, k], and the episodes' offsets.
struct StepScores {
  const Matrix& nats;
  std::span<const std::int64_t> offsets;
};

/// The most likely actors of all steps.
std::vector<std::int32_t> most_likely_actors(const StepScores& scores, double rate,
                                             const Workers& workers);

/// What the chain says of all steps.
struct ChainFit {
  Matrix posteriors;            ///< [steps, k]: the chance of each policy to be the one that acts.
  double switches = 0.0;        ///< How many are to be expected.
  double log_likelihood = 0.0;  ///< Of all steps, whoever acted.
};

ChainFit fit_chain(const StepScores& scores, double rate, const Workers& workers);

/// Within episodes, steps whose actor is another than the one before.
std::int64_t count_switches(std::span<const std::int32_t> actors,
                            std::span<const std::int64_t> offsets);

/// The rate that so many switches suggest: never 0, for none may just have been seen.
double switch_rate(std::int64_t switches, std::int64_t steps);

/// The rate under which the scores are most likely: where a switch leaves little trace, the most
/// likely actors have fewer than there were. Starts at `rate` and never goes below it.
double likely_rate(const StepScores& scores, double rate, const Workers& workers);

/// What naming the actors costs in nats: each episode's first, and each switch or its absence.
double naming_cost(std::span<const std::int32_t> actors, std::span<const std::int64_t> offsets,
                   std::int64_t k);

/// A switch, with the steps between which it lies with a chance of 90 %.
struct Boundary {
  std::int64_t step = 0;  ///< The first step of the new actor.
  std::int64_t earliest = 0;
  std::int64_t latest = 0;
};

/// The boundary between the stretches [begin, step) and [step, end).
Boundary locate(const Matrix& nats, std::int64_t begin, std::int64_t step, std::int64_t end,
                std::int32_t before, std::int32_t after);

}  // namespace kindred
