#include "kindred/core/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <system_error>
#include <thread>

#include "kindred/core/error.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGlance{2};

std::vector<OwnedFile> temporary_files(std::size_t count) {
  std::vector<OwnedFile> files;
  for (std::size_t i = 0; i < count; ++i) {
    files.emplace_back(std::tmpfile());
    if (!files.back()) throw IoError("cannot make a temporary file: {}", std::strerror(errno));
  }
  return files;
}

std::string content_of(std::FILE* file) {
  std::string content;
  std::rewind(file);
  std::array<char, 1 << 14> part;
  while (const auto count = std::fread(part.data(), 1, part.size(), file))
    content.append(part.data(), count);
  return content;
}

/// What a child finds open: nothing to read, nobody who listens, and the files.
class OpenFiles {
 public:
  /// The first file is `first` there.
  OpenFiles(const std::vector<OwnedFile>& files, int first) {
    posix_spawn_file_actions_init(&actions_);
    for (const int standard : {0, 1, 2})
      posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", O_RDWR, 0);
    // First out of the way of the numbers they are to get, which may be those of others of them.
    const int beyond = std::max(kFirstChildOutput, first) + static_cast<int>(files.size());
    for (const auto& file : files)
      copies_.push_back(::fcntl(::fileno(file.get()), F_DUPFD_CLOEXEC, beyond));
    for (std::size_t i = 0; i < copies_.size(); ++i)
      posix_spawn_file_actions_adddup2(&actions_, copies_[i], first + static_cast<int>(i));
  }
  ~OpenFiles() {
    posix_spawn_file_actions_destroy(&actions_);
    for (const int copy : copies_) ::close(copy);
  }
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
  std::vector<int> copies_;
};

pid_t start_program(const fs::path& program, const std::vector<std::string>& arguments,
                    const std::vector<OwnedFile>& files, int first_output) {
  const std::string name = program.string();
  std::vector<char*> argv = {const_cast<char*>(name.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const OpenFiles open(files, first_output);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, name.c_str(), open.actions(), nullptr, argv.data(), ::environ);
  if (error != 0) throw IoError("cannot run '{}': {}", name, std::strerror(error));
  return child;
}

/// Why it did not end well, in words.
std::string problem_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return "";
}

/// Its status as waitpid gives it; it is killed when the time is over.
int wait_for(pid_t child, Clock::time_point until, bool& late) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    late = Clock::now() > until;
    if (late) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(kGlance);
  }
  return status;
}

}  // namespace

ChildOutcome run_program(const fs::path& program, const std::vector<std::string>& arguments,
                         std::size_t outputs, std::chrono::milliseconds limit) {
  const auto files = temporary_files(outputs);
  const auto until = Clock::now() + limit;
  ChildOutcome outcome;
  const int status =
      wait_for(start_program(program, arguments, files, kFirstChildOutput), until, outcome.late);
  outcome.problem = outcome.late ? fmt::format("took longer than {} s", limit.count() / 1000)
                                 : problem_of(status);
  for (const auto& file : files) outcome.outputs.push_back(content_of(file.get()));
  return outcome;
}

RunningProgram::RunningProgram(const fs::path& program, const std::vector<std::string>& arguments)
    : said_(temporary_files(1)), id_(start_program(program, arguments, said_, STDERR_FILENO)) {}

RunningProgram::~RunningProgram() {
  if (has_ended()) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, &status_, 0);
}

bool RunningProgram::has_ended() {
  if (!ended_ && ::waitpid(id_, &status_, WNOHANG) == id_) ended_ = true;
  return ended_;
}

void RunningProgram::ask_to_end() {
  if (!has_ended()) ::kill(id_, SIGTERM);
}

ChildOutcome RunningProgram::finish() {
  while (!ended_) ended_ = ::waitpid(id_, &status_, 0) == id_ || errno != EINTR;
  return {false, problem_of(status_), {content_of(said_[0].get())}};
}

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() == 1) ::raise(SIGTERM);  // it went before it could be watched
}

fs::path find_program(const std::string& name, const std::string& search_path) {
  std::istringstream folders(search_path);
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder) / name;
        !folder.empty() && fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0)
      return file;
  return {};
}

}  // namespace kindred
