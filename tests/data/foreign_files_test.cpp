// Sound files that other programs write differently from us.
#include <cmath>

#include "test_files.h"

// HDF5's own, not in its headers: the checksum of metadata.
extern "C" std::uint32_t H5_checksum_metadata(const void* data, std::size_t size,
                                              std::uint32_t initial);

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A float of 16 bits as h5py makes it.
hdf5::Handle float16(hid_t like, std::size_t exponent_bits) {
  hdf5::Handle type(H5Tcopy(like));
  const std::size_t fraction = 15 - exponent_bits;
  H5Tset_fields(type.get(), 15, fraction, exponent_bits, 0, fraction);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), (1u << (exponent_bits - 1)) - 1);
  return type;
}

class ForeignFiles : public ::testing::Test {
 protected:
  static constexpr hsize_t kSteps = 6;

  /// A D4RL file with floats of `type`, in chunks unless `chunk` is 0.
  std::filesystem::path write(hid_t type, hid_t access = H5P_DEFAULT, hsize_t chunk = 0) const {
    auto path = folder_ / "foreign.hdf5";
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
    const std::vector<float> values = {0, 0.5f, -2, 1024, 0.25f, 3, 4, 5, 6, 7, 8, 9};
    put(file.get(), "observations", type, {kSteps, 2}, chunk, values);
    put(file.get(), "actions", type, {kSteps, 1}, chunk, values);
    put(file.get(), "rewards", type, {kSteps}, chunk, values);
    put(file.get(), "terminals", H5T_STD_I8LE, {kSteps}, chunk, {0, 0, 1, 0, 0, 1});
    put(file.get(), "infos/policy_id", H5T_STD_I32LE, {kSteps}, chunk, {4, 4, 4, 5, 5, 5});
    return path;
  }

