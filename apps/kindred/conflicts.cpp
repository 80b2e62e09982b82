// kindred conflicts: which trajectories cannot be of one deterministic policy, and what follows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "command.h"
#include "kindred/conflicts/conflict_folder.h"
#include "kindred/conflicts/reduction.h"
#include "kindred/conflicts/study.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/stopwatch.h"
#include "kindred/data/truth.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/runs/run.h"
#include "kindred/runs/scores.h"
#include "stop_signal.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

std::string millions(double pairs) {
  return pairs < 9e15 ? grouped(std::llround(pairs)) : fmt::format("{:.3g}", pairs);
}

constexpr std::int32_t kSuspicious = 50;  // policies: who draws actions looks like many

struct ConflictsCommand {
  std::string output;
  std::string run_folder;
  std::string labels_file;
  std::string graph_file;
  std::vector<std::string> between;
  std::int64_t pairs = 100;
  std::int64_t policies = 0;
  std::int64_t seed = 0;
  std::int64_t threads = 0;
  double seconds = 10.0;
  bool force = false;
  Common common;
  DatasetOptions dataset;
  Flags flags;

  OptionTable describe() {
    return {
        text("run", run_folder, "A finished run: are its clusters free of conflicts?"),
        text("labels", labels_file, "The same of a CSV file with the columns episode and label."),
        texts("between", between, "Two episodes, as in '12,40': what proves them different."),
        integer("policies", policies, 0, 1'000'000,
                "Also ask whether so many deterministic policies can have made the data."),
        integer("pairs", pairs, 0, 10'000'000, "Pairs to write into pairs.csv at most."),
        real("seconds", seconds, 0.0, 1e6, "Time to look for the least number of policies."),
        text("graph", graph_file, "Write the conflict graph, if not too large, as DIMACS .col."),
        integer("seed", seed, 0, 1'000'000'000, "Draws the pairs, where there are more."),
        integer("threads", threads, 0, 4096, "Threads to use; 0: every core.")};
  }

  void run() {
    flags.apply();
    find_datasets(dataset.files);
    if (!output.empty()) require_free_for_conflicts(output, force);
    if (!run_folder.empty() && !labels_file.empty())
      throw InvalidArgument("--run and --labels both say which clusters; give one of them");
    catch_stop_signals();
    Workers workers(static_cast<int>(threads));
    workers.stop_requested = stop_requested;
    const Trajectories data = dataset.load().data;
    if (!between.empty()) return tell_between(data);
    const auto labels = clusters_of(data);
    const Stopwatch clock;
    const auto study =
        study_conflicts(data, {.seconds = seconds, .stop_requested = stop_requested}, workers);
    const double taken = clock.seconds();
    Json json = to_json(study, data);
    say(wrapped(fmt::format("{}: {}", dataset.files[0], conclusion_of(study))));
    tell_graph(study, data);
    if (!data.labels.empty()) {
      json["true_policies"] = tell_inside("true policies", study, data.labels.span(), workers);
    }
    if (!data.labels.empty() && study.graph.contradicts.empty() && study.least.at_most > 1) {
      const auto known =
          where_known(policies_of_episodes(study.graph, study.least), data.labels.span());
      json["nmi"] = normalized_mutual_information(known.found, known.truth);
      tell("NMI", fmt::format("{:.4f} between them and a division into {}",
                              json["nmi"].get<double>(), study.least.at_most));
    }
    if (policies > 0) json["asked"] = tell_asked(study.graph);
    if (!labels.empty()) json["clusters"] = tell_inside("clusters", study, labels, workers);
    tell("seconds", fmt::format("{:.1f}", taken));
    const auto proofs = conflicting_pairs(data, study.graph, study.count, study.least,
                                          output.empty() ? 0 : pairs, seed_of());
    if (!graph_file.empty()) {
      write_text(graph_file,
                 dimacs_text(graph_of(study.graph), "conflicts of " + dataset.files[0]));
      tell("graph", graph_file);
    }
    if (!output.empty()) {
      const auto found = policies_of_episodes(study.graph, study.least);
      write_conflicts(output, data, study, proofs, labels.empty() ? found : labels, json);
      tell("written", (fs::path(output) / "colouring.csv").string());
      tell("", fmt::format("{}, {}", (fs::path(output) / "pairs.csv").string(),
                           counted(std::ssize(proofs), "pair", "pairs")));
      tell("", (fs::path(output) / "graph.svg").string());
    }
    json["seconds"] = taken;  // not in the folder, which is the same whenever it is made
    emit(common, json);
  }

  std::uint64_t seed_of() const { return static_cast<std::uint64_t>(seed); }

  /// Labels to be checked, numbered from 0; none where neither run nor file is given.
  std::vector<std::int32_t> clusters_of(const Trajectories& data) const {
    std::vector<std::int32_t> labels;
    if (!labels_file.empty()) {
      const auto labelled = label_from_csv(data, labels_file);
      labels.assign(labelled.labels.begin(), labelled.labels.end());
    } else if (!run_folder.empty()) {
      const auto fitted = load_run(RunFolder(run_folder));
      labels = match_labels(data, {.episodes = fitted.episodes,
                                   .labels = fitted.labels,
                                   .label_names = {},
                                   .margins = {}})
                   .labels;
    }
    return labels;
  }

  void tell_between(const Trajectories& data) const {
    if (between.size() != 2)
      throw InvalidArgument("--between takes two episodes, as in '12,40', not {}", between.size());
    std::int64_t episodes[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const auto found = std::ranges::find(data.ids, between[i]);
      if (found == data.ids.end())
        throw InvalidArgument("there is no episode '{}' in this dataset", between[i]);
      episodes[i] = found - data.ids.begin();
    }
    const auto found = find_disagreement(data, episodes[0], episodes[1]);
    if (!found) {
      say(wrapped(
          fmt::format("Episodes {} and {} never did different things in one same state: one "
                      "deterministic policy can have made both.",
                      between[0], between[1])));
      return emit(common, {{"conflict", false}});
    }
    say(wrapped(
        fmt::format("No deterministic policy made both episodes {} and {}: they were in the "
                    "same state, and did different things.",
                    between[0], between[1])));
    tell("episode " + between[0],
         fmt::format("step {}, state {}: action {}", found->step, found->state, found->action));
    tell("episode " + between[1], fmt::format("step {}, state {}: action {}", found->other_step,
                                              found->state, found->other_action));
    Json json = to_json(*found, data);
    json["conflict"] = true;
    emit(common, json);
  }

  static void tell_graph(const ConflictStudy& study, const Trajectories& data) {
    const auto& [graph, count, least] = study;
    const auto usable = graph.episodes() - std::ssize(graph.contradicts);
    tell("trajectories", fmt::format("{} in {}", grouped(graph.episodes()),
                                     counted(graph.states, "state", "states")));
    tell("shared", fmt::format("{} that several of them visit",
                               counted(graph.shared_states, "state", "states")));
    tell("contested", fmt::format("{}, in which they differ",
                                  counted(graph.behaviours.states(), "state", "states")));
    tell("behaviours", fmt::format("{} different ones there", grouped(graph.behaviours.count())));
    if (!graph.contradicts.empty()) {
      tell("contradict",
           fmt::format("{} themselves: two actions in one state",
                       counted(std::ssize(graph.contradicts), "trajectory", "trajectories")));
      tell("", "A policy that draws its actions made them, or one that sees more");
      tell("", "than is recorded; what follows leaves them out.");
    }
    const double all = static_cast<double>(usable) * static_cast<double>(usable - 1) / 2.0;
    if (count.exact)
      tell("conflicts", fmt::format("{} of {} pairs", millions(count.pairs), millions(all)));
    else
      tell("conflicts",
           fmt::format("about {:.3g} of {:.3g} pairs (± {:.1g})", count.pairs, all, count.error));
    if (const auto untouched = graph.untouched(); untouched > 0 && count.pairs > 0.0)
      tell("no conflict", fmt::format("{} that any policy may have made",
                                      counted(untouched, "trajectory", "trajectories")));
    tell_policies(study, data);
  }

  static void tell_policies(const ConflictStudy& study, const Trajectories& data) {
    const auto& least = study.least;
    if (study.count.pairs == 0.0) return;
    tell("policies", least.exact() ? fmt::format("{}, not fewer", grouped(least.at_most))
                                   : fmt::format("between {} and {}", grouped(least.at_least),
                                                 grouped(least.at_most)));
    if (least.at_least >= kSuspicious)
      tell("", "So many may be few that draw their actions: of these it says nothing");
    std::vector<std::string> names;
    for (const auto episode : study.clique_episodes())
      if (names.size() < 6) names.push_back(data.ids[static_cast<std::size_t>(episode)]);
    tell("each with each", fmt::format("episodes {}{} conflict", fmt::join(names, " "),
                                       names.size() < least.clique.size() ? " …" : ""));
    if (std::ssize(least.clique) < least.at_least)
      tell("",
           fmt::format("that fewer than {} are not enough was proved by search", least.at_least));
    if (const auto forced = study.forced(); forced > 0)
      tell("forced", fmt::format("{}, divided alike by whoever takes {}",
                                 counted(forced, "trajectory", "trajectories"), least.at_most));
    if (least.parts.size() > 1)
      tell("parts",
           fmt::format("{} without a conflict between them", grouped(std::ssize(least.parts))));
    if (const double ways = least.log10_divisions(); ways > 0.0)
      tell("divisions",
           ways < 6.0 ? fmt::format("at least {} valid ones into {}",
                                    grouped(std::llround(std::pow(10.0, ways))), least.at_most)
                      : fmt::format("at least 10^{:.0f} valid ones into {}", std::floor(ways),
                                    least.at_most));
  }

  Json tell_asked(const ConflictGraph& graph) const {
    const auto outcome = divide_among(graph, static_cast<std::int32_t>(policies),
                                      {.seconds = seconds, .stop_requested = stop_requested});
    const auto said = outcome.verdict == Verdict::kFound        ? "possible"
                      : outcome.verdict == Verdict::kImpossible ? "impossible"
                                                                : "undecided";
    tell(counted(policies, "policy", "policies"),
         fmt::format("{}, after {}", said, counted(outcome.nodes, "decision", "decisions")));
    return {{"policies", policies}, {"verdict", said}, {"nodes", outcome.nodes}};
  }

  static Json tell_inside(const std::string& name, const ConflictStudy& study,
                          std::span<const std::int32_t> labels, const Workers& workers) {
    const auto clusters = conflicts_inside(study.graph, labels, workers);
    const auto bad = std::ranges::count_if(
        clusters, [](const ClusterConflicts& one) { return !one.one_policy(); });
    const auto many = counted(std::ssize(clusters), "group", "groups");
    if (bad == 0) {
      tell(name, fmt::format("{} without a conflict inside", many));
    } else {
      tell(name, fmt::format("{}, {} of them with conflicts inside", many, grouped(bad)));
      std::int64_t told = 0;
      for (const auto& one : clusters) {
        if (one.one_policy() || ++told > 12) continue;
        tell("", fmt::format("{}: {} pairs of {} trajectories{}", one.label,
                             millions(one.count.pairs), grouped(one.trajectories),
                             one.contradict > 0 ? fmt::format(", {} contradict themselves",
                                                              grouped(one.contradict))
                                                : ""));
      }
    }
    return to_json(clusters);
  }
};

}  // namespace

void add_conflicts(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred conflicts diagonal.h5\n"
      "  kindred conflicts diagonal.h5 -o conflicts --pairs 1000\n"
      "  kindred conflicts diagonal.h5 --run run\n"
      "  kindred conflicts diagonal.h5 --between 12,40\n"
      "Two trajectories conflict when they do different things in one same state. The\n"
      "least number of deterministic policies behind the data is the number of colours\n"
      "that the graph of conflicts needs. Policies that draw their actions at random\n"
      "conflict with themselves: of them it says nothing. See docs/theory.md.");
  const auto state = std::make_shared<ConflictsCommand>();
  command.add_option("FILE", state->dataset.files, kDatasetHelp)->required();
  command.add_option("-o,--output", state->output, "The folder to make")->type_name("DIR");
  command.add_flag("--force", state->force, "Replace conflicts in that folder");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Conflicts");
  state->flags.add(command, state->dataset.describe_reading(), "Reading");
  state->flags.add(command, state->dataset.describe_selection(), "Selection");
  state->flags.add(command, state->dataset.describe_truth(), "Truth");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
