// kindred evaluate: what the policies behind a run's clusters can do.
#include "kindred/findings/evaluate.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"
#include "kindred/envs/registry.h"
#include "kindred/runs/memory.h"
#include "kindred/runs/run.h"
#include "progress_bar.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

struct EvaluateCommand {
  std::string run_folder;
  std::string data;
  std::string environment;
  std::int64_t threads = 0;
  Common common;
  EvaluateOptions evaluate;
  MemoryOptions limit;
  std::unique_ptr<EnvironmentOptions> environment_options;
  Flags flags;

  OptionTable describe() {
    return {text("data", data, "The dataset the run was made from, where it was moved."),
            text("env", environment,
                 "The environment to act in; by default the one the data was generated in."),
            integer("threads", threads, 0, 4096, "Threads to use; 0: every core.")};
  }

  std::unique_ptr<Environment> make_environment(const Trajectories& loaded) const {
    if (environment_options) return environment_options->make();
    if (!environment.empty()) return kindred::make_environment(environment);
    const auto& provenance = loaded.provenance;
    if (!provenance.contains("environment"))
      throw InvalidArgument(
          "the data does not say which environment it comes from; name one with --env (see "
          "'kindred envs')");
    return kindred::make_environment(provenance.at("environment").get<std::string>(),
                                     provenance.at("options"));
  }

  void run() {
    flags.apply();
    const Stopwatch clock;
    const RunFolder folder(run_folder);
    const LoadedRun fitted = load_run(folder);
    const auto memory = limit.promise(run_folder);
    const Trajectories loaded = load_dataset(fitted.record, data);
    const auto acted_in = make_environment(loaded);
    Evaluation result = [&] {
      ProgressBar bar;
      RunContext context;
      context.progress = [&bar](const Progress& progress) { bar.show(progress); };
      context.pool = std::make_shared<ThreadPool>(static_cast<int>(threads));
      context.stop_requested = stop_requested;
      catch_stop_signals();
      return kept(memory, [&] {
        return kindred::evaluate(fitted, loaded, *acted_in, evaluate, within(memory, context));
      });
    }();

    Json json = {{"run", fs::absolute(run_folder).lexically_normal().string()},
                 {"method", fitted.record.method},
                 {"options", to_json(result.options.describe())}};
    json.update(to_json(result));
    json["seconds"] = clock.seconds();
    save_evaluation(folder, result, json);
    tell_result(fitted, result, folder);
    emit(common, json);
  }

  void tell_result(const LoadedRun& fitted, const Evaluation& result,
                   const RunFolder& folder) const {
    say(fmt::format("{}: {} of {}, {} each in {}", fitted.record.method,
                    counted(std::ssize(result.clusters), "cluster", "clusters"),
                    counted(std::ssize(fitted.labels), "trajectory", "trajectories"),
                    counted(evaluate.episodes, "episode", "episodes"), result.environment));
    say(fmt::format("Policies: {}.", result.origin));
    say("");
    say("                  in the data            acting");
    say("  policy          episodes   return      return ± sd          steps   score");
    for (const auto& row : result.clusters) tell_row(row);
    for (const auto& row : result.references) tell_row(row);
    say("");
    if (result.pick) tell_pick(*result.pick);
    tell("acting", evaluate.deterministic ? "by the mean or most likely action"
                                          : "by an action drawn at random");
    tell("record", folder.evaluation().string());
    tell("policies", folder.policies().string());
  }

  static void tell_row(const PolicyResult& row) {
    double steps = 0.0;
    for (const auto length : row.lengths) steps += static_cast<double>(length);
    say(fmt::format("  {:<14} {:>9} {:>8}  {:>10} ± {:<10} {:>6.0f}  {:>6}", row.name,
                    grouped(row.source_episodes), rounded(row.source_return),
                    rounded(row.mean_return), rounded(row.deviation),
                    steps / static_cast<double>(row.lengths.size()),
                    row.score ? fmt::format("{:.1f}", *row.score) : "-"));
  }

  static void tell_pick(const Pick& pick) {
    const auto chosen = static_cast<std::size_t>(pick.cluster);
    std::int64_t seen = 0;
    for (const auto n : pick.labelled) seen += n;
    tell("pick", fmt::format("cluster {}, mean {} in {} of {} labelled episodes", pick.cluster,
                             rounded(pick.mean_return[chosen]), grouped(pick.labelled[chosen]),
                             grouped(seen)));
  }
};

}  // namespace

void add_evaluate(CLI::App& command, const std::vector<std::string>& arguments) {
  command.footer(
      "Examples:\n"
      "  kindred evaluate hopper-run --env hopper\n"
      "  kindred evaluate hopper-run --env hopper --continue 0 --no-deterministic\n"
      "  kindred evaluate diagonal-run --best 0 --labelled 0\n"
      "Beside the clusters' policies act two clones: of all episodes, and of the best.\n"
      "--weighted adds one of all, weighted by the posterior of the picked cluster.\n"
      "A score is 100 (R - low) / (high - low) between the environment's reference\n"
      "returns.\n"
      "Options of an environment: kindred evaluate RUN --env hopper --help");
  const auto state = std::make_shared<EvaluateCommand>();
  command.add_option("RUN", state->run_folder, "A finished run folder")->required();
  state->common.add_json(command);
  state->flags.add(command, state->evaluate.describe(), "Evaluation");
  state->flags.add(command, state->describe(), "Run");
  state->flags.add(command, state->limit.describe(), "Memory");
  const bool is_evaluate = !arguments.empty() && arguments.front() == "evaluate";
  if (const auto name = typed_value(arguments, "--env"); is_evaluate && !name.empty()) {
    state->environment_options = find_environment(name).make_options();
    state->flags.add(command, state->environment_options->describe(), "Environment " + name);
  }
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
