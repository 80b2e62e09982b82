// kindred reproduce: what the paper reports, measured again beside the paper's own numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "command.h"
#include "kindred/core/child_process.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/nn/device.h"
#include "kindred/reproduce/page.h"
#include "kindred/reproduce/perform.h"
#include "kindred/reproduce/runner.h"
#include "progress_bar.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;
using namespace kindred::reproduce;

constexpr const char* kCheckoutStore = "docs/results";

struct ReproduceCommand {
  std::vector<std::string> items;
  bool list = false;
  bool render = false;
  bool check = false;
  std::string job;             ///< In a child: the one to do.
  std::int64_t on_device = 1;  ///< In a child: jobs that share its device.
  std::string scale = "paper";
  std::string store;
  std::string readme;
  std::string files = "../shared/data/mujoco";
  std::vector<std::string> tasks, configurations;
  std::string seeds;
  std::string within;
  std::int64_t at_once = 0;
  std::int64_t threads = 0;
  std::string device = "cpu";
  Common common;
  Flags flags;

  OptionTable describe() {
    return {
        text("scale", scale, "small: minutes, cut data and few seeds; paper: what is reported."),
        text("store", store,
             "Folder of records; by default docs/results where that is (small: "
             "kindred-results/small), else kindred-results/SCALE."),
        text("files", files,
             "Folder of the datasets that are not generated: halfcheetah-medium-expert.hdf5 and "
             "the like, as D4RL names them."),
        texts("tasks", tasks, "Only these tasks."),
        texts("configurations", configurations, "Only these configurations of methods."),
        text("seeds", seeds, "Only these seeds, as 1-3,7."),
        text("readme", readme,
             "With --render: also put the first table between the marks of this file; by default "
             "README.md beside docs/results."),
        text("within", within,
             "Time to end in, as 90s, 9m or 2h: begin nothing that would take longer by what was "
             "seen, and stop what still runs then."),
        integer("jobs", at_once, 0, 4096,
                "Processes at once; 0: as many as cores and memory allow, on a GPU no more than "
                "8. Beside a GPU's there is one for each core that is left."),
        integer("threads", threads, 0, 4096, "Threads of each; 0: its share of the cores."),
        text("device", device,
             "cpu, or cuda for methods that can use it; the others run on the CPU.")};
  }

  void run() {
    flags.apply();
    const auto declared = load_declarations(scale_named(scale));
    if (store.empty()) choose_store(declared.scale);
    const Store results(store, declared.scale);
    if (!job.empty()) return do_one(declared, results);
    if (list) return show_list(declared, results);
    if (check && !render) throw InvalidArgument("--check compares what --render would write");
    if (items.empty() && !render)
      throw InvalidArgument(
          "name an item, or --render; 'kindred reproduce --list' lists the items");
    if (!items.empty()) run_items(declared, results);
    if (render) write_page(declared, results);
  }

  /// In a checkout of Kindred records are part of the documentation.
  void choose_store(Scale wanted) {
    const bool checkout = fs::is_directory(kCheckoutStore);
    if (wanted == Scale::kPaper && checkout) {
      store = kCheckoutStore;
      if (readme.empty() && fs::exists("README.md")) readme = "README.md";
    } else {
      store = fmt::format("kindred-results/{}", name_of(wanted));
    }
  }

  std::vector<std::string> chosen_items(const Declarations& declared) const {
    if (items != std::vector<std::string>{"all"}) return items;
    std::vector<std::string> names;
    for (const auto& item : declared.items) names.push_back(item.name);
    return names;
  }

  /// The jobs of the items that the filters leave.
  std::vector<Job> chosen_jobs(const Declarations& declared) const {
    for (const auto& name : tasks) declared.task(name);
    for (const auto& name : configurations) declared.configuration(name);
    const auto numbers = parse_seeds(seeds);
    auto jobs = jobs_of(declared, chosen_items(declared));
    const auto is_in = [](const auto& wanted, const auto& value) {
      return wanted.empty() || std::ranges::count(wanted, value) > 0;
    };
    std::erase_if(jobs, [&](const Job& one) {
      return !is_in(tasks, one.task) || !is_in(configurations, one.configuration) ||
             !is_in(numbers, one.seed);
    });
    return jobs;
  }

