#include "kindred/experiments/findings/trajectory.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/experts/policy.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kMostNumbers = 6'000, kMostSteps = 400, kFewestSteps = 25;

/// Numbers in the distribution of one centre over one action.
std::int64_t distribution_size(const PolicyCentres& policies) {
  return policies.discrete() ? policies.actions() : 2 * policies.actions();
}

class TrajectoryWriter {
 public:
  TrajectoryWriter(const RunData& found, const Behaviour& behaviour)
      : found_(found), behaviour_(behaviour) {
    const auto& options = found.run.record.options;
    const auto floor = options.find("log-prob-floor");
    if (floor != options.end() && floor->is_number()) floor_ = floor->get<double>();
  }

  Json write(std::int64_t episode) const {
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
    if (found_.policies) add_policies(episode, steps, json);
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

  /// What each centre would do at the kept steps, and what all steps so far say for each.
  void add_policies(std::int64_t episode, const std::vector<std::int64_t>& steps,
                    Json& json) const {
    const auto& data = found_.data;
    const auto length = data.length(episode);
    const auto k = found_.k(), width = distribution_size(*found_.policies);
    std::vector<float> observations(static_cast<std::size_t>(length * data.observations.dim()));
    data.observations.copy(data.offsets[episode], data.offsets[episode + 1], observations.data());

    Matrix evidence(length, k);
    std::vector<std::vector<float>> would(static_cast<std::size_t>(k));
    for (std::int64_t c = 0; c < k; ++c) {
      auto& out = would[static_cast<std::size_t>(c)];
      out.resize(static_cast<std::size_t>(length * width));
      found_.policies->distribution(c, observations, out);
      for (std::int64_t t = 0; t < length; ++t)
        evidence(t, c) = (t > 0 ? evidence(t - 1, c) : 0.0) +
                         log_probability(data.offsets[episode] + t, at_step(out, t, width));
    }

    auto policies = Json::array(), kept = Json::array();
    for (const auto step : steps)
      for (std::int64_t c = 0; c < k; ++c) {
        for (const float value : at_step(would[static_cast<std::size_t>(c)], step, width))
          policies.push_back(std::round(1e3 * brief(value)) / 1e3);
        kept.push_back(brief(evidence(step, c)));
      }
    json["policies"] = std::move(policies);
    json["evidence"] = std::move(kept);
  }

  static std::span<const float> at_step(const std::vector<float>& values, std::int64_t step,
                                        std::int64_t width) {
    return {values.data() + step * width, static_cast<std::size_t>(width)};
  }

  /// Of the action taken at a step of the data, not below the floor the run was fitted with.
  double log_probability(std::int64_t step, std::span<const float> distribution) const {
    if (!found_.data.actions.is_discrete())
      return std::max(floor_, gaussian_log_density(distribution, action(step)));
    const auto taken = static_cast<std::size_t>(found_.data.actions.ints()[step]);
    return std::max(floor_, taken < distribution.size()
                                ? std::log(static_cast<double>(distribution[taken]))
                                : -std::numeric_limits<double>::infinity());
  }

  const RunData& found_;
  const Behaviour& behaviour_;
  double floor_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

Json trajectories(const RunData& found, const Behaviour& behaviour,
                  const std::set<std::int64_t>& episodes) {
  const TrajectoryWriter writer(found, behaviour);
  auto list = Json::array();
  for (const auto episode : episodes) list.push_back(writer.write(episode));
  return list;
}

}  // namespace kindred::findings
