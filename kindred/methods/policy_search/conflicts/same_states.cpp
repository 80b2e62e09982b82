// Conflicts where observations repeat and actions are discrete: only the same state is a like one,
// and what others did there is known as frequencies.
#include <algorithm>
#include <vector>

#include "kindred/methods/policy_search/conflicts/policy_conflicts.h"

namespace kindred::policy_search {
namespace {

/// How often each action was taken in each state, by one group or one episode.
class Frequencies {
 public:
  Frequencies(std::int64_t states, std::int64_t actions)
      : actions_(actions), counts_(static_cast<std::size_t>(states * actions), 0.0) {}

  void add(std::int64_t state, std::int64_t action, double times) {
    counts_[static_cast<std::size_t>(state * actions_ + action)] += times;
  }
  double visits(std::int64_t state) const {
    double sum = 0.0;
    for (std::int64_t a = 0; a < actions_; ++a) sum += count(state, a);
    return sum;
  }
  /// Of an action in a state that was visited.
  double share(std::int64_t state, std::int64_t action) const {
    return count(state, action) / visits(state);
  }
  /// Of one that may not have been: as if `usual` had been there once.
  double chance(std::int64_t state, std::int64_t action, const Frequencies& usual) const {
    return (count(state, action) + usual.share(state, action)) / (visits(state) + 1.0);
  }

 private:
  double count(std::int64_t state, std::int64_t action) const {
    return counts_[static_cast<std::size_t>(state * actions_ + action)];
  }

  std::int64_t actions_;
  std::vector<double> counts_;
};

class SameStates final : public ConflictTest {
 public:
  SameStates(const Trajectories& data, const StepHalves& halves, const Rules& rules)
      : data_(data), halves_(halves), rules_(rules) {}

  PartitionVerdict judge(const HalvedLabels& partition) const override {
    const auto k = static_cast<std::size_t>(partition.k);
    std::vector<Direction> directions(k * k);
    for (const std::size_t which : {0UL, 1UL}) {
      const auto& labels = partition.labels[1 - which];
      const auto policies = of_groups(labels, k, 1 - which);
      const auto example = last_steps(labels, k, which);
      auto here = of_groups(labels, k, which);
      const auto everybody = of_groups(std::vector<std::int32_t>(labels.size(), 0), 1, 1 - which);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto own = static_cast<std::size_t>(labels[i]);
        count(i, which, -1.0, here[own]);
        for_steps(i, which, [&](std::int64_t t, std::int64_t state, std::int64_t action) {
          for (std::size_t other = 0; other < k; ++other) {
            if (other == own) continue;
            Telling telling;
            if (here[own].visits(state) > 0.0 && here[other].visits(state) > 0.0) {
              telling.other = example[other][static_cast<std::size_t>(state)];
              // Squared distances of one action from another are 0 or 2.
              telling.farther = static_cast<float>(
                  2.0 * (here[own].share(state, action) - here[other].share(state, action)));
              foretell(policies[own], policies[other], everybody.front(), state, action, telling);
            }
            const auto episode = static_cast<std::int32_t>(i);
            directions[own * k + other].add(episode, t, is_late(data_, episode, t), telling);
          }
        });
        count(i, which, 1.0, here[own]);
      }
    }
    return judge_directions(directions, partition, rules_);
  }

  EpisodeEffect episode_effect() const override {
    const std::vector<std::int32_t> one(static_cast<std::size_t>(data_.episodes()), 0);
    EpisodeTally tally;
    for (const std::size_t which : {0UL, 1UL}) {
      auto others = of_groups(one, 1, 1 - which).front();
      for (std::size_t i = 0; i < one.size(); ++i) {
        Frequencies own(states(), data_.actions.count());
        count(i, 1 - which, 1.0, own);
        count(i, 1 - which, -1.0, others);
        for_steps(i, which, [&](std::int64_t, std::int64_t state, std::int64_t action) {
          if (own.visits(state) <= 0.0 || others.visits(state) <= 0.0) return tally.add_none();
          tally.add(static_cast<std::int32_t>(i), 2.0 * (1.0 - others.share(state, action)),
                    2.0 * (1.0 - own.share(state, action)));
        });
        count(i, 1 - which, 1.0, others);
      }
    }
    return tally.effect(1.0);
  }

 private:
  std::int64_t states() const { return data_.observations.distinct(); }

  /// The steps of an episode that are in one half.
  void for_steps(std::size_t episode, std::size_t which, const auto& visit) const {
    for (auto t = data_.offsets[static_cast<std::int64_t>(episode)];
         t < data_.offsets[static_cast<std::int64_t>(episode) + 1]; ++t)
      if (halves_.of_steps()[static_cast<std::size_t>(t)] == which)
        visit(t, data_.observations.index()[t], data_.actions.ints()[t]);
  }

  void count(std::size_t episode, std::size_t which, double times, Frequencies& into) const {
    for_steps(episode, which, [&](std::int64_t, std::int64_t state, std::int64_t action) {
      into.add(state, action, times);
    });
  }

  std::vector<Frequencies> of_groups(const std::vector<std::int32_t>& labels, std::size_t k,
                                     std::size_t which) const {
    std::vector<Frequencies> result(k, Frequencies(states(), data_.actions.count()));
    for (std::size_t i = 0; i < labels.size(); ++i)
      count(i, which, 1.0, result[static_cast<std::size_t>(labels[i])]);
    return result;
  }

  /// A step of each group in each state, where there is one: [k][states].
  std::vector<std::vector<std::int64_t>> last_steps(const std::vector<std::int32_t>& labels,
                                                    std::size_t k, std::size_t which) const {
    std::vector<std::vector<std::int64_t>> result(
        k, std::vector<std::int64_t>(static_cast<std::size_t>(states()), -1));
    for (std::size_t i = 0; i < labels.size(); ++i)
      for_steps(i, which, [&](std::int64_t t, std::int64_t state, std::int64_t) {
        result[static_cast<std::size_t>(labels[i])][static_cast<std::size_t>(state)] = t;
      });
    return result;
  }

  /// How the action lies along the difference of two policies, from the middle between them: if
  /// they act as foretold, the two directions together tell that difference.
  void foretell(const Frequencies& own, const Frequencies& other, const Frequencies& everybody,
                std::int64_t state, std::int64_t action, Telling& telling) const {
    if (everybody.visits(state) <= 0.0) return;  // nothing is foretold of this state
    double along = 0.0;
    for (std::int64_t a = 0; a < data_.actions.count(); ++a) {
      const double here = own.chance(state, a, everybody),
                   there = other.chance(state, a, everybody);
      telling.expected += static_cast<float>((here - there) * (here - there));
      along += (here - there) * ((a == action ? 1.0 : 0.0) - (here + there) / 2.0);
    }
    telling.foretold = static_cast<float>(2.0 * along);
  }

  const Trajectories& data_;
  const StepHalves& halves_;
  const Rules& rules_;
};

}  // namespace

std::unique_ptr<ConflictTest> in_same_states(const Trajectories& data, const StepHalves& halves,
                                             const Rules& rules) {
  return std::make_unique<SameStates>(data, halves, rules);
}

}  // namespace kindred::policy_search
