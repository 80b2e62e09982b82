#include "kindred/findings/trajectory.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/data/select.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kMostNumbers = 6'000, kMostSteps = 400, kFewestSteps = 25;

/// Numbers in the distribution of one centre over one action.
std::int64_t distribution_size(const PolicyCentres& policies) {
  return policies.discrete() ? policies.actions() : 2 * policies.actions();
}

/// [steps of all given episodes, k]: the run's own score of every step on its own. Nothing where
/// scores are not sums over steps.
Matrix step_scores(const RunData& found, const std::vector<std::int64_t>& episodes) {
  if (!found.run.centres->sums_over_steps()) return {};
  Trajectories steps = select_episodes(found.data, episodes);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(steps.steps() + 1));
  std::iota(offsets.begin(), offsets.end(), 0);
  steps.offsets = std::move(offsets);
  steps.ids.assign(static_cast<std::size_t>(steps.steps()), "");
  steps.labels = {};
  steps.oracle = {};
  return found.run.centres->score(steps, {});
}

class TrajectoryWriter {
 public:
  TrajectoryWriter(const RunData& found, const Behaviour& behaviour)
      : found_(found), behaviour_(behaviour) {}

  /// `evidence`: [steps, k] of the episode, or nothing.
  Json write(std::int64_t episode, std::span<const double> evidence) const {
    const auto& data = found_.data;
    const auto steps = kept_steps(data.length(episode));
    Json json = {{"episode", episode},
                 {"steps", data.length(episode)},
                 {"stride", steps.size() > 1 ? steps[1] - steps[0] : 1},
                 {"rewards", rewards(episode, steps)},
                 {"actions", nullptr},
                 {"continuous_actions", nullptr},
                 {"policies", nullptr},
                 {"evidence", nullptr}};
    add_actions(episode, steps, json);
    if (found_.policies) json["policies"] = policies(episode, steps);
    if (!evidence.empty()) json["evidence"] = summed(evidence, steps);
    behaviour_.add_steps(episode, steps, json);
    return json;
  }

 private:
  std::vector<std::int64_t> kept_steps(std::int64_t length) const {
    auto numbers = behaviour_.step_numbers() + 2 + found_.k();
    if (found_.policies) numbers += found_.k() * distribution_size(*found_.policies);
    const auto most = std::clamp(kMostNumbers / numbers, kFewestSteps, kMostSteps);
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 0; step < length; step += stride_for(length, most))
      steps.push_back(step);
    return steps;
  }

  Json rewards(std::int64_t episode, const std::vector<std::int64_t>& steps) const {
    if (found_.data.rewards.empty()) return nullptr;
    std::vector<double> values;
    for (const auto step : steps)
      values.push_back(found_.data.rewards[found_.data.offsets[episode] + step]);
    return brief_list(values);
  }

  void add_actions(std::int64_t episode, const std::vector<std::int64_t>& steps, Json& json) const {
    const auto& actions = found_.data.actions;
    auto list = Json::array();
    for (const auto step : steps) {
      const auto at = found_.data.offsets[episode] + step;
      if (actions.is_discrete())
        list.push_back(actions.ints()[at]);
      else
        list.push_back(brief_list(action(at)));
    }
    json[actions.is_discrete() ? "actions" : "continuous_actions"] = list;
  }

  std::span<const float> action(std::int64_t step) const {
    const auto dim = found_.data.actions.dim();
    return {found_.data.actions.floats().data() + step * dim, static_cast<std::size_t>(dim)};
  }

  /// What each centre would do at the kept steps.
  Json policies(std::int64_t episode, const std::vector<std::int64_t>& steps) const {
    const auto k = found_.k(), width = distribution_size(*found_.policies);
    const auto kept = static_cast<std::int64_t>(steps.size());
    std::vector<std::int64_t> at;
    for (const auto step : steps) at.push_back(found_.data.offsets[episode] + step);
    std::vector<float> observations(
        static_cast<std::size_t>(kept * found_.data.observations.dim()));
    found_.data.observations.gather(at, observations.data());

    std::vector<float> would(static_cast<std::size_t>(kept * width));
    std::vector<double> all(static_cast<std::size_t>(kept * k * width));
    for (std::int64_t c = 0; c < k; ++c) {
      found_.policies->distribution(c, observations, would);
      for (std::int64_t t = 0; t < kept; ++t)
        for (std::int64_t i = 0; i < width; ++i)
          all[static_cast<std::size_t>((t * k + c) * width + i)] =
              std::round(1e3 * would[static_cast<std::size_t>(t * width + i)]) / 1e3;
    }
    return brief_list(all);
  }

  /// Sums over all steps so far, at the kept ones.
  Json summed(std::span<const double> evidence, const std::vector<std::int64_t>& steps) const {
    const auto k = static_cast<std::size_t>(found_.k());
    std::vector<double> sums(evidence.begin(), evidence.end());
    for (std::size_t i = k; i < sums.size(); ++i) sums[i] += sums[i - k];
    auto list = Json::array();
    for (const auto step : steps)
      for (std::size_t c = 0; c < k; ++c)  // not brief: it is the differences that count
        list.push_back(std::round(1e2 * sums[static_cast<std::size_t>(step) * k + c]) / 1e2);
    return list;
  }

  const RunData& found_;
  const Behaviour& behaviour_;
};

}  // namespace

Json trajectories(const RunData& found, const Behaviour& behaviour,
                  const std::set<std::int64_t>& episodes) {
  const std::vector<std::int64_t> chosen(episodes.begin(), episodes.end());
  const Matrix scores = step_scores(found, chosen);
  const TrajectoryWriter writer(found, behaviour);
  auto list = Json::array();
  std::span<const double> left = scores.values;
  for (const auto episode : chosen) {
    const auto count =
        left.empty() ? 0u : static_cast<std::size_t>(found.data.length(episode) * found.k());
    list.push_back(writer.write(episode, left.first(count)));
    left = left.subspan(count);
  }
  return list;
}

}  // namespace kindred::findings
