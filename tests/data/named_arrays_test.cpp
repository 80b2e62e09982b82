#include "kindred/data/named_arrays.h"

#include <hdf5.h>

#include "kindred/data/npy.h"
#include "kindred/data/zip.h"
#include "test_files.h"

namespace kindred::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What every file of arrays must give, whatever its format.
void expect_arrays(const NamedArrays& arrays) {
  const auto* numbers = arrays.find("numbers");
  ASSERT_NE(numbers, nullptr);
  EXPECT_EQ(numbers->kind, ArrayKind::kFloat);
  EXPECT_THAT(numbers->shape, ElementsAre(3, 2));
  EXPECT_EQ(numbers->rows(), 3);
  EXPECT_EQ(numbers->row_size(), 2);
  EXPECT_EQ(numbers->description(), "numbers [3, 2] of floats");
  std::vector<float> rows(4);
  arrays.read(*numbers, 1, 3, rows.data());
  EXPECT_THAT(rows, ElementsAre(2, 3, 4, 5));

  const auto* counts = arrays.find("counts");
  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(counts->kind, ArrayKind::kInteger);
  std::vector<std::int64_t> values(2);
  arrays.read(*counts, 0, 2, values.data());
  EXPECT_THAT(values, ElementsAre(7, -8));
  rows.resize(1);
  arrays.read(*counts, 2, 3, rows.data());
  EXPECT_THAT(rows, ElementsAre(9));

  const auto* flagged = arrays.find("done");
  ASSERT_NE(flagged, nullptr);
  EXPECT_EQ(flagged->kind, ArrayKind::kBool);
  EXPECT_TRUE(flagged->is_byte);

  const auto* who = arrays.find("who");
  ASSERT_NE(who, nullptr);
  EXPECT_EQ(who->kind, ArrayKind::kText);
  EXPECT_THAT(arrays.read_text(*who, 1, 3), ElementsAre("ann", "bob"));

  EXPECT_EQ(arrays.find("absent"), nullptr);
  EXPECT_THAT(arrays.where("who"), HasSubstr("array 'who'"));
}

TEST(NamedArrays, AreReadFromHdf5) {
  const TempDir dir;
  const auto path =
      write_parts(dir / "a.hdf5", {{"numbers", array<float>({3, 2}, {0, 1, 2, 3, 4, 5})},
                                   {"counts", array<std::int32_t>({3}, {7, -8, 9})},
                                   {"done", flags({0, 0, 1})},
                                   {"who", strings({"ann", "ann", "bob"})},
                                   {"inside/deeper", array<float>({1})}});
  const auto arrays = open_named_arrays(path);
  expect_arrays(*arrays);
  EXPECT_NE(arrays->find("inside/deeper"), nullptr);
}

TEST(NamedArrays, AreReadFromNpz) {
  const TempDir dir;
  const auto path = dir / "a.npz";
  {
    zip::Writer archive(path);
    npy::ArrayWriter out(archive);
    out.write<float>("numbers", std::vector<float>{0, 1, 2, 3, 4, 5}, {3, 2});
    out.write<std::int64_t>("counts", std::vector<std::int64_t>{7, -8, 9}, {3});
    out.begin<bool>("done", {3});
    out.append(std::span<const std::uint8_t>(std::vector<std::uint8_t>{0, 0, 1}));
    out.write_text("who", std::vector<std::string>{"ann", "ann", "bob"});
    archive.close();
  }
  expect_arrays(*open_named_arrays(path));
}

TEST(NamedArrays, LeavesOutWhatItCannotRead) {
  const TempDir dir;
  const auto path = write_parts(dir / "a.hdf5", {{"numbers", array<float>({3})}});
  modify(path, [](hid_t file) {
    const hdf5::Handle type(H5Tcreate(H5T_OPAQUE, 4)), space(H5Screate(H5S_SCALAR));
    const hdf5::Handle made(
        H5Dcreate2(file, "opaque", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  EXPECT_EQ(open_named_arrays(path)->list().size(), 1u);
}

}  // namespace
}  // namespace kindred::testing
