// A store of results in a folder of the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "kindred/core/files.h"
#include "kindred/reproduce/store.h"

namespace kindred::reproduce::testing {

class WithStore : public ::testing::Test {
 protected:
  WithStore()
      : folder_(std::filesystem::temp_directory_path() /
                ("kindred-store-" + std::to_string(::getpid()))) {
    remove_tree(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~WithStore() override { remove_tree(folder_); }

  std::filesystem::path folder_;
};

/// As a clustering leaves it, with everything that tables look at.
inline Json clustering(double nmi, std::int64_t seed, std::int64_t k = 2) {
  return {
      {"version", "9.9"},
      {"method", "pg-kmeans"},
      {"started", "2030-01-02T03:04:05Z"},
      {"options", {{"k", k}, {"seed", seed}}},
      {"result",
       {{"k", k},
        {"nmi", nmi},
        {"ceiling", 0.95},
        {"objective", -nmi},
        {"considered", Json::array()}}},
      {"restarts", Json::array({{{"restart", 0}, {"nmi", nmi}}, {{"restart", 1}, {"nmi", 0.5}}})},
      {"timings", {{"fit", 60.0}}},
      {"machine",
       {{"device", "cpu"},
        {"threads", 2},
        {"peak_rss_mb", 100.0},
        {"processor", "An Example"},
        {"cores", 2}}}};
}

}  // namespace kindred::reproduce::testing
