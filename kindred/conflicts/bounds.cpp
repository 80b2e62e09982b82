#include "kindred/conflicts/bounds.h"

#include <algorithm>
#include <bit>

#include "kindred/conflicts/conflict_rows.h"

namespace kindred {
namespace {

constexpr std::int32_t kStarts = 64;      // for a clique
constexpr std::int32_t kCandidates = 32;  // to go on with, of which the best is taken
constexpr std::int32_t kMostRows = 512;   // behaviours: the search is cubic

using conflicts::at;

void keep_common(Bits& bits, const Bits& others) {
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] &= others[i];
}

/// Goes on from one behaviour with whoever leaves most to go on with.
std::vector<std::int32_t> clique_from(const ConflictRows& rows, std::int32_t start) {
  std::vector<std::int32_t> clique{start};
  Bits left = rows.row(start);
  while (true) {
    std::int32_t best = -1;
    std::int64_t most = -1;
    Bits best_left;
    std::int32_t tried = 0;
    for (auto i = next_bit(left, 0); i >= 0 && tried < kCandidates; i = next_bit(left, i + 1)) {
      ++tried;
      auto next = rows.row(static_cast<std::int32_t>(i));
      keep_common(next, left);
      if (const auto count = count_bits(next); count > most) {
        most = count;
        best = static_cast<std::int32_t>(i);
        best_left = std::move(next);
      }
    }
    if (best < 0) return clique;
    clique.push_back(best);
    left = std::move(best_left);
  }
}

bool is_within(const Bits& bits, const Bits& others, const Bits& where) {
  for (std::size_t i = 0; i < bits.size(); ++i)
    if ((bits[i] & where[i] & ~others[i]) != 0) return false;
  return true;
}

void erase(Bits& bits, std::int64_t i) { bits[at(i / 64)] &= ~(std::uint64_t{1} << (i % 64)); }

/// Of `whole` those that have a deputy among the neighbours of `top`: somebody who is joined to all
/// their neighbours that are left. They do without one of the colours of the whole: whoever has
/// that of `top` can take their deputy's instead.
Bits deputised(const std::vector<Bits>& rows, const Bits& whole, std::int64_t top) {
  Bits left = whole, deputies = rows[at(top)];
  keep_common(deputies, whole);
  erase(left, top);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] &= ~deputies[i];
  for (bool changed = true; changed;) {
    changed = false;
    for (auto v = next_bit(left, 0); v >= 0; v = next_bit(left, v + 1)) {
      auto deputy = next_bit(deputies, 0);
      while (deputy >= 0 && !is_within(rows[at(v)], rows[at(deputy)], left))
        deputy = next_bit(deputies, deputy + 1);
      if (deputy >= 0) continue;
      erase(left, v);
      changed = true;
    }
  }
  return left;
}

/// Twice the number of edges among them.
std::int64_t edge_ends(const std::vector<Bits>& rows, const Bits& some) {
  std::int64_t ends = 0;
  for (auto v = next_bit(some, 0); v >= 0; v = next_bit(some, v + 1))
    for (std::size_t i = 0; i < some.size(); ++i) ends += std::popcount(rows[at(v)][i] & some[i]);
  return ends;
}

}  // namespace

std::vector<std::int32_t> large_clique(const Behaviours& behaviours) {
  const ConflictRows rows(behaviours);
  std::vector<std::int32_t> best;
  const auto starts = std::min(behaviours.count(), kStarts);
  for (std::int32_t i = 0; i < starts; ++i) {
    // Half of them where there is most to conflict with, half spread over all.
    const auto start =
        i % 2 == 0 ? i / 2
                   : static_cast<std::int32_t>(std::int64_t{i} * behaviours.count() / starts);
    if (auto found = clique_from(rows, start); found.size() > best.size()) best = std::move(found);
  }
  return best;
}

std::int32_t mycielski_bound(const Behaviours& behaviours) {
  if (behaviours.count() > kMostRows) return 0;
  const ConflictRows maker(behaviours);
  std::vector<Bits> rows;
  for (std::int32_t i = 0; i < behaviours.count(); ++i) rows.push_back(maker.row(i));
  Bits whole(maker.words(), 0);
  for (std::int64_t i = 0; i < std::ssize(rows); ++i)
    whole[at(i / 64)] |= std::uint64_t{1} << (i % 64);
  // As long as two are joined, two colours are needed, and one more for each time round.
  std::int32_t bound = edge_ends(rows, whole) > 0 ? 2 : 0;
  while (bound > 0) {
    Bits largest;
    std::int64_t most = 0;
    for (auto top = next_bit(whole, 0); top >= 0; top = next_bit(whole, top + 1)) {
      auto left = deputised(rows, whole, top);
      if (const auto ends = edge_ends(rows, left); ends > most) {
        most = ends;
        largest = std::move(left);
      }
    }
    if (most == 0) break;
    whole = std::move(largest);
    ++bound;
  }
  return bound;
}

}  // namespace kindred
