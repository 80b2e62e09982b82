// The program as several processes on this machine, over loopback, and what each of them answered.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kindred/core/files.h"
#include "tests/dist/rank_threads.h"

namespace kindred::ranks {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Answer {
  int code = -1;
  std::string err;
};

class Ranks : public ::testing::Test {
 protected:
  using Arguments = std::vector<std::string>;

  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("kindred-ranks-" + std::string(info->name()) + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string free_address() { return "127.0.0.1:" + std::to_string(testing::free_port()); }

  pid_t start(Arguments arguments, std::int64_t rank = 0) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const auto err = "err-" + std::to_string(rank);
    if (::chdir(folder_.c_str()) != 0 || !std::freopen("/dev/null", "w", stdout) ||
        !std::freopen(err.c_str(), "w", stderr))
      ::_exit(99);
    std::vector<char*> argv = {const_cast<char*>(KINDRED_PROGRAM)};
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv(KINDRED_PROGRAM, argv.data());
    ::_exit(99);
  }

  /// Every rank with the same arguments.
  std::vector<pid_t> start_ranks(std::int64_t count, const Arguments& arguments) const {
    const auto address = free_address();
    std::vector<pid_t> ranks;
    for (std::int64_t r = 0; r < count; ++r) {
      auto own = arguments;
      own.insert(own.end(), {"--rank", std::to_string(r), "--ranks", std::to_string(count),
                             "--address", address, "--threads", "1"});
      ranks.push_back(start(own, r));
    }
    return ranks;
  }

  Answer finish(pid_t child, std::int64_t rank = 0) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            kindred::read_text(folder_ / ("err-" + std::to_string(rank)))};
  }

  std::vector<Answer> finish(const std::vector<pid_t>& ranks) const {
    std::vector<Answer> answers;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      answers.push_back(finish(ranks[r], static_cast<std::int64_t>(r)));
    return answers;
  }

  void run_one(const Arguments& arguments) const {
    const auto answer = finish(start(arguments));
    ASSERT_EQ(answer.code, 0) << answer.err;
  }
  void run_ranks(std::int64_t count, const Arguments& arguments) const {
    for (const auto& answer : finish(start_ranks(count, arguments)))
      ASSERT_EQ(answer.code, 0) << answer.err;
  }

  std::string text(const std::string& file) const { return kindred::read_text(folder_ / file); }
  nlohmann::json record(const std::string& run) const {
    return nlohmann::json::parse(text(run + "/run.json"));
  }

  /// Labels with margins, and every number of the result, to the last bit.
  void expect_same_answer(const std::string& run, const std::string& other) const {
    EXPECT_EQ(text(run + "/labels.csv"), text(other + "/labels.csv"));
    const auto a = record(run), b = record(other);
    EXPECT_EQ(a["result"], b["result"]);
    EXPECT_EQ(a["dataset"]["fingerprint"], b["dataset"]["fingerprint"]);
  }

  fs::path folder_;
};

}  // namespace kindred::ranks
