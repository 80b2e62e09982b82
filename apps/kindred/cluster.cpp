// kindred cluster: from a dataset to a run folder.
#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>

#include "command.h"
#include "dataset.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/parallel.h"
#include "kindred/core/resources.h"
#include "kindred/core/version.h"
#include "kindred/methods/method.h"
#include "kindred/nn/device.h"
#include "kindred/runs/run_folder.h"
#include "progress_bar.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

struct ClusterCommand {
  std::vector<std::string> arguments;
  std::string positional;
  std::string output;
  std::string method = "pg-kmeans";
  std::string device = "cpu";
  std::int64_t threads = 0;
  bool resume = false;
  Common common;
  DatasetOptions dataset;
  std::unique_ptr<ConfiguredMethod> configured;
  Flags flags;

  OptionTable describe() {
    return {text("data", dataset.data, "The dataset, when no FILE is given."),
            text("method", method, "The method; see 'kindred methods'."),
            integer("threads", threads, 0, 4096, "Threads to use; 0: every core."),
            text("device", device, "cpu or cuda.")};
  }

  /// A folder that is new, empty, or an earlier run, which this one replaces.
  void prepare(const RunFolder& folder) const {
    std::error_code error;
    if (fs::exists(folder.path()) && !fs::is_directory(folder.path()))
      throw InvalidArgument("'{}' is a file; -o names a folder for the run", output);
    const bool is_run = fs::exists(folder.record()) || fs::exists(folder.config());
    if (!is_run && fs::exists(folder.path()) && !fs::is_empty(folder.path(), error))
      throw InvalidArgument("'{}' holds other files and no run; choose another folder", output);
    fs::create_directories(folder.path(), error);
    if (error) throw IoError("cannot make the folder '{}': {}", output, error.message());
    // Without its record an old run no longer counts as one, and its evaluation means nothing.
    for (const auto& file : {folder.record(), folder.evaluation(), folder.policies()})
      fs::remove(file, error);
    if (!resume) fs::remove(folder.state(), error);
    write_text(folder.config(), flags.toml());
  }

  RunContext context(const RunFolder& folder, ProgressBar& bar) const {
    RunContext run;
    run.progress = [&bar](const Progress& progress) { bar.show(progress); };
    run.stop_requested = interrupted;
    run.checkpoint = folder.state();
    run.resume = resume;
    run.data_name = dataset.data;
    run.threads = resolve_threads(static_cast<int>(threads));
    run.device = device;
    return run;
  }

  void run() {
    flags.apply();
    if (!positional.empty()) dataset.data = positional;
    require_device(device);
    const auto started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    const Trajectories data = dataset.load();
    configured->check(data);
    if (output.empty()) output = fs::path(dataset.data).stem().string() + "-" + method + "-run";
    const RunFolder folder(output);
    if (resume && fs::exists(folder.record())) {
      say(fmt::format("The run in '{}' is complete; there is nothing to resume.", output));
      emit(common, result_json(RunRecord::read(folder.record())));
      return;
    }
    prepare(folder);

    catch_interrupt();
    Clustering clustering = [&] {
      ProgressBar bar;
      return configured->fit(data, context(folder, bar));
    }();
    if (clustering.stopped) {
      say(fmt::format("Stopped after round {}; everything so far is saved. Go on with:\n  {}{}",
                      clustering.timings["rounds"].dump(), command_line(arguments),
                      resume ? "" : " --resume"));
      throw Exit{kInterrupted};
    }

    RunRecord record;
    record.version = kVersion;
    record.command = command_line(arguments);
    record.started = started;
    record.dataset = describe_dataset(data, fs::absolute(dataset.data).lexically_normal().string());
    record.dataset["fingerprint"] = fingerprint_of(data);
    record.dataset["provenance"] = data.provenance;
    describe_clustering(clustering, record);
    record.machine = {{"device", device},
                      {"threads", resolve_threads(static_cast<int>(threads))},
                      {"peak_rss_mb", peak_rss_mb()}};
    const auto ceiling = oracle_ceiling(data);
    std::optional<ClusteringScores> scores;
    if (!data.labels.empty()) {
      scores = score_clustering(clustering.labels, data.labels.span());
      add_scores(record.result, *scores);
    }
    record.result["ceiling"] = ceiling ? Json(*ceiling) : Json(nullptr);
    save_run(folder, data, clustering, record);
    std::error_code error;
    fs::remove(folder.state(), error);
    tell_result(clustering, record, scores, ceiling, folder);
    emit(common, result_json(record));
  }

