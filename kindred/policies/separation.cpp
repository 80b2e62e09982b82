#include "kindred/policies/separation.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "kindred/data/select.h"
#include "kindred/dist/spread.h"
#include "kindred/policies/feature_steps.h"
#include "kindred/policies/named_gain.h"
#include "kindred/policies/pair_costs.h"

namespace kindred {
namespace {

constexpr double kBeyondDoubt = 5.0;            // nats per episode
constexpr std::size_t kClosestPairs = 3;        // whose joining is judged by V
constexpr std::int64_t kCheckingCosines = 300;  // for the two closest clusters of the answer
constexpr double kCheckedShare = 0.6;           // of the separation: more features bring all closer
// Of each of the two: fewer decide where they leave no doubt.
struct Look {
  std::int64_t steps;
  double no_doubt;  // times what is needed
};
constexpr Look kChecks[] = {{2500, 3.0}, {5000, 2.0}, {20000, 0.0}};
constexpr std::int64_t kGatedSteps[] = {2000, 6000};
constexpr std::int64_t kGatedEpisodes = 2;  // at least: the folds of one would be alike
constexpr std::int64_t kMostGated = 100;    // numbers per observation

/// Episodes of two clusters, and which of the two each is in.
struct TwoClusters {
  Trajectories data;
  std::vector<std::int32_t> sides;
};

/// About `most` steps of each, of at least so many episodes.
TwoClusters two_clusters(const Trajectories& data, std::span<const std::int32_t> labels,
                         const std::pair<std::int32_t, std::int32_t>& pair, std::int64_t most,
                         std::int64_t fewest_episodes = 1) {
  std::vector<std::int64_t> episodes;
  std::vector<std::int32_t> sides;
  std::int64_t steps[2] = {0, 0}, taken[2] = {0, 0};
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    const std::size_t side = label == pair.second ? 1 : 0;
    if (label != pair.first && label != pair.second) continue;
    if (steps[side] >= most && taken[side] >= fewest_episodes) continue;
    steps[side] += data.length(i);
    ++taken[side];
    episodes.push_back(i);
    sides.push_back(static_cast<std::int32_t>(side));
  }
  return {select_episodes(data, episodes), std::move(sides)};
}

NamedGain gain_by_name(const TwoClusters& two, const Workers& workers) {
  const auto& data = two.data;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < two.sides.size(); ++i)
    labels.insert(labels.end(), static_cast<std::size_t>(data.length(static_cast<std::int64_t>(i))),
                  two.sides[i]);
  const FeatureSteps evidence(data, workers);
  const auto nats = evidence.judge(labels, 2).nats;
  const auto as_one = evidence.as_one(nats, labels, 0, 1);
  return named_gain(nats, as_one, labels, data.offsets.span(), 0, 1);
}

bool are_one_that_went_two_ways(const Trajectories& data, std::span<const std::int32_t> labels,
                                const ClusterPair& pair, const Workers& workers) {
  if (data.observations.dim() > kMostGated) return false;
  bool is_one = false;
  std::int64_t looked_at = 0;
  for (const auto most : kGatedSteps) {
    const auto two = two_clusters(data, labels, pair, most, kGatedEpisodes);
    if (two.data.steps() == looked_at) break;  // there are no more
    looked_at = two.data.steps();
    const auto gain = gain_by_name(two, workers);
    is_one = gain.is_little;
    if (gain.is_clear) break;
  }
  return is_one;
}

/// Those of the closest clusters that have episodes enough to tell whether two are one policy.
std::vector<ClusterPair> pairs_to_doubt(const Evidence& evidence, const Answer& answer) {
  const auto& labels = answer.fit.labels;
  const auto size = [&](std::int32_t label) { return std::ranges::count(labels, label); };
  const auto most = static_cast<std::size_t>(answer.fit.k);
  auto pairs = evidence.closest_pairs(labels, answer.fit.k, 2 * most);
  std::erase_if(pairs, [&](const auto& pair) {
    return size(pair.first) + size(pair.second) < NamedGain::kEnoughEpisodes;
  });
  if (pairs.size() > most) pairs.resize(most);
  return pairs;
}

}  // namespace