  void show_list(const Declarations& declared, const Store& results) const {
    Json json = Json::array();
    say(fmt::format("Scale {}, records in '{}':", name_of(declared.scale), store));
    for (const auto& item : declared.items) {
      std::int64_t stored = 0, all = 0;
      for (const auto& one : jobs_of(declared, {item.name}))
        for (const auto& output : one.outputs) {
          ++all;
          stored += results.has(output.record) ? 1 : 0;
        }
      say(fmt::format("  {:<17} {:>4} of {:>4}  {}", item.name, stored, all, item.title));
      json.push_back(
          {{"item", item.name}, {"title", item.title}, {"stored", stored}, {"records", all}});
    }
    emit(common, json);
  }

  void do_one(const Declarations& declared, const Store& results) {
    end_with_parent();
    catch_stop_signals();
    auto jobs = jobs_of(declared, chosen_items(declared));
    const auto found = std::ranges::find(jobs, job, [](const Job& one) { return one.name(); });
    if (found == jobs.end()) throw InvalidArgument("these items have no job '{}'", job);
    RunContext run;
    run.pool = std::make_shared<ThreadPool>(static_cast<int>(threads));
    run.device = device;
    run.stop_requested = stop_requested;
    perform(declared, *found, results, files, {std::max<std::int64_t>(1, at_once), on_device}, run);
  }

