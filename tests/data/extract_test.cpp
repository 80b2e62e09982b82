#include "kindred/data/extract.h"

#include <fstream>

#include "kindred/core/files.h"
#include "kindred/data/hdf5_copy.h"
#include "kindred/data/hdf5_input.h"
#include "kindred/data/select.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

class Extract : public ::testing::Test {
 protected:
  fs::path make(Format format, const std::string& name) {
    write_trajectories(make_trajectories(), folder_ / name, format);
    return folder_ / name;
  }

  fs::path extract(const fs::path& source, Format format, std::vector<std::int64_t> episodes,
                   const std::string& name) {
    extract_episodes(source, format, read_trajectories(source), episodes, folder_ / name);
    return folder_ / name;
  }

  /// By this process so far, from wherever.
  static std::uint64_t bytes_read() {
    std::ifstream counters("/proc/self/io");
    std::string name;
    std::uint64_t bytes = 0;
    counters >> name >> bytes;
    return bytes;
  }

  TempDir folder_;
};

TEST_F(Extract, KeepsTheFormatAndTheEpisodes) {
  for (const auto& [format, name] : std::map<Format, std::string>{{Format::kD4rl, "a.hdf5"},
                                                                  {Format::kMinari, "b-v0"},
                                                                  {Format::kRobomimic, "c.hdf5"},
                                                                  {Format::kNpz, "d.npz"},
                                                                  {Format::kKindred, "e.h5"}}) {
    SCOPED_TRACE(name);
    const auto source = make(format, name);
    const auto part = extract(source, format, {0, 1, 4}, "part-" + name);
    EXPECT_EQ(recognise(part), format);
    const std::vector<std::int64_t> kept{0, 1, 4};
    expect_same_steps(read_trajectories(part), select_episodes(read_trajectories(source), kept));
  }
}

TEST_F(Extract, CutsEpisodesInEveryFormat) {
  const std::vector<Stretch> parts{{0, 0, 3}, {1, 1, 3}, {1, 3, 4}, {3, 2, 5}};
  for (const auto& [format, name] : std::map<Format, std::string>{{Format::kD4rl, "a.hdf5"},
                                                                  {Format::kMinari, "b-v0"},
                                                                  {Format::kRobomimic, "c.hdf5"},
                                                                  {Format::kNpz, "d.npz"},
                                                                  {Format::kKindred, "e.h5"}}) {
    SCOPED_TRACE(name);
    const auto source = make(format, name);
    const auto target = folder_ / ("part-" + name);
    const auto data = read_trajectories(source);
    extract_stretches(source, format, data, parts, target);
    EXPECT_EQ(recognise(target), format);
    const auto cut = read_trajectories(target);
    const auto wanted = select_stretches(data, parts);
    EXPECT_EQ(to_vector(cut.offsets), to_vector(wanted.offsets));
    EXPECT_EQ(to_vector(cut.actions.floats()), to_vector(wanted.actions.floats()));
    EXPECT_EQ(to_vector(cut.observations.floats()), to_vector(wanted.observations.floats()));
    EXPECT_EQ(to_vector(cut.rewards), to_vector(wanted.rewards));
    EXPECT_EQ(to_vector(cut.terminals), to_vector(wanted.terminals));
    if (format != Format::kRobomimic) {
      EXPECT_EQ(to_vector(cut.timeouts), to_vector(wanted.timeouts));
    }
    EXPECT_THROW(extract_stretches(source, format, data, parts, target), InvalidArgument);
    const std::vector<Stretch> overlapping{{1, 1, 3}, {1, 2, 4}}, beyond{{1, 1, 9}};
    for (const auto& bad : {overlapping, beyond})
      EXPECT_THROW(extract_stretches(source, format, data, bad, folder_ / "bad"), InvalidArgument);
    EXPECT_FALSE(fs::exists(folder_ / "bad"));
  }
}

TEST_F(Extract, OfD4rlWithoutTimeoutsMarksTheCuts) {
  auto parts = d4rl_parts();
  parts.erase("timeouts");
  const auto source = write_parts(folder_ / "x.hdf5", parts);
  const auto data = read_trajectories(source);
  const std::vector<Stretch> cut{{0, 0, 2}, {0, 2, 3}};
  extract_stretches(source, Format::kD4rl, data, cut, folder_ / "cut.hdf5");
  EXPECT_EQ(to_vector(read_trajectories(folder_ / "cut.hdf5").offsets),
            (std::vector<std::int64_t>{0, 2, 3}));
}

