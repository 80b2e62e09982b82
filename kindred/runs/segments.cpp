#include "kindred/runs/segments.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string_view>
#include <unordered_map>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/resources.h"
#include "kindred/core/staged_file.h"
#include "kindred/core/stopwatch.h"
#include "kindred/core/version.h"
#include "kindred/data/csv.h"
#include "kindred/data/doctor.h"
#include "kindred/runs/segment_evidence.h"
#include "kindred/runs/segment_scores.h"
#include "kindred/runs/shared_run.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kSegmentsVersion = 1;

/// Labels of the data's episodes by a finished run.
std::vector<std::int32_t> labels_by(const std::string& folder, const Trajectories& data) {
  const auto run = load_run(RunFolder(folder));
  const auto labels = match_labels(
      data,
      {.episodes = run.episodes, .labels = run.labels, .label_names = {}, .margins = run.margins});
  if (std::ranges::find(labels.labels, kNoLabel) != labels.labels.end())
    throw InvalidArgument("the run in '{}' has no label for some episodes of this dataset", folder);
  return labels.labels;
}

std::string segments_table(const Trajectories& data, const Segmentation& found) {
  std::string text = "episode,start,end,policy,posterior,earliest,latest\n";
  for (const auto& one : found.segments)
    text += fmt::format("{},{},{},{},{:.4f},{},{}\n",
                        csv_field(data.ids[static_cast<std::size_t>(one.episode)]), one.begin,
                        one.end, one.policy, one.chance, one.earliest, one.latest);
  return text;
}

std::string idle_table(const Trajectories& data, const std::vector<IdleStretch>& idle) {
  std::string text = "episode,start,end\n";
  for (const auto& one : idle)
    text += fmt::format("{},{},{}\n", csv_field(data.ids[static_cast<std::size_t>(one.episode)]),
                        one.begin, one.end);
  return text;
}

std::string unsure_table(const Trajectories& data, const std::vector<UnsureStretch>& unsure) {
  std::string text = "episode,start,end,policy,posterior,first,last\n";
  for (const auto& one : unsure)
    for (const auto& candidate : one.candidates)
      text += fmt::format("{},{},{},{},{:.4f},{},{}\n",
                          csv_field(data.ids[static_cast<std::size_t>(one.episode)]), one.begin,
                          one.end, candidate.policy, candidate.chance, candidate.first,
                          candidate.end - 1);
  return text;
}

/// How many there are, and their steps.
template <class Stretch>
Json count_stretches(const std::vector<Stretch>& stretches) {
  std::int64_t steps = 0;
  for (const auto& one : stretches) steps += one.end - one.begin;
  return {{"stretches", stretches.size()}, {"steps", steps}};
}

Json describe_found(const Trajectories& data, const Segmentation& found,
                    const std::vector<IdleStretch>& idle) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(found.policies), 0);
  for (const auto actor : found.actors) ++steps[static_cast<std::size_t>(actor)];
  std::int64_t switching = 0;
  for (std::size_t i = 0; i < found.segments.size(); ++i)
    switching += found.segments[i].begin > 0 &&
                 (i + 1 == found.segments.size() || found.segments[i + 1].begin == 0);
  Json result = {{"k", found.policies},
                 {"segments", found.segments.size()},
                 {"switches", found.switches()},
                 {"episodes_with_switches", switching},
                 {"rate", found.rate},
                 {"steps", steps},
                 {"followers", count_followers(found)},
                 {"v", found.v},
                 {"v_of_nobody", found.v_of_nobody},
                 {"v_of_one", found.v_of_one},
                 {"searched", found.searched},
                 {"unsure", count_stretches(found.unsure)},
                 {"idle", count_stretches(idle)}};
  if (!data.actors.empty() || !data.labels.empty()) result["truth"] = score_segments(data, found);
  return result;
}

std::int64_t whole_number(const CsvTable::Row& row, std::size_t column, const fs::path& path) {
  const auto& field = row.fields[column];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || value < 0)
    throw DataFormatError("'{}', line {}: '{}' is not a step or a policy", path.string(), row.line,
                          field);
  return value;
}

double chance(const CsvTable::Row& row, std::size_t column, const fs::path& path) {
  const auto& field = row.fields[column];
  double value = 0.0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !(value >= 0.0 && value <= 1.0))
    throw DataFormatError("'{}', line {}: '{}' is not a chance between 0 and 1", path.string(),
                          row.line, field);
  return value;
}

