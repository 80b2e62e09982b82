#include "kindred/policies/pair_costs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "kindred/policies/held_out_score.h"
#include "kindred/policies/step_errors.h"

namespace kindred {
namespace {

constexpr std::int64_t kSharesAtOnce = 2;  // by one thread, with the same buffers
constexpr std::size_t kSides = 2, kBoth = 2;

class HeldOutPair {
 public:
  HeldOutPair(const Trajectories& data, std::span<const std::int32_t> sides, const FeatureMap& map,
              const ActionTargets& targets, double ridge, const Workers& workers)
      : data_(data),
        sides_(sides),
        map_(map),
        targets_(targets),
        layout_{map.count(), targets.count()},
        ridge_(ridge),
        workers_(workers) {
    const auto plan = FoldPlan::for_episodes(data.episodes());
    folds_ = plan.folds;
    fold_of_ = draw_folds(data.ids, plan.folds, plan.draws);
    find_shares();
    add_up();
  }

  /// Fits every policy that is needed, on the first features of the map.
  void fit(const std::vector<std::int64_t>& features) {
    features_ = features;
    policies_.resize(fold_of_.size() * static_cast<std::size_t>(folds_));
    workers_.chunks(std::ssize(policies_), 1, [&](std::int64_t n, std::int64_t) {
      const auto draw = static_cast<std::size_t>(n / folds_);
      const auto fold = static_cast<std::int32_t>(n % folds_);
      std::vector<double> others[] = {wholes_[0], wholes_[1]};
      bool has[] = {false, false, false};
      for (const auto& share : shares_) {
        if (share.folds[draw] != fold) continue;
        has[share.side] = has[kBoth] = true;
        subtract(share.sums, others[share.side]);
      }
      auto& policies = policies_[static_cast<std::size_t>(n)];
      for (std::size_t side = 0; side < kSides; ++side)
        if (has[side]) policies.of[side] = solve(others[side]);
      if (!has[kBoth]) return;
      for (std::size_t p = 0; p < others[0].size(); ++p) others[0][p] += others[1][p];
      policies.of[kBoth] = solve(others[0]);
    });
  }

  /// What an episode costs as one of its own side and as one of both, but for its label; for each
  /// number of features.
  std::vector<PairCosts> costs(std::int64_t episode, std::span<const double> noise) const {
    const auto side = static_cast<std::size_t>(sides_[static_cast<std::size_t>(episode)]);
    const auto targets = noise.size(), draws = fold_of_.size();
    std::vector<std::vector<double>> side_by_side(features_.size());
    std::vector<StepErrors::Policies> sets;
    for (std::size_t f = 0; f < features_.size(); ++f) {
      std::vector<const double*> policies;
      for (std::size_t draw = 0; draw < draws; ++draw)
        for (const auto of : {side, kBoth})
          policies.push_back(policies_of(draw, episode).of[of][f].data());
      for (std::int64_t m = 0; m < features_[f]; ++m)
        for (const double* policy : policies)
          side_by_side[f].insert(side_by_side[f].end(), policy + m * layout_.targets,
                                 policy + (m + 1) * layout_.targets);
      sets.push_back({features_[f], side_by_side[f]});
    }
    StepErrors missed(map_, targets_, sets);
    std::vector<PairCosts> result(features_.size());
    for (const auto& [first, last] :
         pieces_of(data_.offsets[episode], data_.offsets[episode + 1])) {
      const auto& errors = missed.of(data_, first, last);
      for (std::size_t f = 0; f < features_.size(); ++f) {
        std::vector<double> mean(2 * targets, 0.0);  // over the draws, of its side and of both
        for (std::size_t i = 0; i < errors[f].size(); ++i)
          mean[i % mean.size()] += errors[f][i] / static_cast<double>(draws);
        const auto cost = [&](std::size_t from) {
          return piece_cost(std::span(mean).subspan(from, targets), noise,
                            static_cast<double>(last - first));
        };
        result[f].as_two += cost(0);
        result[f].as_one += cost(targets);
      }
    }
    return result;
  }

 private:
  /// Episodes of one side that are in the same fold in every draw.
  struct Share {
    std::size_t side;
    std::vector<std::int32_t> folds;  // [draws]
    std::vector<std::int64_t> episodes;
    std::span<double> sums;
  };
  struct Policies {
    /// Of either side and of both, fitted without a fold, for each number of features: none where
    /// the fold has no episode of them.
    std::vector<std::vector<double>> of[kSides + 1];
  };

