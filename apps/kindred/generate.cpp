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
#include "kindred/experts/mixture.h"
#include "kindred/experts/recipes.h"
#include "kindred/experts/rollout.h"
#include "kindred/runs/dataset.h"
#include "kindred/runs/scores.h"
#include "progress_bar.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

constexpr std::int64_t kPerPolicy = 100;  // episodes, in a mixture: those of MuJoCo are long

/// What a dataset's flags depend on.
std::string kind_of(const DatasetName& name) {
  return name.environment + (name.mixture ? "-mixture" : "");
}

struct GenerateCommand {
  std::string environment;
  std::string output;
  std::string format = "kindred";
  std::string experts;
  std::string weights;
  std::int64_t threads = 0;
  Common common;
  GenerateOptions generate;
  MixtureOptions mixture;
  std::string options_of;  ///< The kind of dataset that `options` are made for.
  std::unique_ptr<EnvironmentOptions> options;
  Flags flags;

  OptionTable describe() {
    return {text("experts", experts, "Which experts, as in 'medium,expert'; all of them if empty."),
            text("weights", weights, "Folder of policies made by 'kindred experts train'."),
            text("format", format, "Format of the file: kindred, d4rl, minari, robomimic or npz."),
            integer("threads", threads, 0, 4096, "Threads to use; 0: every core.")};
  }

  OptionTable describe_mixture() {
    auto table = mixture.describe();
    table.insert(table.begin() + 1, integer("per-policy", generate.per_expert, 1, 100'000'000,
                                            "Episodes of each policy; the same as --per-expert."));
    return table;
  }

  void draw_policies(const DatasetName& name) {
    if (!weights.empty())
      throw InvalidArgument("a mixture is of the program's own policies; leave out --weights");
    if (!experts.empty() && mixture.policies > 0)
      throw InvalidArgument("--experts says which policies; leave out --policies");
    if (experts.empty()) experts = draw_mixture(name.environment, mixture.policies, generate.seed);
  }

  void run() {
    const auto name = parse_dataset_name(environment);
    const auto& info = find_environment(name.environment);
    check_named(kind_of(name), options_of);
    flags.apply();
    if (!name.experts.empty() && !experts.empty())
      throw InvalidArgument("'{}' names its experts already; leave out --experts", environment);
    if (experts.empty()) experts = name.experts;
    if (name.mixture) draw_policies(name);
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
    const auto policies =
        weights.empty() ? make_experts(*made, experts) : load_experts(*made, weights, experts);
    const auto data = name.mixture ? generate_mixture(*made, policies, mixture, generate)
                                   : kindred::generate(*made, policies, generate);
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

void add_generate(CLI::App& command, const std::vector<std::string>& arguments) {
  command.footer(
      "Examples:\n"
      "  kindred generate diagonal -o diagonal.h5\n"
      "  kindred generate takeball --per-expert 5000 --slip 0.1 --seed 7 -o takeball.h5\n"
      "  kindred generate hopper-medium-expert --steps 1000000 --format d4rl -o h.hdf5\n"
      "  kindred generate hopper-mixture --policies 6 --per-policy 20 -o mix.h5\n"
      "  kindred generate hopper-medium-expert --switch once -o taken-over.h5\n"
      "Environments: kindred envs. Options of one: kindred generate takeball --help\n"
      "Policies that can be mixed: kindred experts list. Options of a mixture:\n"
      "kindred generate hopper-mixture --help");
  const auto state = std::make_shared<GenerateCommand>();
  command.add_option("ENV", state->environment, "An environment; hopper-medium-expert, -mixture")
      ->required();
  command.add_option("-o,--output", state->output, "The file to write")
      ->required()
      ->type_name("FILE");
  state->common.add_json(command);
  const auto name = named_dataset(arguments);
  if (name.mixture) state->generate.per_expert = kPerPolicy;
  state->flags.add(command, state->generate.describe(), "Dataset");
  if (name.mixture) state->flags.add(command, state->describe_mixture(), "Mixture");
  state->flags.add(command, state->describe(), "Output");
  if (!name.environment.empty()) {
    state->options_of = kind_of(name);
    state->options = find_environment(name.environment).make_options();
    state->flags.add(command, state->options->describe(), "Environment " + name.environment);
  }
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
