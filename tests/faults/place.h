// Where the program is tried: folders of its own, on disks of any size where mounting is permitted.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kindred::faults {

namespace fs = std::filesystem;

/// Gives this process mounts of its own; false when the system does not permit it. To be called
/// before any thread is started.
bool enter_own_mounts(std::string& why_not);

/// An empty folder; with mounts of our own it is a disk in memory.
class Disk {
 public:
  Disk(fs::path folder, bool mounted);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  const fs::path& path() const { return folder_; }
  /// Makes it empty, and large.
  void clear();
  /// Blocks of 4 kB that are used.
  std::uint64_t used() const;
  /// Leaves that many blocks free.
  void leave(std::uint64_t blocks) const;

 private:
  fs::path folder_;
  bool mounted_;
};

/// How the program's standard streams are: written to files beside its folder, full, or closed.
enum class Stream { kFile, kFull, kClosed };

struct Outcome {
  int code = 0;  ///< The negative signal where one ended it.
  std::string out;
  std::string err;
  double seconds = 0;

  bool crashed() const { return code != 0 && code != 2; }
};

/// The program, running in a folder.
class Process {
 public:
  Process(const fs::path& folder, const std::vector<std::string>& arguments,
          Stream out = Stream::kFile, Stream err = Stream::kFile);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }
  bool running();
  /// Waits for its end; a process that takes minutes is ended by SIGALRM.
  Outcome finish();

 private:
  fs::path out_, err_;
  pid_t id_;
  int status_ = 0;
  bool ended_ = false;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

inline Outcome run(const fs::path& folder, const std::vector<std::string>& arguments) {
  return Process(folder, arguments).finish();
}

/// Every file below a folder with its bytes, and every folder with "".
std::map<std::string, std::string> bytes_below(const fs::path& folder);

}  // namespace kindred::faults
