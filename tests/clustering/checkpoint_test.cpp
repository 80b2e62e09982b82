// A checkpoint comes back as it was, and only to the fit it belongs to.
#include "kindred/clustering/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "kindred/core/error.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    run_.checkpoint = std::filesystem::temp_directory_path() /
                      ("kindred-checkpoint-" + std::to_string(::getpid()) + ".h5");
    run_.resume = true;
  }
  ~CheckpointTest() override { std::filesystem::remove(run_.checkpoint); }

  Checkpoint checkpoint(const std::string& method = "a-method", const json& options = {{"k", 2}}) {
    return Checkpoint(method, options, data_, run_);
  }
  void save() {
    checkpoint().save([](ArrayFileWriter& file) {
      file.write<std::int32_t>("labels", std::vector<std::int32_t>{0, 1, 1});
      return json{{"round", 7}};
    });
  }
  /// What loading complains about, as an Expected; "" when it does not.
  template <class Expected>
  std::string complaint(
      const Checkpoint& checkpoint,
      const std::function<void(const json&, const ArrayFileReader&)>& restore =
          [](const auto&, const auto&) {}) {
    try {
      checkpoint.load(restore);
    } catch (const Expected& error) {
      return error.what();
    }
    return "";
  }

  RunContext run_;
  Trajectories data_ = testing::linear_control({.episodes = 4});
};

TEST_F(CheckpointTest, ComesBackAsItWas) {
  EXPECT_FALSE(checkpoint().resumes());
  save();
  ASSERT_TRUE(checkpoint().resumes());
  int loaded = 0;
  checkpoint().load([&](const json& state, const ArrayFileReader& file) {
    EXPECT_EQ(state, (json{{"round", 7}}));
    EXPECT_EQ(file.read<std::int32_t>("labels").values, (std::vector<std::int32_t>{0, 1, 1}));
    ++loaded;
  });
  EXPECT_EQ(loaded, 1);
}

TEST_F(CheckpointTest, IsNotKeptWithoutAPath) {
  run_.checkpoint.clear();
  EXPECT_FALSE(checkpoint().kept());
  EXPECT_FALSE(checkpoint().resumes());
}

TEST_F(CheckpointTest, BelongsToItsMethodAndOptions) {
  save();
  EXPECT_THAT(complaint<InvalidArgument>(checkpoint("another")),
              HasSubstr("it was started with method a-method, now it is another"));
  EXPECT_THAT(complaint<InvalidArgument>(checkpoint("a-method", {{"k", 3}})),
              HasSubstr("it was started with k = 2, now it is 3; repeat the original options"));
}

/// Another seed: as many episodes, steps and dimensions.
TEST_F(CheckpointTest, BelongsToItsData) {
  save();
  data_ = testing::linear_control({.episodes = 4}, 2);
  EXPECT_THAT(complaint<InvalidArgument>(checkpoint()),
              StartsWith("'the data' is not the dataset this run was made from: its actions"));
  run_.data_name = "other.h5";
  EXPECT_THAT(complaint<InvalidArgument>(checkpoint()), StartsWith("'other.h5' is not"));
}

TEST_F(CheckpointTest, DamageIsSaid) {
  save();
  const std::string said = "it is damaged";
  EXPECT_THAT(complaint<DataFormatError>(
                  checkpoint(), [](const json& state, const auto&) { state.at("rounds"); }),
              HasSubstr(said));
  EXPECT_THAT(complaint<DataFormatError>(checkpoint(),
                                         [](const auto&, const ArrayFileReader& file) {
                                           file.read<float>("no such array");
                                         }),
              HasSubstr(said));
  EXPECT_THAT(
      complaint<DataFormatError>(
          checkpoint(), [](const auto&, const auto&) { throw InvalidArgument("too long"); }),
      HasSubstr("damaged (too long); start again"));
  ArrayFileReader whole(run_.checkpoint);
  const auto header = whole.read_text("header");
  ArrayFileWriter file(run_.checkpoint);
  file.write_text("header", header);
  file.write_text("state", "{\"round\": ");
  file.close();
  EXPECT_THAT(complaint<DataFormatError>(checkpoint()), HasSubstr(said));
}

TEST_F(CheckpointTest, AnotherKindOfFileIsSaid) {
  ArrayFileWriter file(run_.checkpoint);
  file.write_text("options", "{}");
  file.close();
  EXPECT_THAT(complaint<InvalidArgument>(checkpoint()),
              HasSubstr("not a checkpoint of this version"));
}

TEST_F(CheckpointTest, NumbersKeepTheirInfinities) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double x : {0.1, -1e300, kInfinity, -kInfinity})
    EXPECT_EQ(restored_number(json::parse(saved_number(x).dump())), x);
  EXPECT_THROW(restored_number("many"), DataFormatError);
}

TEST_F(CheckpointTest, LabelsAreOnePerEpisodeAndBelowK) {
  const std::vector<std::int32_t> labels = {0, 2, 1};
  EXPECT_NO_THROW(require_labels(labels, 3, 3));
  EXPECT_THROW(require_labels(labels, 4, 3), DataFormatError);
  EXPECT_THROW(require_labels(labels, 3, 2), DataFormatError);
}

}  // namespace
}  // namespace kindred