  void find_shares() {
    std::map<std::pair<std::int32_t, std::vector<std::int32_t>>, std::vector<std::int64_t>> found;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      std::vector<std::int32_t> folds;
      for (const auto& draw : fold_of_) folds.push_back(draw[i]);
      found[{sides_[i], std::move(folds)}].push_back(static_cast<std::int64_t>(i));
    }
    const auto size = static_cast<std::size_t>(layout_.size());
    sums_ = make_large_array(found.size() * size);
    for (auto& [where, episodes] : found)
      shares_.push_back({static_cast<std::size_t>(where.first),
                         where.second,
                         std::move(episodes),
                         {sums_.get() + shares_.size() * size, size}});
  }

  void add_up() {
    workers_.chunks(std::ssize(shares_), kSharesAtOnce, [&](std::int64_t begin, std::int64_t end) {
      StepSums steps(data_, map_, targets_, ProductsAs::kFloats);
      for (auto n = begin; n < end; ++n) {
        const auto& share = shares_[static_cast<std::size_t>(n)];
        std::ranges::fill(share.sums, 0.0);
        for (const auto i : share.episodes) {
          workers_.throw_if_stopped();
          steps.add(data_.offsets[i], data_.offsets[i + 1], share.sums.data());
        }
      }
    });
    for (auto& whole : wholes_) whole.assign(static_cast<std::size_t>(layout_.size()), 0.0);
    for (const auto& share : shares_)
      for (std::size_t p = 0; p < share.sums.size(); ++p) wholes_[share.side][p] += share.sums[p];
  }

  static void subtract(std::span<const double> from, std::vector<double>& sums) {
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] -= from[p];
  }

  /// With each number of features: sums of the first few begin with those of all.
  std::vector<std::vector<double>> solve(std::span<const double> sums) const {
    std::vector<std::vector<double>> policies;
    for (const auto features : features_) {
      const StatisticsLayout few{features, layout_.targets};
      std::vector<double> own(static_cast<std::size_t>(few.size()));
      copy_sums_of_first(layout_, sums.data(), few, own.data());
      policies.push_back(solve_policy(few, own, ridge_));
    }
    return policies;
  }

  const Policies& policies_of(std::size_t draw, std::int64_t episode) const {
    const auto fold = fold_of_[draw][static_cast<std::size_t>(episode)];
    return policies_[draw * static_cast<std::size_t>(folds_) + static_cast<std::size_t>(fold)];
  }

  const Trajectories& data_;
  std::span<const std::int32_t> sides_;
  const FeatureMap& map_;
  const ActionTargets& targets_;
  StatisticsLayout layout_;
  double ridge_;
  const Workers& workers_;
  std::int64_t folds_ = 0;
  std::vector<std::vector<std::int32_t>> fold_of_;  // [draws][episodes]
  LargeArray sums_;                                 // [shares, size]
  std::vector<Share> shares_;
  std::vector<double> wholes_[kSides];  // [size]
  std::vector<std::int64_t> features_;
  std::vector<Policies> policies_;  // [draws, folds]
};

}  // namespace

PairCosts pair_costs(const Trajectories& data, std::span<const std::int32_t> sides,
                     const FeatureMap& map, std::span<const std::int64_t> cosines,
                     const ActionTargets& targets, double ridge, std::span<const double> noise,
                     const Workers& workers) {
  const auto all = map.with_cosines(std::ranges::max(cosines));
  std::vector<std::int64_t> features;
  for (const auto some : cosines) features.push_back(all.count() - all.cosines() + some);
  HeldOutPair pair(data, sides, all, targets, ridge, workers);
  pair.fit(features);
  std::vector<std::vector<PairCosts>> of_episode(sides.size());
  workers.chunks(data.episodes(), 1, [&](std::int64_t i, std::int64_t) {
    of_episode[static_cast<std::size_t>(i)] = pair.costs(i, noise);
  });
  const auto labels = naming_costs(sides);
  const double naming = std::accumulate(labels.begin(), labels.end(), 0.0);
  const auto steps = static_cast<double>(data.steps());
  PairCosts least{.as_two = std::numeric_limits<double>::infinity(),
                  .as_one = std::numeric_limits<double>::infinity()};
  for (std::size_t f = 0; f < features.size(); ++f) {
    PairCosts sum{.as_two = naming};
    for (const auto& costs : of_episode) {
      sum.as_two += costs[f].as_two;
      sum.as_one += costs[f].as_one;
    }
    least.as_two = std::min(least.as_two, sum.as_two / steps);
    least.as_one = std::min(least.as_one, sum.as_one / steps);
  }
  return least;
}

}  // namespace kindred
