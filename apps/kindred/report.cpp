// kindred report and kindred compare: pages that show runs.
#include "kindred/report/report.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "command.h"
#include "kindred/core/child_process.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/stopwatch.h"
#include "kindred/findings/findings.h"
#include "kindred/findings/segments_record.h"
#include "kindred/runs/memory.h"
#include "kindred/runs/run.h"
#include "kindred/runs/segments.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

/// Writes the page and says where it is.
void show(const Json& record, const std::string& said, const fs::path& output,
          const Stopwatch& clock, const Common& common) {
  const std::string page = report_page(record);
  write_text(output, page);
  say(wrapped(said));
  tell("report", output.string());
  tell("size", fmt::format("{:.1f} MB", static_cast<double>(page.size()) / 1e6));
  emit(common, {{"report", output.string()},
                {"bytes", page.size()},
                {"conclusion", said},
                {"seconds", clock.seconds()}});
}

/// Known before anything is computed.
void require_page() {
  if (!has_report_page()) report_page({});
}

struct ReportCommand {
  std::string run_folder;
  std::string data;
  std::string output;
  std::string record_file;
  std::int64_t pictures = PictureOptions{}.most_episodes;
  MemoryOptions limit;
  Common common;
  Flags flags;

  OptionTable describe() {
    return {text("data", data, "The dataset the run was made from, where it was moved."),
            text("record", record_file, "Also write what the page shows as JSON to this file."),
            integer("pictures", pictures, 0, 1000,
                    "Keep what cameras saw of at most this many episodes, as far as 3 MB go; "
                    "0: none.")};
  }

  /// Where the run's dataset has pictures, and what reads videos here.
  PictureOptions picture_options(const RunRecord& record) const {
    const char* search_path = std::getenv("PATH");
    return {.files = dataset_files(record, data, "--data"),
            .format = format_named(record.dataset.at("format").get<std::string>()),
            .ffmpeg = find_program("ffmpeg", search_path ? search_path : ""),
            .most_episodes = pictures};
  }

  void run() {
    flags.apply();
    require_page();
    const RunFolder folder(run_folder);
    const SegmentFolder segments(run_folder);
    if (segments.is_finished() && !folder.is_finished())
      run_on_segments(segments);
    else
      run_on(folder);
  }

  void run_on_segments(const SegmentFolder& folder) const {
    const Stopwatch clock;
    const auto memory = limit.promise(run_folder);
    const auto loaded = load_segments(folder);
    const auto read = load_segmented_data(loaded, data);
    const auto found =
        segments_record(folder, loaded, read, picture_options(dataset_record(loaded)));
    require_kept(memory);
    finish(found, folder.report(), clock);
  }

  void run_on(const RunFolder& folder) const {
    const Stopwatch clock;
    const auto memory = limit.promise(run_folder);
    const auto record = load_run(folder).record;
    const auto loaded = load_dataset(record, data);
    const auto found = report_record(folder, loaded, picture_options(record));
    require_kept(memory);
    finish(found, folder.report(), clock);
  }

  void finish(const Json& found, const fs::path& usual, const Stopwatch& clock) const {
    if (const auto& seen = found.at("pictures"); seen.is_object() && seen.at("problem").is_string())
      say("warning: " + seen.at("problem").get<std::string>());
    if (!record_file.empty()) write_text(record_file, as_text(found) + "\n");
    show(found, found.at("conclusion"), output.empty() ? usual : fs::path(output), clock, common);
  }
};

struct CompareCommand {
  std::vector<std::string> run_folders;
  std::string output = "comparison.html";
  Common common;
  Flags flags;

  void run() {
    flags.apply();
    require_page();
    const Stopwatch clock;
    std::vector<RunFolder> folders(run_folders.begin(), run_folders.end());
    const auto found = comparison_record(folders);
    for (const auto& one : found.at("runs"))
      say(wrapped(fmt::format("{}: {}", one.at("name").get<std::string>(),
                              one.at("conclusion").get<std::string>())));
    show(found, fmt::format("{} runs side by side", folders.size()), output, clock, common);
  }
};

}  // namespace

void add_report(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred report hopper-run\n"
      "  kindred report hopper-run --data moved/hopper.hdf5 -o hopper.html\n"
      "  kindred report hopper-segments\n"
      "The page is one file that opens in any browser, without a network.");
  const auto state = std::make_shared<ReportCommand>();
  command.add_option("RUN", state->run_folder, "A finished run folder, or one of segments")
      ->required();
  command.add_option("-o,--output", state->output, "The page to write; by default RUN/report.html")
      ->type_name("HTML");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Run");
  state->flags.add(command, state->limit.describe(), "Memory");
  state->flags.add_uniform(command);
  command.callback([state] { state->run(); });
}

void add_compare(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred compare pg-run caae-run -o comparison.html\n"
      "Runs of the same dataset are also compared trajectory by trajectory.");
  const auto state = std::make_shared<CompareCommand>();
  command.add_option("RUNS", state->run_folders, "Two finished run folders or more")
      ->required()
      ->expected(-2);  // two or more
  command.add_option("-o,--output", state->output, "The page to write")
      ->type_name("HTML")
      ->capture_default_str();
  state->common.add_json(command);
  state->flags.add_uniform(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
