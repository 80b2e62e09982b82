#include "kindred/conflicts/colouring_search.h"

#include <algorithm>
#include <bit>

#include "kindred/core/stopwatch.h"

namespace kindred {
namespace {

constexpr std::int32_t kNobody = -1;

using conflicts::at;

/// A set of numbers below a bound whose least is found quickly: bits, and bits that say which words
/// have any.
class NumberSet {
 public:
  explicit NumberSet(std::int64_t bound)
      : words_(at(bound / 64 + 1), 0), summary_(words_.size() / 64 + 1, 0) {}

  void insert(std::int32_t i) {
    words_[at(i >> 6)] |= std::uint64_t{1} << (i & 63);
    summary_[at(i >> 12)] |= std::uint64_t{1} << ((i >> 6) & 63);
    ++count_;
  }
  void erase(std::int32_t i) {
    words_[at(i >> 6)] &= ~(std::uint64_t{1} << (i & 63));
    if (words_[at(i >> 6)] == 0) summary_[at(i >> 12)] &= ~(std::uint64_t{1} << ((i >> 6) & 63));
    --count_;
  }
  bool empty() const { return count_ == 0; }
  /// Of a set that is not empty.
  std::int32_t least() const {
    std::size_t block = 0;
    while (summary_[block] == 0) ++block;
    const auto word = block * 64 + at(std::countr_zero(summary_[block]));
    return static_cast<std::int32_t>(word * 64 + at(std::countr_zero(words_[word])));
  }

 private:
  std::vector<std::uint64_t> words_, summary_;
  std::int64_t count_ = 0;
};

/// k policies in the making, and how every behaviour stands to each of them. Behaviours that no
/// policy covers yet are `waiting`, by the number of policies they do not fit.
class Policies {
 public:
  Policies(const Behaviours& behaviours, std::int32_t k)
      : all_(behaviours),
        k_(k),
        made_(at(k) * at(behaviours.states()), kNobody),
        agree_(at(behaviours.count()) * at(k), 0),
        disagree_(agree_.size(), 0),
        misfits_(at(behaviours.count()), 0),
        home_(at(behaviours.count()), kNobody),
        waiting_(at(k) + 1, NumberSet(behaviours.count())) {
    for (std::int32_t i = 0; i < all_.count(); ++i) {
      if (all_.of(i).empty())
        home_[at(i)] = 0;  // whatever anybody does
      else
        waiting_[0].insert(i);
    }
  }

  struct Mark {
    std::size_t choices, covered;
  };
  Mark mark() const { return {choices_.size(), covered_.size()}; }

  bool fits(std::int32_t behaviour, std::int32_t policy) const {
    return disagree_[cell(behaviour, policy)] == 0;
  }
  std::int32_t agreement(std::int32_t behaviour, std::int32_t policy) const {
    return agree_[cell(behaviour, policy)];
  }
  std::int32_t misfits(std::int32_t behaviour) const { return misfits_[at(behaviour)]; }
  const std::vector<std::int32_t>& homes() const { return home_; }

  /// The waiting behaviour that fits fewest policies, of these the one with most choices.
  std::int32_t most_constrained() const {
    for (auto misfits = k_; misfits >= 0; --misfits)
      if (!waiting_[at(misfits)].empty()) return waiting_[at(misfits)].least();
    return kNobody;
  }

  /// The policy makes the behaviour's choices its own.
  void give(std::int32_t behaviour, std::int32_t policy) {
    for (const auto choice : all_.of(behaviour)) {
      auto& made = made_[at(policy) * at(all_.states()) + at(all_.state_of[at(choice)])];
      if (made == choice) continue;
      made = choice;
      choices_.push_back({policy, choice});
      tell_visitors<+1>(policy, choice);
    }
  }

  void take_back(const Mark& to) {
    for (; covered_.size() > to.covered; covered_.pop_back()) {
      const auto behaviour = covered_.back();
      home_[at(behaviour)] = kNobody;
      waiting_[at(misfits_[at(behaviour)])].insert(behaviour);
    }
    for (; choices_.size() > to.choices; choices_.pop_back()) {
      const auto [policy, choice] = choices_.back();
      made_[at(policy) * at(all_.states()) + at(all_.state_of[at(choice)])] = kNobody;
      tell_visitors<-1>(policy, choice);
    }
  }

 private:
  struct Made {
    std::int32_t policy, choice;
  };

  std::size_t cell(std::int32_t behaviour, std::int32_t policy) const {
    return at(behaviour) * at(k_) + at(policy);
  }

  /// All who visit the choice's state learn that the policy made it (+1), or makes it no longer.
  template <std::int32_t kSign>
  void tell_visitors(std::int32_t policy, std::int32_t choice) {
    const auto visitors = all_.visitors_of(all_.state_of[at(choice)]);
    const auto takers = all_.takers_of(choice);
    const auto before = takers.data() - visitors.data();
    for (const auto other : visitors.first(at(before))) misfit<kSign>(other, policy);
    for (const auto other : visitors.subspan(at(before) + takers.size()))
      misfit<kSign>(other, policy);
    for (const auto taker : takers) {
      const auto agreed = agree_[cell(taker, policy)] += kSign;
      if (kSign > 0 && home_[at(taker)] == kNobody && agreed == std::ssize(all_.of(taker))) {
        home_[at(taker)] = policy;
        waiting_[at(misfits_[at(taker)])].erase(taker);
        covered_.push_back(taker);
      }
    }
  }

