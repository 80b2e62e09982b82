#include "kindred/runs/segment_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kindred/metrics/clustering_scores.h"

namespace kindred {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kSaid{0.5, 0.7, 0.9, 0.99};  // between kinds of posteriors

/// Stretches are in the order of episodes: those of one.
template <class Stretch>
std::span<const Stretch> of_episode(const std::vector<Stretch>& stretches, std::int64_t episode) {
  const auto [first, last] = std::ranges::equal_range(stretches, episode, {}, &Stretch::episode);
  return std::span(first, last);
}

/// Whether the stretch says that the policy may have acted at a step.
bool names(const UnsureStretch& stretch, std::int32_t policy, std::int64_t step) {
  return std::ranges::any_of(stretch.candidates, [&](const Candidate& one) {
    return one.policy == policy && one.first <= step && step < one.end;
  });
}

/// What becomes of true switches.
struct Takeovers {
  std::int64_t all = 0, seen = 0, inside = 0, said_unsure = 0, neither = 0;

  void add(const Segment& before, const Segment& after, const Segmentation& found,
           std::int64_t close) {
    ++all;
    const auto at = after.begin;
    bool near = false, within = false;
    for (const auto& one : of_episode(found.segments, after.episode)) {
      if (one.begin == 0) continue;
      near = near || std::abs(one.begin - at) <= close;
      within = within || (one.earliest <= at && at <= one.latest);
    }
    seen += near;
    inside += within;
    if (near || within) return;
    const bool unsure =
        std::ranges::any_of(of_episode(found.unsure, after.episode), [&](const auto& one) {
          return names(one, before.policy, at - 1) && names(one, after.policy, at);
        });
    ++(unsure ? said_unsure : neither);
  }
};

Json calibration(const Segmentation& found, std::span<const std::int32_t> truth) {
  struct Kind {
    std::int64_t steps = 0, right = 0;
    double said = 0.0;
  };
  std::array<Kind, kSaid.size() + 1> kinds;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    const double said = found.chances[t];
    auto& kind =
        kinds[static_cast<std::size_t>(std::ranges::upper_bound(kSaid, said) - kSaid.begin())];
    ++kind.steps;
    kind.right += truth[t] == found.actors[t];
    kind.said += said;
  }
  auto list = Json::array();
  for (const auto& [steps, right, said] : kinds)
    if (steps > 0)
      list.push_back({{"steps", steps},
                      {"said", said / static_cast<double>(steps)},
                      {"right", static_cast<double>(right) / static_cast<double>(steps)}});
  return list;
}

}  // namespace

std::vector<std::int32_t> true_actors(const Trajectories& data) {
  std::vector<std::int32_t> truth(data.actors.begin(), data.actors.end());
  if (truth.empty() && !data.labels.empty())
    for (std::int64_t i = 0; i < data.episodes(); ++i)
      truth.insert(truth.end(), static_cast<std::size_t>(data.length(i)), data.labels[i]);
  return truth;
}

Json score_segments(const Trajectories& data, const Segmentation& found) {
  const auto truth = true_actors(data);
  const auto real = segments_of(truth, data.offsets.span());
  const auto as_found = matched_truth(found.actors, truth);
  const auto policy_of = [&](Segment one) {
    const auto first = data.offsets[one.episode] + one.begin;
    one.policy = as_found[static_cast<std::size_t>(first)];
    return one;
  };
  // In episodes of ten steps everything would be within twenty.
  const auto close = std::clamp<std::int64_t>(data.steps() / data.episodes() / 20, 2, 20);
  Takeovers takeovers;
  for (std::size_t i = 1; i < real.size(); ++i)
    if (real[i].begin > 0) takeovers.add(policy_of(real[i - 1]), policy_of(real[i]), found, close);
  const auto invented = std::ranges::count_if(found.segments, [&](const Segment& one) {
    return one.begin > 0 &&
           std::ranges::none_of(of_episode(real, one.episode), [&](const Segment& other) {
             return other.begin > 0 && std::abs(other.begin - one.begin) <= 2 * close;
           });
  });
  const double expected = std::accumulate(found.chances.begin(), found.chances.end(), 0.0) /
                          static_cast<double>(found.chances.size());
  return {{"accuracy", matched_accuracy(found.actors, truth)},
          {"expected", expected},
          {"switches", takeovers.all},
          {"within", close},
          {"seen", takeovers.seen},
          {"inside_interval", takeovers.inside},
          {"said_unsure", takeovers.said_unsure},
          {"neither", takeovers.neither},
          {"invented", invented},
          {"posteriors", calibration(found, as_found)}};
}

}  // namespace kindred
