#include "kindred/data/array_file.h"

#include "test_files.h"

namespace kindred {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TempDir;

TEST(ArrayFile, GivesBackWhatWasWritten) {
  const TempDir folder;
  {
    ArrayFileWriter writer(folder / "a.hdf5");
    writer.write<float>("policy/layer_0/weight", std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    writer.write<double>("trace", {0.5, 0.25});
    writer.write<std::int32_t>("labels", {-1, 2});
    writer.write<std::int64_t>("steps", {std::int64_t{1} << 40});
    writer.write<std::uint8_t>("bytes", {0, 255});
    writer.write<float>("nothing", std::vector<float>{});
    writer.write_text("options", "{\"k\": 5, \"ü\": 1}");
    writer.write_text("empty", "");
    writer.close();
  }
  const ArrayFileReader reader(folder / "a.hdf5");
  const auto weight = reader.read<float>("policy/layer_0/weight");
  EXPECT_THAT(weight.shape, ElementsAre(2, 3));
  EXPECT_THAT(weight.values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(reader.read<double>("trace").values, ElementsAre(0.5, 0.25));
  EXPECT_THAT(reader.read<std::int32_t>("labels").values, ElementsAre(-1, 2));
  EXPECT_THAT(reader.read<std::int64_t>("steps").values, ElementsAre(std::int64_t{1} << 40));
  EXPECT_THAT(reader.read<std::uint8_t>("bytes").values, ElementsAre(0, 255));
  EXPECT_TRUE(reader.read<float>("nothing").values.empty());
  EXPECT_EQ(reader.read_text("options"), "{\"k\": 5, \"ü\": 1}");
  EXPECT_EQ(reader.read_text("empty"), "");
  EXPECT_TRUE(reader.contains("policy/layer_0"));
  EXPECT_FALSE(reader.contains("policy/layer_1/weight"));
}

TEST(ArrayFile, AppearsOnlyWhenClosed) {
  const TempDir folder;
  {
    ArrayFileWriter writer(folder / "a.hdf5");
    writer.write<float>("x", {1.0f});
    EXPECT_FALSE(std::filesystem::exists(folder / "a.hdf5"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ArrayFile, ReplacesAnOlderFileWhileItIsRead) {
  const TempDir folder;
  const auto write = [&](float value) {
    ArrayFileWriter writer(folder / "a.hdf5");
    writer.write<float>("x", {value});
    writer.close();
  };
  write(1);
  const ArrayFileReader old(folder / "a.hdf5");
  write(2);
  EXPECT_THAT(old.read<float>("x").values, ElementsAre(1));
  EXPECT_THAT(ArrayFileReader(folder / "a.hdf5").read<float>("x").values, ElementsAre(2));
}

TEST(ArrayFile, ChecksWhatItIsAskedToCheck) {
  const TempDir folder;
  ArrayFileWriter writer(folder / "a.hdf5");
  writer.write<float>("matrix", std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  writer.write<double>("bad", {0.5, NAN});
  writer.write<double>("empty", std::vector<double>{});
  writer.write<std::int64_t>("number", {7});
  writer.close();
  const ArrayFileReader reader(folder / "a.hdf5");
  EXPECT_THAT(reader.read<float>("matrix", {2, kAnyExtent}).values, ::testing::SizeIs(6));
  EXPECT_THAT(reader.read_finite<float>("matrix", {2, 3}).values, ::testing::SizeIs(6));
  EXPECT_EQ(reader.read_number<std::int64_t>("number"), 7);
  const auto refusal = [&](const auto& read) { return error_of<DataFormatError>(read); };
  EXPECT_THAT(refusal([&] {
                reader.read<float>("matrix", {kAnyExtent, 2});
              }),
              AllOf(HasSubstr("a.hdf5' dataset 'matrix' has shape [2, 3], expected [any, 2]")));
  EXPECT_THAT(refusal([&] { reader.read<float>("matrix", {2}); }), HasSubstr("expected [2]"));
  EXPECT_THAT(refusal([&] { reader.read<double>("empty", {kAnyExtent}); }),
              HasSubstr("has shape [0], expected [any]"));
  EXPECT_THAT(refusal([&] { reader.read_finite<double>("bad", {2}); }),
              HasSubstr("'bad' holds nan, expected finite numbers"));
  EXPECT_THAT(refusal([&] { reader.read_number<double>("bad"); }), HasSubstr("expected [1]"));
  EXPECT_THAT(refusal([&] { reader.refuse("number", "is odd"); }),
              HasSubstr("a.hdf5' dataset 'number' is odd; the file was changed"));
}

TEST(ArrayFile, SaysWhatIsWrong) {
  const TempDir folder;
  ArrayFileWriter writer(folder / "a.hdf5");
  writer.write<float>("x", {1.0f});
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                writer.write<float>("y", std::vector<float>{1, 2}, {3});
              }),
              HasSubstr("'y' has 2 values, but shape [3] needs 3"));
  writer.write_text("t", "text");
  writer.close();
  const ArrayFileReader reader(folder / "a.hdf5");
  EXPECT_THAT(error_of<DataFormatError>([&] { reader.read<float>("z"); }),
              AllOf(HasSubstr("a.hdf5' dataset 'z' is missing"), HasSubstr("holds: t, x")));
  EXPECT_THAT(error_of<DataFormatError>([&] { reader.read<std::int32_t>("x"); }),
              HasSubstr("holds floats, expected integers"));
  EXPECT_THAT(error_of<DataFormatError>([&] { reader.read<float>("t"); }),
              HasSubstr("holds text, expected floats"));
  EXPECT_THAT(error_of<DataFormatError>([&] { reader.read_text("x"); }),
              HasSubstr("holds floats, expected text"));
  EXPECT_THAT(error_of<IoError>([&] { ArrayFileReader(folder / "none"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(error_of<IoError>([&] { ArrayFileWriter(folder / "none" / "a"); }),
              HasSubstr("none/a': No such file or directory"));
}

}  // namespace
}  // namespace kindred
