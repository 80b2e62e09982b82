// Parquet: one table of steps, or a folder of them, with a column that tells episodes apart.
#include <fmt/ranges.h>

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/table_steps.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// The first of the usual names that the table has.
std::string usual_column(const ParquetTable& table, const char* what,
                         const std::vector<std::string>& names) {
  auto found = first_column(table, names);
  if (found.empty())
    throw DataFormatError("'{}' has no column for {}, expected one of {}; it has {}",
                          table.files()[0].string(), what, fmt::join(names, ", "),
                          printable(fmt::format("{}", fmt::join(numeric_columns(table), ", "))));
  return found;
}

}  // namespace

std::vector<fs::path> parquet_files(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".parquet") files.push_back(at->path());
  std::ranges::sort(files);
  return files;
}

Trajectories read_parquet(const fs::path& path, const ReadOptions& options) {
  const auto files = parquet_files(path);
  if (files.empty()) throw IoError("'{}' has no Parquet files in it", path.string());
  const ParquetTable table(files);
  TableLayout layout{
      .observations = options.observation_keys,
      .actions = usual_column(table, "actions", {"action", "actions"}),
      .rewards = first_column(table, {"reward", "rewards", "next.reward"}),
      .terminals =
          first_column(table, {"terminal", "terminals", "terminated", "done", "next.done"}),
      .timeouts = first_column(table, {"timeout", "timeouts", "truncated", "next.truncated"}),
      .episodes = usual_column(table, "episodes", {"episode_index", "episode", "episode_id"})};
  if (layout.observations.empty())
    layout.observations = {
        usual_column(table, "observations",
                     {"observation", "observations", "observation.state", "obs", "state"})};
  Trajectories data = read_table_steps(table, layout, options);
  set_labels_from(data, table, options.label_key);
  return data;
}

}  // namespace kindred