double separation(const Evidence& evidence, const Trajectories& data, const Answer& answer) {
  const auto& labels = answer.fit.labels;
  std::vector<double> steps(static_cast<std::size_t>(answer.fit.k), 0.0);
  for (std::size_t i = 0; i < labels.size(); ++i)
    steps[static_cast<std::size_t>(labels[i])] +=
        static_cast<double>(data.length(static_cast<std::int64_t>(i)));
  double least = std::numeric_limits<double>::infinity();
  for (const auto& pair : evidence.closest_pairs(labels, answer.fit.k, kClosestPairs)) {
    const auto as_one = evidence.score_joined(answer.held_out, labels, pair);
    const double share = (steps[static_cast<std::size_t>(pair.first)] +
                          steps[static_cast<std::size_t>(pair.second)]) /
                         evidence.steps();
    const auto gain = evidence.gain(as_one, answer.held_out);
    const double apart = (answer.held_out.v - as_one.v) / share;
    const double per_episode = apart * evidence.steps() / static_cast<double>(data.episodes());
    const bool stands_out = gain.mean > kErrors * gain.error || per_episode > kBeyondDoubt;
    least = std::min(least, stands_out ? apart : std::min(apart, 0.0));
  }
  return least;
}

double checked_separation(const Trajectories& data, const Evidence& evidence, const FeatureMap& map,
                          const std::shared_ptr<const ActionTargets>& targets,
                          const SearchOptions& options, const Answer& answer,
                          const Workers& workers, Communicator& ranks) {
  const auto& labels = answer.fit.labels;
  const auto doubted = pairs_to_doubt(evidence, answer);
  // Whether each of these is one policy, and what taking the closest two for one costs.
  std::vector<double> found(doubted.size() + 1, 0.0);
  const auto at = [&](std::int64_t piece) -> double& {
    return found[static_cast<std::size_t>(piece)];
  };
  const auto cost_of_joining = [&] {
    const auto closest = evidence.closest_pairs(labels, answer.fit.k, 1).front();
    const std::int64_t cosines[] = {options.cosines, kCheckingCosines};
    double cost = 0.0;
    std::int64_t looked_at = 0;
    for (const auto& look : kChecks) {
      const auto two = two_clusters(data, labels, closest, look.steps);
      if (two.data.steps() == looked_at) break;  // there are no more
      looked_at = two.data.steps();
      const auto costs = pair_costs(two.data, two.sides, map, cosines, *targets, options.ridge,
                                    answer.held_out.noise, workers);
      cost = costs.as_one - costs.as_two;
      if (cost >= look.no_doubt * kCheckedShare * answer.needed) break;
    }
    return cost;
  };
  std::atomic<bool> one_policy = false;  // then nothing else matters
  const auto ask = [&](std::int64_t piece) {
    if (one_policy) return;
    if (piece == std::ssize(doubted)) {
      at(piece) = cost_of_joining();
    } else if (are_one_that_went_two_ways(data, labels, doubted[static_cast<std::size_t>(piece)],
                                          workers)) {
      at(piece) = 1.0;
      one_policy = true;
    }
  };
  spread(workers, ranks,
         {.pieces = std::ssize(found),
          .work = ask,
          .pack = [&](std::int64_t piece, Packer& to) { to.add(at(piece)); },
          .unpack = [&](std::int64_t piece, Unpacker& from) { from.take(at(piece)); }});
  return std::ranges::count(found.begin(), found.end() - 1, 1.0) > 0 ? 0.0 : found.back();
}

bool is_believed(Answer& answer, double v_of_fewer, const SeparationCheck& check) {
  if (answer.separation < answer.needed) return false;
  if (answer.held_out.v <= v_of_fewer) {
    answer.separation = 0.0;  // its clusters differ, but fewer predict as well
    return false;
  }
  if (check && !answer.checked) {
    answer.separation = check(answer);
    answer.needed *= kCheckedShare;
    answer.checked = true;
  }
  return answer.separation >= answer.needed;
}

}  // namespace kindred
