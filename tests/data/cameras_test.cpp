// What cameras saw, out of files made here; of LeRobot folders see python/check_pictures.py.
#include "kindred/data/cameras.h"

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kSide = 10;

/// Frames of one level each.
Part frames(const std::vector<std::uint8_t>& levels, std::int64_t colours = 3) {
  std::vector<std::uint8_t> pixels;
  for (const auto level : levels)
    pixels.insert(pixels.end(), static_cast<std::size_t>(kSide * kSide * colours), level);
  return array<std::uint8_t>({std::ssize(levels), kSide, kSide, colours}, pixels);
}

/// The same picture from a file with nothing else.
std::string jpeg_of(const TempDir& folder, std::uint8_t level) {
  const auto path = write_parts(folder / "one", {{"data/demo_0/obs/one", frames({level})}});
  const std::int64_t step = 0;
  return open_cameras(path, Format::kRobomimic, {})->look(0, "demo_0", {&step, 1})[0];
}

TEST(Cameras, OfRobomimicAreTheArraysOfPixels) {
  const TempDir folder;
  const Parts parts = {{"data/demo_0/obs/agentview_image", frames({10, 90, 200})},
                       {"data/demo_0/obs/wrist_rgb", frames({50, 60, 70}, 1)},
                       {"data/demo_0/obs/depth", array<float>({3, kSide, kSide, 1})},
                       {"data/demo_0/obs/small", array<std::uint8_t>({3, 2, 2, 3})},
                       {"data/demo_0/obs/eef", array<float>({3, 4})},
                       {"data/demo_1/obs/eef", array<float>({3, 4})}};
  const auto cameras = open_cameras(write_parts(folder / "f", parts), Format::kRobomimic, {});
  ASSERT_TRUE(cameras);
  EXPECT_THAT(cameras->names(), ElementsAre("agentview", "wrist"));
  EXPECT_TRUE(cameras->has("demo_1"));
  EXPECT_FALSE(cameras->has("demo_2"));
  const std::vector<std::int64_t> steps = {0, 2, 3};
  EXPECT_THAT(cameras->look(0, "demo_0", steps),
              ElementsAre(jpeg_of(folder, 10), jpeg_of(folder, 200), ""));
  EXPECT_THAT(cameras->look(1, "demo_0", steps),
              ElementsAre(jpeg_of(folder, 50), jpeg_of(folder, 70), ""));
  EXPECT_THAT(cameras->look(0, "demo_1", steps), ElementsAre("", "", ""));
}

TEST(Cameras, OfMinariAreTheArraysOfPixels) {
  const TempDir folder;
  const auto alone = write_parts(folder / "alone", {{"episode_3/observations", frames({10, 20})}});
  EXPECT_THAT(open_cameras(alone, Format::kMinari, {})->names(), ElementsAre("observations"));
  const auto dictionary =
      write_parts(folder / "dictionary", {{"episode_3/observations/view", frames({10, 20})}});
  const auto cameras = open_cameras(dictionary, Format::kMinari, {});
  EXPECT_THAT(cameras->names(), ElementsAre("view"));
  const std::int64_t step = 1;
  EXPECT_THAT(cameras->look(0, "episode_3", {&step, 1}), ElementsAre(jpeg_of(folder, 20)));
}

TEST(Cameras, AreNotThereWithoutPictures) {
  const TempDir folder;
  const auto numbers = write_parts(folder / "n", {{"data/demo_0/obs/eef", array<float>({3, 4})},
                                                  {"data/demo_0/obs/said", strings({"a", "b"})}});
  modify(numbers, [](hid_t file) {  // text of any length, which no reader takes
    const hdf5::Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const hsize_t size = 1;
    const hdf5::Handle space(H5Screate_simple(1, &size, nullptr));
    const hdf5::Handle made(H5Dcreate2(file, "data/demo_0/obs/words", type.get(), space.get(),
                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  EXPECT_EQ(open_cameras(numbers, Format::kRobomimic, {}), nullptr);
  EXPECT_EQ(open_cameras(numbers, Format::kD4rl, {}), nullptr);
  EXPECT_EQ(open_cameras(write_parts(folder / "d", d4rl_parts()), Format::kD4rl, {}), nullptr);
}

TEST(Cameras, ReadOnlyTheFramesTheyAreAskedFor) {
  const TempDir folder;
  const auto path = folder / "f";
  write_parts(path, {{"data/demo_0/obs/eef", array<float>({3, 4})}});
  modify(path, [](hid_t file) {  // three chunks, of which the last unpacks to less than a frame
    const hsize_t shape[] = {3, kSide, kSide, 3}, chunk[] = {1, kSide, kSide, 3};
    const hdf5::Handle space(H5Screate_simple(4, shape, nullptr));
    const hdf5::Handle layout(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(layout.get(), 4, chunk);
    const hdf5::Handle data(H5Dcreate2(file, "data/demo_0/obs/image", H5T_NATIVE_UINT8, space.get(),
                                       H5P_DEFAULT, layout.get(), H5P_DEFAULT));
    const std::vector<std::uint8_t> whole(kSide * kSide * 3, 90);
    for (hsize_t i = 0; i < 3; ++i) {
      const hsize_t at[] = {i, 0, 0, 0};
      H5Dwrite_chunk(data.get(), H5P_DEFAULT, 0, at, i == 2 ? 7 : whole.size(), whole.data());
    }
  });
  const auto cameras = open_cameras(path, Format::kRobomimic, {});
  const std::vector<std::int64_t> sound = {0, 1}, all = {0, 1, 2};
  EXPECT_THAT(cameras->look(0, "demo_0", sound), ::testing::Each(jpeg_of(folder, 90)));
  EXPECT_THAT(error_of<DataFormatError>([&] { cameras->look(0, "demo_0", all); }),
              ::testing::HasSubstr("a chunk of 7 bytes"));
}

}  // namespace
}  // namespace kindred
