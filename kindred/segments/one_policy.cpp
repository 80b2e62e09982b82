#include "kindred/segments/one_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "kindred/segments/named_gain.h"

namespace kindred {
namespace {

constexpr double kClearly = 3.0;  // standard errors by which two policies differ

struct Difference {
  std::vector<double> as_one;  // [steps]
  NamedGain named;
};

class Joining {
 public:
  Joining(const StepEvidence& evidence, const Matrix& nats, std::span<const std::int32_t> labels,
          std::span<const std::int64_t> offsets, double rate)
      : evidence_(evidence),
        nats_(nats),
        labels_(labels.begin(), labels.end()),
        offsets_(offsets),
        switch_cost_(-std::log(rate)),
        root_(static_cast<std::size_t>(nats.columns)) {
    std::iota(root_.begin(), root_.end(), 0);
    for (std::int32_t j = 0; j < nats.columns; ++j) alive_.push_back(j);
  }

  JoinedPolicies known(std::span<const std::int32_t> policy_of) {
    for (std::int32_t j = 0; j < std::ssize(policy_of); ++j) {
      const auto first = static_cast<std::int32_t>(
          std::ranges::find(policy_of, policy_of[static_cast<std::size_t>(j)]) - policy_of.begin());
      if (first == j) continue;
      differences_[{first, j}].as_one = evidence_.as_one(nats_, labels_, first, j);
      join({first, j});
    }
    return result();
  }

  JoinedPolicies run(const JoinRule& rule) {
    while (std::ssize(alive_) > rule.fewest) {
      const bool forced = rule.most > 0 && std::ssize(alive_) > rule.most;
      const auto pair = most_alike(forced);
      if (pair.first < 0) break;
      join(pair);
    }
    return result();
  }

 private:
  using Pair = std::pair<std::int32_t, std::int32_t>;

  /// The two that are one policy most clearly; first those that follow each other, for of the
  /// others little can be seen. (-1, -1) where every two differ.
  Pair most_alike(bool forced) {
    const auto following = count_following();
    for (const bool adjacent : {true, false}) {
      Pair best{-1, -1};
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < alive_.size(); ++i)
        for (std::size_t j = i + 1; j < alive_.size(); ++j) {
          const Pair pair{alive_[i], alive_[j]};
          const auto found = following.find(pair);
          const auto switches = found == following.end() ? 0 : found->second;
          if ((switches > 0) != adjacent) continue;
          const auto& difference = differences_.try_emplace(pair).first->second;
          if (difference.as_one.empty()) measure(pair);
          const auto& named = difference.named;
          const double net = named.sum - static_cast<double>(switches) * switch_cost_;
          if (!forced && !named.is_little && net >= kClearly * named.error) continue;
          if (net >= least) continue;
          least = net;
          best = pair;
        }
      if (best.first >= 0) return best;
    }
    return {-1, -1};
  }

  std::map<Pair, std::int64_t> count_following() const {
    std::map<Pair, std::int64_t> counts;
    for (std::size_t e = 0; e + 1 < offsets_.size(); ++e)
      for (auto t = offsets_[e] + 1; t < offsets_[e + 1]; ++t) {
        const auto before = labels_[static_cast<std::size_t>(t - 1)];
        const auto after = labels_[static_cast<std::size_t>(t)];
        if (before != after) ++counts[std::minmax(before, after)];
      }
    return counts;
  }

  void measure(const Pair& pair) {
    auto& difference = differences_[pair];
    difference.as_one = evidence_.as_one(nats_, labels_, pair.first, pair.second);
    difference.named =
        named_gain(nats_, difference.as_one, labels_, offsets_, pair.first, pair.second);
  }

  void join(const Pair& pair) {
    const auto [kept, gone] = pair;
    const auto& as_one = differences_.at(pair).as_one;
    for (std::int64_t t = 0; t < nats_.rows; ++t)
      nats_(t, kept) = as_one[static_cast<std::size_t>(t)];
    std::ranges::replace(labels_, gone, kept);
    std::ranges::replace(root_, gone, kept);
    std::erase(alive_, gone);
    std::erase_if(differences_, [&](const auto& one) {
      const auto& [a, b] = one.first;
      return a == kept || b == kept || a == gone || b == gone;
    });
  }

  JoinedPolicies result() const {
    JoinedPolicies joined;
    joined.count = std::ssize(alive_);
    for (const auto root : root_)
      joined.policy_of.push_back(
          static_cast<std::int32_t>(std::ranges::find(alive_, root) - alive_.begin()));
    joined.nats = Matrix(nats_.rows, joined.count);
    for (std::int64_t t = 0; t < nats_.rows; ++t)
      for (std::int64_t j = 0; j < joined.count; ++j)
        joined.nats(t, j) = nats_(t, alive_[static_cast<std::size_t>(j)]);
    return joined;
  }

  const StepEvidence& evidence_;
  Matrix nats_;                       // columns of joined policies in the place of the kept one
  std::vector<std::int32_t> labels_;  // [steps]
  std::span<const std::int64_t> offsets_;
  double switch_cost_;
  std::vector<std::int32_t> root_;   // [k]: the one it was joined to
  std::vector<std::int32_t> alive_;  // not joined to another
  std::map<Pair, Difference> differences_;
};

}  // namespace

JoinedPolicies join_alike(const StepEvidence& evidence, const Matrix& nats,
                          std::span<const std::int32_t> labels,
                          std::span<const std::int64_t> offsets, double rate,
                          const JoinRule& rule) {
  return Joining(evidence, nats, labels, offsets, rate).run(rule);
}

JoinedPolicies join_known(const StepEvidence& evidence, const Matrix& nats,
                          std::span<const std::int32_t> labels,
                          std::span<const std::int32_t> policy_of) {
  return Joining(evidence, nats, labels, {}, 0.5).known(policy_of);
}

}  // namespace kindred
