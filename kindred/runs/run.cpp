#include "kindred/runs/run.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/truth.h"
#include "kindred/methods/method.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

std::string trace_csv(const Clustering& clustering) {
  std::string text = "restart,round,objective,changed,sizes,seconds\n";
  for (const auto& entry : clustering.trace)
    text += fmt::format("{},{},{},{},{},{:.6f}\n", entry.restart, entry.iteration, entry.objective,
                        entry.changed, fmt::join(entry.sizes, " "), entry.seconds);
  return text;
}

/// The answer itself is the first.
std::string alternative_name(std::int64_t number) {
  return fmt::format("alternative_labels/{}", number);
}

void save_scores(const fs::path& path, const Clustering& clustering) {
  ArrayFileWriter file(path);
  file.write<double>("scores", clustering.scores.values,
                     {clustering.scores.rows, clustering.scores.columns});
  if (clustering.latents.rows > 0)
    file.write<double>("latents", clustering.latents.values,
                       {clustering.latents.rows, clustering.latents.columns});
  if (!clustering.held_out_margins.empty())
    file.write<double>("held_out_margins", clustering.held_out_margins);
  file.write_text("meaning", clustering.score_meaning);
  file.write<std::int32_t>("labels", clustering.labels);
  for (const auto& restart : clustering.restarts)
    file.write<std::int32_t>(fmt::format("restart_labels/{}", restart.restart), restart.labels);
  for (std::size_t i = 0; i < clustering.alternatives.size(); ++i)
    file.write<std::int32_t>(alternative_name(static_cast<std::int64_t>(i) + 2),
                             clustering.alternatives[i].labels);
  file.close();
}

void save_centres(const fs::path& path, const Clustering& clustering, const Trajectories& data) {
  ArrayFileWriter file(path);
  clustering.centres->save(file);
  Calibration::of(clustering, data).save(file);
  file.close();
}

void require_finished(const RunFolder& folder) {
  if (folder.is_finished()) return;
  const auto name = folder.path().string();
  if (folder.can_resume())
    throw InvalidArgument("the run in '{}' is not finished; finish it with cluster … --resume",
                          name);
  throw InvalidArgument(
      "'{}' is not a run folder: it has no run.json; make one with 'kindred cluster FILE -o RUN'",
      name);
}

/// The files of a run that was put together by hand may not fit each other.
void require_consistent(const LoadedRun& run, const RunFolder& folder) {
  const auto k = run.record.k();
  if (run.centres->count() != k)
    throw DataFormatError("'{}' holds {} centres, but the run has {} clusters",
                          folder.centres().string(), run.centres->count(), k);
  const auto episodes = run.record.fingerprint().episodes;
  if (static_cast<std::int64_t>(run.labels.size()) != episodes)
    throw DataFormatError("'{}' labels {} episodes, but the run had {}", folder.labels().string(),
                          run.labels.size(), episodes);
  const auto wrong = std::ranges::find_if(run.labels, [k](auto l) { return l < 0 || l >= k; });
  if (wrong != run.labels.end())
    throw DataFormatError("'{}' gives the label {}, but the run has clusters 0 to {}",
                          folder.labels().string(), *wrong, k - 1);
}

DatasetOptions reading_options(const RunRecord& record) {
  DatasetOptions options;
  options.restore(record.dataset.at("reading"), "run.json");
  std::error_code ignored;
  if (!fs::exists(options.truth, ignored)) options.truth.clear();
  return options;
}

}  // namespace

LoadedRun load_run(const RunFolder& folder) {
  require_finished(folder);
  const RunLock lock(folder, RunLock::Purpose::kReading);
  require_finished(folder);  // another process may have been replacing it
  LoadedRun run;
  run.record = RunRecord::read(folder.record());
  auto labels = read_labels_csv(folder.labels());
  run.episodes = std::move(labels.episodes);
  run.labels = std::move(labels.labels);
  run.margins = std::move(labels.margins);
  const ArrayFileReader centres(folder.centres());
  run.centres = find_method(run.record.method).load_centres(centres);
  require_consistent(run, folder);
  if (Calibration::is_in(centres))
    run.calibration = Calibration::load(centres, run.record.k());
  else
    run.misfit_below = centres.read<double>("misfit_below", {run.record.k()}).values;
  return run;
}

