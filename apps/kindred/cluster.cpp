// kindred cluster: from a dataset to a run folder.
#include "kindred/runs/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "command.h"
#include "kindred/methods/method.h"
#include "kindred/nn/device.h"
#include "progress_bar.h"
#include "ranks.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultMethod = "policy-search";
constexpr const char* kFormerDefault = "pg-kmeans";

struct ClusterCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> positional;
  std::string output;
  std::string method = kDefaultMethod;
  std::string device = "cpu";
  std::string preset;
  std::int64_t threads = 0;
  bool resume = false;
  bool force = false;
  Common common;
  RankFlags ranks;
  DatasetOptions dataset;
  std::unique_ptr<ConfiguredMethod> configured;
  Flags flags;

  OptionTable describe() {
    return {paths("data", dataset.files, "The dataset, when no FILE is given."),
            text("method", method, "The method; see 'kindred methods'."),
            integer("threads", threads, 0, 4096, "Threads to use; 0: every core."),
            text("device", device, "cpu or cuda.")};
  }

  RunContext context() const {
    RunContext run;
    run.stop_requested = stop_requested;
    run.resume = resume;
    const auto place = find_place(ranks);
    run.pool = std::make_shared<ThreadPool>(threads_for(place, threads));
    run.device = device;
    run.communicator = join(place);
    return run;
  }

  /// What one process does alone, or its part of what several do: only the first speaks.
  ClusterOutcome fit(const ClusterRequest& request, RunContext run) const {
    auto& all = ranks_of(run);
    try {
      std::optional<ProgressBar> bar;
      if (all.is_first()) {
        bar.emplace();
        run.progress = [&bar](const Progress& progress) { bar->show(progress); };
      }
      auto outcome = cluster(request, run);
      if (outcome.end == ClusterOutcome::End::kStopped)
        all.fail("it was asked to stop");
      else
        all.leave();
      return outcome;
    } catch (const PeerLost&) {
      throw;
    } catch (const std::exception& error) {
      all.fail(error.what());
      throw;
    }
  }

  void run() {
    flags.apply([&] {
      if (!preset.empty()) configured->use_preset(preset);
    });
    if (!positional.empty()) dataset.files = positional;
    find_datasets(dataset.files);
    require_device(device);
    if (output.empty() && !dataset.files.empty())
      output = fs::path(dataset.files[0]).stem().string() + "-" + method + "-run";
    const ClusterRequest request{.dataset = dataset,
                                 .method = configured.get(),
                                 .folder = RunFolder(output),
                                 .command = command_line(arguments),
                                 .config = flags.toml(),
                                 .force = force,
                                 .set_by_user = flags.set_by_user()};
    catch_stop_signals();
    const auto run = context();
    const ClusterOutcome outcome = fit(request, run);
    if (!ranks_of(run).is_first() && outcome.end != ClusterOutcome::End::kStopped) return;
    if (outcome.end == ClusterOutcome::End::kStopped) {
      say(request.folder.can_resume()
              ? fmt::format("Stopped; {} rounds are saved. Go on with:\n  {}{}", outcome.rounds,
                            request.command, resume ? "" : " --resume")
              : "Stopped; nothing is saved.");
      throw Exit{stop_exit_code()};
    }
    if (outcome.end == ClusterOutcome::End::kWasFinished) {
      say(fmt::format("The run in '{}' is complete; there is nothing to resume.", output));
    } else {
      tell_result(outcome.record, request.folder);
      tell_oddities(outcome.record);
    }
    emit(common, result_json(outcome.record));
  }

  void tell_result(const RunRecord& record, const RunFolder& folder) const {
    const auto& result = record.result;
    say(fmt::format("{}: {} in {}", record.method,
                    counted(record.dataset["episodes"], "trajectory", "trajectories"),
                    counted(record.k(), "cluster", "clusters")));
    tell("sizes", fmt::format("{}", fmt::join(result["sizes"].get<std::vector<int>>(), " ")));
    tell("policies", policies_words(record));
    if (result.contains("sure"))
      tell("sure", result["sure"] ? "yes" : "no: " + result["doubt"].get<std::string>());
    if (record.k() == 1 && result.contains("episodes_differ"))
      tell("met", fmt::format("{:.0f} % of steps are in states that other episodes have been in",
                              100.0 * result["episodes_differ"]["met"].get<double>()));
    if (result.contains("best_two")) tell("best two", best_two_words(result["best_two"]));
    if (const auto searched = result.value("searched", std::int64_t{0});
        searched > 0 && searched < record.dataset["episodes"])
      tell("found on", fmt::format("{} of them; the others went to the policy that explains them "
                                   "best",
                                   grouped(searched)));
    if (result.contains("v")) tell("held-out V", fmt::format("{:.4f}", result["v"].get<double>()));
    tell("objective J", objective_words(result));
    tell("rounds", fmt::format("{}{}", result["rounds"].get<std::int64_t>(),
                               result["converged"] ? ", converged" : ", not converged"));
    if (result.contains("alternatives"))
      tell("starts", search_sentence(result, record.restarts.size()));
    else
      tell("restarts", agreement_sentence(result["agreement"], record.restarts.size()));
    if (result.contains("nmi")) tell_recorded_scores(result);
    tell("seconds", fmt::format("{:.1f}", record.timings["fit"].get<double>()));
    if (record.timings.contains("padded_steps")) {
      const double padded = record.timings["padded_steps"];
      tell("padded work",
           fmt::format("{:.1f} % of the training steps",
                       100.0 * padded / (padded + record.timings["training_steps"].get<double>())));
    }
    tell("peak memory", fmt::format("{:.0f} MB", record.machine["peak_rss_mb"].get<double>()));
    tell("run folder", folder.path().string());
    for (const auto& file : folder.results()) tell("", file.string());
    if (record.result["agreement"]["verdict"] == "several" && result.contains("alternatives"))
      tell("second answer", command_line({"label", folder.path().string(), "--alternative", "2"}));
    for (const auto& warning : warnings(record)) say("warning: " + warning);
  }

  /// As many as were asked for, or as were found.
  static std::string policies_words(const RunRecord& record) {
    if (record.result.value("k_found", false)) return found_words(record) + others_words(record);
    const auto asked = asked_k(record.options);
    if (!asked || *asked == record.k()) return fmt::format("{}, as asked", record.k());
    return fmt::format("{} were asked for, {} {} left", *asked, record.k(),
                       record.k() == 1 ? "is" : "are");
  }

  static std::string others_words(const RunRecord& record) {
    const auto others =
        record.result.value("almost_as_good", Json::array()).get<std::vector<std::int64_t>>();
    return others.empty() ? "" : fmt::format("; {} fit almost as well", fmt::join(others, " or "));
  }

  /// What a user should not overlook, one sentence each.
  std::vector<std::string> warnings(const RunRecord& record) const {
    std::vector<std::string> sentences;
    const auto asked = asked_k(record.options);
    if (!record.result.value("k_found", false) && asked && record.k() < *asked)
      sentences.push_back(fmt::format(
          "{} clusters were asked for, but only {} {} trajectories; ask for fewer, or have their "
          "number found with -k auto",
          *asked, record.k(), record.k() == 1 ? "has" : "have"));
    const auto mixed = record.result.value("mixed_episodes", std::int64_t{0});
    if (mixed > 0) {
      std::vector<std::string> segment{"segment"};
      segment.insert(segment.end(), dataset.files.begin(), dataset.files.end());
      sentences.push_back(
          fmt::format("some trajectories ({}) look made by more than one policy: {}",
                      grouped(mixed), command_line(segment)));
    }
    return sentences;
  }

  /// That the doctor found some; 'kindred info' says what they are.
  void tell_oddities(const RunRecord& record) const {
    const auto odd = std::ranges::count_if(
        record.dataset["doctor"], [](const Json& one) { return one["severity"] == "warning"; });
    std::vector<std::string> info{"info"};
    info.insert(info.end(), dataset.files.begin(), dataset.files.end());
    if (record.dataset["doctor"].is_null())
      say(fmt::format("What looks odd in this data one process has to look for: {}",
                      command_line(info)));
    if (odd > 0)
      say(fmt::format("{} {} odd in this data: {}", odd, odd == 1 ? "thing looks" : "things look",
                      command_line(info)));
  }

  /// Why this number of policies: what one more would be worth.
  static std::string found_words(const RunRecord& record) {
    const auto k = record.k();
    if (record.result.contains("k_least")) return counted_words(record.result);
    for (const auto& one : record.result["considered"]) {
      const std::int64_t more = one["k"];
      if (more <= k) continue;
      if (one["v"].get<double>() <= record.result["v"].get<double>())
        return fmt::format("{} found; {} would predict no better", k, more);
      return fmt::format("{} found; {} predict better but do not act differently in like states", k,
                         more);
    }
    return fmt::format("{} found; more were not judged", k);
  }

  /// The best division into two, and how to have it.
  std::string best_two_words(const Json& two) const {
    std::vector<std::string> cluster{"cluster"};
    cluster.insert(cluster.end(), dataset.files.begin(), dataset.files.end());
    cluster.insert(cluster.end(), {"-k", "2"});
    return fmt::format("{} and {}: {}", two["sizes"][0].get<int>(), two["sizes"][1].get<int>(),
                       command_line(cluster));
  }

  /// How many policies there are, as far as conflicts tell.
  static std::string counted_words(const Json& result) {
    const std::int64_t k = result["k"], least = result["k_least"], most = result["k_most"];
    if (k > 1 && least == k && most == k)
      return fmt::format("{} found, every two act differently in like states", k);
    if (k > 1 && result["view"] == "by the size of their noise")
      return fmt::format("{} found that differ in their noise, not in what they do", k);
    if (k > 1)
      return fmt::format("{} found; {} would explain the data, up to {} may differ", k, least,
                         most);
    return result["sure"] ? "1" : "no evidence for more than 1";
  }

  /// An objective can be infinite, which JSON writes as null.
  static double number(const Json& value) {
    return value.is_number() ? value.get<double>() : -std::numeric_limits<double>::infinity();
  }

  static std::string objective_words(const Json& result) {
    const bool merged = result.contains("objective_before_merge") &&
                        result["objective_before_merge"] != result["objective"];
    return fmt::format(
        "{:.7g}{}", number(result["objective"]),
        merged ? fmt::format("  (before merging {:.7g})", number(result["objective_before_merge"]))
               : "");
  }

  static std::string search_sentence(const Json& result, std::size_t starts) {
    const auto same = result["agreement"]["same_restarts"].get<std::int64_t>();
    const auto others = result["alternatives"].size();
    if (others == 0)
      return same > 1 ? fmt::format("{}; {} of them lead to these labels", starts, same)
                      : fmt::format("{}; no other leads to these labels: try more", starts);
    return fmt::format("{}; {} ANSWERS predict equally well (least NMI with the first {:.2f})",
                       starts, 1 + others, result["agreement"]["least_nmi"].get<double>());
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

  Json result_json(const RunRecord& record) const {
    Json json = {{"method", record.method},
                 {"k", record.result["k"]},
                 {"episodes", record.dataset["episodes"]},
                 {"objective", record.result["objective"]},
                 {"rounds", record.result["rounds"]},
                 {"converged", record.result["converged"]},
                 {"seconds", record.timings["fit"]},
                 {"peak_rss_mb", record.machine["peak_rss_mb"]}};
    for (const char* key : {"k_found",
                            "k_asked",
                            "k_least",
                            "k_most",
                            "sure",
                            "doubt",
                            "view",
                            "persistence",
                            "pairs",
                            "best_two",
                            "episodes_differ",
                            "considered",
                            "almost_as_good",
                            "v",
                            "v_of_one",
                            "searched",
                            "mixed_episodes",
                            "alternatives",
                            "nmi",
                            "ari",
                            "ami",
                            "chance_nmi",
                            "accuracy",
                            "purity",
                            "ceiling",
                            "sizes",
                            "objective_before_merge",
                            "best_restart"})
      if (record.result.contains(key)) json[key] = record.result[key];
    json["warnings"] = warnings(record);
    json["agreement"] = json["verdict"] = record.result["agreement"]["verdict"];
    return json;
  }
};

