// kindred label: a run's labels written into its dataset, and taken out again.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.h"
#include "kindred/data/label_writer.h"
#include "kindred/runs/run.h"

namespace kindred::app {
namespace {

struct LabelCommand {
  std::string run_folder;
  std::string into;
  std::int64_t alternative = 1;
  bool undo = false;
  Common common;
  LabelOptions options;
  Flags flags;

  OptionTable describe() {
    return {text("into", into, "The dataset, where it is no longer where the run found it."),
            text("key", options.key, "The name to write the labels under."),
            integer("alternative", alternative, 1, 1000,
                    "Which of the run's answers to write, where several predict equally well."),
            flag("replace", options.replace,
                 "Also replace labels that were there before; --undo brings them back."),
            flag("undo", undo, "Bring the dataset back to what it was, to the last byte.")};
  }

  void run() {
    flags.apply();
    if (undo)
      take_back();
    else
      write();
  }

  void write() const {
    const RunFolder folder(run_folder);
    const auto [dataset, labels, clusters, reading] = load_labelled_dataset(
        with_alternative(load_run(folder), folder, alternative), into, "--into");
    const auto written = write_labels(reading, dataset, labels, options);
    const auto left_out = std::ranges::count(labels.labels, kNoLabel);
    say(fmt::format("{} of {} episodes labelled, {} clusters",
                    grouped(dataset.data.episodes() - left_out), grouped(dataset.data.episodes()),
                    clusters));
    Json files = Json::array();
    for (const auto& [file, what] : written) {
      tell("written to", file.string());
      tell("as", what);
      files.push_back({{"file", file.string()}, {"as", what}});
    }
    std::vector<std::string> back = {"label", run_folder};
    if (!into.empty()) back.insert(back.end(), {"--into", into});
    back.emplace_back("--undo");
    tell("take it back", command_line(back));
    emit(common, {{"path", dataset.path},
                  {"format", name_of(dataset.format)},
                  {"key", options.key},
                  {"alternative", alternative},
                  {"labelled", dataset.data.episodes() - left_out},
                  {"left_out", left_out},
                  {"k", clusters},
                  {"written", files}});
  }

  void take_back() const {
    const auto run = load_run(RunFolder(run_folder));
    const auto paths = dataset_files(run.record, into, "--into");
    Json files = Json::array();
    const auto format = format_named(run.record.dataset.at("format").get<std::string>());
    for (const auto& file : undo_labels(paths, format)) {
      tell("as it was", file.string());
      files.push_back(file.string());
    }
    emit(common, {{"path", paths[0]}, {"undone", files}});
  }
};

}  // namespace

void add_label(CLI::App& app) {
  auto* command = app.add_subcommand("label", "Write a run's labels into its dataset");
  command->footer(
      "Examples:\n"
      "  kindred label run\n"
      "  kindred label run --into copy-of-hopper.hdf5 --key operator_id\n"
      "  kindred label run --alternative 2\n"
      "  kindred label run --undo\n"
      "Where the labels go, by the format of the dataset:\n"
      "  D4RL       infos/policy_id for every step, and a CSV beside the file\n"
      "  Minari     policy_id in the metadata of every episode (tables: and a CSV)\n"
      "  robomimic  mask/policy_0, mask/policy_1, ...: filter keys\n"
      "  LeRobot    policy_id of every episode (v3: and of every step) in its own files\n"
      "  Kindred    found/policy_id; NPZ, Parquet, HDF5 by keys: a CSV beside the file\n"
      "Nothing else changes. Episodes the run left out get -1, or nothing.");
  const auto state = std::make_shared<LabelCommand>();
  command->add_option("RUN", state->run_folder, "A finished run folder")->required();
  state->common.add_json(*command);
  state->flags.add(*command, state->describe(), "Labels");
  state->flags.add_uniform(*command);
  state->flags.add_config(*command);
  command->callback([state] { state->run(); });
}

}  // namespace kindred::app
