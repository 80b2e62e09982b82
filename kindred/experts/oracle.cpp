#include "kindred/experts/oracle.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kindred/core/error.h"
#include "kindred/envs/state_lookup.h"

namespace kindred {
namespace {

constexpr std::int64_t kEpisodesPerTask = 256;

void check_fit(const Trajectories& data, const EnvironmentSpec& spec) {
  if (data.observations.dim() != spec.observation_dim())
    throw InvalidArgument("the dataset's observations have {} numbers, those of '{}' have {}",
                          data.observations.dim(), spec.name, spec.observation_dim());
  const auto width = data.actions.is_discrete() ? data.actions.count() : data.actions.dim();
  if (data.actions.is_discrete() != spec.is_discrete() || width != spec.action_width)
    throw InvalidArgument("the dataset's actions ({} {}) are not those of '{}' ({} {})", width,
                          data.actions.is_discrete() ? "discrete" : "continuous", spec.name,
                          spec.action_width, spec.is_discrete() ? "discrete" : "continuous");
}

/// Shows policies rows of observations, as state numbers when they want these.
class Viewer {
 public:
  Viewer(const Environment& environment, const Policies& policies) : spec_(environment.spec()) {
    if (std::ranges::any_of(policies, [](const auto& policy) { return policy->reads_states(); }))
      lookup_.emplace(environment);
  }

  /// The states of rows[count, dim]; empty when no policy reads states.
  std::vector<std::int32_t> states(std::span<const float> rows) const {
    std::vector<std::int32_t> result;
    const auto dim = static_cast<std::size_t>(spec_.observation_dim());
    for (std::size_t i = 0; lookup_ && i < rows.size(); i += dim) {
      const auto state = lookup_->find(rows.subspan(i, dim));
      if (!state)
        throw InvalidArgument("the dataset shows no state of '{}': was it made by other options?",
                              spec_.name);
      result.push_back(*state);
    }
    return result;
  }

 private:
  const EnvironmentSpec& spec_;
  std::optional<StateLookup> lookup_;
};

/// Interned observations and discrete actions: each policy is evaluated on the table alone.
/// add(episode, step, policy, nats); an episode's steps come in order, on one thread.
template <class Add>
void score_by_table(const Trajectories& data, const Viewer& viewer, const Policies& policies,
                    const Workers& workers, const Add& add) {
  const auto& observations = data.observations;
  const auto rows = static_cast<std::size_t>(observations.distinct());
  const auto actions = static_cast<std::size_t>(data.actions.count());
  const auto states = viewer.states(observations.table().span());
  std::vector<float> probabilities(rows * actions);
  std::vector<double> log_probabilities(rows * actions);

  for (std::size_t p = 0; p < policies.size(); ++p) {
    policies[p]->distribution(
        {static_cast<std::int64_t>(rows), states, observations.table().span()}, probabilities);
    std::ranges::transform(probabilities, log_probabilities.begin(),
                           [](float chance) { return std::log(static_cast<double>(chance)); });
    workers.chunks(data.episodes(), kEpisodesPerTask, [&](auto begin, auto end) {
      for (auto episode = begin; episode < end; ++episode)
        for (auto t = data.offsets[episode]; t < data.offsets[episode + 1]; ++t)
          add(episode, t, p,
              log_probabilities[static_cast<std::size_t>(observations.index()[t]) * actions +
                                static_cast<std::size_t>(data.actions.ints()[t])]);
    });
  }
}

/// How likely the action of one step is under a distribution.
double log_chance(const Actions& actions, std::int64_t step, std::span<const float> distribution,
                  bool clipped) {
  if (actions.is_discrete())
    return std::log(
        static_cast<double>(distribution[static_cast<std::size_t>(actions.ints()[step])]));
  const auto dim = static_cast<std::size_t>(actions.dim());
  return gaussian_log_density(
      distribution, actions.floats().span().subspan(static_cast<std::size_t>(step) * dim, dim),
      clipped);
}

/// Any observations and actions: each policy is evaluated on every step, an episode at a time.
template <class Add>
void score_by_step(const Trajectories& data, const EnvironmentSpec& spec, const Viewer& viewer,
                   const Policies& policies, const Workers& workers, const Add& add) {
  const auto width = static_cast<std::size_t>(distribution_width(spec));
  workers.chunks(data.episodes(), kEpisodesPerTask, [&](auto begin, auto end) {
    std::vector<float> rows, distributions;
    for (auto episode = begin; episode < end; ++episode) {
      workers.throw_if_stopped();
      const auto first = data.offsets[episode];
      const auto steps = static_cast<std::size_t>(data.length(episode));
      rows.resize(steps * static_cast<std::size_t>(spec.observation_dim()));
      distributions.resize(steps * width);
      data.observations.copy(first, data.offsets[episode + 1], rows.data());
      const auto states = viewer.states(rows);

      for (std::size_t p = 0; p < policies.size(); ++p) {
        policies[p]->distribution({static_cast<std::int64_t>(steps), states, rows}, distributions);
        for (std::size_t t = 0; t < steps; ++t) {
          const auto step = first + static_cast<std::int64_t>(t);
          add(episode, step, p,
              log_chance(data.actions, step, std::span(distributions).subspan(t * width, width),
                         spec.clips_actions));
        }
      }
    }
  });
}

template <class Add>
void score_steps(const Trajectories& data, const Environment& environment, const Policies& policies,
                 const Workers& workers, const Add& add) {
  const auto& spec = environment.spec();
  check_fit(data, spec);
  const Viewer viewer(environment, policies);
  if (data.observations.is_interned() && spec.is_discrete())
    score_by_table(data, viewer, policies, workers, add);
  else
    score_by_step(data, spec, viewer, policies, workers, add);
}

}  // namespace

std::vector<double> log_likelihoods(const Trajectories& data, const Environment& environment,
                                    const Policies& policies, const Workers& workers) {
  std::vector<double> result(static_cast<std::size_t>(data.episodes()) * policies.size());
  score_steps(data, environment, policies, workers,
              [&](std::int64_t episode, std::int64_t, std::size_t policy, double nats) {
                result[static_cast<std::size_t>(episode) * policies.size() + policy] += nats;
              });
  return result;
}

std::vector<double> step_log_likelihoods(const Trajectories& data, const Environment& environment,
                                         const Policies& policies, const Workers& workers) {
  std::vector<double> result(static_cast<std::size_t>(data.steps()) * policies.size());
  score_steps(data, environment, policies, workers,
              [&](std::int64_t, std::int64_t step, std::size_t policy, double nats) {
                result[static_cast<std::size_t>(step) * policies.size() + policy] = nats;
              });
  return result;
}

std::vector<std::int32_t> oracle_labels(const Trajectories& data, const Environment& environment,
                                        const Policies& policies, const Workers& workers) {
  const auto scores = log_likelihoods(data, environment, policies, workers);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(data.episodes()));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = std::span(scores).subspan(i * policies.size(), policies.size());
    labels[i] = static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
  }
  return labels;
}

}  // namespace kindred
