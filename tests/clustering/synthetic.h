// Small datasets with a known answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/data/trajectories.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/rollout.h"

namespace kindred::testing {

/// A generated gridworld dataset.
inline Trajectories gridworld(const std::string& name, std::int64_t per_expert,
                              std::int64_t seed = 1) {
  GenerateOptions options;
  options.per_expert = per_expert;
  options.seed = seed;
  return generate(*make_environment(name), options);
}

/// Episodes of `policies` linear-Gaussian controllers: a = W_policy s + noise. Policies take turns.
struct LinearOptions {
  std::int64_t episodes = 60;
  std::int64_t length = 50;
  std::int64_t obs_dim = 3;
  std::int64_t act_dim = 2;
  std::int64_t policies = 2;
  double noise = 0.3;
};

inline Trajectories linear_control(const LinearOptions& o, std::uint64_t seed = 1) {
  Random random(seed, "linear");
  std::vector<double> weights(static_cast<std::size_t>(o.policies * o.act_dim * o.obs_dim));
  for (auto& w : weights) w = random.normal();
  std::vector<std::int64_t> offsets = {0};
  std::vector<float> observations, actions, rewards;
  std::vector<std::int32_t> labels;
  Trajectories data;
  for (std::int64_t i = 0; i < o.episodes; ++i) {
    const auto policy = i % o.policies;
    const auto length = o.length - i % 3;
    for (std::int64_t t = 0; t < length; ++t) {
      std::vector<double> s;
      for (std::int64_t d = 0; d < o.obs_dim; ++d) s.push_back(random.normal());
      for (const double x : s) observations.push_back(static_cast<float>(10.0 + 3.0 * x));
      for (std::int64_t a = 0; a < o.act_dim; ++a) {
        double mean = 0.0;
        for (std::int64_t d = 0; d < o.obs_dim; ++d)
          mean += weights[static_cast<std::size_t>((policy * o.act_dim + a) * o.obs_dim + d)] *
                  s[static_cast<std::size_t>(d)];
        actions.push_back(static_cast<float>(mean + o.noise * random.normal()));
      }
      rewards.push_back(static_cast<float>(policy));
    }
    offsets.push_back(offsets.back() + length);
    labels.push_back(static_cast<std::int32_t>(policy));
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = offsets;
  data.observations = Observations::dense(Column<float>(observations), o.obs_dim);
  data.actions = Actions::continuous(actions, o.act_dim);
  data.rewards = rewards;
  data.labels = labels;
  return data;
}

/// The same data with observations stored row by row.
inline Trajectories without_interning(Trajectories data) {
  std::vector<float> rows(static_cast<std::size_t>(data.steps() * data.observations.dim()));
  data.observations.copy(0, data.steps(), rows.data());
  data.observations = Observations::dense(Column<float>(std::move(rows)), data.observations.dim());
  return data;
}

/// Episodes of 15 steps in six observations that repeat, each drawn anew; each of the policies
/// prefers one of four actions in each observation, and takes any of them one time in five.
inline Trajectories repeating_choices(std::int64_t episodes, std::int64_t policies,
                                      std::uint64_t seed) {
  constexpr std::uint64_t kObservations = 6, kActions = 4;
  Random random(seed, "choices");
  std::vector<std::int32_t> preferred;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(policies) * kObservations; ++i)
    preferred.push_back(static_cast<std::int32_t>(random.below(kActions)));
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> index, actions, labels;
  std::vector<float> table;
  for (std::uint64_t s = 0; s < kObservations; ++s) table.push_back(static_cast<float>(s));
  Trajectories data;
  for (std::int64_t i = 0; i < episodes; ++i) {
    const auto policy = static_cast<std::uint64_t>(i % policies);
    for (int t = 0; t < 15; ++t) {
      const auto s = random.below(kObservations);
      index.push_back(static_cast<std::int32_t>(s));
      actions.push_back(random.below(5) == 0 ? static_cast<std::int32_t>(random.below(kActions))
                                             : preferred[policy * kObservations + s]);
    }
    offsets.push_back(std::ssize(index));
    labels.push_back(static_cast<std::int32_t>(policy));
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = std::move(offsets);
  data.observations = Observations::interned(Column<float>(std::move(table)), 1,
                                             Column<std::int32_t>(std::move(index)));
  data.actions = Actions::discrete(Column<std::int32_t>(std::move(actions)), kActions);
  data.labels = std::move(labels);
  return data;
}

}  // namespace kindred::testing
