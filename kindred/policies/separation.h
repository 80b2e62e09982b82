// When the clusters of a partition are believed to be policies of their own, whoever made it.
#pragma once

#include <functional>
#include <memory>

#include "kindred/dist/communicator.h"
#include "kindred/policies/feature_map.h"
#include "kindred/policies/partition_search.h"

namespace kindred {

/// Standard errors of a gain that counts.
inline constexpr double kErrors = 2.0;

/// The separation that every two clusters need. Features only approximate a policy, and two
/// approximations of one differ; tables do not.
constexpr double usual_separation(bool tables) { return tables ? 0.01 : 0.08; }

/// How much V falls, per step of the two clusters, when the two closest are taken for one.
/// It counts only where it stands out of the differences between episodes, or where each episode
/// leaves no doubt: of two long episodes of each policy little can be said about others.
/// `data` is what the evidence was made of.
double separation(const Evidence& evidence, const Trajectories& data, const Answer& answer);

/// The separation of the closest two clusters with many more features, on part of their episodes:
/// episodes that went where others of their policy never did are then no longer a policy of their
/// own. 0 where two of the closest are one policy that went two ways. `map` is what the evidence
/// was made with. Collective; the ranks share the work.
double checked_separation(const Trajectories& data, const Evidence& evidence, const FeatureMap& map,
                          const std::shared_ptr<const ActionTargets>& targets,
                          const SearchOptions& options, const Answer& answer,
                          const Workers& workers, Communicator& ranks = *one_process());

/// A stricter test of an answer's separation; empty where there is none.
using SeparationCheck = std::function<double(const Answer&)>;

/// Whether clusters that have the separation they need also predict better than the best answer
/// with fewer, and stand the check. What is left of the separation is noted in the answer.
bool is_believed(Answer& answer, double v_of_fewer, const SeparationCheck& check);

}  // namespace kindred