std::vector<std::size_t> find_columns(const CsvTable& table, const fs::path& path,
                                      std::initializer_list<const char*> names) {
  std::vector<std::size_t> columns;
  for (const char* name : names) {
    const auto column = table.column(name);
    if (!column) throw DataFormatError("'{}' has no column '{}'", path.string(), name);
    columns.push_back(*column);
  }
  return columns;
}

/// Older programs wrote none.
void load_unsure(const fs::path& path, LoadedSegments& loaded) {
  if (!fs::exists(path)) return;
  const auto table = parse_csv(read_text(path), path.string());
  const auto columns = find_columns(
      table, path, {"episode", "start", "end", "policy", "posterior", "first", "last"});
  for (const auto& row : table.rows) {
    const auto& episode = row.fields[columns[0]];
    const auto begin = whole_number(row, columns[1], path);
    auto& all = loaded.unsure;
    if (all.empty() || loaded.unsure_episodes.back() != episode || all.back().begin != begin) {
      loaded.unsure_episodes.push_back(episode);
      all.push_back({.begin = begin, .end = whole_number(row, columns[2], path)});
    }
    all.back().candidates.push_back(
        {.policy = static_cast<std::int32_t>(whole_number(row, columns[3], path)),
         .chance = chance(row, columns[4], path),
         .first = whole_number(row, columns[5], path),
         .end = whole_number(row, columns[6], path) + 1});
  }
}

/// Everything a folder of segments may hold.
std::vector<fs::path> files_of(const SegmentFolder& folder) {
  return {folder.record(), folder.segments(), folder.unsure(),
          folder.idle(),   folder.evidence(), folder.report()};
}

void require_free(const SegmentFolder& folder, bool force) {
  const auto name = folder.path().string();
  if (folder.is_finished() && !force)
    throw InvalidArgument("'{}' holds segments; replace them with --force, or name another folder",
                          name);
  std::error_code error;
  if (!fs::exists(folder.path(), error)) return;
  const auto own = files_of(folder);
  bool others = !fs::is_directory(folder.path(), error);
  for (fs::directory_iterator at(folder.path(), error), end; !error && at != end;
       at.increment(error))
    others = others || std::ranges::find(own, at->path()) == own.end();
  if (others) throw InvalidArgument("'{}' holds other things; choose another folder", name);
}

/// Everything is on the disk before what was there goes.
void write_folder(const SegmentFolder& folder, const Trajectories& data,
                  const SegmentedDataset& made) {
  std::error_code error;
  const auto target = fs::path(folder.path().string() + "/").parent_path();  // without a slash
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  StagedFolder staged(target);
  const SegmentFolder next(staged.path());
  write_text(next.segments(), segments_table(data, made.found));
  write_text(next.unsure(), unsure_table(data, made.found.unsure));
  write_text(next.idle(), idle_table(data, made.idle));
  save_evidence(notable_evidence(made.found, data.offsets.span()), next.evidence());
  write_text(next.record(), made.record.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  for (const auto& file : files_of(folder)) fs::remove(file, error);
  staged.commit();
}

}  // namespace

bool holds_segments(const fs::path& folder) {
  return SegmentFolder(folder).is_finished() && !RunFolder(folder).is_finished();
}

std::vector<std::vector<std::int64_t>> count_followers(const Segmentation& found) {
  const auto k = static_cast<std::size_t>(found.policies);
  std::vector counts(k, std::vector<std::int64_t>(k, 0));
  for (std::size_t i = 1; i < found.segments.size(); ++i)
    if (found.segments[i].begin > 0)
      ++counts[static_cast<std::size_t>(found.segments[i - 1].policy)]
              [static_cast<std::size_t>(found.segments[i].policy)];
  return counts;
}

