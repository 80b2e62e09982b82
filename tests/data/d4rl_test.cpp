#include <fcntl.h>
#include <sys/file.h>

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

class D4rl : public ::testing::Test {
 protected:
  Trajectories read(const Parts& parts, ReadOptions options = {}) {
    return read_trajectories(write_parts(folder_ / "file", parts), options);
  }
  TempDir folder_;
  Parts parts_ = d4rl_parts();
};

TEST_F(D4rl, IsCutAtTerminalsAndTimeouts) {
  const auto data = read(parts_);
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 4, 6));
  EXPECT_THAT(expanded(data.observations), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_FALSE(data.actions.is_discrete());
  EXPECT_THAT(to_vector(data.actions.floats()), ElementsAre(.0f, .1f, .2f, .3f, .4f, .5f));
  EXPECT_THAT(episode_returns(data), ElementsAre(10, 11));
  EXPECT_THAT(data.ids, ElementsAre("0", "1"));
  EXPECT_TRUE(data.labels.empty());
  EXPECT_EQ(data.provenance["format"], "d4rl");
}

TEST_F(D4rl, UsesTheCapWithoutTimeouts) {
  parts_.erase("timeouts");
  ReadOptions options;
  EXPECT_THAT(to_vector(read(parts_, options).offsets), ElementsAre(0, 4, 6));
  options.episode_cap = 3;
  EXPECT_THAT(to_vector(read(parts_, options).offsets), ElementsAre(0, 3, 4, 6));
  options.keep_partial = false;
  const auto data = read(parts_, options);
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 3, 4));
  EXPECT_EQ(data.rewards.size(), 4);
}

TEST_F(D4rl, NeedsNoRewardsAndNoTerminals) {
  parts_.erase("rewards");
  parts_.erase("terminals");
  const auto data = read(parts_);
  EXPECT_TRUE(data.rewards.empty());
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 6));
}

TEST_F(D4rl, ConvertsEveryNumericType) {
  parts_["observations"] = array<double>({6, 1}, {0, .5, 1, 1.5, 2, 2.5});
  parts_["rewards"] = array<std::int64_t>({6, 1}, {1, 2, 3, 4, 5, 6});
  parts_["terminals"] = array<double>({6}, {0, 0, 0, 1, 0, 0});
  parts_["timeouts"] = array<std::uint8_t>({6}, {0, 0, 0, 0, 0, 1});
  const auto data = read(parts_);
  EXPECT_THAT(expanded(data.observations), ElementsAre(0, .5, 1, 1.5, 2, 2.5));
  EXPECT_THAT(to_vector(data.rewards), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 4, 6));
}

