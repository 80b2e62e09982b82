#include "kindred/runs/cluster.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <future>
#include <optional>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/error.h"
#include "kindred/core/resources.h"
#include "kindred/core/version.h"
#include "kindred/data/doctor.h"
#include "kindred/methods/policy_search/partition_judge.h"
#include "kindred/nn/device.h"
#include "kindred/runs/memory.h"
#include "kindred/runs/scores.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// How the request wants its dataset read, by the threads of the run.
DatasetOptions reading(const ClusterRequest& request, const RunContext& run) {
  DatasetOptions options = request.dataset;
  options.read.pool = run.pool;
  if (options.limit.scratch.empty() && !request.folder.path().empty())
    options.limit.scratch = fs::absolute(request.folder.path()).parent_path().string();
  return options;
}

RunRecord describe_request(const ClusterRequest& request, const Dataset& dataset,
                           const RunContext& run) {
  RunRecord record;
  record.version = kVersion;
  record.command = request.command;
  record.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  record.dataset = describe_dataset(reading(request, run), dataset, ranks_of(run));
  return record;
}

void describe_result(const Clustering& clustering, const Trajectories& data, const RunContext& run,
                     RunRecord& record) {
  describe_clustering(clustering, record);
  record.machine = {
      {"device", run.device}, {"threads", run.pool->threads()}, {"peak_rss_mb", peak_rss_mb()}};
  if (const auto& ranks = ranks_of(run); ranks.size() > 1)
    record.machine.update(
        {{"ranks", ranks.size()}, {"exchanged_mb", static_cast<double>(ranks.bytes()) / 1e6}});
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
    clustering.judgement = policy_search::judge_partition(data, clustering.labels, run);
  } catch (const Interrupted&) {
  }
}

/// Removes a folder in which nothing was saved, so that a failed run leaves no trace.
class EmptyFolderRemover {
 public:
  explicit EmptyFolderRemover(const RunFolder& folder) : folder_(folder) {}
  EmptyFolderRemover(const EmptyFolderRemover&) = delete;
  EmptyFolderRemover& operator=(const EmptyFolderRemover&) = delete;
  ~EmptyFolderRemover() {
    std::error_code ignored;
    fs::remove(folder_.path(), ignored);  // only an empty one
  }

 private:
  const RunFolder& folder_;
};

/// What looks odd in the data, which a thread finds out while others fit. Where there is only one,
/// or memory was promised, it is looked for when it is asked for; null where one process does not
/// see all episodes, or another looks.
std::future<nlohmann::ordered_json> start_to_examine(
    const Trajectories& data, const std::shared_ptr<const MemoryPromise>& memory,
    const RunContext& run) {
  const bool alone = run.pool->threads() == 1 || memory;
  const bool looks = ranks_of(run).is_first() && !data.held;
  return std::async(alone ? std::launch::deferred : std::launch::async | std::launch::deferred,
                    [&data, looks, pool = alone ? run.pool : nullptr]() -> nlohmann::ordered_json {
                      if (!looks) return nullptr;
                      return to_json(examine(data, pool.get()), false);
                    });
}

/// What the first rank says of something, to all of them.
bool as_first_rank_says(bool said, Communicator& ranks) {
  auto word = static_cast<std::byte>(said);
  ranks.broadcast({&word, 1}, 0);
  return word != std::byte{0};
}

/// How the ranks share the fit. Throws InvalidArgument where they cannot.
Sharing sharing_of(const ClusterRequest& request, const Trajectories& data, const RunContext& run) {
  auto& ranks = ranks_of(run);
  if (ranks.size() == 1) return Sharing::kEpisodes;
  const auto sharing = request.method->sharing(data, run);
  std::int64_t agree[] = {sharing == Sharing::kEpisodes, needs_all_episodes(sharing)};
  ranks.all_reduce(agree);
  if (std::ranges::max(agree) < ranks.size())
    throw InvalidArgument(
        "several processes cannot share a fit by this method with these options yet; start one");
  return sharing;
}

const char* name_of(Sharing sharing) {
  return sharing == Sharing::kBatches    ? "batches"
         : sharing == Sharing::kPolicies ? "policies"
                                         : "episodes";
}

/// What the ranks fit together: all episodes on each, or on each its own.
Trajectories shared_data(const Trajectories& data, Sharing sharing, const RunContext& run) {
  const auto& ranks = ranks_of(run);
  if (needs_all_episodes(sharing)) return fetch_all(data, run);
  if (ranks.size() == 1 || data.held) return data;
  const auto own = held_by(data, ranks.size())[static_cast<std::size_t>(ranks.rank())];
  Trajectories result = data;
  result.held = {own.begin, own.end};
  return result;
}

}  // namespace

ClusterOutcome cluster(const ClusterRequest& request, RunContext run) {
  auto& ranks = ranks_of(run);
  if (ranks.is_first()) require_not_finished(request, run);  // before reading takes its time
  std::future<void> awake;                                   // a GPU starts while the file is read
  if (run.device != "cpu") awake = std::async(std::launch::async, [&] { wake_device(run.device); });
  const Dataset dataset = reading(request, run).load(ranks);
  if (awake.valid()) awake.get();
  return cluster(request, dataset, std::move(run));
}

ClusterOutcome cluster(const ClusterRequest& request, const Dataset& dataset, RunContext run) {
  const auto& folder = request.folder;
  auto& ranks = ranks_of(run);
  request.method->check(dataset.data, run, request.set_by_user);
  require_kept(dataset.memory);
  run = within(dataset.memory, std::move(run));
  const auto sharing = sharing_of(request, dataset.data, run);
  RunRecord record = describe_request(request, dataset, run);
  std::optional<RunLock> lock;
  std::optional<EmptyFolderRemover> remover;
  if (ranks.is_first()) {  // the folder is its own
    make_run_folder(folder);
    require_not_finished(request, run);
    lock.emplace(folder, RunLock::Purpose::kWriting);
    remover.emplace(folder);
  }
  if (as_first_rank_says(ranks.is_first() && run.resume && folder.is_finished(), ranks)) {
    if (!ranks.is_first()) return {ClusterOutcome::End::kWasFinished, {}, 0};
    auto finished = RunRecord::read(folder.record());
    require_same_data(finished.fingerprint(), record.fingerprint(), dataset.path);
    return {ClusterOutcome::End::kWasFinished, std::move(finished), 0};
  }
  if (ranks.is_first()) {
    std::error_code ignored;
    if (!run.resume) fs::remove(folder.state(), ignored);
    run.checkpoint = folder.state();
  }
  if (!dataset.path.empty()) run.data_name = dataset.path;

  const auto data = shared_data(dataset.data, sharing, run);
  auto odd = start_to_examine(dataset.data.held ? data : dataset.data, dataset.memory, run);
  Clustering clustering = kept(dataset.memory, [&] { return request.method->fit(data, run); });
  if (clustering.stopped)
    return {ClusterOutcome::End::kStopped, {}, clustering.timings.value("rounds", std::int64_t{0})};
  if (!ranks.is_first()) return {ClusterOutcome::End::kFinished, {}, 0};
  record.dataset["doctor"] = odd.get();
  judge(data, run, clustering);
  require_kept(dataset.memory);
  describe_result(clustering, data, run, record);
  if (dataset.memory)
    record.machine["memory_mb"] = static_cast<double>(dataset.memory->bytes()) / 1e6;
  if (ranks.size() > 1) record.machine["shared"] = name_of(sharing);
  save_run(folder, data, clustering, record, request.config);
  return {ClusterOutcome::End::kFinished, std::move(record), 0};
}

}  // namespace kindred
