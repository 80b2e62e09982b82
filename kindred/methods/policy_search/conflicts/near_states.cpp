#include <algorithm>
#include <map>
#include <numeric>

#include "kindred/core/random.h"
#include "kindred/methods/policy_search/conflicts/like_states.h"
#include "kindred/methods/policy_search/conflicts/policy_conflicts.h"
#include "kindred/methods/policy_search/evidence/evidence.h"

namespace kindred::policy_search {
namespace {

constexpr std::size_t kTurns = 4;  // in which steps are asked, unless some have decided everything

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
    const float near_own = nearest(own_steps);
    const float farthest = near_own * static_cast<float>(rules.like * rules.like);
    std::vector<Telling> result(count());
    for (std::size_t group = 0; group < count(); ++group) {
      if (group == own) continue;
      const auto steps = distance.subspan(begin_[group], begin_[group + 1] - begin_[group]);
      const float near_other = nearest(steps);
      if (near_other == kNowhere || near_other > farthest) continue;
      // Neither may be nearer than the other's nearest can be.
      const float about = std::max(near_own, near_other);
      const auto here = at_distance(about, own_steps, rules.same_distance);
      const auto there = at_distance(about, steps, rules.same_distance);
      if (!here || !there) continue;
      const auto twin = begin_[own] + *here, other = begin_[group] + *there;
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

class NearStates final : public ConflictTest {
 public:
  NearStates(Background background, const Trajectories& seen, const StepHalves& halves,
             const Rules& rules, const Workers& workers)
      : background_(std::move(background)),
        data_(background_.states),
        seen_(seen),
        halves_(halves),
        rules_(rules),
        workers_(workers),
        dim_(background_.metric.inputs().count()),
        targets_(ActionTargets(data_.actions).count()) {
    const auto most = most_compared(dim_);
    samples_ =
        look_at(background_,
                {some_steps(data_, halves, 0, most), some_steps(data_, halves, 1, most)}, workers);
  }

  PartitionVerdict judge(const HalvedLabels& partition) const override;
  EpisodeEffect episode_effect() const override;

 private:
  Background background_;
  const Trajectories& data_;
  const Trajectories& seen_;
  const StepHalves& halves_;
  const Rules& rules_;
  const Workers& workers_;
  std::int64_t dim_, targets_;
  SampledHalves samples_;
};

PartitionVerdict NearStates::judge(const HalvedLabels& partition) const {
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
            directions[groups.group(s) * k + group].add(
                groups.episode(s), groups.step(s),
                is_late(data_, groups.episode(s), groups.step(s)), told[i][group]);
      }
    }
    auto verdict = judge_directions(directions, partition, rules_);
    if (turn + 1 == kTurns || (turn == 0 && verdict.is_decided(rules_))) return verdict;
  }
}

EpisodeEffect NearStates::episode_effect() const {
  const auto samples =
      look_at(background_, whole_episodes(data_, halves_, most_compared(dim_)), workers_);
  const auto dim = static_cast<std::size_t>(dim_);
  const auto width = samples.deviations.size();
  const auto residual = [width](const StepSample& of, std::size_t s) {
    return std::span(of.residuals).subspan(s * width, width);
  };
  EpisodeTally tally;
  for (const std::size_t which : {0UL, 1UL}) {
    const auto& here = samples.half[which];
    const auto& there = samples.half[1 - which];
    const auto m = here.steps.size(), n = there.steps.size();
    std::vector<std::optional<std::array<float, 2>>> told(m);  // how far the others', the own is
    workers_.chunks(static_cast<std::int64_t>(m), 64, [&](std::int64_t begin, std::int64_t end) {
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
        const auto twin = at_distance(others, own_steps, rules_.same_distance);
        if (others == kNowhere || !twin) continue;
        const auto other = std::ranges::find(distance, others) - distance.begin();
        told[s] = {
            apart(residual(here, s), residual(there, static_cast<std::size_t>(other))),
            apart(residual(here, s), residual(there, static_cast<std::size_t>(first) + *twin))};
      }
    });
    for (std::size_t s = 0; s < m; ++s) {
      if (told[s])
        tally.add(here.episodes[s], static_cast<double>((*told[s])[0]),
                  static_cast<double>((*told[s])[1]));
      else
        tally.add_none();
    }
  }
  return tally.effect(static_cast<double>(width));  // residuals have variance 1
}

}  // namespace

std::unique_ptr<ConflictTest> in_near_states(Background background, const Trajectories& seen,
                                             const StepHalves& halves, const Rules& rules,
                                             const Workers& workers) {
  return std::make_unique<NearStates>(std::move(background), seen, halves, rules, workers);
}

}  // namespace kindred::policy_search
