#include "kindred/methods/policy_search/policy_conflicts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "kindred/core/random.h"
#include "kindred/methods/policy_search/over_episodes.h"

namespace kindred::policy_search {
namespace {

constexpr std::size_t kTurns = 4;  // in which steps are asked, unless some have decided everything
constexpr double kErrorsOfSlope = 2.0;  // either side of a slope that is known

/// So many steps of a half at most: as many of every episode, all of a short one.
std::vector<std::int64_t> some_steps(const Trajectories& data, const StepHalves& halves, int which,
                                     std::int64_t most) {
  std::vector<std::vector<std::int64_t>> of_episodes(static_cast<std::size_t>(data.episodes()));
  Random random(0, "conflicts", static_cast<std::uint64_t>(which));
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    auto& steps = of_episodes[static_cast<std::size_t>(i)];
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      if (halves.of_steps()[static_cast<std::size_t>(t)] == which) steps.push_back(t);
    random.shuffle(std::span(steps));
  }
  std::vector<std::int64_t> result;
  for (std::size_t turn = 0;; ++turn) {
    const auto before = std::ssize(result);
    for (const auto& steps : of_episodes)
      if (turn < steps.size() && std::ssize(result) < most) result.push_back(steps[turn]);
    if (std::ssize(result) == before) break;
  }
  std::ranges::sort(result);
  return result;
}

/// The squared distance of two actions, after what is expected of them.
float apart(std::span<const float> a, std::span<const float> b) {
  float sum = 0.0F;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

/// What one step of a group tells of another: how much farther the action in a like state of that
/// group is than in a state of its own.
struct Telling {
  float farther = 0.0F;
  float foretold = 0.0F;    // of that, along the difference of the two policies
  float expected = 0.0F;    // what that would be if they differed as their policies do
  std::int64_t other = -1;  // the like state; -1: there is none
};

/// The sampled steps of a half by the groups that the other half found: those of a group side by
/// side, and of these those of an episode.
class Groups {
 public:
  Groups(const StepSample& sample, std::span<const std::int32_t> labels, std::int64_t k,
         std::int64_t dim, std::int64_t targets)
      : n_(sample.steps.size()),
        dim_(static_cast<std::size_t>(dim)),
        targets_(static_cast<std::size_t>(targets)),
        begin_(static_cast<std::size_t>(k) + 1, 0) {
    const auto label = [&](std::int32_t s) {
      return labels[static_cast<std::size_t>(sample.episodes[static_cast<std::size_t>(s)])];
    };
    std::vector<std::int32_t> order(n_);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, label);  // steps are in the order of episodes
    for (const auto s : order) {
      const auto at = static_cast<std::size_t>(s);
      ++begin_[static_cast<std::size_t>(label(s)) + 1];
      group_.push_back(static_cast<std::size_t>(label(s)));
      step_.push_back(sample.steps[at]);
      episode_.push_back(sample.episodes[at]);
      residuals_.insert(residuals_.end(), sample.residuals.begin() + s * targets,
                        sample.residuals.begin() + (s + 1) * targets);
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    states_.reserve(sample.states.size());
    for (std::size_t j = 0; j < dim_; ++j)
      for (const auto s : order)
        states_.push_back(sample.states[j * n_ + static_cast<std::size_t>(s)]);
  }

  std::size_t size() const { return n_; }
  std::size_t count() const { return begin_.size() - 1; }
  std::size_t group(std::size_t s) const { return group_[s]; }
  std::int32_t episode(std::size_t s) const { return episode_[s]; }
  std::int64_t step(std::size_t s) const { return step_[s]; }

  /// What a step tells of every group but its own: [k]. `expected` are the actions that the groups'
  /// policies expect there, [k, targets], in deviations; `distance` has room for all steps.
  std::vector<Telling> tell_all(std::size_t s, std::span<const float> expected, const Rules& rules,
                                std::span<float> distance) const {
    std::vector<float> state(dim_);
    for (std::size_t j = 0; j < dim_; ++j) state[j] = states_[j * n_ + s];
    distances_from(state, states_, distance);
    for (auto i = s; i < n_ && episode_[i] == episode_[s]; ++i) distance[i] = kNowhere;
    for (auto i = s; i-- > 0 && episode_[i] == episode_[s];) distance[i] = kNowhere;
    const auto own = group_[s];
    const auto own_steps = distance.subspan(begin_[own], begin_[own + 1] - begin_[own]);
    const float farthest = nearest(own_steps) * static_cast<float>(rules.like * rules.like);
    std::vector<Telling> result(count());
    for (std::size_t group = 0; group < count(); ++group) {
      if (group == own) continue;
      const auto steps = distance.subspan(begin_[group], begin_[group + 1] - begin_[group]);
      const float there = nearest(steps);
      if (there == kNowhere || there > farthest) continue;
      const auto here = at_distance(there, own_steps, rules.same_distance);
      if (!here) continue;
      const auto twin = begin_[own] + *here;
      const auto other =
          begin_[group] + static_cast<std::size_t>(std::ranges::find(steps, there) - steps.begin());
      Telling telling;
      telling.other = step_[other];
      telling.farther = apart(residual(s), residual(other)) - apart(residual(s), residual(twin));
      for (std::size_t d = 0; d < targets_; ++d) {
        const float difference = expected[own * targets_ + d] - expected[group * targets_ + d];
        telling.expected += difference * difference;
        telling.foretold += difference * (residual(twin)[d] - residual(other)[d]);
      }
      result[group] = telling;
    }
    return result;
  }

 private:
  std::span<const float> residual(std::size_t s) const {
    return std::span(residuals_).subspan(s * targets_, targets_);
  }

  std::size_t n_, dim_, targets_;
  std::vector<std::size_t> begin_;  // [k + 1]
  std::vector<std::size_t> group_;  // of each step, as all that follows
  std::vector<std::int64_t> step_;
  std::vector<std::int32_t> episode_;
  std::vector<float> residuals_;  // [steps][targets]
  std::vector<float> states_;     // [numbers][steps]
};

/// What the episodes of one group tell of another.
struct Direction {
  using Episodes = std::map<std::int32_t, EpisodeSum>;
  Episodes farther, foretold, expected;
  double met = 0.0, looked_at = 0.0;
  float most = -kNowhere;
  std::array<std::int64_t, 2> example{-1, -1};

  void add(std::int32_t episode, std::int64_t step, const Telling& telling) {
    ++looked_at;
    if (telling.other < 0) return;
    ++met;
    const auto count = [&](Episodes& what, float value) {
      auto& of = what[episode];
      of.sum += static_cast<double>(value);
      ++of.steps;
    };
    count(farther, telling.farther);
    count(foretold, telling.foretold);
    count(expected, telling.expected);
    if (telling.farther <= most) return;
    most = telling.farther;
    example = {step, telling.other};
  }
};

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

void judge_pair(const Direction& there, const Direction& back, const Rules& rules,
                PairVerdict& verdict, Together& together) {
  const double looked_at = there.looked_at + back.looked_at;
  verdict.met = looked_at > 0.0 ? (there.met + back.met) / looked_at : 0.0;
  const auto fewest = std::min(std::ssize(there.farther), std::ssize(back.farther));
  if (fewest < rules.fewest_episodes) return;
  const auto both_ways = [&](Direction::Episodes Direction::*what) {
    return sum_of(over_episodes(there.*what), over_episodes(back.*what));
  };
  const auto farther = both_ways(&Direction::farther), foretold = both_ways(&Direction::foretold),
             expected = both_ways(&Direction::expected);
  together.add(farther);
  verdict.z = farther.z();
  verdict.foretold = foretold.z();
  if (verdict.z >= rules.different ||
      (verdict.z >= rules.differ_little && verdict.foretold >= rules.as_foretold))
    verdict.relation = Relation::kDifferent;
  else if (verdict.z < rules.differ_little &&
           foretold.mean + kErrorsOfSlope * foretold.error < rules.alike * expected.mean)
    verdict.relation = Relation::kSame;
  else
    verdict.relation = Relation::kUndecided;
  verdict.example = there.most >= back.most
                        ? there.example
                        : std::array<std::int64_t, 2>{back.example[1], back.example[0]};
}

PartitionVerdict judge_all(std::span<const Direction> directions, std::size_t k,
                           const Rules& rules) {
  PartitionVerdict result;
  Together together;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = a + 1; b < k; ++b) {
      auto& verdict = result.pairs.emplace_back(PairVerdict{
          .first = static_cast<std::int32_t>(a), .second = static_cast<std::int32_t>(b)});
      judge_pair(directions[a * k + b], directions[b * k + a], rules, verdict, together);
    }
  result.z = together.z();
  return result;
}

/// Whether more steps would change nothing: all differ surely, or some surely are alike.
bool is_decided(std::span<const PairVerdict> pairs, const Rules& rules) {
  return std::ranges::all_of(pairs,
                             [&](const PairVerdict& pair) {
                               return std::min(pair.z, pair.foretold) >= rules.surely_different;
                             }) ||
         std::ranges::any_of(pairs, [](const PairVerdict& pair) {
           return pair.relation == Relation::kSame && pair.z < 0.0;
         });
}

/// Episodes of the smallest group in either half.
std::int64_t fewest_episodes(const HalvedLabels& partition) {
  std::int64_t fewest = std::ssize(partition.labels[0]);
  for (const auto& labels : partition.labels)
    for (std::int32_t group = 0; group < partition.k; ++group)
      fewest = std::min<std::int64_t>(fewest, std::ranges::count(labels, group));
  return fewest;
}

/// Both halves of whole episodes, as many as can be compared.
std::array<std::vector<std::int64_t>, 2> whole_episodes(const Trajectories& data,
                                                        const StepHalves& halves,
                                                        std::int64_t most) {
  const auto episodes = std::clamp<std::int64_t>(
      2 * most * data.episodes() / std::max<std::int64_t>(1, data.steps()), 1, data.episodes());
  std::array<std::vector<std::int64_t>, 2> steps;
  auto chosen = sample_by_id(data.ids, episodes, {});
  std::ranges::sort(chosen);
  for (const auto episode : chosen)
    for (auto t = data.offsets[episode]; t < data.offsets[episode + 1]; ++t) {
      auto& half = steps[halves.of_steps()[static_cast<std::size_t>(t)]];
      if (std::ssize(half) < most) half.push_back(t);
    }
  return steps;
}

}  // namespace