SegmentedDataset segment_dataset(const SegmentRequest& request, const RunContext& context) {
  const auto& folder = request.folder;
  auto& ranks = ranks_of(context);
  if (ranks.is_first()) require_free(folder, request.force);  // it is its own
  DatasetOptions source = request.dataset;
  source.read.pool = context.pool;
  if (source.limit.scratch.empty())
    source.limit.scratch = std::filesystem::absolute(folder.path()).parent_path().string();
  const auto dataset = source.load();
  const auto run = within(dataset.memory, context);
  const auto& data = dataset.data;
  const Stopwatch clock;
  std::vector<std::int32_t> known;
  if (!request.run.empty()) known = labels_by(request.run, data);
  auto options = request.options;
  require_alike(to_json(options.describe()).dump(), "options", ranks);
  require_alike(fmt::format("{} {}", data.episodes(), data.steps()), "data", ranks);
  SegmentedDataset result{
      .found = kept(dataset.memory, [&] { return segment(data, options, run, known); }),
      .idle = {},
      .record = {}};
  if (!ranks.is_first()) return result;
  result.idle = idle_stretches(data);
  auto described = describe_dataset(request.dataset, dataset);
  described["doctor"] = to_json(examine(dataset.data, request.dataset.read.pool.get()), false);
  result.record = {
      {"kindred_segments", kSegmentsVersion},
      {"version", kVersion},
      {"command", request.command},
      {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"dataset", std::move(described)},
      {"options", to_json(options.describe())},
      {"run", request.run},
      {"result", describe_found(data, result.found, result.idle)},
      {"timings", {{"segment", clock.seconds()}}},
      {"machine", {{"threads", run.pool->threads()}, {"peak_rss_mb", peak_rss_mb()}}}};
  if (ranks.size() > 1)
    result.record["machine"].update(
        {{"ranks", ranks.size()}, {"exchanged_mb", static_cast<double>(ranks.bytes()) / 1e6}});
  require_kept(dataset.memory);
  write_folder(folder, data, result);
  return result;
}

LoadedSegments load_segments(const SegmentFolder& folder) {
  if (!folder.is_finished())
    throw InvalidArgument("'{}' holds no segments; make some with 'kindred segment'",
                          folder.path().string());
  LoadedSegments loaded;
  loaded.record = Json::parse(read_text(folder.record()), nullptr, false);
  if (!loaded.record.is_object() || loaded.record.value("kindred_segments", 0) != kSegmentsVersion)
    throw DataFormatError("'{}' is not a record of segments this program knows",
                          folder.record().string());
  const auto path = folder.segments();
  const auto table = parse_csv(read_text(path), path.string());
  const auto columns = find_columns(
      table, path, {"episode", "start", "end", "policy", "posterior", "earliest", "latest"});
  for (const auto& row : table.rows) {
    loaded.episodes.push_back(row.fields[columns[0]]);
    auto& one = loaded.segments.emplace_back();
    one.begin = whole_number(row, columns[1], path);
    one.end = whole_number(row, columns[2], path);
    one.policy = static_cast<std::int32_t>(whole_number(row, columns[3], path));
    one.chance = chance(row, columns[4], path);
    one.earliest = whole_number(row, columns[5], path);
    one.latest = whole_number(row, columns[6], path);
    if (one.end <= one.begin)
      throw DataFormatError("'{}', line {}: a segment ends before it begins", path.string(),
                            row.line);
  }
  load_unsure(folder.unsure(), loaded);
  return loaded;
}

RunRecord dataset_record(const LoadedSegments& segments) {
  RunRecord record;
  record.dataset = segments.record.value("dataset", Json::object());
  return record;
}

LabelledDataset load_labelled_dataset(const LoadedSegments& segments, const std::string& moved_to,
                                      const std::string& flag) {
  auto labelled = load_unlabelled_dataset(dataset_record(segments), moved_to, flag);
  labelled.clusters = segments.record.at("result").at("k");
  const auto& data = labelled.dataset.data;
  std::unordered_map<std::string_view, std::int64_t> number_of;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    number_of.emplace(data.ids[static_cast<std::size_t>(i)], i);
  std::vector<std::int32_t> steps(static_cast<std::size_t>(data.steps()), kNoLabel);
  for (std::size_t i = 0; i < segments.segments.size(); ++i) {
    const auto& one = segments.segments[i];
    const auto episode = number_of.find(segments.episodes[i]);
    if (episode == number_of.end() || one.end > data.length(episode->second))
      throw InvalidArgument("the dataset has no steps {} to {} of an episode '{}'", one.begin,
                            one.end, segments.episodes[i]);
    const auto first = steps.begin() + data.offsets[episode->second];
    std::fill(first + one.begin, first + one.end, one.policy);
  }
  labelled.labels = labels_of_steps(std::move(steps), data.offsets.span());
  return labelled;
}

Trajectories load_segmented_data(const LoadedSegments& loaded, const std::string& moved_to) {
  try {
    return load_dataset(dataset_record(loaded), moved_to);
  } catch (const Json::exception&) {
    throw DataFormatError(
        "segments.json does not say which dataset it is of; make it again with 'kindred segment'");
  }
}

}  // namespace kindred