  template <std::int32_t kSign>
  void misfit(std::int32_t behaviour, std::int32_t policy) {
    auto& disagreed = disagree_[cell(behaviour, policy)];
    const bool changes = kSign > 0 ? disagreed == 0 : disagreed == 1;
    disagreed += kSign;
    if (!changes) return;
    auto& misfits = misfits_[at(behaviour)];
    const bool waits = home_[at(behaviour)] == kNobody;
    if (waits) waiting_[at(misfits)].erase(behaviour);
    misfits += kSign;
    if (waits) waiting_[at(misfits)].insert(behaviour);
  }

  const Behaviours& all_;
  std::int32_t k_;
  std::vector<std::int32_t> made_;              // [policies, states]: the choice, or nobody's
  std::vector<std::int32_t> agree_, disagree_;  // [behaviours, policies]: choices
  std::vector<std::int32_t> misfits_;           // [behaviours]: policies it does not fit
  std::vector<std::int32_t> home_;              // [behaviours]: a policy with all its choices
  std::vector<NumberSet> waiting_;              // [misfits]
  std::vector<Made> choices_;                   // in the order they were made
  std::vector<std::int32_t> covered_;           // in the order they found a home
};

class Search {
 public:
  Search(const Behaviours& behaviours, std::int32_t k, const SearchLimits& limits)
      : policies_(behaviours, k), k_(k), limits_(limits) {}

  SearchOutcome run(std::span<const std::int32_t> clique) {
    for (const auto behaviour : clique) policies_.give(behaviour, used_++);
    outcome_.verdict = descend();
    if (outcome_.verdict == Verdict::kFound) outcome_.policy = policies_.homes();
    return std::move(outcome_);
  }

 private:
  /// One behaviour, and the policies that are still to be tried with it, the next one last.
  struct Decision {
    std::int32_t behaviour;
    std::int32_t used;
    Policies::Mark before;
    std::vector<std::int32_t> untried;
  };

  Verdict descend() {
    std::vector<Decision> way;
    while (true) {
      const auto behaviour = policies_.most_constrained();
      if (behaviour == kNobody) return Verdict::kFound;
      way.push_back({behaviour, used_, policies_.mark(), candidates(behaviour)});
      while (way.back().untried.empty()) {
        way.pop_back();
        if (way.empty()) return Verdict::kImpossible;
        used_ = way.back().used;
        policies_.take_back(way.back().before);
      }
      if (exhausted()) return Verdict::kUndecided;
      auto& last = way.back();
      const auto policy = last.untried.back();
      last.untried.pop_back();
      used_ = std::max(used_, policy + 1);
      policies_.give(last.behaviour, policy);
      ++outcome_.nodes;
    }
  }

  /// The policies it fits, the one it agrees with most last; all that are still empty are alike.
  std::vector<std::int32_t> candidates(std::int32_t behaviour) const {
    std::vector<std::int32_t> found;
    for (auto policy = std::min(used_, k_ - 1); policy >= 0; --policy)
      if (policies_.fits(behaviour, policy)) found.push_back(policy);
    std::ranges::stable_sort(
        found, {}, [&](std::int32_t policy) { return policies_.agreement(behaviour, policy); });
    return found;
  }

  bool exhausted() const {
    if (outcome_.nodes >= limits_.nodes) return true;
    if (outcome_.nodes % 256 != 0) return false;
    return clock_.seconds() > limits_.seconds ||
           (limits_.stop_requested && limits_.stop_requested());
  }

  Policies policies_;
  std::int32_t k_;
  const SearchLimits& limits_;
  Stopwatch clock_;
  std::int32_t used_ = 0;
  SearchOutcome outcome_;
};

}  // namespace

SearchOutcome search_colouring(const Behaviours& behaviours, std::int32_t k,
                               std::span<const std::int32_t> clique, const SearchLimits& limits) {
  if (std::ssize(clique) > k) return {.verdict = Verdict::kImpossible, .policy = {}, .nodes = 0};
  return Search(behaviours, k, limits).run(clique);
}

std::vector<bool> forced_behaviours(const Behaviours& behaviours,
                                    std::span<const std::int32_t> clique) {
  const auto k = static_cast<std::int32_t>(clique.size());
  Policies policies(behaviours, k);
  for (std::int32_t i = 0; i < k; ++i) policies.give(clique[at(i)], i);
  while (true) {
    const auto next = policies.most_constrained();
    if (next == kNobody || policies.misfits(next) != k - 1) break;
    std::int32_t only = 0;
    while (!policies.fits(next, only)) ++only;
    policies.give(next, only);
  }
  std::vector<bool> forced(at(behaviours.count()));
  for (std::int32_t i = 0; i < behaviours.count(); ++i)
    forced[at(i)] = policies.misfits(i) == k - 1;
  return forced;
}

std::vector<std::int32_t> best_fit(const Behaviours& behaviours) {
  const auto states = at(behaviours.states());
  std::vector<std::vector<std::int32_t>> made;  // [policies][states]
  std::vector<std::int32_t> policy_of;
  for (std::int32_t i = 0; i < behaviours.count(); ++i) {
    std::int64_t best = -1, most = -1;
    for (std::int64_t policy = 0; policy < std::ssize(made); ++policy) {
      std::int64_t agreed = 0;
      for (const auto choice : behaviours.of(i)) {
        const auto theirs = made[at(policy)][at(behaviours.state_of[at(choice)])];
        if (theirs != kNobody && theirs != choice) {
          agreed = -1;
          break;
        }
        agreed += theirs == choice;
      }
      if (agreed > most) {
        most = agreed;
        best = policy;
      }
    }
    if (best < 0) {
      best = std::ssize(made);
      made.emplace_back(states, kNobody);
    }
    for (const auto choice : behaviours.of(i))
      made[at(best)][at(behaviours.state_of[at(choice)])] = choice;
    policy_of.push_back(static_cast<std::int32_t>(best));
  }
  return policy_of;
}

}  // namespace kindred
