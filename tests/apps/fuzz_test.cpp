// Damaged files given to the program itself: it answers or refuses, with exit code 0 or 2 and, at
// the end of each process, its exit handlers. Many files go through one process, since starting one
// takes longer than reading a file. More of them:
//
//   KINDRED_FUZZ_INFO=100000 KINDRED_FUZZ_CLUSTER=5000 program_fuzz_test
#include <fcntl.h>
#include <unistd.h>

#include "kindred/core/files.h"
#include "tests/data/fuzz_trial.h"

int program_main(int argc, char** argv);  // main() of the program, under a name that can be called

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of tests/data

/// Runs a command in this process with what it says in `log`.
Attempted run_here(std::vector<std::string> arguments, const std::filesystem::path& log) {
  static const int file = ::open(log.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  if (::ftruncate(file, 0) != 0) return {.problem = "the log cannot be emptied"};
  arguments.insert(arguments.begin(), "kindred");
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int code = program_main(static_cast<int>(arguments.size()), argv.data());
  std::fflush(nullptr);
  if (code == 0 || code == 2) return {.accepted = code == 0};
  const auto said = read_text(log);
  const bool diverged = said.find("training diverged") != std::string::npos;
  if (code == 1 && diverged) return {.accepted = true};
  return {.problem = fmt::format("exit code {}: {}", code, said)};
}

TEST(ProgramFuzz, InfoAnswersOrRefuses) {
  const TempDir folder;
  const TrialOptions options{.first = asked("KINDRED_FUZZ_FIRST", 0),
                             .count = asked("KINDRED_FUZZ_INFO", 1000),
                             .memory = rlim_t{8} << 30};
  Trial trial(folder, options, sound_files(folder), [&](const std::filesystem::path& path, int) {
    return run_here({"info", path.string(), "--json"}, folder / "log");
  });
  EXPECT_THAT(trial.run(), ::testing::IsEmpty());
}

TEST(ProgramFuzz, ClusterAnswersOrRefuses) {
  const TempDir folder;
  const TrialOptions options{.first = asked("KINDRED_FUZZ_FIRST", 0),
                             .count = asked("KINDRED_FUZZ_CLUSTER", 60),
                             .per_process = 100,
                             .seconds = 60,
                             .memory = rlim_t{8} << 30};
  Trial trial(
      folder, options, sound_files(folder), [&](const std::filesystem::path& path, int input) {
        std::vector<std::string> arguments = {
            "cluster", path.string(), "-k", "2", "--threads", "1", "-o", (folder / "run").string()};
        const auto add = [&](std::initializer_list<const char*> more) {
          arguments.insert(arguments.end(), more.begin(), more.end());
        };
        switch (input / 16 % 4) {  // so that every method meets every kind of file
          case 0:
            add({"--method", "return-kmeans"});
            break;
          case 1:
            add({"--method", "sorl", "--max-rounds", "2", "--hidden", "8"});
            break;
          case 2:
            add({"--policy", "mlp", "--max-rounds", "2", "--max-steps", "5", "--hidden", "8"});
            break;
          default:
            add({"--method", "pg-kmeans"});
        }
        auto attempted = run_here(arguments, folder / "log");
        remove_tree(folder / "run");
        return attempted;
      });
  EXPECT_THAT(trial.run(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kindred
