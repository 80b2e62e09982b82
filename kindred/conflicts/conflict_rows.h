// Rows of the conflict graph as bits, made when they are needed, and the exact number of conflicts
// counted with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/conflicts/behaviours.h"
#include "kindred/core/workers.h"

namespace kindred {

/// A set of columns.
using Bits = std::vector<std::uint64_t>;

std::int64_t count_bits(std::span<const std::uint64_t> bits);
/// The first set bit from `from` on, or -1.
std::int64_t next_bit(std::span<const std::uint64_t> bits, std::int64_t from);

/// Behaviour i has `widths[i]` columns, those of its members; without widths one.
class ConflictRows {
 public:
  explicit ConflictRows(const Behaviours& behaviours, std::span<const std::int64_t> widths = {});

  std::int64_t columns() const { return starts_.back(); }
  std::size_t words() const { return words_; }
  /// The columns of all that conflict with a behaviour. `row` has words() of them.
  void make(std::int32_t behaviour, std::span<std::uint64_t> row) const;
  Bits row(std::int32_t behaviour) const;
  /// Whose column it is.
  std::int32_t behaviour_at(std::int64_t column) const;
  /// Roughly how many words make() goes over, for all behaviours.
  double cost() const { return cost_; }

 private:
  template <class Mark>
  void each_opponent(std::int32_t choice, Mark mark) const;

  const Behaviours& behaviours_;
  std::vector<std::int64_t> starts_;  // [behaviours + 1]: first column of each
  std::size_t words_;
  std::vector<std::int64_t> dense_;  // [choices]: where in `bits_` its opponents are, or -1
  Bits bits_;
  double cost_ = 0.0;
};

/// Pairs of trajectories that conflict.
struct ConflictCount {
  double pairs = 0.0;           ///< Whole, unless estimated.
  bool exact = true;            ///< Counted, every one.
  double error = 0.0;           ///< One standard error, where estimated.
  std::vector<double> degrees;  ///< [behaviours]: whom each conflicts with; empty where estimated.
};

/// Words to go over before a count becomes an estimate.
inline constexpr double kMostWords = 5e10;

/// Counts every pair; where that would take minutes it is estimated from some behaviours.
/// `members`: the trajectories of each behaviour.
ConflictCount count_conflicts(const Behaviours& behaviours, std::span<const std::int64_t> members,
                              const Workers& workers, double most_words = kMostWords);

}  // namespace kindred
