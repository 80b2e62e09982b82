// The conflict graph of discrete data (the paper's Appendix A): two trajectories conflict when they
// take different actions in one same state, so that no deterministic policy made both.
//
// Trajectories that did the same wherever anybody differs are one *behaviour*; the graph is kept as
// the choices of behaviours, never as a list of edges. A trajectory that takes two actions in one
// state contradicts itself: no deterministic policy of what was observed made it, and it is in no
// behaviour.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kindred/conflicts/behaviours.h"
#include "kindred/core/workers.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Two steps in one same state with different actions, of two trajectories or of one.
struct Disagreement {
  std::int64_t episode = 0, other = 0;
  std::int64_t step = 0, other_step = 0;  ///< From 0 in their episodes.
  std::int32_t state = 0;                 ///< The number of the distinct observation.
  std::int32_t action = 0, other_action = 0;
};

inline constexpr std::int32_t kContradicts = -1;

struct ConflictGraph {
  std::int64_t states = 0;                ///< Distinct observations in the data.
  std::int64_t shared_states = 0;         ///< Those that two trajectories or more visit.
  std::vector<std::int32_t> behaviour;    ///< [episodes], or kContradicts.
  Behaviours behaviours;                  ///< Those with most choices first.
  std::vector<std::int64_t> members;      ///< [behaviours]: how many trajectories did so.
  std::vector<Disagreement> contradicts;  ///< One of each trajectory that contradicts itself.

  std::int64_t episodes() const { return std::ssize(behaviour); }
  /// Trajectories that no other conflicts with.
  std::int64_t untouched() const;
};

/// Throws InvalidArgument when actions are not discrete.
ConflictGraph conflict_graph(const Trajectories& data, const Workers& workers = {});

/// Why two trajectories cannot be of one deterministic policy; nothing when they can. Where both
/// are one, why it contradicts itself. `states` are those of number_states.
std::optional<Disagreement> find_disagreement(const Trajectories& data,
                                              std::span<const std::int32_t> states,
                                              std::int64_t episode, std::int64_t other);
/// Throws InvalidArgument when actions are not discrete.
std::optional<Disagreement> find_disagreement(const Trajectories& data, std::int64_t episode,
                                              std::int64_t other);

}  // namespace kindred