std::vector<std::int32_t> labels_in(const Evidence& half, std::span<const std::int32_t> labels,
                                    std::int64_t k) {
  const auto costs = half.costs_everywhere(labels, k, half.score(labels, k));
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < half.episodes(); ++i) {
    std::vector<double> sums(static_cast<std::size_t>(k), 0.0);
    for (auto p = half.first_piece(i); p < half.first_piece(i + 1); ++p)
      for (std::int64_t j = 0; j < k; ++j) sums[static_cast<std::size_t>(j)] += costs(p, j);
    result.push_back(static_cast<std::int32_t>(std::ranges::min_element(sums) - sums.begin()));
  }
  return result;
}

ConflictTest::ConflictTest(const Trajectories& data, const Trajectories& seen,
                           const CommonPolicy& common, const StepHalves& halves, const Rules& rules,
                           const Workers& workers)
    : seen_(seen),
      rules_(rules),
      workers_(workers),
      dim_(common.map().inputs().count()),
      targets_(ActionTargets(data.actions).count()) {
  const auto most = most_compared(common);
  samples_ =
      look_at(data, common, {some_steps(data, halves, 0, most), some_steps(data, halves, 1, most)},
              workers);
}

PartitionVerdict ConflictTest::judge(const HalvedLabels& partition) const {
  const auto k = static_cast<std::size_t>(partition.k);
  const auto width = static_cast<std::size_t>(targets_);
  std::vector<Groups> halves;
  for (const std::size_t which : {0UL, 1UL})
    halves.emplace_back(samples_.half[which], partition.labels[1 - which], partition.k, dim_,
                        targets_);
  std::vector<Direction> directions(k * k);
  for (std::size_t turn = 0;; ++turn) {
    for (const std::size_t which : {0UL, 1UL}) {
      const auto& groups = halves[which];
      const auto& policies = *partition.policies[1 - which];
      // In turns every so manieth step; what they tell, in an order that depends on no thread.
      const auto asked = groups.size() > turn ? (groups.size() - turn - 1) / kTurns + 1 : 0;
      std::vector<std::vector<Telling>> told(asked);
      workers_.chunks(
          static_cast<std::int64_t>(asked), 64, [&](std::int64_t begin, std::int64_t end) {
            std::vector<float> distance(groups.size()), expected(k * width),
                row(static_cast<std::size_t>(policies.obs_dim()));
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
              const auto s = turn + i * kTurns;
              seen_.observations.copy(groups.step(s), groups.step(s) + 1, row.data());
              const auto targets = policies.expected_targets(row);
              for (std::size_t d = 0; d < targets.size(); ++d)
                expected[d] = static_cast<float>(targets[d] / samples_.deviations[d % width]);
              told[i] = groups.tell_all(s, expected, rules_, distance);
            }
          });
      for (std::size_t i = 0; i < asked; ++i) {
        const auto s = turn + i * kTurns;
        for (std::size_t group = 0; group < k; ++group)
          if (group != groups.group(s))
            directions[groups.group(s) * k + group].add(groups.episode(s), groups.step(s),
                                                        told[i][group]);
      }
    }
    auto verdict = judge_all(directions, k, rules_);
    if (fewest_episodes(partition) < rules_.fewest_episodes) verdict.z = 0.0;
    if (turn + 1 == kTurns || (turn == 0 && is_decided(verdict.pairs, rules_))) return verdict;
  }
}

