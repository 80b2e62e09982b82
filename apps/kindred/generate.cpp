// kindred generate: a labelled dataset from an environment's experts.
#include <cmath>
#include <memory>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/core/resources.h"
#include "kindred/core/stopwatch.h"
#include "kindred/data/formats.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/recipes.h"
#include "kindred/experts/rollout.h"
#include "kindred/runs/dataset.h"
#include "kindred/runs/scores.h"
#include "progress_bar.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

struct GenerateCommand {
  std::string environment;
  std::string output;
  std::string format = "kindred";
  std::string experts;
  std::string weights;
  std::int64_t threads = 0;
  Common common;
  GenerateOptions generate;
  std::string options_of;  ///< The environment that `options` are made for.
  std::unique_ptr<EnvironmentOptions> options;
  Flags flags;

  OptionTable describe() {
    return {text("experts", experts, "Which experts, as in 'medium,expert'; all of them if empty."),
            text("weights", weights, "Folder of policies made by 'kindred experts train'."),
            text("format", format, "Format of the file: kindred, d4rl, minari, robomimic or npz."),
            integer("threads", threads, 0, 4096, "Threads to use; 0: every core.")};
  }

  void run() {
    const auto name = parse_dataset_name(environment);
    const auto& info = find_environment(name.environment);
    check_named(info.name, options_of);
    flags.apply();
    if (!name.experts.empty() && !experts.empty())
      throw InvalidArgument("'{}' names its experts already; leave out --experts", environment);
    if (experts.empty()) experts = name.experts;
    const auto file_format = format_named(format);
    if (file_format == Format::kAuto)
      throw InvalidArgument("a new file needs a format: kindred, d4rl, minari, robomimic or npz");
    generate.workers = Workers(static_cast<int>(threads));
    generate.workers.stop_requested = stop_requested;
    catch_stop_signals();
    ProgressBar bar;
    generate.progress = [&](double share) { bar.show_share("generating", share); };
    const Stopwatch watch;
    const auto made = options->make();
    const auto policies = weights.empty() ? select_experts(make_experts(*made), experts)
                                          : load_experts(*made, weights, experts);
    const auto data = kindred::generate(*made, policies, generate);
    const double seconds = watch.seconds();
    bar.clear();
    write_trajectories(data, output, file_format);

    const auto ceiling = oracle_nmi(data);
    say(fmt::format("{}: {}", info.name, info.summary));
    tell("episodes", grouped(data.episodes()));
    tell("steps", grouped(data.steps()));
    if (data.observations.is_interned())
      tell("distinct", grouped(data.observations.distinct()) + " observations");
    for (std::size_t i = 0; i < policies.size(); ++i)
      tell(i == 0 ? "experts" : "", policies[i]->name() + ": " + policies[i]->summary());
    if (ceiling) tell("oracle", fmt::format("NMI {:.4f}", *ceiling));
    tell("generated in",
         fmt::format("{:.2f} s, {} steps/s", seconds,
                     grouped(std::lround(static_cast<double>(data.steps()) / seconds))));
    tell("file", output);

    Json json = Dataset{output, file_format, data}.describe();
    json["environment"] = info.name;
    json["seed"] = generate.seed;
    json["ceiling"] = ceiling ? Json(*ceiling) : Json(nullptr);
    json["seconds"] = seconds;
    json["peak_rss_mb"] = peak_rss_mb();
    emit(common, json);
  }
};

}  // namespace

void add_generate(CLI::App& app, const std::vector<std::string>& arguments) {
  auto* command = app.add_subcommand("generate", "Make a labelled dataset from known policies");
  command->footer(
      "Examples:\n"
      "  kindred generate diagonal -o diagonal.h5\n"
      "  kindred generate takeball --per-expert 5000 --slip 0.1 --seed 7 -o takeball.h5\n"
      "  kindred generate hopper-medium-expert --steps 1000000 --format d4rl -o hopper.hdf5\n"
      "Environments: kindred envs. Options of one: kindred generate takeball --help");
  const auto state = std::make_shared<GenerateCommand>();
  command
      ->add_option("ENV", state->environment,
                   "The environment, or one with its experts: hopper-medium-expert")
      ->required();
  command->add_option("-o,--output", state->output, "The file to write")
      ->required()
      ->type_name("FILE");
  state->common.add_json(*command);
  state->flags.add(*command, state->generate.describe(), "Dataset");
  state->flags.add(*command, state->describe(), "Output");
  if (const auto name = named_environment(arguments); !name.empty()) {
    state->options_of = name;
    state->options = find_environment(name).make_options();
    state->flags.add(*command, state->options->describe(), "Environment " + name);
  }
  state->flags.add_uniform(*command);
  state->flags.add_config(*command);
  command->callback([state] { state->run(); });
}

}  // namespace kindred::app