/// A flag that only the method has which was the default before, or nothing: command lines of then
/// name no method.
std::string flag_of_former_default(const std::vector<std::string>& arguments) {
  auto now = find_method(kDefaultMethod).make();
  const auto known = now->describe();
  const auto is_typed = [&](const std::string& flag) {
    return std::ranges::any_of(arguments, [&](const std::string& argument) {
      return argument == flag || argument.starts_with(flag + "=");
    });
  };
  if (is_typed("--preset")) return "--preset";
  auto former = find_method(kFormerDefault).make();
  for (const auto& option : former->describe()) {
    const bool shared = std::ranges::any_of(known, [&](const auto& other) {
      return other.name == option.name || other.former_name == option.name;
    });
    for (const auto& flag : {"--" + option.name, "--no-" + option.name})
      if (!shared && is_typed(flag)) return flag;
  }
  return "";
}

/// The method named on the command line or in its config file: its options become flags.
std::string named_method(const std::vector<std::string>& arguments) {
  if (auto method = typed_value(arguments, "--method"); !method.empty()) return method;
  const auto config = typed_value(arguments, "--config");
  if (!config.empty() && fs::exists(config)) {
    try {
      for (const auto& item : CLI::ConfigTOML().from_file(config))
        if (item.name == "method" && !item.inputs.empty()) return item.inputs.front();
    } catch (const CLI::Error&) {  // said properly when the file is read for its options
    }
  }
  return flag_of_former_default(arguments).empty() ? kDefaultMethod : kFormerDefault;
}

}  // namespace

