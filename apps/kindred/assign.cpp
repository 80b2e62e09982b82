// kindred assign: labels for trajectories that were not in the run.
#include "kindred/runs/assign.h"

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "kindred/runs/scores.h"

namespace kindred::app {
namespace {

/// Which trajectories are said to fit none.
std::string misfit_rule(const LoadedRun& fitted, double false_alarms) {
  if (!fitted.calibration)
    return "worse than 99.9% of the centre's own, to which it was fitted; runs made now say more";
  return fmt::format("worse than {:g}% of the run's own, {}", 100.0 * (1.0 - false_alarms),
                     fitted.calibration->held_out ? "each judged by policies that had not seen it"
                                                  : "to which the centres were fitted");
}

struct AssignCommand {
  std::string run_folder;
  std::string output;
  std::int64_t threads = 0;
  double false_alarms = kFalseAlarms;
  Common common;
  DatasetOptions dataset;
  Flags flags;

  OptionTable describe() {
    return {integer("threads", threads, 0, 4096, "Threads to use; 0: every core."),
            real("false-alarms", false_alarms, 0.0, 1.0,
                 "The share of known policies' trajectories that may be said to fit none.")};
  }

  void run() {
    flags.apply();
    const LoadedRun fitted = load_run(RunFolder(run_folder));
    find_datasets(dataset.files);
    RunContext context;
    context.pool = std::make_shared<ThreadPool>(static_cast<int>(threads));
    dataset.read.pool = context.pool;
    if (dataset.limit.scratch.empty()) dataset.limit.scratch = folder_of(output);
    const Dataset loaded = dataset.load();
    const Trajectories& data = loaded.data;
    const Assignment found = assign(fitted, data, false_alarms, context);
    write_assignment(output, data, found);

    say(fmt::format("{} labelled by {}", counted(data.episodes(), "trajectory", "trajectories"),
                    counted(std::ssize(found.sizes), "centre", "centres")));
    for (std::size_t c = 0; c < found.sizes.size(); ++c)
      tell(fmt::format("cluster {}", c), grouped(found.sizes[c]));
    tell("fit no centre",
         fmt::format("{}  ({})", grouped(found.misfits()), misfit_rule(fitted, false_alarms)));
    Json json = {{"episodes", data.episodes()},
                 {"k", found.sizes.size()},
                 {"sizes", found.sizes},
                 {"misfits", found.misfits()},
                 {"labels", output}};
    if (fitted.calibration) {
      json["false_alarms"] = false_alarms;
      json["held_out"] = fitted.calibration->held_out;
      json["temperature"] = fitted.calibration->temperature;
    }
    if (!data.labels.empty()) {
      const auto known = where_known(found.labels, data.labels.span());
      const auto scores = score_clustering(known.found, known.truth);
      tell_scores(scores, oracle_nmi(data));
      add_scores(json, scores);
    }
    tell("labels", output);
    emit(common, json);
  }
};

}  // namespace

void add_assign(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred assign run new-episodes.hdf5 -o labels.csv\n"
      "Columns of the CSV file:\n"
      "  label      the centre that explains the trajectory best\n"
      "  margin     its score less that of the next best\n"
      "  fits       'no' where misfit is below --false-alarms: perhaps a policy made it\n"
      "             that was not in the run\n"
      "  posterior  how likely the label is if one of the centres made the trajectory\n"
      "  surprise   how much worse it fits than the centre's own would, in deviations;\n"
      "             ranks also what lies beyond everything in the run\n"
      "  misfit     the share of the run's own trajectories that fit as badly\n"
      "  p0, p1, …  the posterior of every centre");
  const auto state = std::make_shared<AssignCommand>();
  command.add_option("RUN", state->run_folder, "A finished run folder")->required();
  command.add_option("FILE", state->dataset.files, "The dataset to label, in one file or several")
      ->required();
  command.add_option("-o,--output", state->output, "The CSV file to write")
      ->required()
      ->type_name("CSV");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Run");
  state->flags.add(command, state->dataset.describe_reading(), "Reading");
  state->flags.add(command, state->dataset.describe_selection(), "Selection");
  state->flags.add(command, state->dataset.describe_truth(), "Truth");
  state->flags.add(command, state->dataset.describe_memory(), "Memory");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
