#include "kindred/experts/mixture.h"

#include <fmt/ranges.h>

#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/data/select.h"
#include "kindred/experts/recipes.h"

namespace kindred {
namespace {

/// A policy of continuous actions with other deviations than its own.
class Perturbed final : public Policy {
 public:
  Perturbed(std::shared_ptr<const Policy> policy, const MixtureOptions& mixture)
      : Policy(policy->name(), policy->summary()),
        policy_(std::move(policy)),
        own_deviation_(mixture.deterministic ? 0.0F : 1.0F),
        noise_(static_cast<float>(mixture.noise)) {}

  bool reads_states() const override { return policy_->reads_states(); }

  void distribution(const Situations& seen, std::span<float> out) const override {
    policy_->distribution(seen, out);
    if (seen.count == 0) return;
    const auto dim = out.size() / static_cast<std::size_t>(2 * seen.count);
    for (std::size_t row = 0; row < out.size(); row += 2 * dim)
      for (float& deviation : out.subspan(row + dim, dim))
        deviation = std::hypot(own_deviation_ * deviation, noise_);
  }

 private:
  std::shared_ptr<const Policy> policy_;
  float own_deviation_, noise_;
};

Policies perturbed(const Policies& policies, const MixtureOptions& mixture) {
  if (!mixture.deterministic && mixture.noise == 0.0) return policies;
  Policies result;
  for (const auto& policy : policies)
    result.push_back(std::make_shared<Perturbed>(policy, mixture));
  return result;
}

Actions moved(const Actions& actions, const MixtureOptions& mixture) {
  std::vector<float> values(actions.floats().begin(), actions.floats().end());
  for (float& value : values)
    value = static_cast<float>(static_cast<double>(value) * mixture.action_scale +
                               mixture.action_shift);
  return Actions::continuous(std::move(values), actions.dim());
}

/// All episodes, then `count` random ones of them again; ids go on counting.
Trajectories with_duplicates(const Trajectories& data, std::int64_t count, std::int64_t seed) {
  if (count > data.episodes())
    throw InvalidArgument("{} episodes cannot be repeated: there are only {}", count,
                          data.episodes());
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.episodes()));
  std::iota(order.begin(), order.end(), 0);
  auto repeated = order;
  Random(static_cast<std::uint64_t>(seed), "duplicates").shuffle(std::span(repeated));
  repeated.resize(static_cast<std::size_t>(count));
  order.insert(order.end(), repeated.begin(), repeated.end());

  Trajectories result = select_episodes(data, order);
  for (auto i = static_cast<std::size_t>(data.episodes()); i < order.size(); ++i)
    result.ids[i] = std::to_string(i);
  result.provenance["duplicates"] = repeated;
  return result;
}

}  // namespace

OptionTable MixtureOptions::describe() {
  return {
      integer("policies", policies, 0, 1'000'000,
              "How many of the task's policies; the seed draws which. 0: all there are."),
      flag("deterministic", deterministic, "Policies act by their mean."),
      real("noise", noise, 0.0, 10.0,
           "Standard deviation of Gaussian noise that is added to every action."),
      real("action-scale", action_scale, 1e-6, 1e6,
           "Multiply the recorded actions by this; the task itself gets them as they were."),
      real("action-shift", action_shift, -1e6, 1e6, "Then add this to the recorded actions."),
      integer("duplicate", duplicate, 0, 100'000'000,
              "Repeat so many random episodes at the end, under ids of their own."),
  };
}

std::vector<std::string> mixture_pool(std::string_view environment) {
  const auto all = recipes(environment);
  const bool has_stages = !all.empty() && !all.front().medium.empty();
  return has_stages ? pool_names(environment) : std::vector<std::string>{};
}

std::string draw_mixture(std::string_view environment, std::int64_t count, std::int64_t seed) {
  auto pool = mixture_pool(environment);
  if (count > std::ssize(pool))
    throw InvalidArgument("there are {} policies of '{}' to mix, not {}", pool.size(), environment,
                          count);
  Random(static_cast<std::uint64_t>(seed), "mixture").shuffle(std::span(pool));
  if (count > 0) pool.resize(static_cast<std::size_t>(count));
  return fmt::format("{}", fmt::join(pool, ","));
}

Trajectories generate_mixture(const Environment& environment, const Policies& policies,
                              MixtureOptions mixture, const GenerateOptions& options) {
  mixture = checked(mixture);
  if (environment.spec().is_discrete())
    throw InvalidArgument("'{}' has discrete actions; mixtures are of continuous ones",
                          environment.spec().name);
  mixture.policies = std::ssize(policies);
  auto data = generate(environment, perturbed(policies, mixture), options);
  // The oracle has judged the actions as they were, and neither change would change its mind.
  if (mixture.action_scale != 1.0 || mixture.action_shift != 0.0)
    data.actions = moved(data.actions, mixture);
  if (mixture.duplicate > 0) data = with_duplicates(data, mixture.duplicate, options.seed);
  data.provenance["mixture"] = to_json(mixture.describe());
  return data;
}

}  // namespace kindred
