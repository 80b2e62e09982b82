#include "place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "kindred/core/files.h"

namespace kindred::faults {
namespace {

constexpr unsigned kLongest = 240;  // seconds

void write_file(const char* path, const std::string& text) { std::ofstream(path) << text; }

bool unshare_mounts() {
  if (::unshare(CLONE_NEWNS) == 0) return true;
  const auto user = ::geteuid(), group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", fmt::format("0 {} 1", user));
  write_file("/proc/self/gid_map", fmt::format("0 {} 1", group));
  return true;
}

void mount_tmpfs(const fs::path& folder, unsigned long flags, std::uint64_t kilobytes) {
  if (::mount("tmpfs", folder.c_str(), "tmpfs", flags,
              fmt::format("size={}k", kilobytes).c_str()) != 0)
    throw std::system_error(errno, std::generic_category(), "mount");
}

void open_as(int stream, const fs::path& file, Stream kind) {
  ::close(stream);
  if (kind == Stream::kClosed) return;
  const char* path = kind == Stream::kFull ? "/dev/full" : file.c_str();
  const int id = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (id == stream) return;
  if (id < 0 || ::dup2(id, stream) < 0) ::_exit(99);
  ::close(id);
}

}  // namespace

bool enter_own_mounts(std::string& why_not) {
  if (unshare_mounts() && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) {
    const auto folder = fs::temp_directory_path() / fmt::format("kindred-mount-{}", ::getpid());
    fs::create_directories(folder);
    const bool mounted = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=4k") == 0;
    why_not = std::strerror(errno);
    if (mounted) ::umount(folder.c_str());
    fs::remove(folder);
    return mounted;
  }
  why_not = std::strerror(errno);
  return false;
}

Disk::Disk(fs::path folder, bool mounted) : folder_(std::move(folder)), mounted_(mounted) {
  fs::create_directories(folder_);
  if (mounted_) mount_tmpfs(folder_, 0, 1 << 20);
}

Disk::~Disk() {
  if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  remove_tree(folder_);
}

void Disk::clear() {
  for (const auto& [name, bytes] : bytes_below(folder_)) remove_tree(folder_ / name);
  if (mounted_) mount_tmpfs(folder_, MS_REMOUNT, 1 << 20);
}

std::uint64_t Disk::used() const {
  struct statvfs status {};
  if (::statvfs(folder_.c_str(), &status) != 0) throw std::runtime_error("statvfs");
  return (status.f_blocks - status.f_bfree) * status.f_frsize / 4096;
}

void Disk::leave(std::uint64_t blocks) const {
  std::ofstream(folder_ / "filler") << "one block, as a size of 0 stands for no limit";
  mount_tmpfs(folder_, MS_REMOUNT, (used() + blocks) * 4);
}

Process::Process(const fs::path& folder, const std::vector<std::string>& arguments, Stream out,
                 Stream err)
    : out_(folder.string() + ".out"), err_(folder.string() + ".err") {
  remove_tree(out_);
  remove_tree(err_);
  std::vector<char*> argv = {const_cast<char*>(KINDRED_PROGRAM)};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  id_ = ::fork();
  if (id_ != 0) return;
  ::alarm(kLongest);
  if (::chdir(folder.c_str()) != 0) ::_exit(99);
  open_as(1, out_, out);
  open_as(2, err_, err);
  ::execv(KINDRED_PROGRAM, argv.data());
  ::_exit(99);
}

Process::~Process() {
  if (ended_) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

bool Process::running() {
  if (!ended_ && ::waitpid(id_, &status_, WNOHANG) == id_) ended_ = true;
  return !ended_;
}

Outcome Process::finish() {
  if (!ended_) ::waitpid(id_, &status_, 0);
  ended_ = true;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started_;
  return {WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_),
          fs::exists(out_) ? read_text(out_) : "", fs::exists(err_) ? read_text(err_) : "",
          seconds.count()};
}

std::map<std::string, std::string> bytes_below(const fs::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    found[entry.path().lexically_relative(folder).string()] =
        entry.is_regular_file() ? read_text(entry.path()) : "";
  return found;
}

}  // namespace kindred::faults