TEST_F(D4rl, TakesIntegerActionsOfAnyWidthAsDiscrete) {
  const std::vector<int> expected{0, 1, 2, 3, 2, 1};
  parts_.erase("actions");
  int file = 0;
  for (const hid_t type : {H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I16BE, H5T_STD_U16LE, H5T_STD_I32BE,
                           H5T_STD_U32LE, H5T_STD_I64LE, H5T_STD_U64BE}) {
    const auto path = write_parts(folder_ / std::to_string(file++), parts_);
    modify(path, [&](hid_t id) {
      const hsize_t size = 6;
      const hdf5::Handle space(H5Screate_simple(1, &size, nullptr));
      const hdf5::Handle actions(
          H5Dcreate2(id, "actions", type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Dwrite(actions.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, expected.data());
    });
    const auto data = read_trajectories(path);
    ASSERT_TRUE(data.actions.is_discrete());
    EXPECT_THAT(to_vector(data.actions.ints()), ElementsAreArray(expected));
    EXPECT_EQ(data.actions.count(), 4);
  }
}

TEST_F(D4rl, ObeysTheActionsOption) {
  ReadOptions options;
  options.actions = ReadActionsAs::kDiscrete;
  parts_["actions"] = array<float>({6}, {0, 1, 2, 0, 1, 2});
  EXPECT_TRUE(read(parts_, options).actions.is_discrete());
  options.actions = ReadActionsAs::kContinuous;
  parts_["actions"] = array<std::int32_t>({6, 2}, {-1, 3});
  const auto data = read(parts_, options);
  EXPECT_EQ(data.actions.dim(), 2);
  EXPECT_EQ(data.actions.floats()[0], -1.0f);
}

TEST_F(D4rl, KeepsBytesAndFlattensImages) {
  parts_["observations"] = array<std::uint8_t>({6, 2, 2}, {1, 2, 3, 4, 5, 6});
  const auto data = read(parts_);
  EXPECT_TRUE(data.observations.is_bytes());
  EXPECT_EQ(data.observations.dim(), 4);
}

TEST_F(D4rl, TakesLabelsOfEpisodesOrOfSteps) {
  parts_["infos/policy_id"] = array<std::int32_t>({6}, {1, 1, 1, 1, 0, 0});
  EXPECT_THAT(to_vector(read(parts_).labels), ElementsAre(1, 0));
  parts_["infos/policy_id"] = array<std::int32_t>({6}, {1, 1, 1, 0, 0, 0});
  EXPECT_THAT(to_vector(read(parts_).actors), ElementsAre(1, 1, 1, 0, 0, 0));
  EXPECT_THAT(to_vector(read(parts_).labels), ElementsAre(1, 0)) << "who acts most";
  write_trajectories(read(parts_), folder_ / "again.hdf5", Format::kD4rl);
  EXPECT_THAT(to_vector(read_trajectories(folder_ / "again.hdf5").actors),
              ElementsAre(1, 1, 1, 0, 0, 0));
  parts_["infos/policy_id"] = array<std::int32_t>({6}, {-1, -1, -1, -1, 0, 0});
  EXPECT_THAT(to_vector(read(parts_).labels), ElementsAre(-1, 0));  // unknown
  parts_["infos/policy_id"] = array<std::int32_t>({6}, {-2, -2, -2, -2, 0, 0});
  EXPECT_TRUE(read(parts_).labels.empty());
  parts_["infos/operator"] = strings({"ann", "ann", "ann", "ann", "bob", "bob"});
  ReadOptions named;
  named.label_key = "operator";
  EXPECT_THAT(read(parts_, named).label_names, ElementsAre("ann", "bob"));
  parts_["infos/behaviour"] = array<std::int64_t>({6}, {2, 2, 2, 2, 3, 3});
  ReadOptions options;
  options.label_key = "behaviour";
  EXPECT_THAT(to_vector(read(parts_, options).labels), ElementsAre(2, 3));
}

TEST_F(D4rl, KeepsTheOraclesLabels) {
  auto data = make_trajectories();
  data.oracle = std::vector<std::int32_t>(static_cast<std::size_t>(data.episodes()), 1);
  write_trajectories(data, folder_ / "oracle", Format::kD4rl);
  EXPECT_EQ(to_vector(read_trajectories(folder_ / "oracle").oracle), to_vector(data.oracle));
  parts_["infos/oracle_policy_id"] = array<std::int32_t>({6}, {1, 1, 1, 1, -1, -1});
  EXPECT_TRUE(read(parts_).oracle.empty()) << "not labels";
}

TEST_F(D4rl, ReadsChunkedCompressedDatasets) {
  parts_.erase("observations");
  const auto path = write_parts(folder_ / "file", parts_);
  std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  modify(path, [&](hid_t id) {
    const hsize_t size[] = {6, 2}, chunk[] = {4, 1};
    const hdf5::Handle space(H5Screate_simple(2, size, nullptr));
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation.get(), 2, chunk);
    H5Pset_shuffle(creation.get());
    H5Pset_deflate(creation.get(), 4);
    const hdf5::Handle rows(H5Dcreate2(id, "observations", H5T_IEEE_F64BE, space.get(), H5P_DEFAULT,
                                       creation.get(), H5P_DEFAULT));
    H5Dwrite(rows.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  });
  EXPECT_EQ(expanded(read_trajectories(path).observations), values);
}

TEST_F(D4rl, InternsRepeatedObservationsUnlessToldNot) {
  Parts parts{{"observations", array<float>({100, 2})},
              {"actions", array<std::int64_t>({100})},
              {"terminals", array<std::uint8_t>({100})}};
  EXPECT_TRUE(read(parts).observations.is_interned());
  ReadOptions options;
  options.interning = Interning::kNever;
  EXPECT_FALSE(read(parts, options).observations.is_interned());
}

TEST_F(D4rl, NeverChangesTheFile) {
  const auto path = write_parts(folder_ / "file", parts_);
  const auto before = read_bytes(path);
  const auto time = std::filesystem::last_write_time(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  read_trajectories(path);
  EXPECT_EQ(read_bytes(path), before);
  EXPECT_EQ(std::filesystem::last_write_time(path), time);
}

TEST_F(D4rl, IsReadWhileAnotherHoldsALock) {
  const auto path = write_parts(folder_ / "file", parts_);
  const int other = ::open(path.c_str(), O_RDWR);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_EQ(read_trajectories(path).episodes(), 2);
  ::close(other);
}

}  // namespace
}  // namespace kindred
