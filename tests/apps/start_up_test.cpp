// LibTorch takes longer to load than most commands take to finish, and Arrow and MuJoCo as long as
// the shortest: only what needs one loads it.
#include <cstdlib>

#include "kindred/data/parquet_table.h"
#include "kindred/envs/mujoco/locomotion.h"
#include "program.h"

namespace kindred::program {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A variable of the programs that are started while this lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

class StartUp : public Program {
 protected:
  /// Which of the large libraries the program opened: the dynamic linker lists them.
  std::vector<std::string> loads(const std::vector<std::string>& arguments) const {
    const Setting what("LD_DEBUG", "files"), where("LD_DEBUG_OUTPUT", folder_ / "opened");
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments.front() << ": " << outcome.err;
    std::string opened;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with("opened")) {
        opened += kindred::read_text(entry.path());
        fs::remove(entry.path());
      }
    EXPECT_THAT(opened, HasSubstr("libkindred.so")) << "the linker should have said so";
    std::vector<std::string> found;
    for (const char* library : {"libtorch", "libarrow", "libparquet", "libmujoco", "libtinyxml2"})
      if (opened.find(std::string("/") + library) != std::string::npos) found.push_back(library);
    return found;
  }

  /// Programs started while what it returns lives find Kindred's own library and nothing beside it.
  Setting without_late_parts() const {
    fs::create_symlink(KINDRED_LIBRARY, folder_ / "libkindred.so");
    return {"LD_LIBRARY_PATH", folder_};
  }

  const std::string lerobot_ = fs::path(KINDRED_FIXTURES) / "lerobot/v3";
  const std::vector<std::string> make_hopper_ = {"generate", "hopper-expert", "--steps", "20",
                                                 "-o",       "h.h5"};
};

TEST_F(StartUp, WhatNeedsNoLargeLibraryLoadsNone) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--help"},
           {"cluster", "--help", "--method", "caae"},
           {"methods"},
           {"generate", "path-following", "--per-expert", "8", "-o", "p.h5"},
           {"generate", "diagonal", "--per-expert", "30", "-o", "d.h5"},
           {"info", "p.h5"},
           {"cluster", "p.h5", "-o", "exact"},
           {"cluster", "d.h5", "-k", "5", "-o", "tables"},
           {"cluster", "d.h5", "--method", "return-kmeans", "-k", "2", "-o", "returns"},
           {"cluster", "p.h5", "--method", "sorl", "-k", "2", "--max-rounds", "1", "-o", "sorl"},
           {"cluster", "p.h5", "--preset", "paper", "-k", "2", "--max-rounds", "1", "--max-steps",
            "5", "-o", "paper"},
           {"report", "exact"},
           {"assign", "exact", "p.h5", "-o", "p.csv"},
           {"segment", "p.h5", "-o", "segments"},
           {"label", "exact", "--key", "found"},
           {"split", "exact", "-o", "parts"},
           {"filter", "exact", "--clusters", "0", "-o", "some.h5"},
       })
    EXPECT_THAT(loads(arguments), IsEmpty()) << ::testing::PrintToString(arguments);
}

TEST_F(StartUp, WhatNeedsLibTorchLoadsIt) {
  make_diagonal("20");
  EXPECT_THAT(
      loads({"cluster", "d.h5", "--method", "caae", "-k", "2", "--max-steps", "5", "-o", "caae"}),
      ElementsAre("libtorch"));
  EXPECT_THAT(loads({"assign", "caae", "d.h5", "-o", "d.csv"}), ElementsAre("libtorch"));
  ASSERT_EQ(run({"cluster", "d.h5", "-k", "5", "-o", "tables"}).code, 0);
  EXPECT_THAT(loads({"export", "tables", "-o", "policies"}), ElementsAre("libtorch"));
}

TEST_F(StartUp, WhatNeedsArrowLoadsIt) {
  if (!has_parquet()) GTEST_SKIP() << "*** NOT TESTED: this build has no Parquet";
  EXPECT_THAT(loads({"info", lerobot_}), ElementsAre("libarrow", "libparquet"));
  // An error from there is one of ours here.
  fs::copy(fs::path(lerobot_) / "data/chunk-000/file-000.parquet", folder_ / "cut.parquet");
  fs::resize_file(folder_ / "cut.parquet", fs::file_size(folder_ / "cut.parquet") - 100);
  expect_bad_input({"info", "cut.parquet"}, "cut.parquet");
}

TEST_F(StartUp, WhatNeedsMujocoLoadsIt) {
  if (!has_mujoco()) GTEST_SKIP() << "*** NOT TESTED: this build has no MuJoCo";
  EXPECT_THAT(loads(make_hopper_), ElementsAre("libmujoco", "libtinyxml2"));
  EXPECT_THAT(loads({"info", "h.h5"}), IsEmpty());
}

TEST_F(StartUp, WithoutLibTorchTheRestWorks) {
  make_diagonal("20");
  const auto here = without_late_parts();
  EXPECT_EQ(run({"cluster", "d.h5", "-k", "5", "-o", "tables"}).code, 0);
  expect_bad_input({"cluster", "d.h5", "--method", "caae", "-k", "2", "-o", "caae"},
                   "libkindred_torch.so");
  EXPECT_FALSE(fs::exists(folder_ / "caae/run.json"));
}

TEST_F(StartUp, WithoutArrowOrMujocoItIsOneSentence) {
  const auto here = without_late_parts();
  if (has_parquet()) expect_bad_input({"info", lerobot_}, "libkindred_parquet.so");
  if (has_mujoco()) expect_bad_input(make_hopper_, "libkindred_mujoco.so");
}

}  // namespace
}  // namespace kindred::program
