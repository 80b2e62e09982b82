// kindred experts: the policies behind generated datasets, and how the learned ones are trained.
#include "kindred/experts/experts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/stopwatch.h"
#include "kindred/core/version.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/recipes.h"
#include "progress_bar.h"
#include "stop_signal.h"
#include "streams.h"

namespace kindred::app {
namespace {

void add_list(CLI::App& experts) {
  auto* command = experts.add_subcommand("list", "List the experts of every environment");
  const auto common = std::make_shared<Common>();
  common->add_json(*command);
  command->callback([common] {
    Json json = Json::array();
    for (const auto& info : environments()) {
      Policies policies;
      try {
        const auto all = fmt::format("{}", fmt::join(shipped_names(info.name), ","));
        policies = make_experts(*info.make_options()->make(), all);
      } catch (const InvalidArgument& reason) {
        say(fmt::format("{}: {}", info.name, reason.what()));
        continue;
      }
      for (const auto& policy : policies) {
        if (!common->json)
          write_to_programs(
              fmt::format("{:<18} {:<14} {}\n", info.name, policy->name(), policy->summary()));
        json.push_back({{"environment", info.name},
                        {"expert", policy->name()},
                        {"summary", policy->summary()}});
      }
    }
    emit(*common, {{"experts", json}});
  });
}

enum class Algorithm { kPpo, kSac };

struct TrainCommand {
  std::string environment;
  Algorithm algorithm = Algorithm::kPpo;
  std::string expert;
  std::string output = "experts";
  std::string typed;  ///< The command line, for the record.
  std::int64_t threads = 0;
  Common common;
  PpoOptions ppo;
  SacOptions sac;
  std::string options_of;  ///< The environment that `options`, `ppo` and `sac` are made for,
  Algorithm flags_of = Algorithm::kPpo;  ///< and the algorithm whose flags there are.
  std::unique_ptr<EnvironmentOptions> options;
  Flags flags;

  OptionTable describe() {
    return {choice("algorithm", algorithm, {"ppo", "sac"},
                   "Who trains: PPO the usual experts, SAC the strong ones of MuJoCo's tasks."),
            text("expert", expert, "Train this expert only."),
            integer("threads", threads, 0, 4096, "Threads to use; 0: every core.")};
  }

  void run() {
    check_named(find_environment(environment).name, options_of);
    flags.apply();
    if (algorithm != flags_of)
      throw InvalidArgument("--algorithm belongs on the command line, not in a file");
    const auto chosen = chosen_recipes();
    Workers workers(static_cast<int>(threads));
    workers.stop_requested = stop_requested;
    ppo.workers = sac.workers = workers;
    catch_stop_signals();
    std::filesystem::create_directories(output);
    Json json = Json::array();
    for (auto recipe : chosen) {
      recipe.ppo = ppo;
      if (recipe.sac) recipe.sac = sac;
      for (const auto& trained : train_one(recipe)) json.push_back(write(trained));
      remove_checkpoint(checkpoint_of(recipe));
    }
    emit(common, {{"trained", json}});
  }

 private:
  std::vector<Recipe> chosen_recipes() const {
    if (recipes(environment).empty())
      throw InvalidArgument("the experts of '{}' follow rules and need no training", environment);
    auto all = algorithm == Algorithm::kSac ? strong_recipes(environment) : recipes(environment);
    if (all.empty())
      throw InvalidArgument("SAC trains hopper, halfcheetah, walker2d and ant, not '{}'",
                            environment);
    if (expert.empty()) return all;
    std::vector<std::string> names;
    for (const auto& recipe : all) names.push_back(recipe.expert);
    std::erase_if(all, [&](const Recipe& recipe) { return recipe.expert != expert; });
    if (all.empty())
      throw InvalidArgument("'{}' has no training of an expert '{}'; there are {}", environment,
                            expert, fmt::join(names, ", "));
    return all;
  }

  std::filesystem::path checkpoint_of(const Recipe& recipe) const {
    return std::filesystem::path(output) / (environment + "-" + recipe.expert + ".h5");
  }

