#include "kindred/conflicts/behaviours.h"

#include <algorithm>
#include <numeric>

namespace kindred {
namespace {

using conflicts::at;

/// Who takes each choice, once everything else is known.
void fill_takers(Behaviours& made) {
  made.taker_offsets.assign(made.state_of.size() + 1, 0);
  for (const auto choice : made.choices) ++made.taker_offsets[at(choice) + 1];
  std::partial_sum(made.taker_offsets.begin(), made.taker_offsets.end(),
                   made.taker_offsets.begin());
  made.takers.resize(made.choices.size());
  auto next = made.taker_offsets;
  for (std::int32_t i = 0; i < made.count(); ++i)
    for (const auto choice : made.of(i)) made.takers[at(next[at(choice)]++)] = i;
}

}  // namespace

std::span<const std::int32_t> Behaviours::of(std::int32_t behaviour) const {
  const auto begin = offsets[at(behaviour)], end = offsets[at(behaviour) + 1];
  return std::span(choices).subspan(at(begin), at(end - begin));
}

std::span<const std::int32_t> Behaviours::takers_of(std::int32_t choice) const {
  const auto begin = taker_offsets[at(choice)], end = taker_offsets[at(choice) + 1];
  return std::span(takers).subspan(at(begin), at(end - begin));
}

std::span<const std::int32_t> Behaviours::visitors_of(std::int32_t state) const {
  const auto begin = taker_offsets[at(first_choice[at(state)])];
  const auto end = taker_offsets[at(first_choice[at(state) + 1])];
  return std::span(takers).subspan(at(begin), at(end - begin));
}

bool Behaviours::conflict(std::int32_t a, std::int32_t b) const {
  const auto left = of(a), right = of(b);
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const auto state = state_of[at(left[i])], other = state_of[at(right[j])];
    if (state == other && left[i] != right[j]) return true;
    i += state <= other;
    j += other <= state;
  }
  return false;
}

Behaviours make_behaviours(std::span<const std::vector<std::int64_t>> maps, std::int64_t actions) {
  std::vector<std::int64_t> seen;
  for (const auto& map : maps) seen.insert(seen.end(), map.begin(), map.end());
  std::ranges::sort(seen);
  const auto repeated = std::ranges::unique(seen);
  seen.erase(repeated.begin(), repeated.end());

  Behaviours made;
  std::vector<std::int64_t> kept;  // the choices of contested states, in order
  for (std::size_t begin = 0, end = 0; begin < seen.size(); begin = end) {
    const auto state = seen[begin] / actions;
    while (end < seen.size() && seen[end] / actions == state) ++end;
    if (end - begin < 2) continue;
    kept.insert(kept.end(), seen.begin() + static_cast<std::ptrdiff_t>(begin),
                seen.begin() + static_cast<std::ptrdiff_t>(end));
    made.state_of.resize(kept.size(), made.states());
    made.first_choice.push_back(static_cast<std::int32_t>(kept.size()));
  }
  for (const auto& map : maps) {
    for (const auto choice : map)
      if (const auto found = std::ranges::lower_bound(kept, choice);
          found != kept.end() && *found == choice)
        made.choices.push_back(static_cast<std::int32_t>(found - kept.begin()));
    made.offsets.push_back(std::ssize(made.choices));
  }
  fill_takers(made);
  return made;
}

Behaviours select_behaviours(const Behaviours& all, std::span<const std::int32_t> chosen) {
  Behaviours made;
  std::vector<std::int32_t> seen;
  for (const auto i : chosen) seen.insert(seen.end(), all.of(i).begin(), all.of(i).end());
  std::ranges::sort(seen);
  const auto repeated = std::ranges::unique(seen);
  seen.erase(repeated.begin(), repeated.end());
  std::int32_t last = -1;
  for (const auto choice : seen) {
    if (const auto state = all.state_of[at(choice)]; state != last) {
      made.first_choice.push_back(made.first_choice.back());
      last = state;
    }
    made.state_of.push_back(made.states() - 1);
    ++made.first_choice.back();
  }
  for (const auto i : chosen) {
    for (const auto choice : all.of(i))
      made.choices.push_back(
          static_cast<std::int32_t>(std::ranges::lower_bound(seen, choice) - seen.begin()));
    made.offsets.push_back(std::ssize(made.choices));
  }
  fill_takers(made);
  return made;
}

std::vector<std::int32_t> connected_parts(const Behaviours& all) {
  std::vector<std::int32_t> parent(at(all.count()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  // In a contested state everybody has somebody against them, so its visitors are one part.
  for (std::int32_t state = 0; state < all.states(); ++state) {
    const auto visitors = all.visitors_of(state);
    if (all.first_choice[at(state) + 1] - all.first_choice[at(state)] < 2) continue;
    for (const auto other : visitors) parent[at(root(other))] = root(visitors.front());
  }
  std::vector<std::int32_t> number(parent.size(), -1), parts(parent.size());
  std::int32_t count = 0;
  for (std::int32_t i = 0; i < all.count(); ++i) {
    auto& mine = number[at(root(i))];
    if (mine < 0) mine = count++;
    parts[at(i)] = mine;
  }
  return parts;
}

}  // namespace kindred
