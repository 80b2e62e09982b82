// kindred label: a run's labels, or segments, written into their dataset, and taken out again.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.h"
#include "kindred/data/label_writer.h"
#include "kindred/runs/memory.h"
#include "kindred/runs/run.h"
#include "kindred/runs/segments.h"

namespace kindred::app {
namespace {

struct LabelCommand {
  std::string run_folder;
  std::string into;
  std::int64_t alternative = 1;
  bool undo = false;
  Common common;
  LabelOptions options;
  MemoryOptions limit;
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

  LabelledDataset load() const {
    if (holds_segments(run_folder))
      return load_labelled_dataset(load_segments(SegmentFolder(run_folder)), into, "--into");
    const RunFolder folder(run_folder);
    return load_labelled_dataset(with_alternative(load_run(folder), folder, alternative), into,
                                 "--into");
  }

  void write() const {
    const auto memory = limit.promise(run_folder);
    const auto [dataset, labels, clusters, reading] = load();
    require_kept(memory);
    const auto written = write_labels(reading, dataset, labels, options);
    const bool by_step = !labels.steps.empty();
    const auto all = by_step ? dataset.data.steps() : dataset.data.episodes();
    const auto left_out = std::ranges::count(by_step ? labels.steps : labels.labels, kNoLabel);
    say(fmt::format("{} of {} {} labelled, {} {}", grouped(all - left_out), grouped(all),
                    by_step ? "steps" : "episodes", clusters, by_step ? "policies" : "clusters"));
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
                  {"of", by_step ? "steps" : "episodes"},
                  {"labelled", all - left_out},
                  {"left_out", left_out},
                  {"k", clusters},
                  {"written", files}});
  }

  void take_back() const {
    const auto record = holds_segments(run_folder)
                            ? dataset_record(load_segments(SegmentFolder(run_folder)))
                            : load_run(RunFolder(run_folder)).record;
    const auto paths = dataset_files(record, into, "--into");
    Json files = Json::array();
    const auto format = format_named(record.dataset.at("format").get<std::string>());
    for (const auto& file : undo_labels(paths, format)) {
      tell("as it was", file.string());
      files.push_back(file.string());
    }
    emit(common, {{"path", paths[0]}, {"undone", files}});
  }
};

}  // namespace

void add_label(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred label run\n"
      "  kindred label run --into copy-of-hopper.hdf5 --key operator_id\n"
      "  kindred label run --alternative 2\n"
      "  kindred label run --undo\n"
      "  kindred label hopper-segments\n"
      "Where the labels go, by the format of the dataset:\n"
      "  D4RL       infos/policy_id for every step, and a CSV beside the file\n"
      "  Minari     policy_id in the metadata of every episode (tables: and a CSV)\n"
      "  robomimic  mask/policy_0, mask/policy_1, ...: filter keys\n"
      "  LeRobot    policy_id of every episode (v3: and of every step) in its own files\n"
      "  Kindred    found/policy_id; NPZ, Parquet, HDF5 by keys: a CSV beside the file\n"
      "Nothing else changes. Episodes the run left out get -1, or nothing.\n"
      "Of a folder that 'kindred segment' made, every step gets who acts in it: D4RL\n"
      "and LeRobot v3 in the same places, Minari in infos/policy_id of each episode,\n"
      "robomimic in data/demo_0/policy_id, ..., Kindred in found/policy_id_steps; the\n"
      "CSV, where there is one, then has a line per segment.");
  const auto state = std::make_shared<LabelCommand>();
  command.add_option("RUN", state->run_folder, "A finished run folder, or one with segments")
      ->required();
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Labels");
  state->flags.add(command, state->limit.describe(), "Memory");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