  std::vector<TrainedExpert> train_one(const Recipe& recipe) {
    from_json(options->describe(), recipe.environment_options, "recipe");
    const auto made = options->make();
    ProgressBar bar;
    const Stopwatch watch;
    TrainingRun run;
    run.checkpoint = checkpoint_of(recipe);
    run.progress = [&](const CurvePoint& point, const Training& training) {
      bar.show_line(fmt::format("{}: {:.1f} of {:.1f} million steps, return {:.1f}, {:.0f} s",
                                recipe.expert, static_cast<double>(point.steps) / 1e6,
                                static_cast<double>(training.planned_steps()) / 1e6,
                                point.mean_return, watch.seconds()));
    };
    return train(recipe, *made, run);
  }

  Json write(const TrainedExpert& trained) const {
    const auto name = policy_file(environment, trained.policy->name());
    const auto path = std::filesystem::path(output) / name;
    Json record = {{"version", kVersion}, {"command", typed}};
    record.update(trained.record);
    write_text(path, trained.policy->to_bytes());
    write_text(std::filesystem::path(path).replace_extension(".json"), as_text(record, 1) + "\n");
    tell(
        trained.policy->name(),
        fmt::format("return {:.1f} ± {:.1f}, {}", record["evaluation"]["mean_return"].get<double>(),
                    record["evaluation"]["deviation"].get<double>(), path.string()));
    return {{"expert", trained.policy->name()},
            {"file", path.string()},
            {"evaluation", record["evaluation"]}};
  }
};

Algorithm named_algorithm(const std::vector<std::string>& arguments) {
  const auto at = std::ranges::find(arguments, "--algorithm");
  const bool after = at != arguments.end() && at + 1 != arguments.end() && *(at + 1) == "sac";
  const bool within = std::ranges::find(arguments, "--algorithm=sac") != arguments.end();
  return after || within ? Algorithm::kSac : Algorithm::kPpo;
}

/// What makes the same policies again: the command without where to and how fast.
std::string recorded_command(std::vector<std::string> arguments) {
  for (const auto* flag : {"-o", "--output", "--threads"})
    if (const auto at = std::ranges::find(arguments, flag); at != arguments.end())
      arguments.erase(at, std::min(at + 2, arguments.end()));
  return command_line(arguments);
}

void add_train(CLI::App& experts, const std::vector<std::string>& arguments) {
  auto* command = experts.add_subcommand("train", "Train an environment's experts with PPO or SAC");
  command->footer(
      "Examples:\n"
      "  kindred experts train extra -o my-experts\n"
      "  kindred experts train hopper --steps 2000000 --seed 3 -o my-experts\n"
      "  kindred experts train hopper --algorithm sac -o my-experts\n"
      "  kindred generate extra --weights my-experts -o extra.h5\n"
      "A training that was interrupted continues from its last checkpoint.");
  const auto state = std::make_shared<TrainCommand>();
  state->typed = recorded_command(arguments);
  state->flags_of = named_algorithm(arguments);
  command->add_option("ENV", state->environment, "The environment")->required();
  command->add_option("-o,--output", state->output, "The folder for policies and records")
      ->type_name("DIR")
      ->capture_default_str();
  state->common.add_json(*command);
  state->flags.add(*command, state->describe(), "Run");
  if (const auto name = named_environment(arguments); !name.empty()) {
    state->options_of = name;
    if (const auto all = recipes(name); !all.empty()) state->ppo = all.front().ppo;
    if (const auto all = strong_recipes(name); !all.empty()) state->sac = *all.front().sac;
    state->options = find_environment(name).make_options();
    auto table = state->options->describe();
    std::erase_if(table, [](const Option& option) { return option.name == "reward"; });
    state->flags.add(*command, table, "Environment " + name);
  }
  if (state->flags_of == Algorithm::kSac)
    state->flags.add(*command, state->sac.describe(), "SAC");
  else
    state->flags.add(*command, state->ppo.describe(), "PPO");
  state->flags.add_uniform(*command);
  state->flags.add_config(*command);
  command->callback([state] { state->run(); });
}

}  // namespace

void add_experts(CLI::App& command, const std::vector<std::string>& arguments) {
  command.require_subcommand(1);
  add_list(command);
  add_train(command, arguments);
}

}  // namespace kindred::app
