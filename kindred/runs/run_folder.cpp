#include "kindred/runs/run_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/truth.h"
#include "kindred/methods/method.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// A trajectory that scores lower than this share of a cluster's own members fits none.
constexpr double kMisfitQuantile = 0.001;

std::vector<double> misfit_thresholds(const Clustering& clustering, const Trajectories& data) {
  std::vector<std::vector<double>> own(static_cast<std::size_t>(clustering.k()));
  for (std::int64_t i = 0; i < clustering.scores.rows; ++i) {
    const auto label = clustering.labels[static_cast<std::size_t>(i)];
    const double per =
        clustering.centres->sums_over_steps() ? static_cast<double>(data.length(i)) : 1;
    own[static_cast<std::size_t>(label)].push_back(clustering.scores(i, label) / per);
  }
  std::vector<double> thresholds;
  for (auto& values : own) {
    const auto at =
        static_cast<std::ptrdiff_t>(kMisfitQuantile * static_cast<double>(values.size()));
    std::ranges::nth_element(values, values.begin() + at);
    thresholds.push_back(values[static_cast<std::size_t>(at)]);
  }
  return thresholds;
}

std::string trace_csv(const Clustering& clustering) {
  std::string text = "restart,round,objective,changed,sizes,seconds\n";
  for (const auto& entry : clustering.trace)
    text += fmt::format("{},{},{},{},{},{:.6f}\n", entry.restart, entry.iteration, entry.objective,
                        entry.changed, fmt::join(entry.sizes, " "), entry.seconds);
  return text;
}

void save_scores(const fs::path& path, const Clustering& clustering) {
  ArrayFileWriter file(path);
  file.write<double>("scores", clustering.scores.values,
                     {clustering.scores.rows, clustering.scores.columns});
  if (clustering.latents.rows > 0)
    file.write<double>("latents", clustering.latents.values,
                       {clustering.latents.rows, clustering.latents.columns});
  file.write_text("meaning", clustering.score_meaning);
  file.write<std::int32_t>("labels", clustering.labels);
  for (const auto& restart : clustering.restarts)
    file.write<std::int32_t>(fmt::format("restart_labels/{}", restart.restart), restart.labels);
  file.close();
}

}  // namespace

void describe_clustering(const Clustering& clustering, RunRecord& record) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(clustering.k()), 0);
  for (const auto label : clustering.labels) ++sizes[static_cast<std::size_t>(label)];
  const auto agreement = restart_agreement(clustering);
  const auto& best = clustering.restarts.at(static_cast<std::size_t>(clustering.best_restart));
  record.method = clustering.method;
  record.options = clustering.options;
  record.timings = clustering.timings;
  record.timings["fit"] = clustering.seconds;
  record.result = {{"k", clustering.k()},
                   {"sizes", sizes},
                   {"objective", clustering.objective},
                   {"objective_before_merge", best.objective_before_merge},
                   {"rounds", clustering.iterations},
                   {"converged", clustering.converged},
                   {"best_restart", clustering.best_restart},
                   {"agreement",
                    {{"verdict", agreement.verdict},
                     {"good_restarts", agreement.good},
                     {"same_restarts", agreement.same},
                     {"mean_nmi", agreement.mean_nmi},
                     {"least_nmi", agreement.least_nmi}}}};
  record.restarts = nlohmann::ordered_json::array();
  for (const auto& restart : clustering.restarts) {
    auto merges = nlohmann::ordered_json::array();
    for (const auto& merge : restart.merges)
      merges.push_back(
          {{"from", merge.from}, {"into", merge.into}, {"objective", merge.objective}});
    record.restarts.push_back({{"restart", restart.restart},
                               {"rounds", restart.iterations},
                               {"converged", restart.converged},
                               {"objective", restart.objective},
                               {"objective_before_merge", restart.objective_before_merge},
                               {"merges", merges}});
  }
  record.trace = nlohmann::ordered_json::array();
  for (const auto& entry : clustering.trace)
    record.trace.push_back({{"restart", entry.restart},
                            {"round", entry.iteration},
                            {"objective", entry.objective},
                            {"changed", entry.changed},
                            {"sizes", entry.sizes},
                            {"seconds", entry.seconds}});
}

void save_run(const RunFolder& folder, const Trajectories& data, const Clustering& clustering,
              const RunRecord& record) {
  write_labels_csv(folder.labels(), data.ids, clustering.labels,
                   margins(clustering.scores, clustering.labels));
  write_text(folder.trace(), trace_csv(clustering));
  save_scores(folder.scores(), clustering);
  ArrayFileWriter centres(folder.centres());
  clustering.centres->save(centres);
  centres.write<double>("misfit_below", misfit_thresholds(clustering, data));
  centres.close();
  record.write(folder.record());
}

LoadedRun load_run(const RunFolder& folder) {
  if (!fs::exists(folder.record())) {
    if (fs::exists(folder.state()))
      throw InvalidArgument("the run in '{}' is not finished; finish it with cluster … --resume",
                            folder.path().string());
    throw InvalidArgument(
        "'{}' is not a run folder: it has no run.json; make one with "
        "'kindred cluster FILE -o RUN'",
        folder.path().string());
  }
  LoadedRun run;
  run.record = RunRecord::read(folder.record());
  auto labels = read_labels_csv(folder.labels());
  run.episodes = std::move(labels.episodes);
  run.labels = std::move(labels.labels);
  run.margins = std::move(labels.margins);
  const ArrayFileReader centres(folder.centres());
  run.centres = find_method(run.record.method).load_centres(centres);
  run.misfit_below = centres.read<double>("misfit_below").values;
  if (static_cast<std::int64_t>(run.misfit_below.size()) != run.centres->count())
    throw DataFormatError("'{}' holds {} centres but {} thresholds", folder.centres().string(),
                          run.centres->count(), run.misfit_below.size());
  return run;
}

}  // namespace kindred
