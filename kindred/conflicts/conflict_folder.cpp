#include "kindred/conflicts/conflict_folder.h"

#include <algorithm>

#include "kindred/conflicts/picture.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/staged_file.h"
#include "kindred/data/csv.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kColouring = "colouring.csv";
constexpr const char* kPairs = "pairs.csv";
constexpr const char* kContradictions = "contradictions.csv";
constexpr const char* kPicture = "graph.svg";
constexpr const char* kRecord = "conflicts.json";

using conflicts::at;

std::string colouring_table(const Trajectories& data, const ConflictStudy& study) {
  std::string text = "episode,label,place\n";
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto behaviour = study.graph.behaviour[at(i)];
    if (behaviour == kContradicts) continue;
    const auto* place = study.graph.behaviours.of(behaviour).empty() ? "untouched"
                        : study.least.forced[at(behaviour)]          ? "forced"
                                                                     : "free";
    text += fmt::format("{},{},{}\n", csv_field(data.ids[at(i)]), study.least.policy[at(behaviour)],
                        place);
  }
  return text;
}

std::string table_of(const Trajectories& data, std::span<const Disagreement> found) {
  std::string text = "episode,other,step,other_step,state,action,other_action\n";
  for (const auto& one : found)
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(data.ids[at(one.episode)]),
                        csv_field(data.ids[at(one.other)]), one.step, one.other_step, one.state,
                        one.action, one.other_action);
  return text;
}

}  // namespace

void require_free_for_conflicts(const fs::path& folder, bool force) {
  std::error_code error;
  if (!fs::exists(folder, error)) return;
  if (fs::exists(folder / kRecord, error) && !force)
    throw InvalidArgument("'{}' holds conflicts; replace them with --force, or name another folder",
                          folder.string());
  bool others = !fs::is_directory(folder, error);
  const auto own = {kColouring, kPairs, kContradictions, kPicture, kRecord};
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    others = others || std::ranges::find(own, entry->path().filename().string()) == own.end();
  if (others)
    throw InvalidArgument("'{}' holds other things; choose another folder", folder.string());
}

void write_conflicts(const fs::path& folder, const Trajectories& data, const ConflictStudy& study,
                     std::span<const Disagreement> pairs, std::span<const std::int32_t> groups,
                     const Json& record) {
  std::error_code error;
  const auto target = fs::path(folder.string() + "/").parent_path();  // without a slash
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  StagedFolder staged(target);
  const auto& next = staged.path();
  write_text(next / kColouring, colouring_table(data, study));
  write_text(next / kPairs, table_of(data, pairs));
  write_text(next / kContradictions, table_of(data, study.graph.contradicts));
  write_text(next / kPicture, draw_conflicts(study, data, groups));
  write_text(next / kRecord, record.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  for (const auto* file : {kRecord, kColouring, kPairs, kContradictions, kPicture})
    fs::remove(folder / file, error);
  staged.commit();
}

}  // namespace kindred
