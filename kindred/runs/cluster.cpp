#include "kindred/runs/cluster.h"

#include <fmt/chrono.h>

#include <ctime>

#include "kindred/core/error.h"
#include "kindred/core/resources.h"
#include "kindred/core/version.h"
#include "kindred/policies/partition_judge.h"
#include "kindred/runs/scores.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// How the request wants its dataset read, by the threads of the run.
DatasetOptions reading(const ClusterRequest& request, const RunContext& run) {
  DatasetOptions options = request.dataset;
  options.read.pool = run.pool;
  return options;
}

RunRecord describe_request(const ClusterRequest& request, const Dataset& dataset,
                           const RunContext& run) {
  RunRecord record;
  record.version = kVersion;
  record.command = request.command;
  record.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  record.dataset = describe_dataset(reading(request, run), dataset);
  return record;
}

void describe_result(const Clustering& clustering, const Trajectories& data, const RunContext& run,
                     RunRecord& record) {
  describe_clustering(clustering, record);
  record.machine = {
      {"device", run.device}, {"threads", run.pool->threads()}, {"peak_rss_mb", peak_rss_mb()}};
  if (!data.labels.empty()) {
    const auto known = where_known(clustering.labels, data.labels.span());
    add_scores(record.result, score_clustering(known.found, known.truth));
    if (std::ssize(known.truth) < data.episodes())
      record.result["truth_known"] = known.truth.size();
  }
  const auto oracle = oracle_nmi(data);
  record.result["ceiling"] =
      oracle ? nlohmann::ordered_json(*oracle) : nlohmann::ordered_json(nullptr);
}

void require_not_finished(const ClusterRequest& request, const RunContext& run) {
  if (request.folder.is_finished() && !run.resume && !request.force)
    throw InvalidArgument(
        "'{}' holds a finished run; replace it with --force, or name another folder",
        request.folder.path().string());
}

/// A stop that is asked for now comes too late to lose the labels; they are only not judged.
void judge(const Trajectories& data, const RunContext& run, Clustering& clustering) {
  if (clustering.judgement) return;
  try {
    clustering.judgement = judge_partition(data, clustering.labels, run);
  } catch (const Interrupted&) {
  }
}

/// Removes a folder in which nothing was saved, so that a failed run leaves no trace.
struct EmptyFolderRemover {
  const RunFolder& folder;

  ~EmptyFolderRemover() {
    std::error_code ignored;
    fs::remove(folder.path(), ignored);  // only an empty one
  }
};

}  // namespace

ClusterOutcome cluster(const ClusterRequest& request, RunContext run) {
  require_not_finished(request, run);  // before reading takes its time
  const Dataset dataset = reading(request, run).load();
  return cluster(request, dataset, std::move(run));
}

ClusterOutcome cluster(const ClusterRequest& request, const Dataset& dataset, RunContext run) {
  const auto& folder = request.folder;
  request.method->check(dataset.data);
  RunRecord record = describe_request(request, dataset, run);

  make_run_folder(folder);
  require_not_finished(request, run);
  const RunLock lock(folder, RunLock::Purpose::kWriting);
  const EmptyFolderRemover remover{folder};
  if (run.resume && folder.is_finished()) {
    auto finished = RunRecord::read(folder.record());
    require_same_data(finished.fingerprint(), record.fingerprint(), dataset.path);
    return {ClusterOutcome::End::kWasFinished, std::move(finished), 0};
  }
  std::error_code ignored;
  if (!run.resume) fs::remove(folder.state(), ignored);
  run.checkpoint = folder.state();
  if (!dataset.path.empty()) run.data_name = dataset.path;

  Clustering clustering = request.method->fit(dataset.data, run);
  if (clustering.stopped)
    return {ClusterOutcome::End::kStopped, {}, clustering.timings.value("rounds", std::int64_t{0})};
  judge(dataset.data, run, clustering);
  describe_result(clustering, dataset.data, run, record);
  save_run(folder, dataset.data, clustering, record, request.config);
  return {ClusterOutcome::End::kFinished, std::move(record), 0};
}

}  // namespace kindred
