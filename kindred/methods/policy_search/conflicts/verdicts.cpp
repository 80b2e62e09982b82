#include "kindred/methods/policy_search/conflicts/verdicts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace kindred::policy_search {
namespace {

constexpr double kErrorsOfSlope = 2.0;  // either side of a slope that is known

/// Standard errors over episodes by which pairs conflict, all together; each counts by its own.
class Together {
 public:
  /// No pair counts more than `most`, so that it cannot speak for others.
  void add(const EpisodeMean& pair, double most) {
    sum_ += std::min(pair.mean / pair.error, most);
    for (const auto& [episode, move] : pair.moves) moves_[episode] += move / pair.error;
  }
  double z() const {
    double squares = 0.0;
    for (const auto& [episode, move] : moves_) squares += move * move;
    return squares > 0.0
               ? as_normal(sum_ / std::sqrt(squares), static_cast<double>(moves_.size()) - 1.0)
               : 0.0;
  }

 private:
  double sum_ = 0.0;
  std::map<std::int32_t, double> moves_;
};

/// What two groups tell of each other.
struct BothWays {
  BothWays(const EpisodesTold& there, const EpisodesTold& back)
      : farther(sum_of(over_episodes(there.farther), over_episodes(back.farther))),
        foretold(sum_of(over_episodes(there.foretold), over_episodes(back.foretold))),
        expected(sum_of(over_episodes(there.expected), over_episodes(back.expected))) {}

  /// Of so many pairs, of which none may be called alike by chance.
  Relation relation(const Rules& rules, std::size_t pairs) const {
    if (rules.conflict(farther.z(), foretold.z())) return Relation::kDifferent;
    const double errors =
        std::sqrt(kErrorsOfSlope * kErrorsOfSlope + 2.0 * std::log(static_cast<double>(pairs)));
    const bool alike = foretold.mean + errors * foretold.error < rules.alike * expected.mean;
    const bool shown = std::max(farther.z(), foretold.z()) >= rules.differ_little;
    return alike && !shown ? Relation::kSame : Relation::kUndecided;
  }

  EpisodeMean farther, foretold, expected;
};

bool enough(const EpisodesTold& there, const EpisodesTold& back) {
  return std::min(std::ssize(there.farther), std::ssize(back.farther)) >= kEpisodesForAnError;
}

/// What is known of the pair, and what that follows from where the two met.
std::optional<BothWays> judge_pair(const Direction& there, const Direction& back,
                                   const Rules& rules, std::size_t pairs, PairVerdict& verdict) {
  const double looked_at = there.looked_at + back.looked_at;
  verdict.met = looked_at > 0.0 ? (there.met + back.met) / looked_at : 0.0;
  if (!enough(there.all, back.all)) return std::nullopt;
  const BothWays all(there.all, back.all);
  verdict.z = all.farther.z();
  verdict.foretold = all.foretold.z();
  verdict.relation = all.relation(rules, pairs);
  verdict.alike_later = verdict.relation == Relation::kDifferent &&
                        enough(there.later, back.later) &&
                        BothWays(there.later, back.later).relation(rules, pairs) == Relation::kSame;
  verdict.example = there.most >= back.most
                        ? there.example
                        : std::array<std::int64_t, 2>{back.example[1], back.example[0]};
  return all;
}

}  // namespace

bool PartitionVerdict::is_decided(const Rules& rules) const {
  return std::ranges::all_of(pairs,
                             [&](const PairVerdict& pair) {
                               return std::min(pair.z, pair.foretold) >= rules.surely_different;
                             }) ||
         std::ranges::any_of(pairs, [](const PairVerdict& pair) {
           return pair.relation == Relation::kSame && pair.z < 0.0;
         });
}

void EpisodesTold::add(std::int32_t episode, const Telling& telling) {
  const auto count = [&](std::map<std::int32_t, EpisodeSum>& what, float value) {
    auto& of = what[episode];
    of.sum += static_cast<double>(value);
    ++of.steps;
  };
  count(farther, telling.farther);
  count(foretold, telling.foretold);
  count(expected, telling.expected);
}

void Direction::add(std::int32_t episode, std::int64_t step, bool is_late, const Telling& telling) {
  ++looked_at;
  if (telling.other < 0) return;
  ++met;
  all.add(episode, telling);
  if (is_late) later.add(episode, telling);
  if (telling.farther <= most) return;
  most = telling.farther;
  example = {step, telling.other};
}

void EpisodeTally::add(std::int32_t episode, double others, double own) {
  ++looked_at_;
  ++met_;
  apart_ += (others + own) / 2.0;
  auto& of = farther_[episode];
  of.sum += others - own;
  ++of.steps;
}

EpisodeEffect EpisodeTally::effect(double unexplained) const {
  if (std::ssize(farther_) < kEpisodesForAnError || apart_ <= 0.0) return {};
  const auto mean = over_episodes(farther_);
  const double unit = apart_ / met_;
  return {.known = true,
          .z = mean.z(),
          .share = mean.mean / unit,
          .error = mean.error / unit,
          .noise = unit / (2.0 * unexplained),  // two actions differ by twice their variance
          .met = met_ / looked_at_};
}

PartitionVerdict judge_directions(std::span<const Direction> directions,
                                  const HalvedLabels& partition, const Rules& rules) {
  const auto k = static_cast<std::size_t>(partition.k);
  PartitionVerdict result;
  std::vector<std::optional<BothWays>> known;  // as the pairs
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = a + 1; b < k; ++b) {
      auto& verdict = result.pairs.emplace_back(PairVerdict{
          .first = static_cast<std::int32_t>(a), .second = static_cast<std::int32_t>(b)});
      known.push_back(judge_pair(directions[a * k + b], directions[b * k + a], rules,
                                 k * (k - 1) / 2, verdict));
    }
  // Every group and the one whose policy is nearest: others would hide one that is no policy.
  std::set<std::size_t> nearest;
  for (std::int32_t j = 0; j < partition.k; ++j) {
    std::optional<std::size_t> least;
    for (std::size_t p = 0; p < known.size(); ++p) {
      const auto& pair = result.pairs[p];
      if (known[p] && (pair.first == j || pair.second == j) &&
          (!least || known[p]->expected.mean < known[*least]->expected.mean))
        least = p;
    }
    if (least) nearest.insert(*least);
  }
  constexpr double kAny = std::numeric_limits<double>::infinity();
  Together farther, foretold;
  for (const auto p : nearest) {
    farther.add(known[p]->farther, nearest.size() > 1 ? rules.different : kAny);
    foretold.add(known[p]->foretold, nearest.size() > 1 ? rules.as_foretold : kAny);
  }
  result.z = farther.z();
  result.foretold = foretold.z();
  return result;
}

}  // namespace kindred::policy_search
