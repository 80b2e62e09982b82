// What a piece of an episode costs under a policy. An episode that went where the others of its
// policy never were is predicted badly by every policy, so errors beyond three times the usual
// count as three times the usual.
#pragma once

#include <span>

namespace kindred {

/// What a piece can count, in usual errors.
inline constexpr double kMostUnusual = 3.0;

/// How many nats a piece costs: its squared errors and the noise are [targets].
double piece_cost(std::span<const double> errors, std::span<const double> noise, double steps);
/// The same with a trace of the errors beyond what a piece can count: where it counts the most
/// under every policy, it still is most like one of them.
double piece_cost_to_choose_by(std::span<const double> errors, std::span<const double> noise,
                               double steps);

}  // namespace kindred
