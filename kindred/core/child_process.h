// Another program, run without a shell and not for ever.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kindred {

inline constexpr int kFirstChildOutput = 3;

struct ChildOutcome {
  bool late = false;                 ///< It was killed when its time was over.
  std::string problem;               ///< Why it did not end well, in words; empty: it did.
  std::vector<std::string> outputs;  ///< What it wrote to each descriptor it was given.
};

/// Runs `program` with these arguments. It reads nothing, what it says is dropped, and descriptors
/// from kFirstChildOutput on are `outputs` files to write to. It is killed when `limit` is over.
/// Throws IoError when it cannot be started.
ChildOutcome run_program(const std::filesystem::path& program,
                         const std::vector<std::string>& arguments, std::size_t outputs,
                         std::chrono::milliseconds limit);

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

/// A program that runs while its maker does other things; it is killed when this goes before it has
/// ended. It reads nothing; what it says on standard error is kept.
class RunningProgram {
 public:
  /// Throws IoError when it cannot be started.
  RunningProgram(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  bool has_ended();
  /// By SIGTERM.
  void ask_to_end();
  /// Waits for its end. The one output is what it said.
  ChildOutcome finish();

 private:
  std::vector<OwnedFile> said_;
  int id_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

/// From now on this process is asked to end (SIGTERM) when the one that started it has gone.
void end_with_parent();

/// Where `name` is in one of the folders of `search_path`, as PATH lists them; empty when nowhere.
std::filesystem::path find_program(const std::string& name, const std::string& search_path);

}  // namespace kindred
