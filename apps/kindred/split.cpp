// kindred split and kindred filter: new datasets with some clusters of a run, or segments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/core/staged_file.h"
#include "kindred/data/extract.h"
#include "kindred/data/select.h"
#include "kindred/runs/run.h"
#include "kindred/runs/segments.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

// Margins are negative where another cluster explains an episode better, as after merging.
constexpr double kAnyMargin = -std::numeric_limits<double>::infinity();

/// What the two commands share: a run's dataset, and which of its episodes to take.
struct ClusterSource {
  std::string run_folder;
  std::string moved_to;
  std::string output;
  double least_margin = kAnyMargin;
  Common common;
  Flags flags;

  OptionTable describe() {
    return {text("data", moved_to, "The dataset the run was made from, where it was moved."),
            real_or_off("least-margin", least_margin, std::numeric_limits<double>::lowest(),
                        std::numeric_limits<double>::max(), kAnyMargin,
                        "Leave out episodes whose label is less sure (the margin in labels.csv).")};
  }

  LabelledDataset load() const {
    auto dataset = load_labelled_dataset(load_run(RunFolder(run_folder)), moved_to, "--data");
    require_one_file(dataset.dataset);
    return dataset;
  }

  std::vector<std::int64_t> episodes_of(const LabelledDataset& dataset,
                                        std::span<const std::int64_t> clusters) const {
    const auto& labels = dataset.labels.labels;
    const auto& margins = dataset.labels.margins;
    std::vector<std::int64_t> episodes;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (std::ranges::find(clusters, labels[i]) != clusters.end() &&
          (margins.empty() || margins[i] >= least_margin))
        episodes.push_back(static_cast<std::int64_t>(i));
    if (episodes.empty())
      throw InvalidArgument("no episode of cluster {} has a margin of at least {}",
                            fmt::join(clusters, " or "), least_margin);
    return episodes;
  }

  /// Writes the clusters' episodes and describes the new dataset.
  Json extract(const LabelledDataset& dataset, std::span<const std::int64_t> clusters,
               const fs::path& target) const {
    const auto episodes = episodes_of(dataset, clusters);
    const auto& source = dataset.dataset;
    std::int64_t steps = 0;
    for (const auto episode : episodes) steps += source.data.length(episode);
    extract_episodes(source.path, source.format, source.data, episodes, target);
    return {{"clusters", clusters}, {"episodes", episodes.size()}, {"steps", steps}};
  }

  static void tell_part(const Json& part) {
    tell(part["path"].get<std::string>(),
         fmt::format("{} episodes, {} steps", grouped(part["episodes"].get<std::int64_t>()),
                     grouped(part["steps"].get<std::int64_t>())));
  }

  void add_to(CLI::App& command) {
    command.add_option("RUN", run_folder, "A finished run folder; filter: or of segments")
        ->required();
    common.add_json(command);
  }

  void finish(CLI::App& command) {
    flags.add(command, describe(), "Episodes");
    flags.add_uniform(command);
    flags.add_config(command);
  }
};

struct SplitCommand : ClusterSource {
  void run() {
    flags.apply();
    const fs::path folder = fs::path(output + "/").parent_path();  // without a slash at the end
    std::error_code error;  // where the system does not tell, writing will
    if (fs::exists(folder, error) &&
        !(fs::is_directory(folder, error) && fs::is_empty(folder, error)))
      throw InvalidArgument("'{}' is there and not an empty folder; choose another", output);
    const auto dataset = load();
    Json parts = Json::array();
    StagedFolder staged(folder);
    for (std::int64_t cluster = 0; cluster < dataset.clusters; ++cluster) {
      const auto name = part_name(dataset, cluster);
      auto part = extract(dataset, std::span(&cluster, 1), staged.path() / name);
      part["path"] = (folder / name).string();
      parts.push_back(std::move(part));
    }
    staged.commit();
    say(fmt::format("{} datasets in the format {}", parts.size(), name_of(dataset.dataset.format)));
    for (const auto& part : parts) tell_part(part);
    emit(common, {{"format", name_of(dataset.dataset.format)}, {"parts", parts}});
  }

  /// Minari finds a dataset by a folder with a version.
  static std::string part_name(const LabelledDataset& dataset, std::int64_t cluster) {
    return fmt::format("policy_{}{}", cluster,
                       dataset.dataset.format == Format::kMinari
                           ? "-v0"
                           : fs::path(dataset.dataset.path).extension().string());
  }
};

