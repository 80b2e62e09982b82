#include "kindred/runs/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/staged_file.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// Where the files of a run wait for each other.
fs::path staged_in(const RunFolder& folder) { return folder.path() / ".next"; }

/// Whether everything in the folder is of a run: finished, unfinished, or killed on its way.
bool holds_nothing_else(const RunFolder& folder, const fs::path& staged) {
  auto own = folder.results();
  for (const auto& file :
       {folder.state(), folder.evaluation(), folder.policies(), folder.report(), staged})
    own.push_back(file);
  std::error_code error;
  for (fs::directory_iterator at(folder.path(), error), end; !error && at != end;
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (std::ranges::none_of(
            own, [&](const fs::path& file) { return name.starts_with(file.filename().string()); }))
      return false;
  }
  return true;
}

/// What processes left that were killed: whoever writes a run is alone in its folder.
void remove_staged(const RunFolder& folder) {
  const auto prefix = staged_in(folder).filename().string();
  std::vector<fs::path> left;
  std::error_code error;
  for (fs::directory_iterator at(folder.path(), error), end; !error && at != end;
       at.increment(error))
    if (at->path().filename().string().starts_with(prefix)) left.push_back(at->path());
  for (const auto& path : left) remove_tree(path);
}

void move_into_place(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw IoError("cannot write '{}': {}", to.string(), error.message());
}

}  // namespace

RunLock::RunLock(const RunFolder& folder, Purpose purpose)
    : descriptor_(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const int kind = purpose == Purpose::kWriting ? LOCK_EX : LOCK_SH;
  while (descriptor_ >= 0 && ::flock(descriptor_, kind | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;
    ::close(descriptor_);
    throw InvalidArgument(
        "another process is at work in the run folder '{}'; wait for it to end or choose another "
        "folder",
        folder.path().string());
  }
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void make_run_folder(const RunFolder& folder) {
  const auto name = folder.path().string();
  std::error_code error;
  const auto kind = fs::status(folder.path(), error).type();
  if (kind != fs::file_type::not_found && kind != fs::file_type::directory) {
    if (kind == fs::file_type::none)
      throw IoError("cannot use '{}' as a run folder: {}", name, error.message());
    throw InvalidArgument("'{}' is a file; -o names a folder for the run", name);
  }
  const bool is_run = folder.is_finished() || folder.can_resume();
  if (kind == fs::file_type::directory && !is_run && !holds_nothing_else(folder, staged_in(folder)))
    throw InvalidArgument("'{}' holds other files and no run; choose another folder", name);
  fs::create_directories(folder.path(), error);
  if (error) throw IoError("cannot make the folder '{}': {}", name, error.message());
}

void replace_run(const RunFolder& folder, const std::function<void(const RunFolder&)>& write) {
  remove_staged(folder);
  const StagedFolder staged(staged_in(folder));
  write(RunFolder(staged.path()));
  staged.flush();
  // From here on nothing needs room on the disk. Without its record the old run no longer counts.
  std::error_code error;
  for (const auto& file :
       {folder.record(), folder.evaluation(), folder.policies(), folder.report()})
    fs::remove(file, error);
  for (const auto& file : folder.results()) move_into_place(staged.path() / file.filename(), file);
  fs::remove(folder.state(), error);
  flush_folder(folder.path());
}

}  // namespace kindred
