// kindred score: how well a finished run predicts, and how well it agrees with the truth.
#include <memory>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/runs/scores.h"

namespace kindred::app {
namespace {

struct ScoreCommand {
  std::string run_folder;
  std::string truth;
  TruthColumns columns;
  Common common;
  Flags flags;

  void run() {
    flags.apply();
    const LoadedRun fitted = load_run(RunFolder(run_folder));
    Json json = {{"method", fitted.record.method},
                 {"k", fitted.centres->count()},
                 {"episodes", fitted.labels.size()}};
    say(fmt::format("{}: {}", run_folder, fitted.record.method));
    const auto& result = fitted.record.result;
    if (truth.empty() && !result.contains("nmi") && !result.contains("v"))
      throw InvalidArgument("the run in '{}' was made without true labels; give --truth CSV",
                            run_folder);
    if (result.contains("v_of_one")) {
      tell("held-out V", fmt::format("{:.4f}; of one policy {:.4f}", result["v"].get<double>(),
                                     result["v_of_one"].get<double>()));
      tell("gain", fmt::format("{:.4f} ± {:.4f} nats per step, on {} trajectories",
                               result["v_gain"].get<double>(), result["v_gain_error"].get<double>(),
                               grouped(result["v_judged"].get<std::int64_t>())));
    }
    for (const char* key : {"v", "v_of_one", "v_gain", "v_gain_error", "v_judged"})
      if (result.contains(key)) json[key] = result[key];
    if (truth.empty() && result.contains("nmi")) {
      for (const char* key :
           {"nmi", "ari", "accuracy", "purity", "homogeneity", "completeness", "ami", "chance_nmi"})
        if (result.contains(key)) json[key] = result[key];  // old runs have no AMI
      tell_recorded_scores(fitted.record.result);
    } else if (!truth.empty()) {
      const auto scores = score_run(fitted, truth, columns);
      add_scores(json, scores);
      tell_scores(scores, std::nullopt);
    }
    if (fitted.record.result.contains("ceiling")) json["ceiling"] = fitted.record.result["ceiling"];
    emit(common, json);
  }
};

}  // namespace

void add_score(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred score run --truth hopper.labels.csv\n"
      "  kindred score run --json");
  const auto state = std::make_shared<ScoreCommand>();
  command.add_option("RUN", state->run_folder, "A finished run folder")->required();
  command.add_option("--truth", state->truth, "CSV of episode and label; else the dataset's own")
      ->type_name("CSV");
  command.add_option("--truth-column", state->columns.label, "Its column with the true policies");
  command.add_option("--truth-episode-column", state->columns.episode,
                     "Its column that names the episodes");
  state->common.add_json(command);
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
