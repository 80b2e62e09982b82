#include "kindred/policies/separation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "kindred/data/select.h"
#include "kindred/dist/spread.h"
#include "kindred/policies/feature_evidence.h"
#include "kindred/policies/feature_steps.h"
#include "kindred/policies/named_gain.h"

namespace kindred {
namespace {

constexpr double kBeyondDoubt = 5.0;            // nats per episode
constexpr std::size_t kClosestPairs = 3;        // whose joining is judged by V
constexpr std::int64_t kCheckingCosines = 300;  // for the two closest clusters of the answer
constexpr double kCheckedShare = 0.6;           // of the separation: more features bring all closer
constexpr std::int64_t kCheckedSteps = 20000;   // of each of the two
constexpr std::int64_t kGatedSteps = 6000;      // likewise
constexpr std::int64_t kMostGated = 100;        // numbers per observation
constexpr std::int64_t kLooks = 2;              // with few cosines and with many
// Milliseconds that parts of a check took on Hopper, to share them out: with each look as two and
// as one, all of each look where its sums have to be made as well, and a doubted pair.
constexpr double kAskedWeights[] = {3.0, 2.0, 30.0, 25.0};
constexpr double kLookWeights[] = {15.0, 160.0};
constexpr double kDoubtWeight = 100.0;

/// Episodes of two clusters, and which of the two each is in.
struct TwoClusters {
  Trajectories data;
  std::vector<std::int32_t> sides;
};

/// About `most` steps of each.
TwoClusters two_clusters(const Trajectories& data, std::span<const std::int32_t> labels,
                         const std::pair<std::int32_t, std::int32_t>& pair, std::int64_t most) {
  std::vector<std::int64_t> episodes;
  std::vector<std::int32_t> sides;
  std::int64_t steps[2] = {0, 0};
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    const std::size_t side = label == pair.second ? 1 : 0;
    if ((label != pair.first && label != pair.second) || steps[side] >= most) continue;
    steps[side] += data.length(i);
    episodes.push_back(i);
    sides.push_back(static_cast<std::int32_t>(side));
  }
  return {select_episodes(data, episodes), std::move(sides)};
}

bool are_one_that_went_two_ways(const TwoClusters& two, const Workers& workers) {
  const auto& data = two.data;
  if (data.observations.dim() > kMostGated) return false;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < two.sides.size(); ++i)
    labels.insert(labels.end(), static_cast<std::size_t>(data.length(static_cast<std::int64_t>(i))),
                  two.sides[i]);
  const FeatureSteps evidence(data, workers);
  const auto nats = evidence.judge(labels, 2).nats;
  const auto as_one = evidence.as_one(nats, labels, 0, 1);
  return named_gain(nats, as_one, labels, data.offsets.span(), 0, 1).is_little;
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

/// What the two closest clusters cost in nats per step, as two policies and as one: each taken with
/// the features that suit it better, since many of them need many steps, of which one policy has
/// more.
class CloserLook {
 public:
  /// Collective where the ranks share memory: sending all sums would take longer than making them.
  CloserLook(const TwoClusters& two, const FeatureMap& map,
             const std::shared_ptr<const ActionTargets>& targets, double ridge,
             const HeldOutScore& usual, std::int64_t cosines, const Workers& workers,
             Communicator& ranks)
      : two_(two),
        usual_(usual),
        evidence_(two.data, map.with_cosines(cosines), targets, ridge, workers, "cpu",
                  ranks.shares_memory() ? ranks : *one_process()) {}

  double cost(bool apart) const {
    const std::vector<std::int32_t> together(two_.sides.size(), 0);
    const auto score = evidence_.score(apart ? two_.sides : together, apart ? 2 : 1);
    const auto costs = evidence_.costs(score, usual_);
    return std::accumulate(costs.begin(), costs.end(), 0.0) /
           static_cast<double>(two_.data.steps());
  }

 private:
  const TwoClusters& two_;
  const HeldOutScore& usual_;
  FeatureEvidence evidence_;
};

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
  const auto is_one = [&](const ClusterPair& pair) {
    return are_one_that_went_two_ways(two_clusters(data, labels, pair, kGatedSteps), workers);
  };
  const bool alone = ranks.size() == 1;
  if (alone && std::ranges::any_of(doubted, is_one)) return 0.0;

  const auto closest = evidence.closest_pairs(labels, answer.fit.k, 1).front();
  const auto two = two_clusters(data, labels, closest, kCheckedSteps);
  const std::int64_t cosines[kLooks] = {options.cosines, kCheckingCosines};
  std::unique_ptr<CloserLook> looks[kLooks];
  const auto look = [&](std::int64_t i) -> const CloserLook& {
    if (!looks[i])
      looks[i] = std::make_unique<CloserLook>(two, map, targets, options.ridge, answer.held_out,
                                              cosines[i], workers, ranks);
    return *looks[i];
  };
  // What the clusters cost as two and as one with each look, and which of the doubted are one.
  std::vector<double> found(2 * kLooks + doubted.size(), 0.0);
  const auto ask = [&](std::int64_t i) {
    auto& answered = found[static_cast<std::size_t>(i)];
    if (i < 2 * kLooks)
      answered = look(i / 2).cost(/*apart=*/i % 2 == 0);
    else
      answered = is_one(doubted[static_cast<std::size_t>(i - 2 * kLooks)]) ? 1.0 : 0.0;
  };
  if (alone) {
    for (std::int64_t i = 0; i < 2 * kLooks; ++i) {
      ask(i);
      if (i % 2 == 1) looks[i / 2].reset();
    }
  } else {
    // With common memory looks are made together and each question is a piece; else a look is one.
    const bool together = ranks.shares_memory();
    for (std::int64_t i = 0; i < kLooks && together; ++i) look(i);
    std::vector<Share> pieces;
    for (std::int64_t i = 0; i < 2 * kLooks; i += together ? 1 : 2)
      pieces.push_back({i, i + (together ? 1 : 2)});
    for (auto i = 2 * kLooks; i < std::ssize(found); ++i) pieces.push_back({i, i + 1});
    const auto each = [&](std::int64_t piece, const auto& use) {
      const auto& questions = pieces[static_cast<std::size_t>(piece)];
      for (auto i = questions.begin; i < questions.end; ++i) use(i);
    };
    const auto at = [&](std::int64_t i) -> double& { return found[static_cast<std::size_t>(i)]; };
    SpreadWork work{
        .pieces = std::ssize(pieces),
        .work = [&](auto piece) { each(piece, ask); },
        .pack = [&](auto piece, Packer& to) { each(piece, [&](auto i) { to.add(at(i)); }); },
        .unpack = [&](auto piece,
                      Unpacker& from) { each(piece, [&](auto i) { from.take(at(i)); }); }};
    const auto usual = together ? std::span<const double>(kAskedWeights) : kLookWeights;
    work.weights.assign(usual.begin(), usual.end());
    work.weights.resize(pieces.size(), kDoubtWeight);
    spread(workers, ranks, work);
    if (std::ranges::count(found.begin() + 2 * kLooks, found.end(), 1.0) > 0) return 0.0;
  }
  return std::min(found[1], found[3]) - std::min(found[0], found[2]);
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
