// What trajectories did where it matters: each is a set of choices, a choice being one action in
// one state. Two behaviours conflict when they chose differently in a state. Choices stand for all
// that colouring needs, and take far less room than the edges between trajectories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

namespace conflicts {
/// Numbers of behaviours, choices and episodes are signed; places in a vector are not.
inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace conflicts

struct Behaviours {
  std::vector<std::int64_t> offsets{0};        ///< [behaviours + 1], into `choices`.
  std::vector<std::int32_t> choices;           ///< Ascending within a behaviour; one of a state.
  std::vector<std::int32_t> state_of;          ///< [choices that there are]
  std::vector<std::int32_t> first_choice{0};   ///< [states + 1]: those of a state are neighbours.
  std::vector<std::int64_t> taker_offsets{0};  ///< [choices that there are + 1], into `takers`.
  std::vector<std::int32_t> takers;            ///< Behaviours with each choice, ascending.

  std::int32_t count() const { return static_cast<std::int32_t>(offsets.size() - 1); }
  std::int32_t states() const { return static_cast<std::int32_t>(first_choice.size() - 1); }
  std::span<const std::int32_t> of(std::int32_t behaviour) const;
  std::span<const std::int32_t> takers_of(std::int32_t choice) const;
  /// All behaviours that visit a state, in the order of their choices there.
  std::span<const std::int32_t> visitors_of(std::int32_t state) const;
  bool conflict(std::int32_t a, std::int32_t b) const;
};

/// Sorted choices, as numbers state * actions + action, become behaviours; states in which all do
/// the same are left out, for they tell nothing apart.
Behaviours make_behaviours(std::span<const std::vector<std::int64_t>> maps, std::int64_t actions);

/// Some of the behaviours, in the given order.
Behaviours select_behaviours(const Behaviours& all, std::span<const std::int32_t> chosen);

/// The part of the graph each behaviour belongs to, from 0 in order of appearance: no conflict
/// leads from one part to another. A behaviour without choices is a part of its own.
std::vector<std::int32_t> connected_parts(const Behaviours& all);

}  // namespace kindred
