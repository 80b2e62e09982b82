// kindred convert: a Kindred file of a dataset in any format, written block by block.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "kindred/core/resources.h"
#include "kindred/core/stopwatch.h"
#include "kindred/core/workers.h"
#include "kindred/data/formats.h"
#include "kindred/runs/dataset.h"
#include "progress_bar.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

struct ConvertCommand {
  std::string output;
  std::int64_t threads = 0;
  Common common;
  DatasetOptions dataset;
  Flags flags;

  OptionTable describe() {
    return {integer("threads", threads, 0, 4096, "Threads that unpack; 0: every core.")};
  }

  void run() {
    flags.apply();
    find_datasets(dataset.files);
    dataset.read.pool = std::make_shared<ThreadPool>(static_cast<int>(threads));
    if (dataset.limit.scratch.empty()) dataset.limit.scratch = folder_of(output);
    catch_stop_signals();
    const Stopwatch clock;
    ProgressBar bar;
    bar.show_line("reading");
    const Dataset loaded = dataset.load();
    write_trajectories(loaded.data, output, Format::kKindred, [&](double share) {
      if (stop_requested()) throw Interrupted();
      bar.show_share("writing", share);
    });
    bar.clear();
    require_kept(loaded.memory);
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(output));
    say(fmt::format("{} of {} as a Kindred file",
                    counted(loaded.data.episodes(), "episode", "episodes"),
                    fmt::join(dataset.files, " ")));
    tell("steps", grouped(loaded.data.steps()));
    tell("size", size_words(bytes));
    tell("seconds", fmt::format("{:.1f}", clock.seconds()));
    tell("peak memory", fmt::format("{:.0f} MB", peak_rss_mb()));
    tell("file", output);
    emit(common, {{"file", output},
                  {"from", name_of(loaded.format)},
                  {"episodes", loaded.data.episodes()},
                  {"steps", loaded.data.steps()},
                  {"bytes", bytes},
                  {"seconds", clock.seconds()},
                  {"peak_rss_mb", peak_rss_mb()}});
  }
};

}  // namespace

void add_convert(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred convert hopper.hdf5 -o hopper.h5\n"
      "  kindred convert part-*.hdf5 -o all.h5 --memory 2GB --scratch /data/tmp\n"
      "  kindred convert ~/.cache/huggingface/lerobot/lerobot/pusht -o pusht.h5\n"
      "Steps, true policies and names are kept. Such a file is mapped, not read: every\n"
      "command starts at once, and with --memory needs no scratch files.");
  const auto state = std::make_shared<ConvertCommand>();
  command.add_option("FILE", state->dataset.files, kDatasetHelp)->required();
  command.add_option("-o,--output", state->output, "The file to write")
      ->required()
      ->type_name("FILE");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Run");
  state->flags.add(command, state->dataset.describe_memory(), "Memory");
  state->flags.add(command, state->dataset.describe_reading(), "Reading");
  state->flags.add(command, state->dataset.describe_selection(), "Selection");
  state->flags.add(command, state->dataset.describe_truth(), "Truth");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