  /// What starts a child for a job.
  std::vector<std::string> child_arguments(const Job& one, const Lane& lane,
                                           std::int64_t all) const {
    std::vector<std::string> arguments = {"reproduce"};
    arguments.insert(arguments.end(), items.begin(), items.end());
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
             {"--job", one.name()},
             {"--scale", scale},
             {"--store", store},
             {"--files", files},
             {"--jobs", std::to_string(all)},
             {"--on-device", std::to_string(lane.at_once)},
             {"--threads", std::to_string(lane.threads)},
             {"--device", lane.device}}) {
      arguments.push_back(name);
      arguments.push_back(value);
    }
    return arguments;
  }

  /// Leaves out what cannot be measured here, and says why.
  void drop_what_lacks_data(const Declarations& declared, std::vector<Job>& jobs) const {
    std::map<std::string, std::string> reasons;
    for (const auto& one : jobs)
      if (!reasons.contains(one.task))
        reasons[one.task] = why_no_data(declared.task(one.task), files);
    std::erase_if(jobs, [&](const Job& one) { return !reasons.at(one.task).empty(); });
    for (const auto& [task, why] : reasons)
      if (!why.empty()) say(fmt::format("{}: NOT RUN: {}", task, why));
  }

  void run_items(const Declarations& declared, const Store& results) {
    require_device(device);
    RunnerOptions options;
    if (!within.empty()) options.within = parse_duration(within);
    std::int64_t stored = 0;
    auto jobs = missing(chosen_jobs(declared), results, stored);
    drop_what_lacks_data(declared, jobs);
    const auto lock = results.begin_work();
    options.lanes = lanes_for(jobs, this_machine(), device, at_once, threads);
    const auto all = jobs_at_once(options.lanes);
    say(fmt::format("{} to do, {} stored before; at once: {}.",
                    counted(std::ssize(jobs), "job", "jobs"), stored, in_words(options.lanes)));

    ProgressBar bar;
    options.program = fs::read_symlink("/proc/self/exe");
    options.arguments = [&](const Job& one, const Lane& lane) {
      return child_arguments(one, lane, all);
    };
    options.stop_requested = stop_requested;
    options.watch = [&](const Overview& now) { show(now, bar); };
    catch_stop_signals();
    const auto outcome = run_jobs(std::move(jobs), results, options);
    bar.clear();
    if (outcome.left == 0) remove_tree(results.work("data"));
    tell_outcome(outcome, stored);
  }

  /// "8 on cuda and 8 on cpu, 1 thread each"
  static std::string in_words(const std::vector<Lane>& lanes) {
    if (lanes.empty()) return "none";
    std::vector<std::string> parts;
    for (const auto& lane : lanes)
      parts.push_back(fmt::format("{} on {}", lane.at_once, lane.device));
    return fmt::format("{}, {} each", fmt::join(parts, " and "),
                       counted(lanes[0].threads, "thread", "threads"));
  }

  static void show(const Overview& now, ProgressBar& bar) {
    if (!now.news.empty()) {
      bar.clear();
      const auto ended = now.done + now.failed;
      say(fmt::format("[{} of {}] {}", ended, ended + now.left + std::ssize(now.running),
                      now.news));
    }
    std::vector<std::string> running;
    for (const auto& one : now.running)
      running.push_back(fmt::format("{} {}", one.job, duration(one.seconds)));
    bar.show_line(fmt::format(
        "{} done, {} left, {}{}; running: {}", now.done, now.left, duration(now.seconds),
        now.seconds_left > 0.0 ? fmt::format(", about {} more", duration(now.seconds_left)) : "",
        fmt::join(running, ", ")));
  }

  void tell_outcome(const RunnerOutcome& outcome, std::int64_t stored) const {
    if (outcome.disk_full)
      throw IoError(
          "cannot write to '{}': is the disk full? {} done and kept, {} left; the same "
          "command goes on",
          store, outcome.done, outcome.left);
    say(fmt::format("{} done, {} stored before, {} failed, {} left.", outcome.done, stored,
                    outcome.failed.size(), outcome.left));
    for (const auto& [name, why] : outcome.failed) say(fmt::format("FAILED {}: {}", name, why));
    Json failed = Json::object();
    for (const auto& [name, why] : outcome.failed) failed[name] = why;
    emit(common, {{"done", outcome.done},
                  {"stored_before", stored},
                  {"left", outcome.left},
                  {"failed", failed}});
    if (outcome.stopped) {
      say("Stopped as asked; the same command goes on.");
      throw Exit{stop_exit_code()};
    }
    if (outcome.out_of_time)
      say(fmt::format("No more fits into {}; the same command goes on.", within));
    if (!outcome.failed.empty()) throw Exit{kOurFault};
  }

  void write_page(const Declarations& declared, const Store& results) const {
    const auto rendered = render_results(declared, results, readme);
    Json written = Json::array();
    for (const auto& [path, content] : rendered) {
      if (check) {
        if (!fs::exists(path) || read_text(path) != content)
          throw InvalidArgument(
              "'{}' is not what the records say; write it with 'kindred reproduce --render'",
              path.string());
        continue;
      }
      std::error_code error;
      if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
      write_text(path, content);
      tell("written", path.string());
      written.push_back(path.string());
    }
    emit(common, {{"written", written}});
  }
};

}  // namespace

void add_reproduce(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred reproduce --list\n"
      "  kindred reproduce main --scale small\n"
      "  kindred reproduce main full --scale paper --jobs 4\n"
      "  kindred reproduce main returns --device cuda --within 9m\n"
      "  kindred reproduce main --tasks diagonal --configurations pg-kmeans --seeds 1-3\n"
      "  kindred reproduce --render\n"
      "Each job is a process of its own and leaves a small record; what is stored is not\n"
      "done again. After a kill or a full disk the same command goes on.");
  const auto state = std::make_shared<ReproduceCommand>();
  command.add_option("ITEM", state->items, "Tables and figures to measure, or 'all'; see --list");
  command.add_flag("--list", state->list, "List the items and how many records they have");
  command.add_flag("--render", state->render, "Write the page of results and its figures");
  command.add_flag("--check", state->check, "With --render: write nothing, compare");
  command.add_option("--job", state->job, "")->group("");  // for our own children
  command.add_option("--on-device", state->on_device, "")->group("");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Run");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
