// kindred info: what a dataset holds.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>

#include "command.h"
#include "kindred/core/resources.h"
#include "kindred/data/doctor.h"
#include "kindred/data/truth.h"
#include "kindred/runs/dataset.h"
#include "kindred/runs/scores.h"

namespace kindred::app {
namespace {

struct Range {
  double least = 0.0, mean = 0.0, most = 0.0;

  /// Of at least one value.
  explicit Range(const std::vector<double>& values)
      : least(*std::ranges::min_element(values)),
        mean(std::accumulate(values.begin(), values.end(), 0.0) /
             static_cast<double>(values.size())),
        most(*std::ranges::max_element(values)) {}
  Json json() const { return {{"min", least}, {"mean", mean}, {"max", most}}; }
  std::string text() const {
    return fmt::format("{} to {}, mean {}", rounded(least), rounded(most), rounded(mean));
  }
};

/// Returns of the episodes whose rewards are all numbers.
struct Returns {
  std::vector<double> usable;
  std::int64_t unusable = 0;

  explicit Returns(const Trajectories& data) : usable(episode_returns(data)) {
    unusable = static_cast<std::int64_t>(
        std::erase_if(usable, [](double value) { return !std::isfinite(value); }));
  }
  Json json() const {
    Json json = usable.empty() ? Json(nullptr) : Range(usable).json();
    if (unusable > 0) json["not_a_number"] = unusable;
    return json;
  }
  std::string text() const {
    if (usable.empty() && unusable == 0) return "no rewards";
    auto others = unusable > 0 ? fmt::format("not a number in {} episodes", grouped(unusable))
                               : std::string();
    if (usable.empty()) return others;
    return Range(usable).text() + (others.empty() ? "" : "; " + others);
  }
};

Json describe_labels(const Trajectories& data, const LabelCounts& labels) {
  if (data.labels.empty()) return nullptr;
  Json json = {
      {"count", labels.values.size()},
      {"known", std::accumulate(labels.sizes.begin(), labels.sizes.end(), std::int64_t{0})}};
  if (!labels.consecutive()) json["values"] = labels.values;
  json["sizes"] = labels.sizes;
  json["names"] = data.label_names;
  return json;
}

constexpr std::size_t kMostShown = 20;

/// "5 20 3" or, where labels have gaps, "0: 5, 7: 20"; no more than a screen shows.
std::string label_sizes(const LabelCounts& labels) {
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < std::min(labels.values.size(), kMostShown); ++i)
    sizes.push_back(labels.consecutive()
                        ? fmt::format("{}", labels.sizes[i])
                        : fmt::format("{}: {}", labels.values[i], labels.sizes[i]));
  return fmt::format("{}{}", fmt::join(sizes, labels.consecutive() ? " " : ", "),
                     labels.values.size() > kMostShown ? " …" : "");
}

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}{}",
                     fmt::join(std::span(names).first(std::min(names.size(), kMostShown)), ", "),
                     names.size() > kMostShown ? ", …" : "");
}

/// Each on lines of its own, in 80 columns.
void tell_diagnoses(const std::vector<Diagnosis>& found) {
  if (found.empty()) return say(fmt::format("nothing odd found ({} checks)", doctor_checks()));
  say("what looks odd");
  for (const auto& one : found) {
    const bool warning = one.severity == Severity::kWarning;
    std::istringstream lines(wrapped(fmt::format("{} {}: {}; {}", warning ? "warning" : "note",
                                                 one.key, printable(one.evidence), one.advice),
                                     76));
    bool first = true;
    for (std::string line; std::getline(lines, line); first = false)
      say((first ? "  " : "    ") + line);
  }
}

void run(DatasetOptions options, const Common& common) {
  options.read.lenient = true;  // the doctor says where
  options.read.pool = std::make_shared<ThreadPool>();
  const Dataset dataset = options.load();
  const Trajectories& data = dataset.data;
  Json json = dataset.describe();
  std::vector<double> lengths;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    lengths.push_back(static_cast<double>(data.length(i)));
  json["length"] = Range(lengths).json();
  const Returns returns(data);
  json["return"] = returns.json();
  const auto labels = count_labels(data.labels.span());
  json["labels"] = describe_labels(data, labels);
  const auto ceiling = oracle_nmi(data);
  json["ceiling"] = ceiling ? Json(*ceiling) : Json(nullptr);
  json["column_mb"] = static_cast<double>(data.bytes_in_memory()) / 1e6;
  json["peak_rss_mb"] = peak_rss_mb();
  json["provenance"] = data.provenance;
  const auto odd = examine(data, options.read.pool.get());
  json["doctor"] = {{"checks", doctor_checks()}, {"found", to_json(odd)}};

  say(fmt::format("{}", fmt::join(options.files, " ")));
  tell("format", json["format"]);
  tell("episodes", grouped(data.episodes()));
  tell("steps", grouped(data.steps()));
  tell("episode length", Range(lengths).text());
  tell("observation", data.observations.is_interned()
                          ? fmt::format("{} numbers, {} distinct", data.observations.dim(),
                                        grouped(data.observations.distinct()))
                          : fmt::format("{} numbers{}", data.observations.dim(),
                                        data.observations.is_bytes() ? " (bytes)" : ""));
  tell("action", data.actions.is_discrete() ? fmt::format("one of {}", data.actions.count())
                                            : fmt::format("{} numbers", data.actions.dim()));
  if (!data.observation_names.empty()) tell("observation names", listed(data.observation_names));
  if (!data.action_names.empty()) tell("action names", listed(data.action_names));
  tell("return", returns.text());
  if (data.labels.empty()) {
    tell("true policies", "unknown");
  } else {
    tell("true policies",
         fmt::format("{}, episodes {}", grouped(std::ssize(labels.values)), label_sizes(labels)));
    if (!data.label_names.empty()) tell("", listed(data.label_names));
    if (const auto unknown = std::ranges::count(data.labels.span(), -1); unknown > 0)
      tell("", fmt::format("known of {} episodes", grouped(data.episodes() - unknown)));
  }
  if (ceiling) tell("oracle", fmt::format("NMI {:.4f}", *ceiling));
  tell_diagnoses(odd);
  emit(common, json);
}

}  // namespace

void add_info(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred info hopper-medium-expert-v2.hdf5\n"
      "  kindred info ~/.minari/datasets/door/human-v2 --json\n"
      "  kindred info ~/.cache/huggingface/lerobot/lerobot/pusht\n"
      "  kindred info lift.hdf5 --obs-key robot0_eef_pos,object\n"
      "  kindred info mine.hdf5 --obs-key obs --action-key act --mask-key mask\n"
      "  kindred info D4RL/door/human-v2\n"
      "Every format, and how to name the arrays of files that are of none: docs/data.md");
  const auto options = std::make_shared<DatasetOptions>();
  const auto common = std::make_shared<Common>();
  const auto flags = std::make_shared<Flags>();
  command.add_option("FILE", options->files, kDatasetHelp)->required();
  common->add_json(command);
  flags->add(command, options->describe_reading(), "Reading");
  flags->add(command, options->describe_selection(), "Selection");
  flags->add(command, options->describe_truth(), "Truth");
  flags->add(command, options->describe_memory(), "Memory");
  flags->add_uniform(command);
  flags->add_config(command);
  command.callback([=] {
    flags->apply();
    find_datasets(options->files);
    run(*options, *common);
  });
}

}  // namespace kindred::app