  static void put(hid_t file, const char* name, hid_t type, std::vector<hsize_t> shape,
                  hsize_t chunk, const std::vector<float>& values) {
    const hdf5::Handle space(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    if (chunk > 0) {
      shape[0] = chunk;
      H5Pset_chunk(creation.get(), static_cast<int>(shape.size()), shape.data());
      H5Pset_deflate(creation.get(), 4);
    }
    const hdf5::Handle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links.get(), 1);
    const hdf5::Handle dataset(
        H5Dcreate2(file, name, type, space.get(), links.get(), creation.get(), H5P_DEFAULT));
    ASSERT_GE(
        H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  }

  static void expect_read(const std::filesystem::path& path) {
    const auto data = read_trajectories(path);
    EXPECT_EQ(expanded(data.observations),
              (std::vector<float>{0, 0.5f, -2, 1024, 0.25f, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(to_vector(data.actions.floats()), (std::vector<float>{0, 0.5f, -2, 1024, 0.25f, 3}));
    EXPECT_EQ(to_vector(data.rewards), (std::vector<float>{0, 0.5f, -2, 1024, 0.25f, 3}));
    EXPECT_EQ(to_vector(data.labels), (std::vector<std::int32_t>{4, 5}));
  }

  TempDir folder_;
};

TEST_F(ForeignFiles, FloatsOf16BitsAreRead) {
  for (const hid_t order : {H5T_IEEE_F32LE, H5T_IEEE_F32BE})
    for (const std::size_t exponent_bits : {5u, 8u})  // float16 and bfloat16
      expect_read(write(float16(order, exponent_bits).get()));
}

TEST_F(ForeignFiles, TheLatestLayoutIsRead) {
  const hdf5::Handle latest(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(latest.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  for (const hsize_t chunk : {hsize_t{0}, hsize_t{4}, kSteps}) {
    expect_read(write(H5T_IEEE_F64LE, latest.get(), chunk));
    expect_read(write(float16(H5T_IEEE_F32LE, 5).get(), latest.get(), chunk));
  }
}

TEST_F(ForeignFiles, WhatNeedsANewerHdf5SaysSo) {
  const hdf5::Handle latest(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(latest.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const auto path = write(H5T_IEEE_F32LE, latest.get());
  auto bytes = read_bytes(path);
  // The header of 'actions': its type gets a version that no HDF5 knows yet, and a right checksum.
  std::uint64_t address = 0;
  modify(path, [&](hid_t file) {
    H5O_info_t info;
    H5Oget_info_by_name2(file, "actions", &info, H5O_INFO_BASIC | H5O_INFO_HDR, H5P_DEFAULT);
    address = info.addr;
  });
  bytes = read_bytes(path);
  const auto header = bytes.find("OHDR", address);
  ASSERT_EQ(header, address);
  const unsigned flags = static_cast<unsigned char>(bytes[header + 5]);
  const std::size_t size_width = std::size_t{1} << (flags & 3u);
  const std::size_t prefix = 6 + (flags & 0x20u ? 16 : 0) + (flags & 0x10u ? 4 : 0) + size_width;
  std::size_t size = 0;
  for (std::size_t i = 0; i < size_width; ++i)
    size |= static_cast<std::size_t>(
                static_cast<unsigned char>(bytes[header + prefix - size_width + i]))
            << (8 * i);
  const auto bits = bytes.find(std::string("\x20\x1f\0", 3), header + prefix);  // of a float32
  ASSERT_LT(bits, header + prefix + size);
  bytes[bits - 1] = '\x71';  // version 7, class 1
  const std::uint32_t sum = H5_checksum_metadata(bytes.data() + header, prefix + size, 0);
  for (std::size_t i = 0; i < 4; ++i)
    bytes[header + prefix + size + i] = static_cast<char>(sum >> (8 * i));
  write_bytes(path, bytes);
  EXPECT_THAT(error_of<DataFormatError>([&] { read_trajectories(path); }),
              AllOf(HasSubstr("dataset 'actions' cannot be opened"), HasSubstr("newer HDF5"),
                    HasSubstr("libver='v110'")));
}

TEST_F(ForeignFiles, ValuesInOtherFilesAreRefusedForThatReason) {
  const auto path = write(H5T_IEEE_F32LE);
  modify(path, [](hid_t file) {
    H5Ldelete(file, "rewards", H5P_DEFAULT);
    const hsize_t size = kSteps;
    const hdf5::Handle space(H5Screate_simple(1, &size, nullptr));
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_virtual(creation.get(), space.get(), "elsewhere.hdf5", "rewards", space.get());
    const hdf5::Handle dataset(H5Dcreate2(file, "rewards", H5T_IEEE_F32LE, space.get(), H5P_DEFAULT,
                                          creation.get(), H5P_DEFAULT));
    ASSERT_TRUE(dataset);
  });
  EXPECT_THAT(error_of<DataFormatError>([&] { read_trajectories(path); }),
              HasSubstr("dataset 'rewards' keeps its values in other files"));
}

TEST_F(ForeignFiles, NamesNeedNotBeUtf8) {
  const auto path = folder_ / "caf\xe9.hdf5";
  std::filesystem::rename(write(H5T_IEEE_F32LE), path);
  const auto data = read_trajectories(path);
  EXPECT_THAT(data.provenance.dump(), HasSubstr("caf\\\\xe9.hdf5"));  // and does not throw
}

TEST_F(ForeignFiles, RewardsNeedNotBeNumbers) {
  auto data = make_trajectories({.episodes = 12});
  auto rewards = to_vector(data.rewards);
  rewards[0] = NAN;
  rewards[1] = INFINITY;
  rewards[2] = -INFINITY;
  data.rewards = rewards;
  for (const auto format : kFormats) {
    SCOPED_TRACE(name_of(format));
    const auto path = folder_ / std::string(name_of(format));
    write_trajectories(data, path, format);
    const auto found = to_vector(read_trajectories(path).rewards);
    ASSERT_EQ(found.size(), rewards.size());
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_TRUE(std::equal(found.begin() + 1, found.end(), rewards.begin() + 1));
  }
}

}  // namespace
}  // namespace kindred
