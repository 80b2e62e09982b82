// LibTorch takes longer to load than most commands take to finish: only what needs it loads it.
#include <cstdlib>

#include "program.h"

namespace kindred::program {
namespace {

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
  /// Whether the program opened a file of LibTorch's: the dynamic linker lists them.
  bool loads_torch(const std::vector<std::string>& arguments) const {
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
    return opened.find("libtorch") != std::string::npos;
  }
};

TEST_F(StartUp, WhatNeedsNoLibTorchDoesNotLoadIt) {
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
    EXPECT_FALSE(loads_torch(arguments)) << ::testing::PrintToString(arguments);
}

TEST_F(StartUp, WhatNeedsLibTorchLoadsIt) {
  make_diagonal("20");
  EXPECT_TRUE(loads_torch(
      {"cluster", "d.h5", "--method", "caae", "-k", "2", "--max-steps", "5", "-o", "caae"}));
  EXPECT_TRUE(loads_torch({"assign", "caae", "d.h5", "-o", "d.csv"}));
  ASSERT_EQ(run({"cluster", "d.h5", "-k", "5", "-o", "tables"}).code, 0);
  EXPECT_TRUE(loads_torch({"export", "tables", "-o", "policies"}));
}

TEST_F(StartUp, WithoutLibTorchTheRestWorks) {
  make_diagonal("20");
  fs::create_symlink(KINDRED_LIBRARY, folder_ / "libkindred.so");  // and nothing beside it
  const Setting here("LD_LIBRARY_PATH", folder_);
  EXPECT_EQ(run({"cluster", "d.h5", "-k", "5", "-o", "tables"}).code, 0);
  expect_bad_input({"cluster", "d.h5", "--method", "caae", "-k", "2", "-o", "caae"},
                   "libkindred_torch.so");
  EXPECT_FALSE(fs::exists(folder_ / "caae/run.json"));
}

}  // namespace
}  // namespace kindred::program
