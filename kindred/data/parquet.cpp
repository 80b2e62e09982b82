// Parquet: one table of steps, or a folder of them, with a column that tells episodes apart.
#include <algorithm>
#include <fstream>
#include <utility>

#include "kindred/core/error.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/keyed.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// The first of the usual names that the table has; empty when it has none of them.
std::string usual_column(const NamedArrays& table, const std::vector<std::string>& names) {
  const auto found =
      std::ranges::find_if(names, [&](const auto& name) { return table.find(name) != nullptr; });
  return found == names.end() ? "" : *found;
}

/// Columns nobody named are looked for under their usual names.
ReadOptions with_usual_columns_of(const NamedArrays& table, ReadOptions named) {
  const auto look_for = [&](std::vector<std::string>& keys, const std::vector<std::string>& names) {
    if (keys.empty())
      if (auto found = usual_column(table, names); !found.empty()) keys = {std::move(found)};
  };
  look_for(named.obs_keys, {"observation", "observations", "observation.state", "obs", "state"});
  look_for(named.action_keys, {"action", "actions"});
  if (named.reward_key.empty())
    named.reward_key = usual_column(table, {"reward", "rewards", "next.reward"});
  if (named.episode_key.empty() && named.done_keys.empty())
    named.episode_key = usual_column(table, {"episode_index", "episode", "episode_id"});
  look_for(named.done_keys, {"terminal", "terminals", "terminated", "done", "next.done"});
  return named;
}

bool begins_as_parquet(const fs::path& path) {
  constexpr std::string_view kSignature = "PAR1";
  std::string first(kSignature.size(), '\0');
  std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
  return first == kSignature;
}

}  // namespace

bool is_parquet(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return !parquet_files(path).empty();
  return fs::is_regular_file(path, error) && begins_as_parquet(path);
}

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
  const auto table = open_named_arrays(path);
  return read_keyed(*table, with_usual_columns_of(*table, options));
}

ReadOptions parquet_columns(const fs::path& path, ReadOptions options) {
  return with_usual_columns_of(*open_named_arrays(path), std::move(options));
}

}  // namespace kindred
