// Many damaged files, tried in processes of their own, so that a crash is an answer too.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fuzz_files.h"

namespace kindred::testing {

/// The environment variable `name` as a number, or `otherwise`.
inline int asked(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

struct TrialOptions {
  int first = 0;  ///< Number of the first input; each number is always the same input.
  int count = 0;
  int per_process = 500;  ///< Inputs a process takes before it ends, with its exit handlers.
  unsigned seconds = 10;  ///< The longest one input may take.
  rlim_t memory = rlim_t{2} << 30;
  std::filesystem::path kept = std::filesystem::temp_directory_path();  ///< For bad inputs.
};

/// How an attempt to use a damaged file ended.
struct Attempted {
  bool accepted = false;  ///< Else refused, which is as good.
  std::string problem = {};
};

/// Damages sound files and hands each to `attempt`, which says what went wrong, if anything. A
/// crash, a hang or a huge allocation is wrong too, also in the exit handlers of a process. The
/// input is then kept as kindred-fuzz-<number>.
class Trial {
 public:
  using Attempt = std::function<Attempted(const std::filesystem::path&, int input)>;

  Trial(const TempDir& folder, TrialOptions options, std::vector<std::string> sound,
        Attempt attempt)
      : folder_(folder),
        options_(options),
        attempt_(std::move(attempt)),
        sound_(std::move(sound)),
        report_(static_cast<Report*>(::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Trial() { ::munmap(report_, sizeof(Report)); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Everything that went wrong; how much was accepted is printed.
  std::vector<std::string> run() {
    std::vector<std::string> problems;
    const int end = options_.first + options_.count;
    for (int next = options_.first; next < end; next = report_->input + 1) {
      std::fflush(nullptr);  // or the child would write it once more
      const pid_t child = ::fork();
      if (child == 0) run_child(next, std::min(next + options_.per_process, end));
      int status = 0;
      ::waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) problems.push_back(describe(status));
    }
    std::printf("%d damaged files: %d accepted, %d refused, %zu problems\n", options_.count,
                report_->accepted, report_->refused, problems.size());
    return problems;
  }

 private:
  /// What a child tells its parent, even when it dies.
  struct Report {
    int input;
    bool trying;
    int accepted, refused;
    char problem[1000];
  };

  [[noreturn]] void run_child(int first, int end) {
#ifndef __SANITIZE_ADDRESS__  // which reserves terabytes for itself
    const rlimit memory{options_.memory, options_.memory};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    const auto path = folder_ / "damaged";
    for (int input = first; input < end; ++input) {
      report_->input = input;
      report_->trying = true;
      Random random(kFuzzSeed, "damage", static_cast<std::uint64_t>(input));
      const auto& other = sound_[random.below(sound_.size())];
      std::filesystem::remove(path);
      write_bytes(path,
                  damage(sound_[static_cast<std::size_t>(input) % sound_.size()], other, random));
      limit_time();
      const auto attempted = attempt_(path, input);
      std::strncpy(report_->problem, attempted.problem.c_str(), sizeof report_->problem - 1);
      if (!attempted.problem.empty()) std::exit(1);
      ++(attempted.accepted ? report_->accepted : report_->refused);
    }
    report_->trying = false;
    limit_time();
    std::exit(0);  // not _exit: what runs at the end of a program is part of it
  }

  /// Mostly by what is computed, since a busy machine may let a process wait.
  void limit_time() const {
    const itimerval computing{{}, {static_cast<time_t>(options_.seconds), 0}};
    ::setitimer(ITIMER_PROF, &computing, nullptr);
    ::alarm(30 * options_.seconds);
  }

  std::string describe(int status) const {
    std::filesystem::copy(folder_ / "damaged",
                          options_.kept / fmt::format("kindred-fuzz-{}", report_->input),
                          std::filesystem::copy_options::overwrite_existing);
    return fmt::format(
        "input {} (file {}){}: {}", report_->input,
        report_->input % static_cast<int>(sound_.size()),
        report_->trying ? "" : ", or one before it, at the end of the process",
        WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status)) : std::string(report_->problem));
  }

  const TempDir& folder_;
  TrialOptions options_;
  Attempt attempt_;
  std::vector<std::string> sound_;
  Report* report_;
};

}  // namespace kindred::testing
