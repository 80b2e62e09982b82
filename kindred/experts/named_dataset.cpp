#include "kindred/experts/named_dataset.h"

#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/mixture.h"
#include "kindred/experts/rollout.h"

namespace kindred {

Trajectories generate_named(std::string_view name, const nlohmann::json& options, std::int64_t seed,
                            const Workers& workers) {
  const auto dataset = parse_dataset_name(name);
  const auto environment_options = find_environment(dataset.environment).make_options();
  GenerateOptions generating;
  MixtureOptions mixture;
  std::string experts = dataset.experts;
  auto table = generating.describe();
  table.push_back(text("experts", experts, "Which of them, as select_experts takes them."));
  for (auto& option : environment_options->describe()) table.push_back(std::move(option));
  if (dataset.mixture)
    for (auto& option : mixture.describe()) table.push_back(std::move(option));
  from_json(table, options, name);
  generating.seed = seed;
  generating.workers = workers;

  const auto environment = environment_options->make();
  if (!dataset.mixture)
    return generate(*environment, make_experts(*environment, experts), generating);
  const auto drawn = draw_mixture(dataset.environment, mixture.policies, seed);
  return generate_mixture(*environment, make_experts(*environment, drawn), mixture, generating);
}

}  // namespace kindred