  void tell_result(const Clustering& clustering, const RunRecord& record,
                   const std::optional<ClusteringScores>& scores,
                   const std::optional<double>& ceiling, const RunFolder& folder) const {
    const auto& result = record.result;
    say(fmt::format("{}: {} trajectories in {} clusters", record.method,
                    grouped(static_cast<std::int64_t>(clustering.labels.size())), clustering.k()));
    tell("sizes", fmt::format("{}", fmt::join(result["sizes"].get<std::vector<int>>(), " ")));
    tell("objective J",
         fmt::format("{:.7g}{}", clustering.objective,
                     result["objective_before_merge"] == result["objective"]
                         ? ""
                         : fmt::format("  (before merging {:.7g})",
                                       result["objective_before_merge"].get<double>())));
    tell("rounds", fmt::format("{}{}", clustering.iterations,
                               clustering.converged ? ", converged" : ", not converged"));
    tell("restarts", agreement_sentence(result["agreement"], record.restarts.size()));
    if (scores) tell_scores(*scores, ceiling);
    tell("seconds", fmt::format("{:.1f}", clustering.seconds));
    if (record.timings.contains("padded_steps")) {
      const double padded = record.timings["padded_steps"];
      tell("padded work",
           fmt::format("{:.1f} % of the training steps",
                       100.0 * padded / (padded + record.timings["training_steps"].get<double>())));
    }
    tell("peak memory", fmt::format("{:.0f} MB", record.machine["peak_rss_mb"].get<double>()));
    tell("run folder", folder.path().string());
    for (const auto& file : {folder.labels(), folder.record(), folder.scores(), folder.centres(),
                             folder.trace(), folder.config()})
      tell("", file.string());
  }

  static std::string agreement_sentence(const Json& agreement, std::size_t restarts) {
    const std::string verdict = agreement["verdict"];
    const auto good = agreement["good_restarts"].get<std::int64_t>();
    if (verdict == "single") return "1; more restarts would show whether the answer is unique";
    if (verdict == "unstable")
      return fmt::format("{}; no other came near the best J, and few agree: try more", restarts);
    if (verdict == "unique" && good == 1)
      return fmt::format("{}; {} of them give these labels (least NMI between two {:.3f})",
                         restarts, agreement["same_restarts"].get<std::int64_t>(),
                         agreement["least_nmi"].get<double>());
    if (verdict == "unique")
      return fmt::format("{}; the {} best agree (least NMI between two {:.3f})", restarts, good,
                         agreement["least_nmi"].get<double>());
    return fmt::format(
        "{}; the {} best DIFFER (least NMI between two {:.3f}): several answers "
        "explain the data about equally well",
        restarts, good, agreement["least_nmi"].get<double>());
  }

  static Json result_json(const RunRecord& record) {
    Json json = {{"method", record.method},
                 {"k", record.result["k"]},
                 {"episodes", record.dataset["episodes"]},
                 {"objective", record.result["objective"]},
                 {"rounds", record.result["rounds"]},
                 {"converged", record.result["converged"]},
                 {"seconds", record.timings["fit"]},
                 {"peak_rss_mb", record.machine["peak_rss_mb"]}};
    for (const char* key : {"nmi", "ari", "accuracy", "purity", "ceiling", "sizes",
                            "objective_before_merge", "best_restart"})
      if (record.result.contains(key)) json[key] = record.result[key];
    json["agreement"] = record.result["agreement"]["verdict"];
    return json;
  }
};

/// The method named on the command line or in its config file: its options become flags.
std::string named_method(const std::vector<std::string>& arguments) {
  if (const auto method = typed_value(arguments, "--method"); !method.empty()) return method;
  const auto config = typed_value(arguments, "--config");
  if (!config.empty() && fs::exists(config)) {
    try {
      for (const auto& item : CLI::ConfigTOML().from_file(config))
        if (item.name == "method" && !item.inputs.empty()) return item.inputs.front();
    } catch (const CLI::Error&) {  // said properly when the file is read for its options
    }
  }
  return "pg-kmeans";
}

}  // namespace

void add_cluster(CLI::App& app, const std::vector<std::string>& arguments) {
  auto* command = app.add_subcommand("cluster", "Group trajectories by the policy behind them");
  command->footer(
      "Examples:\n"
      "  kindred cluster hopper.hdf5 -k 4 --merge-to 2 -o hopper-run\n"
      "  kindred cluster diagonal.h5 -k 7 --merge-to 5 --restarts 5 --seed 1 -o run\n"
      "  kindred cluster halfcheetah.hdf5 -k 2 --truth-return-change --json\n"
      "  kindred cluster --config run/config.toml --seed 2 -o run2\n"
      "Ctrl-C finishes the round and saves; the same command with --resume goes on.\n"
      "Options of another method: kindred cluster --method return-kmeans --help");
  const auto state = std::make_shared<ClusterCommand>();
  state->arguments = arguments;
  command->add_option("FILE", state->positional,
                      "A D4RL, Minari, robomimic, NPZ or Kindred dataset");
  command->add_option("-o,--output", state->output, "The run folder to make")->type_name("RUN");
  command->add_flag("--resume", state->resume, "Go on with an interrupted run in the same folder");
  state->common.add_json(*command);
  state->flags.add_config(*command);

  const auto asked = named_method(arguments);
  const bool is_cluster = !arguments.empty() && arguments.front() == "cluster";
  state->method = is_cluster ? find_method(asked).name : "pg-kmeans";
  state->configured = find_method(state->method).make();
  state->flags.add(*command, state->describe(), "Run");
  state->flags.add(*command, state->configured->describe(), "Method " + state->method);
  state->flags.add(*command, state->dataset.describe_reading(), "Reading");
  state->flags.add(*command, state->dataset.describe_selection(), "Selection");
  state->flags.add(*command, state->dataset.describe_truth(), "Truth");
  state->flags.add_uniform(*command);
  command->callback([state] { state->run(); });
}

}  // namespace kindred::app
