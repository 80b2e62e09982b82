#include "kindred/findings/findings.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/doctor.h"
#include "kindred/data/truth.h"
#include "kindred/findings/baseline.h"
#include "kindred/findings/behaviour.h"
#include "kindred/findings/column.h"
#include "kindred/findings/conflicts_record.h"
#include "kindred/findings/episode_map.h"
#include "kindred/findings/matched_states.h"
#include "kindred/findings/names.h"
#include "kindred/findings/notable.h"
#include "kindred/findings/run_data.h"
#include "kindred/findings/trajectory.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/runs/scores.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using findings::as;
using findings::column;
using findings::Json;
using findings::RunData;

constexpr std::int64_t kMostScores = 2'500'000;   // 13 MB in the page
constexpr std::int64_t kMostExact = 250'000;      // episodes: four bytes for each of their numbers
constexpr std::int64_t kMostSeenTwice = 500'000;  // episodes: a map is four bytes for each
constexpr std::int64_t kMoreTrajectories = 100;   // beside those of the lists

/// The last `parts` of the folder's path: "run", "seed-1/run".
std::string run_name(const RunFolder& folder, std::int64_t parts = 1) {
  auto path = fs::absolute(folder.path()).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const auto skipped = std::max<std::int64_t>(0, std::distance(path.begin(), path.end()) - parts);
  fs::path name;
  for (auto part = std::next(path.begin(), skipped); part != path.end(); ++part) name /= *part;
  return name.string();
}

/// Names of which no two are alike: with as many folders as that takes, and a number where one and
/// the same folder was named twice.
std::vector<std::string> run_names(std::span<const RunFolder> folders) {
  constexpr std::int64_t kMostParts = 8;
  std::vector<std::string> names;
  for (std::int64_t parts = 1; parts <= kMostParts; ++parts) {
    names.clear();
    for (const auto& folder : folders) names.push_back(run_name(folder, parts));
    if (std::set(names.begin(), names.end()).size() == names.size()) return names;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = fmt::format("{} ({})", run_name(folders[i]), i + 1);
  return names;
}

Json record_json(const RunRecord& record) {
  return {{"version", record.version}, {"method", record.method},     {"command", record.command},
          {"started", record.started}, {"dataset", record.dataset},   {"options", record.options},
          {"result", record.result},   {"restarts", record.restarts}, {"trace", record.trace},
          {"timings", record.timings}, {"machine", record.machine}};
}

/// The record of the run, with what looks odd in its data, also where the run is too old to say,
/// and in its labels.
Json examined_record(const RunData& found) {
  auto json = record_json(found.run.record);
  auto& doctor = json["dataset"]["doctor"];
  if (doctor.is_null()) doctor = to_json(examine(found.data), false);
  for (const auto& one : to_json(examine_labels(found.data, found.run.labels, "found"), false))
    doctor.push_back(one);
  return json;
}

/// What `kindred evaluate` left, or null.
Json evaluation_of(const RunFolder& folder) {
  if (!fs::exists(folder.evaluation())) return nullptr;
  auto json = Json::parse(read_text(folder.evaluation()), nullptr, false);
  if (!json.is_object())
    throw DataFormatError("'{}' is not JSON; make it again with 'kindred evaluate'",
                          folder.evaluation().string());
  return json;
}

Json label_column(const std::vector<std::int32_t>& labels) {
  const bool few = labels.empty() || *std::ranges::max_element(labels) < 256;
  return few ? column(as<std::uint8_t>(labels)) : column(as<std::uint16_t>(labels));
}

/// Numbers of episodes; with few digits where there are so many episodes that all would not fit.
Json number_column(const std::vector<double>& values) {
  return std::ssize(values) > kMostExact ? findings::rough_column(values)
                                         : column(as<float>(values));
}

Json whole_column(const std::vector<std::int32_t>& values) {
  return std::ssize(values) > kMostExact ? findings::narrow_column(values) : column(values);
}

/// Not a number where it is not known; nothing where none is.
Json return_column(const Trajectories& data) {
  auto returns = episode_returns(data);
  // What is too large for the page's numbers is not known either.
  const auto known = [](double value) { return std::isfinite(static_cast<float>(value)); };
  if (std::ranges::none_of(returns, known)) return nullptr;
  for (auto& value : returns)
    if (!known(value)) value = std::numeric_limits<double>::quiet_NaN();
  return number_column(returns);
}

Json episodes_json(const RunData& found) {
  const auto& data = found.data;
  const auto truth = findings::numbered_truth(data.labels.span(), data.label_names);
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    lengths.push_back(static_cast<std::int32_t>(data.length(i)));
  const bool few = found.scores.rows * found.scores.columns <= kMostScores;
  return {{"count", data.episodes()},
          {"ids", findings::ids_of(data)},
          {"label", label_column(found.run.labels)},
          {"truth", data.labels.empty() ? Json() : whole_column(truth.labels)},
          {"truth_names", truth.names},
          {"length", whole_column(lengths)},
          {"return", return_column(data)},
          {"margin", number_column(found.margin)},
          {"margin_held_out", found.held_out},
          {"scores", few ? column(as<float>(found.scores.values)) : Json()},
          {"score_meaning", found.score_meaning}};
}

/// The run's other answers: what a page can show of them, which is what follows from their labels.
Json alternatives_json(const RunFolder& folder, const RunData& found,
                       const std::optional<ConflictStudy>& conflicts) {
  auto list = Json::array();
  const auto kept = found.run.record.result.value("alternatives", Json::array());
  for (const auto& alternative : kept) {
    const RunData other = findings::other_answer(found, folder, std::ssize(list) + 2);
    auto sizes = Json::array();
    for (const auto& members : other.members) sizes.push_back(members.size());
    Json scores;
    if (!found.data.labels.empty()) {
      const auto known = where_known(other.run.labels, found.data.labels.span());
      add_scores(scores, score_clustering(known.found, known.truth));
    }
    list.push_back({{"v", alternative.at("v")},
                    {"nmi", alternative.at("nmi")},
                    {"sizes", sizes},
                    {"label", label_column(other.run.labels)},
                    {"scores", scores},
                    {"behaviour", findings::make_behaviour(other)->clusters()},
                    {"matched", findings::matched_states(other)},
                    {"conflicts_inside", findings::conflicts_inside_json(other, conflicts)}});
  }
  return list;
}

Json nmi_table(const std::vector<std::vector<std::int32_t>>& labellings) {
  auto table = Json::array();
  for (const auto& a : labellings) {
    auto row = Json::array();
    for (const auto& b : labellings) row.push_back(normalized_mutual_information(a, b));
    table.push_back(row);
  }
  return table;
}

/// The first alone where there are very many episodes.
Json maps_json(const RunData& found) {
  auto maps = findings::episode_maps(found);
  while (found.data.episodes() > kMostSeenTwice && maps.size() > 1) maps.erase(maps.size() - 1);
  return maps;
}

/// Those of the lists, and some more of every cluster.
std::set<std::int64_t> shown_episodes(const RunData& found,
                                      const std::vector<findings::NotableList>& lists) {
  std::set<std::int64_t> episodes;
  for (const auto& list : lists) episodes.insert(list.episodes.begin(), list.episodes.end());
  const auto each = std::max<std::int64_t>(1, kMoreTrajectories / found.k());
  for (const auto& members : found.members)
    for (const auto episode : findings::spread(members, each)) episodes.insert(episode);
  return episodes;
}

}  // namespace