EpisodeEffect episode_effect(const Trajectories& data, const CommonPolicy& common,
                             const StepHalves& halves, const Rules& rules, const Workers& workers) {
  const auto samples =
      look_at(data, common, whole_episodes(data, halves, most_compared(common)), workers);
  const auto dim = static_cast<std::size_t>(common.map().inputs().count());
  const auto width = samples.deviations.size();
  const auto residual = [width](const StepSample& of, std::size_t s) {
    return std::span(of.residuals).subspan(s * width, width);
  };
  std::map<std::int32_t, EpisodeSum> farther;
  double met = 0.0, looked_at = 0.0, all_apart = 0.0;
  for (const std::size_t which : {0UL, 1UL}) {
    const auto& here = samples.half[which];
    const auto& there = samples.half[1 - which];
    const auto m = here.steps.size(), n = there.steps.size();
    std::vector<std::optional<std::array<float, 2>>> told(m);  // how far the others', the own is
    workers.chunks(static_cast<std::int64_t>(m), 64, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> distance(n), state(dim);
      for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
        for (std::size_t j = 0; j < dim; ++j) state[j] = here.states[j * m + s];
        distances_from(state, there.states, distance);
        const auto own = std::ranges::equal_range(there.episodes, here.episodes[s]);
        const auto first = own.begin() - there.episodes.begin();
        const std::vector<float> own_steps(distance.begin() + first,
                                           distance.begin() + first + std::ssize(own));
        std::fill_n(distance.begin() + first, own.size(), kNowhere);
        const float others = nearest(distance);
        const auto twin = at_distance(others, own_steps, rules.same_distance);
        if (others == kNowhere || !twin) continue;
        const auto other = std::ranges::find(distance, others) - distance.begin();
        told[s] = {
            apart(residual(here, s), residual(there, static_cast<std::size_t>(other))),
            apart(residual(here, s), residual(there, static_cast<std::size_t>(first) + *twin))};
      }
    });
    for (std::size_t s = 0; s < m; ++s) {
      ++looked_at;
      if (!told[s]) continue;
      ++met;
      all_apart += static_cast<double>((*told[s])[0] + (*told[s])[1]) / 2.0;
      auto& of = farther[here.episodes[s]];
      of.sum += static_cast<double>((*told[s])[0] - (*told[s])[1]);
      ++of.steps;
    }
  }
  if (std::ssize(farther) < rules.fewest_episodes || all_apart <= 0.0) return {};
  const auto mean = over_episodes(farther);
  const double unit = all_apart / met;
  return {.known = true,
          .z = mean.z(),
          .share = mean.mean / unit,
          .error = mean.error / unit,
          .met = met / looked_at};
}

}  // namespace kindred::policy_search
