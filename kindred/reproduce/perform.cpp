#include "kindred/reproduce/perform.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/random.h"
#include "kindred/core/resources.h"
#include "kindred/core/stopwatch.h"
#include "kindred/data/array_file.h"
#include "kindred/data/formats.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/named_dataset.h"
#include "kindred/findings/evaluate.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/runs/cluster.h"
#include "kindred/runs/run.h"
#include "kindred/runs/scores.h"

namespace kindred::reproduce {
namespace {

namespace fs = std::filesystem;

/// The file with its true labels: those beside it, or where returns jump.
DatasetOptions reading(const Task& task, const fs::path& files) {
  DatasetOptions options;
  const auto file = files / task.file;
  options.files = {file.string()};
  auto labels = file;
  labels.replace_extension(".labels.csv");
  if (fs::exists(labels))
    options.truth = labels.string();
  else
    options.truth_return_change = true;
  return options;
}

/// Where data of a task and seed are kept while jobs may share them; other options, another file.
fs::path kept_data(const Task& task, std::int64_t seed, const Store& store) {
  const auto options = std::hash<std::string>()(task.generate + task.options.dump());
  return store.work("data") / fmt::format("{}-{}-{:x}.h5", task.name, seed, options);
}

/// Keeps data for other jobs, unless the disk has little room: they can make them again.
void keep(const Trajectories& data, const fs::path& path) {
  constexpr std::uintmax_t kSpareBytes = 10'000'000'000;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (const auto space = fs::space(path.parent_path(), error);
      error || space.available < kSpareBytes)
    return;
  try {
    write_trajectories(data, path, Format::kKindred);
  } catch (const IoError&) {
  }
}

/// What an earlier job kept, or made anew.
Trajectories generated(const Task& task, std::int64_t seed, const Store& store,
                       const RunContext& run) {
  constexpr double kQuick = 1.0;  // seconds; reading would not be much quicker
  const auto path = kept_data(task, seed, store);
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    ReadOptions options;
    options.pool = run.pool;
    try {
      return read_trajectories(path, options);
    } catch (const Error&) {
      fs::remove(path, ignored);
    }
  }
  const Stopwatch clock;
  auto data = generate_named(task.generate, task.options, seed, run);
  if (clock.seconds() > kQuick) keep(data, path);
  return data;
}

Dataset make_dataset(const Task& task, std::int64_t seed, const Store& store, const fs::path& files,
                     const RunContext& run) {
  if (task.file.empty()) return {"", Format::kKindred, generated(task, seed, store, run)};
  auto options = reading(task, files);
  options.read.pool = run.pool;
  return options.load();
}

/// The options with what they say of the task in the place of its names.
Json options_for(const Configuration& configuration, const Task& task) {
  Json options = configuration.options;
  for (auto& value : options) {
    if (value == "k*") value = task.k;
    if (value == "k*+1") value = task.k + 1;
    if (value == "start") value = task.start;
  }
  return options;
}

/// A file of true labels of a share of the episodes, drawn with the seed.
fs::path write_known_labels(const Trajectories& data, double share, std::int64_t seed,
                            const fs::path& path) {
  std::vector<std::int64_t> episodes(static_cast<std::size_t>(data.episodes()));
  for (std::size_t i = 0; i < episodes.size(); ++i) episodes[i] = static_cast<std::int64_t>(i);
  Random(static_cast<std::uint64_t>(seed), "known labels").shuffle(std::span(episodes));
  episodes.resize(static_cast<std::size_t>(
      std::max(1.0, std::floor(share * static_cast<double>(data.episodes())))));
  std::ranges::sort(episodes);
  std::string text = "episode,label\n";
  for (const auto i : episodes)
    text += fmt::format("{},{}\n", i, data.labels.span()[static_cast<std::size_t>(i)]);
  write_text(path, text);
  return path;
}

/// What a record says of the machine, beside what the run says.
void add_machine(Json& machine, Company company) {
  machine["processor"] = processor_name();
  machine["cores"] = std::thread::hardware_concurrency();
  if (machine.at("device") != "cpu") machine["gpu"] = gpu_name();
  machine["jobs_at_once"] = company.on_machine;
  machine["jobs_on_device"] = company.on_device;
}

/// How well each restart alone did: what a single run would have been.
void add_restart_scores(const RunFolder& folder, const Trajectories& data, Json& restarts) {
  if (data.labels.empty()) return;
  const ArrayFileReader scores(folder.scores());
  for (auto& restart : restarts) {
    const auto name = fmt::format("restart_labels/{}", restart.at("restart").get<std::int64_t>());
    if (!scores.contains(name)) continue;
    const auto labels = scores.read<std::int32_t>(name, {data.episodes()}).values;
    const auto known = where_known(labels, data.labels.span());
    restart["nmi"] = score_clustering(known.found, known.truth).nmi;
  }
}

/// The run's own record, less what is of no use elsewhere.
Json clustering_record(const RunFolder& folder, const Trajectories& data, Company company) {
  Json record = Json::parse(read_text(folder.record()));
  for (const char* key : {"trace", "command"}) record.erase(key);
  for (const char* key : {"path", "files", "provenance", "reading"}) record["dataset"].erase(key);
  if (auto& options = record["options"]; options.value("seeds", "") != "")
    options["seeds"] = fs::path(options["seeds"].get<std::string>()).filename().string();
  add_restart_scores(folder, data, record["restarts"]);
  add_machine(record["machine"], company);
  return record;
}