nlohmann::ordered_json report_record(const RunFolder& folder, const Trajectories& data,
                                     const PictureOptions& pictures) {
  const RunData found = findings::load_run_data(folder, data);
  const auto behaviour = findings::make_behaviour(found);
  const auto lists = findings::notable_lists(found);
  auto shown = findings::trajectories(found, *behaviour, shown_episodes(found, lists));
  const auto conflicts = findings::run_conflicts(found);
  const auto seen = findings::add_pictures(found, lists, pictures, shown);
  return {{"kindred_report", 1},
          {"name", run_name(folder)},
          {"conclusion", conclusion(found.run.record)},
          {"run", examined_record(found)},
          {"config", fs::exists(folder.config()) ? read_text(folder.config()) : ""},
          {"episodes", episodes_json(found)},
          {"maps", maps_json(found)},
          {"behaviour", behaviour->clusters()},
          {"matched", findings::matched_states(found)},
          {"conflicts", findings::conflicts_json(found, conflicts)},
          {"baselines", findings::baselines(found)},
          {"notable", findings::to_json(lists)},
          {"trajectories", shown},
          {"pictures", seen},
          {"restart_nmi", nmi_table(found.restart_labels)},
          {"evaluation", evaluation_of(folder)},
          {"alternatives", alternatives_json(folder, found, conflicts)}};
}

nlohmann::ordered_json comparison_record(std::span<const RunFolder> folders) {
  std::vector<LoadedRun> runs;
  for (const auto& folder : folders) runs.push_back(load_run(folder));
  const auto data = runs.front().record.fingerprint();
  const bool same = std::ranges::all_of(
      runs, [&](const LoadedRun& run) { return run.record.fingerprint() == data; });
  auto list = Json::array();
  std::vector<std::vector<std::int32_t>> labellings;
  const auto names = run_names(folders);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    list.push_back({{"name", names[i]},
                    {"conclusion", conclusion(runs[i].record)},
                    {"run", record_json(runs[i].record)},
                    {"evaluation", evaluation_of(folders[i])},
                    {"label", same ? label_column(runs[i].labels) : Json()}});
    labellings.push_back(runs[i].labels);
  }
  return {
      {"kindred_comparison", 1}, {"runs", list}, {"nmi", same ? nmi_table(labellings) : Json()}};
}

}  // namespace kindred
