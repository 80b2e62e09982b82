// kindred assign: labels for trajectories that were not in the run.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.h"
#include "dataset.h"
#include "kindred/core/files.h"
#include "kindred/data/csv.h"
#include "kindred/runs/run_folder.h"

namespace kindred::app {
namespace {

struct AssignCommand {
  std::string run_folder;
  std::string output;
  std::int64_t threads = 0;
  Common common;
  DatasetOptions dataset;
  Flags flags;

  OptionTable describe() {
    return {integer("threads", threads, 0, 4096, "Threads to use; 0: every core.")};
  }

  void run() {
    flags.apply();
    const LoadedRun fitted = load_run(RunFolder(run_folder));
    const Trajectories data = dataset.load();
    RunContext context;
    context.pool = std::make_shared<ThreadPool>(static_cast<int>(threads));
    const Matrix scores = fitted.centres->score(data, context);
    const auto labels = best_columns(scores);
    const auto margin = margins(scores);

    std::string csv = "episode,label,margin,fits\n";
    std::int64_t misfits = 0;
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(scores.columns), 0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto episode = static_cast<std::int64_t>(i);
      const double per =
          fitted.centres->sums_over_steps() ? static_cast<double>(data.length(episode)) : 1.0;
      const bool fits = scores(episode, labels[i]) / per >=
                        fitted.misfit_below[static_cast<std::size_t>(labels[i])];
      misfits += !fits;
      ++sizes[static_cast<std::size_t>(labels[i])];
      csv += fmt::format("{},{},{},{}\n", csv_field(data.ids[i]), labels[i], margin[i],
                         fits ? "yes" : "no");
    }
    write_text(output, csv);

    say(fmt::format("{} trajectories labelled by {} centres", grouped(scores.rows),
                    scores.columns));
    for (std::size_t c = 0; c < sizes.size(); ++c)
      tell(fmt::format("cluster {}", c), grouped(sizes[c]));
    tell("fit no centre",
         fmt::format("{}  (worse than 99.9% of the centre's own)", grouped(misfits)));
    Json json = {{"episodes", scores.rows},
                 {"k", scores.columns},
                 {"sizes", sizes},
                 {"misfits", misfits},
                 {"labels", output}};
    if (!data.labels.empty()) {
      const auto agreement = score_clustering(labels, data.labels.span());
      tell_scores(agreement, oracle_ceiling(data));
      add_scores(json, agreement);
    }
    tell("labels", output);
    emit(common, json);
  }
};

}  // namespace

void add_assign(CLI::App& app) {
  auto* command = app.add_subcommand("assign", "Label new trajectories with a run's centres");
  command->footer(
      "Examples:\n"
      "  kindred assign run new-episodes.hdf5 -o labels.csv\n"
      "The column 'fits' is 'no' for trajectories that none of the centres explains.");
  const auto state = std::make_shared<AssignCommand>();
  command->add_option("RUN", state->run_folder, "A finished run folder")->required();
  command->add_option("FILE", state->dataset.data, "The dataset to label")->required();
  command->add_option("-o,--output", state->output, "The CSV file to write")
      ->required()
      ->type_name("CSV");
  state->common.add_json(*command);
  state->flags.add(*command, state->describe(), "Run");
  state->flags.add(*command, state->dataset.describe_reading(), "Reading");
  state->flags.add(*command, state->dataset.describe_selection(), "Selection");
  state->flags.add(*command, state->dataset.describe_truth(), "Truth");
  state->flags.add_uniform(*command);
  state->flags.add_config(*command);
  command->callback([state] { state->run(); });
}

}  // namespace kindred::app