/// How the returns of each cluster's episodes are spread, in equal steps from the least of all.
Json returns_record(const LoadedRun& run, const Trajectories& data) {
  constexpr std::size_t kBins = 40;
  const auto returns = episode_returns(data);
  const auto [least, most] = std::ranges::minmax(returns);
  const double width = (most - least) / static_cast<double>(kBins);
  Json record = {{"least", least}, {"most", most}, {"clusters", Json::array()}};
  for (std::int64_t c = 0; c < run.record.k(); ++c) {
    std::vector<std::int64_t> bins(kBins, 0);
    for (std::size_t i = 0; i < returns.size(); ++i)
      if (run.labels[i] == c) {
        const double place = width > 0.0 ? (returns[i] - least) / width : 0.0;
        ++bins[std::min(kBins - 1, static_cast<std::size_t>(place))];
      }
    record["clusters"].push_back(bins);
  }
  return record;
}

std::unique_ptr<Environment> environment_of(const Task& task, const Trajectories& data) {
  if (data.provenance.contains("environment"))
    return make_environment(data.provenance.at("environment").get<std::string>(),
                            data.provenance.at("options"));
  return make_environment(task.environment);
}

Json evaluation_record(const LoadedRun& run, const Trajectories& data, const Task& task,
                       const EvaluationVariant& variant, std::int64_t seed, Company company,
                       RunContext context) {
  context.device = "cpu";  // evaluating uses no GPU
  EvaluateOptions options;
  from_json(options.describe(), variant.options, variant.name);
  options.seed = seed;
  const auto environment = environment_of(task, data);
  auto result = evaluate(run, data, *environment, options, context);
  Json record = {{"method", run.record.method},
                 {"started", run.record.started},
                 {"options", to_json(result.options.describe())}};
  record.update(to_json(result));
  record["machine"] = {{"device", context.device}, {"threads", context.pool->threads()}};
  add_machine(record["machine"], company);
  return record;
}

ClusterOutcome cluster_or_begin_again(const ClusterRequest& request, const Dataset& dataset,
                                      const RunContext& run) {
  const bool goes_on = request.folder.can_resume() || request.folder.is_finished();
  try {
    return cluster(request, dataset, run);
  } catch (const Error&) {
    // What is there may be of another version or damaged; nothing of it is worth a failure.
    if (!goes_on) throw;
    remove_tree(request.folder.path());
    return cluster(request, dataset, run);
  }
}

}  // namespace

std::string why_no_data(const Task& task, const fs::path& files) {
  std::error_code ignored;
  if (task.file.empty()) {
    const auto name = parse_dataset_name(task.generate).environment;
    return find_environment(name).available
               ? ""
               : fmt::format("this build cannot make the environment '{}'", name);
  }
  if (files.empty()) return fmt::format("name the folder that holds {} with --files", task.file);
  return fs::exists(files / task.file, ignored)
             ? ""
             : fmt::format("there is no '{}'", (files / task.file).string());
}

void perform(const Declarations& declared, const Job& job, const Store& store,
             const fs::path& files, Company company, RunContext run) {
  const auto& task = declared.task(job.task);
  const auto& configuration = declared.configuration(job.configuration);
  const Dataset dataset = make_dataset(task, job.seed, store, files, run);
  const fs::path labels = store.work(job.name() + "-labels.csv");
  const auto method = find_method(configuration.method).make();
  if (!configuration.preset.empty()) method->use_preset(configuration.preset);
  auto options = options_for(configuration, task);
  if (find_option(method->describe(), "seed")) options["seed"] = job.seed;
  if (configuration.known_labels > 0.0)
    options["seeds"] =
        write_known_labels(dataset.data, configuration.known_labels, job.seed, labels).string();
  from_json(method->describe(), options, configuration.name);

  const RunFolder folder(store.work(job.name()));
  ClusterRequest request{.dataset = {},
                         .method = method.get(),
                         .folder = folder,
                         .command = "kindred reproduce",
                         .config = to_toml(method->describe())};
  if (!task.file.empty()) request.dataset = reading(task, files);
  run.resume = true;
  if (cluster_or_begin_again(request, dataset, run).end == ClusterOutcome::End::kStopped)
    throw Interrupted();

  const LoadedRun fitted = load_run(folder);
  for (const auto& output : job.outputs) {
    if (store.has(output.record)) continue;
    switch (output.kind) {
      case Output::Kind::kClustering:
        store.write(output.record, clustering_record(folder, dataset.data, company));
        break;
      case Output::Kind::kEvaluation:
        store.write(output.record, evaluation_record(fitted, dataset.data, task,
                                                     declared.evaluation(output.variant),
                                                     output.evaluation_seed, company, run));
        break;
      case Output::Kind::kReturns:
        store.write(output.record, returns_record(fitted, dataset.data));
        break;
    }
  }
  remove_tree(folder.path());
  remove_tree(labels);
}

}  // namespace kindred::reproduce
