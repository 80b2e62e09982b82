// Damaged files: whatever is in them, reading succeeds or ends in a kindred::Error. More inputs:
// KINDRED_FUZZ_INPUTS=60000.
#include "fuzz_trial.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::HasSubstr;

TrialOptions how_many(int usual) {
  return {.first = asked("KINDRED_FUZZ_FIRST", 0), .count = asked("KINDRED_FUZZ_INPUTS", usual)};
}

Attempted attempt_to_read(const std::filesystem::path& path, const ReadOptions& options) {
  try {
    const auto data = read_trajectories(path, options);
    expanded(data.observations);  // touch what was mapped
    return {.accepted = true};
  } catch (const Error&) {
    return {.accepted = false};
  } catch (const std::exception& error) {
    return {.problem = fmt::format("another exception: {}", error.what())};
  }
}

TEST(Fuzz, NoticesWhatItLooksFor) {
  const TempDir folder;
  const auto kept = folder / "kept";
  std::filesystem::create_directory(kept);
  const TrialOptions options{.count = 5, .seconds = 1, .kept = kept};
  Trial trial(folder, options, sound_files(folder),
              [](const std::filesystem::path&, int input) -> Attempted {
                if (input == 0) std::raise(SIGUSR1);
                if (input == 1) return {.problem = "wrong"};
                for (volatile bool endless = input == 2; endless;) continue;
                if (input == 4) std::atexit([] { std::raise(SIGUSR2); });
                return {.accepted = true};
              });
  EXPECT_THAT(trial.run(),
              ::testing::ElementsAre(
                  ::testing::AllOf(HasSubstr("input 0 "), HasSubstr("User defined signal 1")),
                  ::testing::AllOf(HasSubstr("input 1 "), HasSubstr("wrong")),
                  ::testing::AllOf(HasSubstr("input 2 "), HasSubstr("Profiling timer expired")),
                  ::testing::AllOf(HasSubstr("at the end of the process"),
                                   HasSubstr("User defined signal 2"))));
  EXPECT_TRUE(std::filesystem::exists(kept / "kindred-fuzz-1"));
}

TEST(Fuzz, DamagedFilesAreReadOrRefused) {
  const TempDir folder;
  Trial trial(folder, how_many(1500), sound_files(folder),
              [](const std::filesystem::path& path, int) { return attempt_to_read(path, {}); });
  EXPECT_THAT(trial.run(), ::testing::IsEmpty());
}

TEST(Fuzz, DamagedFilesAreReadByKeysOrRefused) {
  const TempDir folder;
  const auto files = keyed_files(folder);
  std::vector<std::string> sound;
  for (const auto& file : files) sound.push_back(file.bytes);
  Trial trial(folder, how_many(1000), sound, [&](const std::filesystem::path& path, int input) {
    return attempt_to_read(path, files[static_cast<std::size_t>(input) % files.size()].options);
  });
  EXPECT_THAT(trial.run(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kindred