struct FilterCommand : ClusterSource {
  std::vector<std::int64_t> clusters;
  std::vector<std::int64_t> policies;
  std::int64_t min_length = 1;

  OptionTable describe_clusters() {
    return {integers("clusters", clusters, "Numbers of the clusters to keep, such as 0,2.")};
  }

  OptionTable describe_segments() {
    return {integers("policy", policies, "Numbers of the policies whose segments to keep."),
            integer("min-length", min_length, 1, std::numeric_limits<std::int64_t>::max(),
                    "Leave out segments with fewer steps.")};
  }

  void run() {
    flags.apply();
    if (holds_segments(run_folder)) return cut_segments();
    if (!policies.empty() || min_length > 1)
      throw InvalidArgument("'{}' is no folder of 'kindred segment'; of a run choose --clusters",
                            run_folder);
    if (clusters.empty()) throw InvalidArgument("name the clusters to keep with --clusters 0,2");
    const auto dataset = load();
    for (const auto cluster : clusters)
      if (cluster >= dataset.clusters)
        throw InvalidArgument("there is no cluster {}; the run has clusters 0 to {}", cluster,
                              dataset.clusters - 1);
    tell_new(extract(dataset, clusters, output), dataset.dataset,
             fmt::format("clusters {}", fmt::join(clusters, ", ")));
  }

  /// Segments become episodes.
  void cut_segments() {
    if (policies.empty() || !clusters.empty() || least_margin != kAnyMargin)
      throw InvalidArgument("'{}' holds segments; name the policies to keep with --policy 0,2",
                            run_folder);
    const auto [dataset, labels, count, reading] =
        load_labelled_dataset(load_segments(SegmentFolder(run_folder)), moved_to, "--data");
    require_one_file(dataset);
    for (const auto policy : policies)
      if (policy < 0 || policy >= count)
        throw InvalidArgument("there is no policy {}; the segments have policies 0 to {}", policy,
                              count - 1);
    std::vector<Stretch> stretches;
    std::int64_t steps = 0;
    for (const auto& one : labelled_stretches(labels.steps, dataset.data.offsets.span())) {
      if (one.end - one.begin < min_length ||
          std::ranges::find(policies, one.label) == policies.end())
        continue;
      stretches.push_back(one);
      steps += one.end - one.begin;
    }
    if (stretches.empty())
      throw InvalidArgument("no segment of policy {} has at least {} steps",
                            fmt::join(policies, " or "), min_length);
    extract_stretches(dataset.path, dataset.format, dataset.data, stretches, output, reading.read);
    tell_new({{"policies", policies}, {"episodes", stretches.size()}, {"steps", steps}}, dataset,
             fmt::format("segments of policy {}", fmt::join(policies, ", ")));
  }

  void tell_new(Json part, const Dataset& source, const std::string& what) const {
    part["path"] = output;
    part["format"] = name_of(source.format);
    say(fmt::format("{} of {}", what, source.path));
    tell_part(part);
    emit(common, part);
  }
};

}  // namespace

void add_split(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred split run -o parts\n"
      "  kindred split run -o parts --least-margin 10 --json\n"
      "Each part has the format of the dataset and everything in it. It is called\n"
      "parts/policy_0.hdf5, …; for LeRobot it is the folder parts/policy_0, …, for\n"
      "Minari parts/policy_0-v0, …, which minari.load_dataset finds with\n"
      "MINARI_DATASETS_PATH=parts.");
  const auto state = std::make_shared<SplitCommand>();
  state->add_to(command);
  command.add_option("-o,--output", state->output, "The folder to make")
      ->required()
      ->type_name("DIR");
  state->finish(command);
  command.callback([state] { state->run(); });
}

void add_filter(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred filter run --clusters 1 -o expert.hdf5\n"
      "  kindred filter run --clusters 0,2 --least-margin 10 -o sure.hdf5\n"
      "  kindred filter hopper-segments --policy 2 --min-length 30 -o expert.hdf5\n"
      "The new dataset has the format of the old one and everything in it. Segments,\n"
      "found by 'kindred segment', become episodes that end with a timeout where they\n"
      "were cut.");
  const auto state = std::make_shared<FilterCommand>();
  state->add_to(command);
  command
      .add_option("-o,--output", state->output, "The dataset to make; Minari, LeRobot: a folder")
      ->required()
      ->type_name("FILE");
  state->flags.add(command, state->describe_clusters(), "Clusters");
  state->flags.add(command, state->describe_segments(), "Segments");
  state->finish(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