LoadedRun with_alternative(LoadedRun run, const RunFolder& folder, std::int64_t number) {
  if (number == 1) return run;
  const auto others = run.record.result.contains("alternatives")
                          ? std::ssize(run.record.result["alternatives"])
                          : 0;
  if (number < 1 || number > 1 + others)
    throw InvalidArgument("there is no alternative {}; the run in '{}' has {}", number,
                          folder.path().string(),
                          others == 0 ? "one answer" : fmt::format("{} answers", 1 + others));
  const ArrayFileReader scores(folder.scores());
  run.labels = scores.read<std::int32_t>(alternative_name(number), {std::ssize(run.labels)}).values;
  run.margins.clear();
  if (std::ranges::any_of(run.labels, [](auto label) { return label < 0; }))
    throw DataFormatError("'{}' holds a label below 0", folder.scores().string());
  return run;
}

void save_run(const RunFolder& folder, const Trajectories& data, const Clustering& clustering,
              const RunRecord& record, const std::string& config) {
  replace_run(folder, [&](const RunFolder& staged) {
    write_labels_csv(staged.labels(), data.ids, clustering.labels,
                     margins(clustering.scores, clustering.labels));
    write_text(staged.trace(), trace_csv(clustering));
    save_scores(staged.scores(), clustering);
    save_centres(staged.centres(), clustering, data);
    write_text(staged.config(), config);
    record.write(staged.record());
  });
}

std::vector<std::string> dataset_files(const RunRecord& record, const std::string& moved_to,
                                       const std::string& flag) {
  std::vector<std::string> files{record.dataset.at("path").get<std::string>()};
  if (const auto several = record.dataset.find("files"); several != record.dataset.end())
    files = several->get<std::vector<std::string>>();
  std::error_code ignored;
  if (!moved_to.empty()) {
    if (files.size() == 1) return {moved_to};
    if (!fs::is_directory(moved_to, ignored))
      throw InvalidArgument("the run's dataset is {} files; {} names the folder they are in now",
                            files.size(), flag);
    for (auto& file : files) file = (fs::path(moved_to) / fs::path(file).filename()).string();
  }
  for (const auto& file : files)
    if (!fs::exists(file, ignored))
      throw InvalidArgument("the run's dataset '{}' is not there; name it with {}", file, flag);
  return files;
}

Trajectories load_dataset(const RunRecord& record, const std::string& moved_to,
                          const std::string& flag) {
  auto options = reading_options(record);
  options.files = dataset_files(record, moved_to, flag);
  auto loaded = options.load();
  require_same_data(record.fingerprint(), fingerprint_of(loaded.data), loaded.path);
  return std::move(loaded.data);
}

LabelledDataset load_unlabelled_dataset(const RunRecord& record, const std::string& moved_to,
                                        const std::string& flag) {
  auto options = reading_options(record);
  options.files = dataset_files(record, moved_to, flag);
  LabelledDataset all{options.load_everything(), {}, 0, options};
  require_same_data(record.fingerprint(), fingerprint_of(options.select(all.dataset.data)),
                    options.files[0]);
  return all;
}

LabelledDataset load_labelled_dataset(const LoadedRun& run, const std::string& moved_to,
                                      const std::string& flag) {
  auto labelled = load_unlabelled_dataset(run.record, moved_to, flag);
  labelled.clusters =
      std::max<std::int64_t>(run.record.k(), 1 + *std::ranges::max_element(run.labels));
  labelled.labels = match_labels(
      labelled.dataset.data,
      {.episodes = run.episodes, .labels = run.labels, .label_names = {}, .margins = run.margins});
  return labelled;
}

}  // namespace kindred
