#include "kindred/methods/policy_search/conflicts/verdicts.h"

#include <algorithm>
#include <cmath>

namespace kindred::policy_search {
namespace {

constexpr double kErrorsOfSlope = 2.0;  // either side of a slope that is known

/// Standard errors over episodes by which pairs conflict, all together; each counts by its own.
class Together {
 public:
  void add(const EpisodeMean& pair) {
    sum_ += pair.mean / pair.error;
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

  Relation relation(const Rules& rules) const {
    if (farther.z() >= rules.different ||
        (farther.z() >= rules.differ_little && foretold.z() >= rules.as_foretold))
      return Relation::kDifferent;
    const bool alike =
        foretold.mean + kErrorsOfSlope * foretold.error < rules.alike * expected.mean;
    return alike && farther.z() < rules.differ_little ? Relation::kSame : Relation::kUndecided;
  }

  EpisodeMean farther, foretold, expected;
};

bool enough(const EpisodesTold& there, const EpisodesTold& back, const Rules& rules) {
  return std::min(std::ssize(there.farther), std::ssize(back.farther)) >= rules.fewest_episodes;
}

void judge_pair(const Direction& there, const Direction& back, const Rules& rules,
                PairVerdict& verdict, Together& together) {
  const double looked_at = there.looked_at + back.looked_at;
  verdict.met = looked_at > 0.0 ? (there.met + back.met) / looked_at : 0.0;
  if (!enough(there.all, back.all, rules)) return;
  const BothWays all(there.all, back.all);
  together.add(all.farther);
  verdict.z = all.farther.z();
  verdict.foretold = all.foretold.z();
  verdict.relation = all.relation(rules);
  verdict.alike_later = verdict.relation == Relation::kDifferent &&
                        enough(there.later, back.later, rules) &&
                        BothWays(there.later, back.later).relation(rules) == Relation::kSame;
  verdict.example = there.most >= back.most
                        ? there.example
                        : std::array<std::int64_t, 2>{back.example[1], back.example[0]};
}

}  // namespace

std::int64_t HalvedLabels::fewest_episodes() const {
  std::int64_t fewest = std::ssize(labels[0]);
  for (const auto& of_half : labels)
    for (std::int32_t group = 0; group < k; ++group)
      fewest = std::min<std::int64_t>(fewest, std::ranges::count(of_half, group));
  return fewest;
}

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

EpisodeEffect EpisodeTally::effect(const Rules& rules, double unexplained) const {
  if (std::ssize(farther_) < rules.fewest_episodes || apart_ <= 0.0) return {};
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
  Together together;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = a + 1; b < k; ++b) {
      auto& verdict = result.pairs.emplace_back(PairVerdict{
          .first = static_cast<std::int32_t>(a), .second = static_cast<std::int32_t>(b)});
      judge_pair(directions[a * k + b], directions[b * k + a], rules, verdict, together);
    }
  if (partition.fewest_episodes() >= rules.fewest_episodes) result.z = together.z();
  return result;
}

}  // namespace kindred::policy_search
