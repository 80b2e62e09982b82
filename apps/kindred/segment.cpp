// kindred segment: who acted when, where policies take turns within episodes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "command.h"
#include "kindred/core/progress.h"
#include "kindred/findings/segments_record.h"
#include "kindred/runs/segments.h"
#include "progress_bar.h"
#include "ranks.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

struct SegmentCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> positional;
  std::string output;
  std::string from_run;
  std::int64_t threads = 0;
  RankFlags ranks;
  bool force = false;
  Common common;
  DatasetOptions dataset;
  SegmentOptions options;
  Flags flags;

  OptionTable describe() {
    return {integer("threads", threads, 0, 4096, "Threads to use; 0: every core.")};
  }

  void run() {
    flags.apply();
    dataset.files = positional;
    find_datasets(dataset.files);
    if (output.empty()) output = fs::path(dataset.files[0]).stem().string() + "-segments";
    const SegmentRequest request{.dataset = dataset,
                                 .options = options,
                                 .run = from_run,
                                 .folder = SegmentFolder(output),
                                 .command = command_line(arguments),
                                 .force = force};
    catch_stop_signals();
    const auto place = find_place(ranks);
    RunContext context;
    context.stop_requested = stop_requested;
    context.pool = std::make_shared<ThreadPool>(threads_for(place, threads));
    context.communicator = join(place);
    const auto made = share(request, context);
    if (!ranks_of(context).is_first()) return;
    tell_found(made.record, request.folder);
    emit(common, made.record["result"]);
  }

  /// What one process does alone, or its part of what several do: only the first speaks.
  static SegmentedDataset share(const SegmentRequest& request, RunContext context) {
    auto& all = ranks_of(context);
    try {
      std::optional<ProgressBar> bar;
      if (all.is_first()) {
        bar.emplace();
        context.progress = [&bar](const Progress& progress) { bar->show(progress); };
      }
      auto made = segment_dataset(request, context);
      all.leave();
      return made;
    } catch (const Interrupted&) {
      all.fail("it was asked to stop");
      say("Stopped; nothing is saved.");
      throw Exit{stop_exit_code()};
    } catch (const PeerLost&) {
      throw;
    } catch (const std::exception& error) {
      all.fail(error.what());
      throw;
    }
  }

  static void tell_found(const Json& record, const SegmentFolder& folder) {
    const auto& result = record["result"];
    const std::int64_t switches = result["switches"], episodes = record["dataset"]["episodes"];
    say(segments_conclusion(record));
    tell("steps",
         fmt::format("{}", fmt::join(result["steps"].get<std::vector<std::int64_t>>(), " ")));
    if (switches > 0) {
      tell("a switch every", fmt::format("{:.0f} steps", 1.0 / result["rate"].get<double>()));
      tell("who follows whom", followers_words(result["followers"]));
    }
    tell("held-out V", fmt::format("{:.4f}; if nobody switched {:.4f}, of one policy {:.4f}",
                                   result["v"].get<double>(), result["v_of_nobody"].get<double>(),
                                   result["v_of_one"].get<double>()));
    if (const std::int64_t searched = result["searched"]; searched < episodes)
      tell("found on", fmt::format("{} of the episodes", grouped(searched)));
    tell_stretches("not sure of", result["unsure"], "where others may have acted");
    tell_stretches("idle", result["idle"], "in which nothing happens");
    if (result.contains("truth")) tell_truth(result["truth"]);
    tell("seconds", fmt::format("{:.1f}", record["timings"]["segment"].get<double>()));
    tell("written", folder.segments().string());
    tell("", folder.unsure().string());
    tell("", folder.idle().string());
    tell("", folder.evidence().string());
    tell("", folder.record().string());
    tell("look at it", fmt::format("kindred report {}", folder.path().string()));
  }

  static void tell_stretches(const std::string& name, const Json& counts, const char* what) {
    if (counts["stretches"] > 0)
      tell(name, fmt::format("{} in {} {}", counted(counts["steps"], "step", "steps"),
                             counted(counts["stretches"], "stretch", "stretches"), what));
  }

  static void tell_truth(const Json& truth) {
    tell("right policy",
         fmt::format("{:.2f} % of the steps", 100.0 * truth["accuracy"].get<double>()));
    const std::int64_t switches = truth["switches"], seen = truth["seen"];
    if (switches > 0)
      tell("true switches",
           fmt::format("{} of {} found within {} steps, {} more said to be unsure", grouped(seen),
                       grouped(switches), truth["within"].get<std::int64_t>(),
                       grouped(truth["said_unsure"].get<std::int64_t>())));
    tell("false switches", grouped(truth["invented"].get<std::int64_t>()));
  }

  /// The pairs that occur, most frequent first: "0 → 1 12 times, 1 → 0 3 times".
  static std::string followers_words(const Json& followers) {
    std::vector<std::pair<std::int64_t, std::string>> pairs;
    for (std::size_t i = 0; i < followers.size(); ++i)
      for (std::size_t j = 0; j < followers.size(); ++j)
        if (const std::int64_t times = followers[i][j]; times > 0)
          pairs.emplace_back(times,
                             fmt::format("{} → {} {}", i, j, counted(times, "time", "times")));
    std::ranges::stable_sort(pairs, std::greater<>(), &std::pair<std::int64_t, std::string>::first);
    if (pairs.size() > 4) pairs.resize(4);
    std::vector<std::string> words;
    for (auto& [times, text] : pairs) words.push_back(std::move(text));
    return fmt::format("{}", fmt::join(words, ", "));
  }
};

}  // namespace

void add_segment(CLI::App& command, const std::vector<std::string>& arguments) {
  command.footer(
      "Examples:\n"
      "  kindred segment hopper.hdf5 -o hopper-segments\n"
      "  kindred segment takeovers.hdf5 -k 2\n"
      "  kindred segment hopper.hdf5 --run hopper-run\n"
      "segments.csv has a line for each stretch of an episode in which one policy\n"
      "acts: its steps [start, end), the policy, how likely that is, and between which\n"
      "steps the switch before it lies with a chance of 90 %. unsure.csv has stretches in\n"
      "which others may have acted, idle.csv those in which neither observation nor\n"
      "action changes.");
  const auto state = std::make_shared<SegmentCommand>();
  state->arguments = arguments;
  command.add_option("FILE", state->positional, kDatasetHelp)->required();
  command.add_option("-o,--output", state->output, "The folder to make")->type_name("DIR");
  command.add_option("--run", state->from_run, "A finished run whose policies to use")
      ->type_name("RUN");
  command.add_flag("--force", state->force, "Replace segments in that folder");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Run");
  state->flags.add(command, state->options.describe(), "Segments");
  state->flags.add(command, state->dataset.describe_reading(), "Reading");
  state->flags.add(command, state->dataset.describe_selection(), "Selection");
  state->flags.add(command, state->dataset.describe_truth(), "Truth");
  state->flags.add(command, state->dataset.describe_memory(), "Memory");
  add_rank_flags(command, state->ranks);
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
