// Loading two million steps needs little more memory than their columns.
#include <sys/wait.h>

#include <sstream>

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder

constexpr std::int64_t kRows = 2'000'000;

/// A line of /proc/self/status, in bytes.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream fields(line.substr(key.size() + 1));
    std::int64_t kilobytes = 0;
    fields >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

/// A continuous control dataset of kRows steps, of numbers of type T, made block by block.
template <class T>
void write_large_file(const std::filesystem::path& path) {
  Random random(1, "large");
  const auto fill = [&](std::int64_t dim) {
    return [&random, dim](std::int64_t begin, std::int64_t end, T* out) {
      for (std::int64_t i = 0; i < (end - begin) * dim; ++i)
        out[i] = static_cast<T>(random.uniform());
    };
  };
  hdf5::OutputFile file(path);
  file.write_blocks<T>("observations", {kRows, 17}, fill(17));
  file.write_blocks<T>("actions", {kRows, 6}, fill(6));
  file.write_blocks<T>("rewards", {kRows}, fill(1));
  std::vector<std::uint8_t> ends(kRows, 0);
  file.write_flags("terminals", ends);
  for (std::size_t i = 999; i < ends.size(); i += 1000) ends[i] = 1;
  file.write_flags("timeouts", ends);
  file.commit();
}

/// Loads in a child, so that nothing this process did before counts. Returns the peak growth over
/// the size of the columns.
double peak_ratio(const std::filesystem::path& path) {
  int channel[2];
  EXPECT_EQ(::pipe(channel), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto before = status_bytes("VmRSS:");
    const auto data = read_trajectories(path);
    const double ratio = static_cast<double>(status_bytes("VmHWM:") - before) /
                         static_cast<double>(data.bytes_in_memory());
    const bool whole = data.steps() == kRows && data.episodes() == kRows / 1000;
    const double answer = whole ? ratio : -1.0;
    const auto written = ::write(channel[1], &answer, sizeof answer);
    ::_exit(written == sizeof answer ? 0 : 1);
  }
  double ratio = -1.0;
  EXPECT_EQ(::read(channel[0], &ratio, sizeof ratio), static_cast<ssize_t>(sizeof ratio));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ::close(channel[0]);
  ::close(channel[1]);
  return ratio;
}

template <class T>
class Memory : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Memory, Numbers);

TYPED_TEST(Memory, PeakIsLittleMoreThanTheColumns) {
  const TempDir folder;
  write_large_file<TypeParam>(folder / "large");
  const double ratio = peak_ratio(folder / "large");
  std::printf("peak memory / column bytes = %.3f\n", ratio);
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 1.3);
}

}  // namespace
}  // namespace kindred
