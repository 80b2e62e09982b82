// What a record keeps of what cameras saw.
#include "kindred/findings/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "kindred/core/files.h"
#include "kindred/data/array_file.h"
#include "kindred/data/trajectories.h"

namespace kindred::findings {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kEpisodes = 12, kLength = 9;

class ReportPictures : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t i = 0; i < kEpisodes; ++i) {
      offsets.push_back(offsets.back() + kLength);
      data_.ids.push_back(fmt::format("demo_{}", i));
      found_.run.labels.push_back(static_cast<std::int32_t>(i % 2));
      trajectories_.push_back({{"episode", i}});
    }
    data_.offsets = std::move(offsets);
    found_.members.resize(2);
    options_.files = {(folder_ / "demos.hdf5").string()};
  }
  void TearDown() override { remove_tree(folder_); }

  /// A file with noise of this size, seen by these cameras; noise is large in any encoding.
  void write_demos(std::int64_t side, const std::vector<std::string>& cameras) {
    ArrayFileWriter file(options_.files[0]);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(kLength * side * side * 3));
    std::uint32_t state = 1;
    for (auto& level : pixels)
      level = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
    for (const auto& id : data_.ids) {
      file.write<float>(fmt::format("data/{}/obs/eef", id), std::vector<float>(kLength));
      for (const auto& camera : cameras)
        file.write<std::uint8_t>(fmt::format("data/{}/obs/{}_image", id, camera), pixels,
                                 {kLength, side, side, 3});
    }
    file.close();
  }

  Json add() { return add_pictures(found_, lists_, options_, trajectories_); }

  std::vector<std::int64_t> pictured() const {
    std::vector<std::int64_t> episodes;
    for (const auto& one : trajectories_)
      if (one.contains("pictures")) episodes.push_back(one.at("episode"));
    return episodes;
  }

  fs::path folder_ = fs::temp_directory_path() / ("kindred-pictures-" + std::to_string(::getpid()));
  Trajectories data_;
  RunData found_{.run = {}, .data = data_};
  std::vector<NotableList> lists_;
  PictureOptions options_{.format = Format::kRobomimic};
  Json trajectories_ = Json::array();
};

TEST_F(ReportPictures, AreFiveOfEachOfTwoCameras) {
  write_demos(8, {"a", "b", "c"});
  const auto summary = add();
  EXPECT_THAT(summary.at("cameras"), ElementsAre("a", "b"));
  EXPECT_EQ(summary.at("episodes"), kEpisodes);
  EXPECT_TRUE(summary.at("problem").is_null());
  const auto& pictures = trajectories_[3].at("pictures");
  EXPECT_THAT(pictures.at("steps"), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(pictures.at("cameras"), ::testing::SizeIs(2));
  EXPECT_THAT(pictures.at("cameras")[1], ::testing::SizeIs(5));
  EXPECT_THAT(pictures.at("cameras")[1][4].get<std::string>(),
              StartsWith("data:image/jpeg;base64,/9j/"));
}

TEST_F(ReportPictures, AreOfTheMostNotableFirst) {
  write_demos(8, {"a"});
  lists_ = {{.id = "x", .title = "", .explanation = "", .episodes = {7, 5}},
            {.id = "y", .title = "", .explanation = "", .episodes = {9, 7, 3}}};
  options_.most_episodes = 3;
  EXPECT_EQ(add().at("episodes"), 3);
  EXPECT_THAT(pictured(), ElementsAre(5, 7, 9));
}

TEST_F(ReportPictures, OfTheRestAreOfEveryClusterAlike) {
  write_demos(8, {"a"});
  options_.most_episodes = 4;
  add();
  EXPECT_THAT(pictured(), ElementsAre(0, 1, 2, 3));
  for (auto& one : trajectories_) one.erase("pictures");
  for (std::size_t i = 0; i < 10; ++i) found_.run.labels[i] = 0;
  found_.run.labels[10] = found_.run.labels[11] = 1;
  add();
  EXPECT_THAT(pictured(), ElementsAre(0, 1, 10, 11));
}

TEST_F(ReportPictures, FillThreeMegabytesAtMost) {
  write_demos(160, {"a", "b"});
  const auto summary = add();
  EXPECT_GT(summary.at("episodes"), 1);
  EXPECT_LT(summary.at("episodes"), kEpisodes);
  EXPECT_EQ(std::ssize(pictured()), summary.at("episodes"));
  const auto bytes = trajectories_.dump().size();
  EXPECT_LT(bytes, 3'010'000u);
  EXPECT_GT(bytes, 2'000'000u);
}

TEST_F(ReportPictures, AreNullWithoutCamerasAndWhereNoneAreWanted) {
  write_demos(8, {});
  EXPECT_TRUE(add().is_null());
  write_demos(8, {"a"});
  options_.most_episodes = 0;
  EXPECT_TRUE(add().is_null());
  options_ = {};
  EXPECT_TRUE(add().is_null());
  EXPECT_THAT(pictured(), ElementsAre());
}

TEST_F(ReportPictures, ThatCannotBeReadAreAProblemAndNoMore) {
  write_text(options_.files[0], "no HDF5");
  const auto summary = add();
  EXPECT_EQ(summary.at("episodes"), 0);
  EXPECT_THAT(summary.at("problem").get<std::string>(), HasSubstr("is not an HDF5 file"));
  EXPECT_THAT(pictured(), ElementsAre());
}

}  // namespace
}  // namespace kindred::findings
