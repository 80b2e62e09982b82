// The program, started in a folder of the test, and what it answered.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "kindred/core/files.h"

namespace kindred::program {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;

  /// The last line of standard output.
  json last() const {
    const auto end = out.find_last_not_of('\n');
    const auto begin = out.rfind('\n', end);
    return json::parse(out.substr(begin == std::string::npos ? 0 : begin + 1));
  }
};

class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("kindred-program-" + std::string(info->name()) + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Starts the program in the test's folder with standard output and error in files.
  pid_t start(const std::vector<std::string>& arguments) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    if (::chdir(folder_.c_str()) != 0 || !std::freopen("stdout.txt", "w", stdout) ||
        !std::freopen("stderr.txt", "w", stderr))
      ::_exit(99);
    std::vector<char*> argv = {const_cast<char*>(KINDRED_PROGRAM)};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(KINDRED_PROGRAM, argv.data());
    ::_exit(99);
  }

  Outcome finish(pid_t child) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            kindred::read_text(folder_ / "stdout.txt"), kindred::read_text(folder_ / "stderr.txt")};
  }

  Outcome run(const std::vector<std::string>& arguments) const { return finish(start(arguments)); }

  void make_diagonal(const std::string& per_expert = "200") const {
    ASSERT_EQ(
        run({"generate", "diagonal", "--per-expert", per_expert, "--seed", "1", "-o", "d.h5"}).code,
        0);
  }

  void wait_for(const std::string& file) const {
    for (int i = 0; i < 3000 && !fs::exists(folder_ / file); ++i)  // a minute
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_TRUE(fs::exists(folder_ / file));
  }

  void expect_bad_input(const std::vector<std::string>& arguments,
                        const std::string& sentence) const {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(sentence));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << "one sentence:\n" << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  fs::path folder_;
};

}  // namespace kindred::program
