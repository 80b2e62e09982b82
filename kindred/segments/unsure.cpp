#include "kindred/segments/unsure.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace kindred {
namespace {

constexpr double kSure = 0.9;
constexpr double kPossible = 0.01;

/// Policies of a row, the likeliest first.
std::vector<std::int32_t> by_chance(std::span<const double> chances) {
  std::vector<std::int32_t> order(chances.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](auto j) { return chances[static_cast<std::size_t>(j)]; });
  return order;
}

/// Grows from the row of [begin, end) at which the policy is likeliest, within the episode.
void find_reach(const Matrix& posteriors, std::int64_t begin, std::int64_t end,
                std::int64_t episode_begin, std::int64_t episode_end, Candidate& candidate) {
  const auto may_act = [&](std::int64_t t) { return posteriors(t, candidate.policy) >= kPossible; };
  auto likeliest = begin;
  for (auto t = begin; t < end; ++t)
    if (posteriors(t, candidate.policy) > posteriors(likeliest, candidate.policy)) likeliest = t;
  auto first = likeliest, after = likeliest + 1;
  while (first > episode_begin && may_act(first - 1)) --first;
  while (after < episode_end && may_act(after)) ++after;
  candidate.first = first - episode_begin;
  candidate.end = after - episode_begin;
}

/// Of the rows [begin, end): those that it takes at any of them to be sure that one of them acts.
std::vector<Candidate> candidates_of(const Matrix& posteriors, std::int64_t begin,
                                     std::int64_t end) {
  std::vector<double> mean(static_cast<std::size_t>(posteriors.columns), 0.0);
  std::vector<bool> may_act(mean.size(), false);
  for (auto t = begin; t < end; ++t) {
    const auto row = posteriors.row(t);
    for (std::size_t j = 0; j < mean.size(); ++j)
      mean[j] += row[j] / static_cast<double>(end - begin);
    double together = 0.0;
    for (const auto j : by_chance(row)) {
      if (together >= kSure) break;
      may_act[static_cast<std::size_t>(j)] = true;
      together += row[static_cast<std::size_t>(j)];
    }
  }
  std::vector<Candidate> candidates;
  for (const auto j : by_chance(mean))
    if (may_act[static_cast<std::size_t>(j)])
      candidates.push_back({.policy = j, .chance = mean[static_cast<std::size_t>(j)]});
  return candidates;
}

}  // namespace

std::vector<UnsureStretch> unsure_stretches(const Matrix& posteriors,
                                            std::span<const std::int32_t> actors,
                                            std::span<const std::int64_t> offsets) {
  const auto is_sure = [&](std::int64_t t) {
    return posteriors(t, actors[static_cast<std::size_t>(t)]) >= kSure;
  };
  std::vector<UnsureStretch> stretches;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e)
    for (auto t = offsets[e]; t < offsets[e + 1]; ++t) {
      if (is_sure(t)) continue;
      const auto begin = t;
      while (t < offsets[e + 1] && !is_sure(t)) ++t;
      stretches.push_back({.episode = static_cast<std::int64_t>(e),
                           .begin = begin - offsets[e],
                           .end = t - offsets[e],
                           .candidates = candidates_of(posteriors, begin, t)});
      for (auto& one : stretches.back().candidates)
        find_reach(posteriors, begin, t, offsets[e], offsets[e + 1], one);
    }
  return stretches;
}

}  // namespace kindred