TEST_F(Extract, OfRobomimicSaysWhatDemosWereCutFrom) {
  const auto source = make(Format::kRobomimic, "demos.hdf5");
  const std::vector<Stretch> cut{{0, 0, 3}, {1, 1, 3}, {1, 3, 4}};
  extract_stretches(source, Format::kRobomimic, read_trajectories(source), cut,
                    folder_ / "cut.hdf5");
  const hdf5::InputFile file(folder_ / "cut.hdf5");
  EXPECT_THAT(file.children("data"), ElementsAre("demo_0", "demo_1", "demo_2"));
  EXPECT_EQ(file.text_attribute("data/demo_2", "cut_from"), "demo_1");
  EXPECT_EQ(file.integer_attribute("data/demo_2", "first_step"), 3);
  EXPECT_EQ(file.integer_attribute("data/demo_1", "num_samples"), 2);
  EXPECT_EQ(file.integer_attribute("data", "total"), 6);
  EXPECT_THAT(file.dataset("mask/policy_1").read_strings(), ElementsAre("demo_1", "demo_2"));
}

TEST_F(Extract, OfD4rlKeepsEveryColumnAndTheMetadata) {
  auto parts = d4rl_parts();
  parts["next_observations"] = array<double>({6, 2}, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  parts["infos/qpos"] = array<std::int64_t>({6}, {10, 11, 12, 13, 14, 15});
  parts["infos/deep/names"] = strings({"a", "b", "c", "d", "e", "f"});
  parts["metadata/weights"] = array<float>({6, 1}, {9, 8, 7, 6, 5, 4});  // six by chance
  parts["metadata/algorithm"] = strings({"SAC"});
  parts["horizon"] = array<std::int64_t>({}, {1000});
  const auto source = write_parts(folder_ / "x.hdf5", parts);
  modify(source, [](hid_t file) {
    const hdf5::Handle space(H5Screate(H5S_SCALAR)), type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const char* text = "of any length";
    for (const char* owner : {"/", "infos", "rewards"}) {
      const hdf5::Handle note(H5Acreate_by_name(file, owner, "note", type.get(), space.get(),
                                                H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      ASSERT_GE(H5Awrite(note.get(), type.get(), &text), 0);
    }
  });
  const auto part = extract(source, Format::kD4rl, {1}, "part.hdf5");
  const hdf5::InputFile file(part);
  const auto numbers = [&](const std::string& name) {
    const auto dataset = file.dataset(name);
    std::vector<double> values(static_cast<std::size_t>(dataset.rows() * dataset.row_size()));
    dataset.read(0, dataset.rows(), values.data());
    return values;
  };
  EXPECT_THAT(numbers("next_observations"), ElementsAre(5, 5, 6, 6));
  EXPECT_THAT(numbers("infos/qpos"), ElementsAre(14, 15));
  EXPECT_THAT(file.dataset("infos/deep/names").read_strings(), ElementsAre("e", "f"));
  EXPECT_THAT(numbers("metadata/weights"), ElementsAre(9, 8, 7, 6, 5, 4));
  EXPECT_THAT(file.dataset("metadata/algorithm").read_strings(), ElementsAre("SAC"));
  EXPECT_THAT(numbers("horizon"), ElementsAre(1000));
  for (const auto* owner : {"", "infos", "rewards"}) EXPECT_TRUE(file.has_attribute(owner, "note"));
}

TEST_F(Extract, OfD4rlKeepsCompressionAndTextOfAnyLength) {
  const auto source = write_parts(folder_ / "x.hdf5", d4rl_parts());
  modify(source, [](hid_t file) {
    const hsize_t rows = 6, chunk = 6;
    const hdf5::Handle space(H5Screate_simple(1, &rows, nullptr)), type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const hdf5::Handle storage(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(storage.get(), 1, &chunk);
    H5Pset_deflate(storage.get(), 4);
    const hdf5::Handle words(H5Dcreate2(file, "words", type.get(), space.get(), H5P_DEFAULT,
                                        storage.get(), H5P_DEFAULT));
    const std::array<const char*, 6> values{"zero", "one", "two", "three", "four", "five and more"};
    ASSERT_GE(H5Dwrite(words.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  });
  modify(extract(source, Format::kD4rl, {1}, "part.hdf5"), [](hid_t file) {
    const hdf5::Handle words(H5Dopen2(file, "words", H5P_DEFAULT));
    const hdf5::Handle storage(H5Dget_create_plist(words.get()));
    EXPECT_EQ(H5Pget_nfilters(storage.get()), 1);
    const hdf5::Handle type(H5Dget_type(words.get())), space(H5Dget_space(words.get()));
    ASSERT_EQ(H5Sget_simple_extent_npoints(space.get()), 2);
    std::array<char*, 2> found{};
    ASSERT_GE(H5Dread(words.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
    EXPECT_STREQ(found[0], "four");
    EXPECT_STREQ(found[1], "five and more");
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, found.data());
  });
}

TEST_F(Extract, OfD4rlLeavesAColumnOutsideTheFileAsItIs) {
  const auto source = write_parts(folder_ / "x.hdf5", d4rl_parts());
  const auto raw = folder_ / "raw";
  write_bytes(raw, "abcdef");
  modify(source, [&](hid_t file) {
    const hsize_t rows = 6;
    const hdf5::Handle space(H5Screate_simple(1, &rows, nullptr));
    const hdf5::Handle storage(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_external(storage.get(), raw.c_str(), 0, rows);
    const hdf5::Handle column(H5Dcreate2(file, "letters", H5T_NATIVE_CHAR, space.get(), H5P_DEFAULT,
                                         storage.get(), H5P_DEFAULT));
    ASSERT_TRUE(column);
  });
  const auto part = extract(source, Format::kD4rl, {1}, "part.hdf5");
  EXPECT_EQ(read_bytes(raw), "abcdef");
  std::string letters(2, ' ');
  modify(part, [&](hid_t file) {
    const hdf5::Handle column(H5Dopen2(file, "letters", H5P_DEFAULT));
    H5Dread(column.get(), H5T_NATIVE_CHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, letters.data());
  });
  EXPECT_EQ(letters, "ef");
}

TEST_F(Extract, OfD4rlReadsALargeChunkOnce) {
  constexpr std::int64_t kEpisodes = 400, kRows = 2 * kEpisodes, kWidth = 1 << 10;
  Parts parts{{"observations", array<float>({kRows, 1}, std::vector<float>(kRows))},
              {"actions", array<float>({kRows, 1}, std::vector<float>(kRows))},
              {"rewards", array<float>({kRows}, std::vector<float>(kRows))}};
  std::vector<std::uint8_t> ends(kRows);
  for (std::size_t i = 1; i < ends.size(); i += 2) ends[i] = 1;
  parts["terminals"] = flags(ends);
  const auto source = write_parts(folder_ / "x.hdf5", parts);
  modify(source, [](hid_t file) {  // more than HDF5 caches by itself
    const std::array<hsize_t, 2> size{kRows, kWidth};
    const hdf5::Handle space(H5Screate_simple(2, size.data(), nullptr));
    const hdf5::Handle storage(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(storage.get(), 2, size.data());
    H5Pset_deflate(storage.get(), 1);
    const hdf5::Handle images(H5Dcreate2(file, "images", H5T_NATIVE_INT, space.get(), H5P_DEFAULT,
                                         storage.get(), H5P_DEFAULT));
    std::vector<int> values(kRows * kWidth);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    H5Dwrite(images.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  });
  std::vector<std::int64_t> odd;
  for (std::int64_t i = 1; i < kEpisodes; i += 2) odd.push_back(i);
  const auto data = read_trajectories(source);
  const auto before = bytes_read();
  extract_episodes(source, Format::kD4rl, data, odd, folder_ / "part.hdf5");
  EXPECT_LT(bytes_read() - before, 5 * fs::file_size(source));
}

TEST_F(Extract, OfMinariNumbersAnewAndStatesTheTotals) {
  const auto source = make(Format::kMinari, "walks-v0");
  modify(source / "data/main_data.hdf5", [](hid_t file) {
    const hdf5::Handle space(H5Screate(H5S_SCALAR));
    const hdf5::Handle info(H5Dcreate2(file, "episode_4/note", H5T_NATIVE_INT, space.get(),
                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  const auto part = extract(source, Format::kMinari, {1, 4}, "my part");
  const hdf5::InputFile file(part / "data/main_data.hdf5");
  EXPECT_THAT(file.children(), ElementsAre("episode_0", "episode_1"));
  EXPECT_EQ(file.integer_attribute("episode_1", "id"), 1);
  EXPECT_EQ(file.integer_attribute("episode_1", "total_steps"), 3);
  EXPECT_TRUE(file.has_dataset("episode_1/note"));
  const auto metadata = nlohmann::json::parse(read_text(part / "data/metadata.json"));
  EXPECT_EQ(metadata["dataset_id"], "my-part-v0");
  EXPECT_EQ(metadata["total_episodes"], 2);
  EXPECT_EQ(metadata["total_steps"], 7);
  EXPECT_TRUE(metadata.contains("observation_space"));
}

TEST_F(Extract, OfRobomimicKeepsNamesAndShortensMasks) {
  const auto source = make(Format::kRobomimic, "demos.hdf5");
  modify(source, [](hid_t file) {
    const hdf5::Handle space(H5Screate(H5S_SCALAR));
    const hdf5::Handle states(H5Dcreate2(file, "data/demo_4/states", H5T_NATIVE_INT, space.get(),
                                         H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  const auto part = extract(source, Format::kRobomimic, {1, 4}, "part.hdf5");
  const hdf5::InputFile file(part);
  EXPECT_THAT(file.children("data"), ElementsAre("demo_1", "demo_4"));
  EXPECT_TRUE(file.has_dataset("data/demo_4/states"));
  EXPECT_EQ(file.integer_attribute("data", "total"), 7);
  EXPECT_TRUE(file.text_attribute("data", "env_args").has_value());
  EXPECT_THAT(file.dataset("mask/policy_0").read_strings(), IsEmpty());
  EXPECT_THAT(file.dataset("mask/policy_1").read_strings(), ElementsAre("demo_1", "demo_4"));
}

TEST_F(Extract, OfRobomimicTakesMasksOfAnyKind) {
  const auto source = make(Format::kRobomimic, "demos.hdf5");
  modify(source, [](hid_t file) {
    const hdf5::Handle group(H5Gcreate2(file, "mask/mine", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hsize_t rows = 3;
    const hdf5::Handle space(H5Screate_simple(1, &rows, nullptr)), type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const hdf5::Handle train(H5Dcreate2(file, "mask/train", type.get(), space.get(), H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT));
    const std::array<const char*, 3> names{"demo_0", "demo_4", "demo_3"};
    ASSERT_GE(H5Dwrite(train.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, names.data()), 0);
  });
  const auto part = extract(source, Format::kRobomimic, {1, 4}, "part.hdf5");
  const hdf5::InputFile file(part);
  EXPECT_TRUE(file.has_group("mask/mine"));
  EXPECT_THAT(hdf5::words_of(file, "mask/train"), Optional(ElementsAre("demo_4")));
  EXPECT_EQ(hdf5::words_of(file, "mask/mine"), std::nullopt);
}

TEST_F(Extract, RefusesAndLeavesNothing) {
  const auto source = make(Format::kMinari, "walks-v0");
  const auto refuse = [&](std::vector<std::int64_t> episodes, const std::string& name) {
    return error_of<InvalidArgument>([&] { extract(source, Format::kMinari, episodes, name); });
  };
  EXPECT_THAT(refuse({}, "part"), HasSubstr("no episode"));
  EXPECT_THAT(refuse({1, 1}, "part"), HasSubstr("must increase"));
  EXPECT_THAT(refuse({5}, "part"), HasSubstr("below 5"));
  EXPECT_THAT(refuse({0}, "walks-v0"), HasSubstr("exists"));
  write_text(source / "data/metadata.json", "nonsense");
  EXPECT_THAT(error_of<DataFormatError>([&] { extract(source, Format::kMinari, {0}, "part"); }),
              HasSubstr("holds no JSON object"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace kindred
