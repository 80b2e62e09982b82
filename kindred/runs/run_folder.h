// Where a run lives on disk. The folder holds
//   run.json     the run record            labels.csv   episode, label, margin
//   config.toml  the options               trace.csv    one line per restart and round
//   scores.h5    [episodes, k] matrix, labels of every restart, latent vectors where there are any
//   centres.h5   the fitted centres        state.h5     only while a run can be resumed
// and, once its policies have been evaluated,
//   evaluation.json  how they did          policies.h5  one policy per cluster, as evaluated
#pragma once

#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

namespace kindred {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path record() const { return folder_ / "run.json"; }
  std::filesystem::path config() const { return folder_ / "config.toml"; }
  std::filesystem::path labels() const { return folder_ / "labels.csv"; }
  std::filesystem::path trace() const { return folder_ / "trace.csv"; }
  std::filesystem::path scores() const { return folder_ / "scores.h5"; }
  std::filesystem::path centres() const { return folder_ / "centres.h5"; }
  std::filesystem::path state() const { return folder_ / "state.h5"; }
  std::filesystem::path evaluation() const { return folder_ / "evaluation.json"; }
  std::filesystem::path policies() const { return folder_ / "policies.h5"; }
  std::filesystem::path report() const { return folder_ / "report.html"; }
  const std::filesystem::path& path() const { return folder_; }

  bool is_finished() const { return exists(record()); }
  bool can_resume() const { return exists(state()); }

  /// What every finished run has, the record last: a folder with a record is complete.
  std::vector<std::filesystem::path> results() const {
    return {labels(), trace(), scores(), centres(), config(), record()};
  }

 private:
  static bool exists(const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
  }

  std::filesystem::path folder_;
};

/// Keeps other processes out of a run folder while it lives: a writer all of them, a reader
/// writers. File systems that have no locks are trusted.
class RunLock {
 public:
  enum class Purpose { kReading, kWriting };

  /// Throws InvalidArgument when another process is at work there.
  RunLock(const RunFolder& folder, Purpose purpose);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_;
};

/// Makes the folder for a new run. Throws InvalidArgument when the name is that of a file or of a
/// folder with other things in it, IoError when it cannot be made.
void make_run_folder(const RunFolder& folder);

/// Calls write(staged) with a folder inside `folder`, then moves what it wrote there to where it
/// belongs, the record last, and removes what belongs to a run that was there before. When write
/// throws, the folder stays as it was.
void replace_run(const RunFolder& folder,
                 const std::function<void(const RunFolder& staged)>& write);

}  // namespace kindred
