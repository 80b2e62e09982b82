// Damaged files: whatever is in them, reading succeeds or ends in a kindred::Error. More inputs:
// KINDRED_FUZZ_INPUTS=60000.
#include "fuzz_trial.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder

TEST(Fuzz, DamagedFilesAreReadOrRefused) {
  const TempDir folder;
  const TrialOptions options{.first = asked("KINDRED_FUZZ_FIRST", 0),
                             .count = asked("KINDRED_FUZZ_INPUTS", 1500)};
  Trial trial(folder, options, [](const std::filesystem::path& path, int) -> std::string {
    try {
      const auto data = read_trajectories(path);
      expanded(data.observations);  // touch what was mapped
      return "";
    } catch (const Error&) {
      return "";
    } catch (const std::exception& error) {
      return fmt::format("another exception: {}", error.what());
    }
  });
  EXPECT_THAT(trial.run(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kindred