void add_cluster(CLI::App& command, const std::vector<std::string>& arguments) {
  command.footer(
      "Examples:\n"
      "  kindred cluster hopper.hdf5 -o hopper-run\n"
      "  kindred cluster hopper.hdf5 -k 4 --merge-to 2 -o hopper-run\n"
      "  kindred cluster diagonal.h5 -k 7 --merge-to 5 --restarts 5 --seed 1 -o run\n"
      "  kindred cluster hopper.hdf5 --method caae -k auto --k-max 6 -o caae-run\n"
      "  kindred cluster halfcheetah.hdf5 -k 2 --truth-return-change --json\n"
      "  kindred cluster hopper.hdf5 --preset paper -k 4 --merge-to 2 -o paper-run\n"
      "  kindred cluster --config run/config.toml --seed 2 -o run2\n"
      "  kindred cluster part-*.hdf5 -o run\n"
      "  kindred cluster huge.hdf5 --memory 2GB -o run\n"
      "  torchrun --no-python --nproc-per-node 4 kindred cluster hopper.hdf5 -o run\n"
      "  srun -n 64 kindred cluster /shared/hopper.hdf5 -o /shared/run\n"
      "  kindred cluster mine.npz --obs-key 'state[0:7],goal' --action-key u -o run\n"
      "Ctrl-C stops within a second. With --resume the same command goes on from the\n"
      "last round; a search by the held-out score keeps none and starts anew.\n"
      "Options of another method: kindred cluster --method return-kmeans --help");
  const auto state = std::make_shared<ClusterCommand>();
  state->arguments = arguments;
  command.add_option("FILE", state->positional, kDatasetHelp);
  command.add_option("-o,--output", state->output, "The run folder to make")->type_name("RUN");
  command.add_flag("--force", state->force, "Replace a finished run in that folder");
  command.add_flag("--resume", state->resume, "Go on with an interrupted run in the same folder");
  command
      .add_option(
          "--preset", state->preset,
          wrapped("paper: pg-kmeans as the results compare it with the paper (networks, the "
                  "best of 5 by the objective, a floor of -5 under log-probabilities, "
                  "actions as they are), return-kmeans as it is. Flags beside it win.",
                  kHelpWidth))
      ->type_name("paper");
  state->common.add_json(command);
  add_rank_flags(command, state->ranks);
  state->flags.add_config(command);

  const auto asked = named_method(arguments);
  const bool is_cluster = !arguments.empty() && arguments.front() == "cluster";
  state->method = is_cluster ? find_method(asked).name : kDefaultMethod;
  state->configured = find_method(state->method).make();
  state->flags.add(command, state->describe(), "Run");
  state->flags.add(command, state->configured->describe(), "Method " + state->method);
  state->flags.add(command, state->dataset.describe_reading(), "Reading");
  state->flags.add(command, state->dataset.describe_selection(), "Selection");
  state->flags.add(command, state->dataset.describe_truth(), "Truth");
  state->flags.add(command, state->dataset.describe_memory(), "Memory");
  state->flags.add_uniform(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
