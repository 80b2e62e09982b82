#include "dataset.h"

#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>

#include "kindred/core/error.h"
#include "kindred/data/select.h"
#include "kindred/data/truth.h"

namespace kindred::app {

namespace fs = std::filesystem;

namespace {

constexpr auto kMany = std::numeric_limits<std::int64_t>::max();

void adopt_options(const std::string& config, const OptionTable& table) {
  for (const auto& [name, value] : read_config(config))
    if (const auto* option = find_option(table, name)) set_from_text(*option, value);
}

}  // namespace

OptionTable DatasetOptions::describe_reading() { return read.describe(); }

OptionTable DatasetOptions::describe_selection() {
  return {
      integer("min-length", min_length, 1, kMany, "Leave out episodes with fewer steps."),
      integer("max-length", max_length, 0, kMany, "Leave out episodes with more steps; 0: none."),
      integer("sample", sample, 0, kMany, "Use this many random episodes; 0: all."),
      integer("sample-seed", sample_seed, 0, kMany, "Seed of the sample."),
  };
}

OptionTable DatasetOptions::describe_truth() {
  return {
      text("truth", truth, "CSV file with columns episode and label: the true policies."),
      integers("truth-boundary", truth_boundary,
               "Step numbers where one policy's part of the file ends and the next begins."),
      flag("truth-return-change", truth_return_change,
           "Take the jump in episode returns as the border between two policies."),
  };
}

void DatasetOptions::adopt(const std::string& config) {
  auto table = describe_reading();
  for (auto& option : describe_selection()) table.push_back(std::move(option));
  adopt_options(config, table);
}

void DatasetOptions::adopt_truth(const std::string& config) {
  adopt_options(config, describe_truth());
  if (!truth.empty() && !fs::exists(truth)) truth.clear();
}

Trajectories DatasetOptions::load() const {
  if (data.empty()) throw InvalidArgument("no dataset was named; give a FILE (see --help)");
  Trajectories loaded = read_trajectories(data, read);
  if (!truth.empty())
    loaded = label_from_csv(loaded, truth);
  else if (!truth_boundary.empty())
    loaded = label_by_boundaries(loaded, truth_boundary);
  else if (truth_return_change)
    loaded = label_by_return_change(loaded);
  return select(std::move(loaded));
}

Trajectories DatasetOptions::select(Trajectories loaded) const {
  if (min_length > 1 || max_length > 0)
    loaded = filter_by_length(loaded, min_length, max_length > 0 ? max_length : kMany);
  if (sample > 0) loaded = sample_episodes(loaded, sample, static_cast<std::uint64_t>(sample_seed));
  return loaded;
}

std::string run_dataset_path(const RunRecord& record, const std::string& moved_to,
                             const std::string& flag) {
  if (!moved_to.empty()) return moved_to;
  const auto path = record.dataset.at("path").get<std::string>();
  std::error_code hidden;
  if (!fs::exists(path, hidden))
    throw InvalidArgument("the run's dataset '{}' is not there; name it with {}", path, flag);
  return path;
}

Trajectories load_run_dataset(const RunFolder& folder, const RunRecord& record,
                              const std::string& moved_to) {
  DatasetOptions dataset;
  if (fs::exists(folder.config())) {
    dataset.adopt(folder.config().string());
    dataset.adopt_truth(folder.config().string());
  }
  dataset.data = run_dataset_path(record, moved_to, "--data");
  return dataset.load();
}

LabelledDataset load_labelled_dataset(const std::string& run_folder, const std::string& moved_to,
                                      const std::string& flag) {
  const RunFolder folder(run_folder);
  LoadedRun run = load_run(folder);
  DatasetOptions dataset;
  if (fs::exists(folder.config())) dataset.adopt(folder.config().string());
  LabelledDataset loaded;
  loaded.path = run_dataset_path(run.record, moved_to, flag);
  loaded.format =
      dataset.read.format == Format::kAuto ? recognise(loaded.path) : dataset.read.format;
  loaded.data = read_trajectories(loaded.path, dataset.read);
  const Trajectories clustered = dataset.select(loaded.data);
  const auto& record = run.record.dataset;
  const auto fingerprint = fingerprint_of(clustered);
  if (clustered.ids != run.episodes || clustered.steps() != record.at("steps") ||
      clustered.observations.dim() != record.at("obs_dim") ||
      record.value("fingerprint", fingerprint) != fingerprint)  // older records have none
    throw InvalidArgument(
        "'{}' is not the dataset of this run: it has {} episodes of {} steps where the run had {} "
        "of {}, or others; name the right one with {}",
        loaded.path, clustered.episodes(), clustered.steps(), run.episodes.size(),
        record.at("steps").dump(), flag);
  loaded.clusters = run.centres->count();
  loaded.labels = match_labels(loaded.data, {.episodes = std::move(run.episodes),
                                             .labels = std::move(run.labels),
                                             .label_names = {},
                                             .margins = std::move(run.margins)});
  return loaded;
}

std::string fingerprint_of(const Trajectories& data) {
  const auto bytes = data.actions.is_discrete() ? std::as_bytes(data.actions.ints().span())
                                                : std::as_bytes(data.actions.floats().span());
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const auto byte : bytes)
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

Json describe_dataset(const Trajectories& data, const std::string& path) {
  Json json = {{"path", path},
               {"format", name_of(recognise(path))},
               {"episodes", data.episodes()},
               {"steps", data.steps()},
               {"obs_dim", data.observations.dim()},
               {"action", data.actions.is_discrete()
                              ? Json{{"kind", "discrete"}, {"count", data.actions.count()}}
                              : Json{{"kind", "continuous"}, {"dim", data.actions.dim()}}},
               {"distinct_observations", nullptr}};
  if (data.observations.is_interned()) json["distinct_observations"] = data.observations.distinct();
  return json;
}

std::optional<double> oracle_ceiling(const Trajectories& data) {
  if (data.oracle.empty() || data.labels.empty()) return std::nullopt;
  return normalized_mutual_information(data.oracle.span(), data.labels.span());
}

void add_scores(Json& json, const ClusteringScores& scores) {
  json["nmi"] = scores.nmi;
  json["ari"] = scores.ari;
  json["accuracy"] = scores.accuracy;
  json["purity"] = scores.purity;
  json["homogeneity"] = scores.homogeneity;
  json["completeness"] = scores.completeness;
}

void tell_scores(const ClusteringScores& scores, const std::optional<double>& ceiling) {
  tell("NMI", fmt::format("{:.4f}{}", scores.nmi,
                          ceiling ? fmt::format("  (oracle ceiling {:.4f})", *ceiling) : ""));
  tell("ARI", fmt::format("{:.4f}", scores.ari));
  tell("accuracy", fmt::format("{:.4f}", scores.accuracy));
  tell("purity", fmt::format("{:.4f}", scores.purity));
}

}  // namespace kindred::app
