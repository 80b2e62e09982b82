// What the process runs on, as the system says it.
#include "kindred/core/resources.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "kindred/core/files.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

TEST(Resources, NamesTheGpuOfTheDriver) {
  const auto driver = fs::temp_directory_path() / ("kindred-driver-" + std::to_string(::getpid()));
  EXPECT_EQ(gpu_name(driver), "unknown") << "no driver, no name";
  fs::create_directories(driver / "gpus" / "0000:01:00.0");
  write_text(driver / "gpus" / "0000:01:00.0" / "information",
             "Model: \t\t NVIDIA H200\nIRQ:   \t\t 42\n");
  EXPECT_EQ(gpu_name(driver), "NVIDIA H200");
  remove_tree(driver);
}

}  // namespace
}  // namespace kindred
