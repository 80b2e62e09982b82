// kindred info: what a dataset holds.
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "command.h"
#include "kindred/core/resources.h"
#include "kindred/runs/dataset.h"
#include "kindred/runs/scores.h"

namespace kindred::app {
namespace {

struct Range {
  double least = 0.0, mean = 0.0, most = 0.0;

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

Json describe_labels(const Trajectories& data) {
  if (data.labels.empty()) return nullptr;
  const auto count = *std::ranges::max_element(data.labels) + 1;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(std::max(count, 0)), 0);
  for (const auto label : data.labels)
    if (label >= 0) ++sizes[static_cast<std::size_t>(label)];
  return {{"count", std::ranges::count_if(sizes, [](auto n) { return n > 0; })},
          {"sizes", sizes},
          {"names", data.label_names}};
}

void run(const DatasetOptions& options, const Common& common) {
  const Dataset dataset = options.load();
  const Trajectories& data = dataset.data;
  Json json = dataset.describe();
  std::vector<double> lengths;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    lengths.push_back(static_cast<double>(data.length(i)));
  json["length"] = Range(lengths).json();
  const auto returns = episode_returns(data);
  json["return"] = returns.empty() ? Json(nullptr) : Range(returns).json();
  json["labels"] = describe_labels(data);
  const auto ceiling = oracle_nmi(data);
  json["ceiling"] = ceiling ? Json(*ceiling) : Json(nullptr);
  json["column_mb"] = static_cast<double>(data.bytes_in_memory()) / 1e6;
  json["peak_rss_mb"] = peak_rss_mb();
  json["provenance"] = data.provenance;

  say(options.data);
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
  tell("return", returns.empty() ? "no rewards" : Range(returns).text());
  if (data.labels.empty()) {
    tell("true policies", "unknown");
  } else {
    tell("true policies",
         fmt::format("{}, episodes {}", json["labels"]["count"].dump(),
                     fmt::join(json["labels"]["sizes"].get<std::vector<int>>(), " ")));
    if (!data.label_names.empty()) tell("", fmt::format("{}", fmt::join(data.label_names, ", ")));
  }
  if (ceiling) tell("oracle", fmt::format("NMI {:.4f}", *ceiling));
  emit(common, json);
}

}  // namespace

void add_info(CLI::App& app) {
  auto* command = app.add_subcommand("info", "Show what a dataset holds");
  command->footer(
      "Examples:\n"
      "  kindred info hopper-medium-expert-v2.hdf5\n"
      "  kindred info ~/.minari/datasets/door/human-v2 --json\n"
      "  kindred info lift.hdf5 --observation-keys robot0_eef_pos,object");
  const auto options = std::make_shared<DatasetOptions>();
  const auto common = std::make_shared<Common>();
  const auto flags = std::make_shared<Flags>();
  command->add_option("FILE", options->data, "A D4RL, Minari, robomimic, NPZ or Kindred dataset")
      ->required();
  common->add_json(*command);
  flags->add(*command, options->describe_reading(), "Reading");
  flags->add(*command, options->describe_selection(), "Selection");
  flags->add(*command, options->describe_truth(), "Truth");
  flags->add_uniform(*command);
  flags->add_config(*command);
  command->callback([=] {
    flags->apply();
    run(*options, *common);
  });
}

}  // namespace kindred::app
