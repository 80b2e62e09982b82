// How the learned experts are made: for each, the reward it is trained on and the algorithm's
// options. The results are shipped in trained/, each with a record of the command, the curve and
// what it can do.
//
// | environment    | experts |
// |---|---|
// | extra          | plus (visits both special cells), minus (avoids them), zero (ignores them) |
// | path-following | up-first, right-first (each along its own polyline), free (straight) |
// | hopper, halfcheetah, walker2d, ant | medium, expert: one training, early and at its end |
//
// Of hopper, halfcheetah and walker2d further trainings are shipped too, for mixtures (mixture.h)
// and for those who name them: medium-11, expert-11, … of the training with seed 11. Policies whose
// returns stand beside those of public datasets are strong-medium and strong-expert: by SAC of
// hopper and halfcheetah, by a longer training with PPO of ant, which has no strong-medium.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/envs/environment.h"
#include "kindred/experts/network_policy.h"
#include "kindred/experts/ppo/options.h"
#include "kindred/experts/sac/options.h"
#include "kindred/experts/training.h"

namespace kindred {

struct Recipe {
  std::string environment;
  std::string expert;
  std::string summary;                 ///< What the expert does, in one sentence.
  nlohmann::json environment_options;  ///< What it is trained on, such as {"reward": "plus"}.
  PpoOptions ppo;
  std::string medium = {};  ///< Not empty: also keep an early policy, under this name.
  std::vector<std::int64_t> further_seeds = {};  ///< Of further trainings that are shipped.
  std::optional<SacOptions> sac = std::nullopt;  ///< Set: it is trained by SAC instead of PPO.
};

/// In the order of the dataset's labels; empty when the environment's experts are not trained.
std::vector<Recipe> recipes(std::string_view environment);

/// The environment's recipe for SAC; empty where there is none.
std::vector<Recipe> strong_recipes(std::string_view environment);

/// The names of the environment's trained experts, in the order of the dataset's labels.
std::vector<std::string> trained_names(std::string_view environment);

/// Those, and then the policies of further trainings: what mixtures are drawn from.
std::vector<std::string> pool_names(std::string_view environment);

/// Those, and then the strong ones: all that the program comes with.
std::vector<std::string> shipped_names(std::string_view environment);

struct TrainedExpert {
  std::shared_ptr<const NetworkPolicy> policy;
  nlohmann::ordered_json record;  ///< Options, curve, evaluation.
};

struct TrainingRun {
  std::function<void(const CurvePoint&, const Training&)> progress;  ///< May be empty.
  std::filesystem::path checkpoint;  ///< Where an interrupted training continues; may be empty.
};

/// Trains one expert; where the recipe asks for a medium policy that comes first. `environment` is
/// the one the recipe's options describe. Throws Interrupted when asked to stop; the checkpoint
/// then holds the training as it was when it was last saved.
std::vector<TrainedExpert> train(const Recipe& recipe, const Environment& environment,
                                 const TrainingRun& run);

/// Forgets an interrupted training: to be called once its policies are kept elsewhere.
void remove_checkpoint(const std::filesystem::path& checkpoint);

/// The experts of an environment, or those in a list as select_experts takes it, from a folder that
/// `kindred experts train` wrote; those that are part of the program when `folder` is empty, where
/// the list may name any of shipped_names. The list may name strong ones in a folder too. Throws
/// InvalidArgument when one is missing or does not fit the environment.
Policies load_experts(const Environment& environment, const std::filesystem::path& folder = {},
                      std::string_view list = {});

/// "extra-plus.policy"
std::string policy_file(std::string_view environment, std::string_view expert);

}  // namespace kindred
