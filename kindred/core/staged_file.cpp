#include "kindred/core/staged_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/thread_pool.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".partial-";
constexpr std::size_t kCollected = 1 << 16;
constexpr int kFlushers = 8;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

[[noreturn]] void refuse(const std::string& name, int reason) {
  throw IoError("cannot write '{}': {}", name, std::generic_category().message(reason));
}

/// The file to replace. Where a link leads to one it is that: renaming would replace the link.
fs::path file_at(const fs::path& target) {
  std::error_code error;
  const auto status = fs::status(target, error);
  if (fs::is_directory(status)) refuse(settled(target), EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw IoError("cannot write '{}': it is a device or a pipe, not a file", settled(target));
  if (!fs::is_symlink(fs::symlink_status(target, error))) return target;
  auto file = fs::canonical(target, error);
  if (!error) return file;
  if (error != std::errc::no_such_file_or_directory) refuse(settled(target), error.value());
  return target;  // the link leads nowhere and gives way
}

int create(const fs::path& path, mode_t kind) {
  if (kind == S_IFREG) return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (::mkdir(path.c_str(), 0777) != 0) return -1;
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// Makes a new file or folder beside `target` whose name nobody has, on any machine.
int create_beside(const fs::path& target, const std::string& name, mode_t kind, fs::path& path) {
  static std::atomic<std::uint64_t> made = 0;
  while (true) {
    path = target;
    path += fmt::format("{}{}-{}", kMark, ::getpid(), made++);
    const int id = create(path, kind);
    if (id < 0 && errno == EEXIST) continue;
    if (id < 0 && kind == S_IFDIR)
      throw IoError("cannot make the folder '{}': {}", name,
                    std::generic_category().message(errno));
    if (id < 0) refuse(name, errno);
    ::flock(id, LOCK_EX | LOCK_NB);
    struct stat made_now {};
    if (::stat(path.c_str(), &made_now) == 0) return id;
    ::close(id);  // taken for a leftover in the moment before it was locked
  }
}

void find_tree(const fs::path& path, const std::string& name, std::vector<fs::path>& found) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error)))
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      find_tree(at->path(), name, found);
  if (error) refuse(name, error.value());
  found.push_back(path);
}

/// Several at once: each mostly waits for the disk, which takes them together.
void flush_tree(const fs::path& path, const std::string& name) {
  std::vector<fs::path> all;
  find_tree(path, name, all);
  const auto flush = [&](std::int64_t begin, std::int64_t) {
    Descriptor(all[static_cast<std::size_t>(begin)], O_RDONLY, name).flush();
  };
  ThreadPool(kFlushers).chunks(std::ssize(all), 1, flush);
}

/// Whether "<process>", "<process>-<number>" or either with a further mark names a dead process.
bool of_dead_process(std::string_view rest) {
  rest = rest.substr(0, rest.find(kMark));
  pid_t process = 0;
  const char* end = rest.data() + rest.size();
  const auto [last, problem] = std::from_chars(rest.data(), end, process);
  if (problem != std::errc() || process <= 0) return false;
  const std::string_view number(last, static_cast<std::size_t>(end - last));
  const bool ours = number.empty() || (number.size() > 1 && number[0] == '-' &&
                                       number.find_first_not_of("0123456789", 1) == number.npos);
  return ours && ::kill(process, 0) != 0 && errno == ESRCH;
}

/// Whether a process of another machine or container, whose number means nothing here, holds it.
bool is_locked(const fs::path& path) {
  const int id = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (id < 0) return true;
  const bool locked = ::flock(id, LOCK_EX | LOCK_NB) != 0;
  ::close(id);
  return locked;
}

}  // namespace

std::string settled(const fs::path& path) {
  std::string text = path.string();
  const auto mark = fmt::format("{}{}-", kMark, ::getpid());
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    const auto end = text.find_first_not_of("0123456789", at + mark.size());
    text.erase(at, std::min(end, text.size()) - at);
  }
  return text;
}

void remove_leftovers(const fs::path& target) {
  const std::string prefix = target.filename().string() + std::string(kMark);
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator at(folder_of(target), error), end; !error && at != end;
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (name.starts_with(prefix) && of_dead_process(std::string_view(name).substr(prefix.size())))
      leftovers.push_back(at->path());
  }
  for (const auto& leftover : leftovers)
    if (!is_locked(leftover)) remove_tree(leftover);
}

void flush_folder(const fs::path& folder) {
  const int id = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (id < 0) return;
  ::fsync(id);
  ::close(id);
}

Staged::Staged(const fs::path& target, mode_t kind)
    : target_(target),
      name_(settled(target)),
      open_((remove_leftovers(target_), create_beside(target_, name_, kind, path_)), name_) {}

Staged::~Staged() {
  if (!path_.empty()) remove_tree(path_);
}

void Staged::flush() const { flush_tree(path_, name_); }

void Staged::commit() {
  const bool inside_another = name_ != target_.string();  // which will flush it
  if (!inside_another) flush();
  if (::rename(path_.c_str(), target_.c_str()) != 0) refuse(name_, errno);
  path_.clear();
  if (!inside_another) flush_folder(folder_of(target_));
}

StagedFile::StagedFile(const fs::path& target) : Staged(file_at(target), S_IFREG) {}

void StagedFile::append(std::string_view bytes) {
  collected_ += bytes;
  if (collected_.size() >= kCollected) write_collected();
}

void StagedFile::write_collected() {
  open_.write(written_, collected_);
  written_ += collected_.size();
  collected_.clear();
}

void StagedFile::rewrite(std::uint64_t offset, std::string_view bytes) {
  write_collected();
  open_.write(offset, bytes);
}

void StagedFile::commit() {
  write_collected();
  Staged::commit();
}

StagedFolder::StagedFolder(const fs::path& target)
    : Staged(target.has_filename() ? target : target.parent_path(), S_IFDIR) {}

}  // namespace kindred
