#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::HasSubstr;

class KindredFile : public ::testing::Test {
 protected:
  std::filesystem::path write(const Trajectories& data) {
    write_trajectories(data, folder_ / "file", Format::kKindred);
    return folder_ / "file";
  }
  void set_attribute(const std::filesystem::path& path, const char* object, const char* name,
                     std::int64_t value) {
    modify(path, [&](hid_t file) {
      const hdf5::Handle owner(H5Oopen(file, object, H5P_DEFAULT));
      const hdf5::Handle attribute(H5Aopen(owner.get(), name, H5P_DEFAULT));
      ASSERT_GE(H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value), 0) << hdf5::last_error();
    });
  }
  template <class T>
  void overwrite(const std::filesystem::path& path, const char* name, std::vector<T> values) {
    modify(path, [&](hid_t file) {
      const hdf5::Handle dataset(H5Dopen2(file, name, H5P_DEFAULT));
      ASSERT_GE(H5Dwrite(dataset.get(), hdf5::native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                         values.data()),
                0);
    });
  }
  std::string reading(const std::filesystem::path& path) {
    return error_of<DataFormatError>([&] { read_trajectories(path); });
  }
  TempDir folder_;
};

TEST_F(KindredFile, KeepsEverything) {
  auto data = make_trajectories({.discrete = true, .interned = true});
  data.provenance = {{"generator", "grid"}, {"seed", 3}};
  const auto found = read_trajectories(write(data));
  expect_same_steps(found, data);
  EXPECT_TRUE(found.observations.is_interned());
  EXPECT_EQ(to_vector(found.observations.index()), to_vector(data.observations.index()));
  EXPECT_EQ(to_vector(found.oracle), to_vector(data.oracle));
  EXPECT_EQ(found.ids, data.ids);
  EXPECT_EQ(found.label_names, data.label_names);
  EXPECT_EQ(found.provenance, data.provenance);
}

TEST_F(KindredFile, IsMappedNotCopied) {
  const auto path = write(make_trajectories({.episodes = 50}));
  ReadOptions options;
  options.interning = Interning::kNever;
  const auto found = read_trajectories(path, options);
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  EXPECT_THAT(text, HasSubstr(path.string()));
  const auto address = reinterpret_cast<std::uintptr_t>(found.observations.floats().data());
  EXPECT_EQ(address % 64, 0u);
}

TEST_F(KindredFile, ColumnsOutliveTheFile) {
  const auto data = make_trajectories();
  const auto path = write(data);
  Column<float> rewards;
  { rewards = read_trajectories(path).rewards; }
  std::filesystem::remove(path);
  EXPECT_EQ(to_vector(rewards), to_vector(data.rewards));
}

TEST_F(KindredFile, ReadsColumnsStoredInAnotherWay) {
  const auto data = make_trajectories();
  const auto path = write(data);
  modify(path, [&](hid_t file) {
    H5Ldelete(file, "rewards", H5P_DEFAULT);
    const auto size = static_cast<hsize_t>(data.steps()), chunk = hsize_t{4};
    const hdf5::Handle space(H5Screate_simple(1, &size, nullptr));
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation.get(), 1, &chunk);
    H5Pset_deflate(creation.get(), 1);
    const hdf5::Handle rewards(H5Dcreate2(file, "rewards", H5T_IEEE_F64BE, space.get(), H5P_DEFAULT,
                                          creation.get(), H5P_DEFAULT));
    H5Dwrite(rewards.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.rewards.data());
  });
  expect_same_steps(read_trajectories(path), data);
}

TEST_F(KindredFile, WritesTheSameBytesForTheSameData) {
  const auto path = write(make_trajectories());
  const auto first = read_bytes(path);
  EXPECT_EQ(read_bytes(write(make_trajectories())), first);
}

TEST_F(KindredFile, OfANewerVersionIsRefused) {
  const auto path = write(make_trajectories());
  set_attribute(path, "/", "version", 2);
  EXPECT_THAT(reading(path), HasSubstr("written in version 2 of Kindred's format, this Kindred "
                                       "reads up to version 1; use a newer Kindred"));
}

TEST_F(KindredFile, WithColumnsThatDoNotFitIsRefused) {
  const auto data = make_trajectories({.discrete = true, .interned = true, .episodes = 2});
  auto path = write(data);
  overwrite<std::int64_t>(path, "offsets", {0, -5, 7});
  EXPECT_THAT(reading(path), HasSubstr("dataset 'offsets' holds -5"));
  overwrite<std::int64_t>(path, "offsets", {0, 7, 7});
  EXPECT_THAT(reading(path), HasSubstr("episode 1 has 0 steps"));
  path = write(data);
  overwrite<std::int32_t>(path, "observation_index", {0, 0, 0, 0, 0, 0, 9});
  EXPECT_THAT(reading(path), HasSubstr("observation index 9 is outside its table of 2"));
  path = write(data);
  overwrite<std::int32_t>(path, "actions", {0, 0, 0, 0, 0, 0, 5});
  EXPECT_THAT(reading(path), HasSubstr("action 5 is outside 0..4"));
  path = write(data);
  set_attribute(path, "actions", "action_count", -1);
  EXPECT_THAT(reading(path), HasSubstr("'action_count' of -1"));
  path = write(data);
  overwrite<std::uint8_t>(path, "terminals", {0, 0, 0, 0, 0, 0, 2});
  EXPECT_THAT(reading(path), HasSubstr("flags other than 0 and 1"));
  path = write(data);
  overwrite<std::int32_t>(path, "labels", {0, -3});
  EXPECT_THAT(reading(path), HasSubstr("negative labels"));
  path = write(data);
  modify(path, [](hid_t file) { H5Ldelete(file, "offsets", H5P_DEFAULT); });
  EXPECT_THAT(reading(path), HasSubstr("dataset 'offsets' is missing"));
}

}  // namespace
}  // namespace kindred
