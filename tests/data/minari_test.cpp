#include "kindred/core/files.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Minari : public ::testing::Test {
 protected:
  /// Adds the columns of an episode of `steps`, except the observations.
  void add_episode(int number, std::int64_t steps) {
    const auto name = fmt::format("episode_{}/", number);
    const auto n = static_cast<std::size_t>(steps);
    parts_[name + "actions"] =
        array<std::int64_t>({steps}, std::vector<std::int64_t>(n, number % 3));
    parts_[name + "rewards"] = array<double>({steps}, std::vector<double>(n, number));
    std::vector<std::uint8_t> last(n, 0);
    last.back() = 1;
    parts_[name + "terminations"] = flags(last);
    parts_[name + "truncations"] = flags(std::vector<std::uint8_t>(n, 0));
  }
  Trajectories read(ReadOptions options = {}) {
    return read_trajectories(write_parts(folder_ / "main_data.hdf5", parts_), options);
  }
  static ReadOptions keys(std::vector<std::string> names) {
    ReadOptions options;
    options.obs_keys = std::move(names);
    return options;
  }
  TempDir folder_;
  Parts parts_;
};

TEST_F(Minari, DropsTheObservationAfterTheLastAction) {
  add_episode(0, 2);
  add_episode(1, 1);
  parts_["episode_0/observations"] = array<double>({3, 1}, {1, 2, 99});
  parts_["episode_1/observations"] = array<double>({2, 1}, {3, 99});
  const auto data = read();
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 2, 3));
  EXPECT_THAT(expanded(data.observations), ElementsAre(1, 2, 3));
  EXPECT_THAT(to_vector(data.actions.ints()), ElementsAre(0, 0, 1));
  EXPECT_THAT(to_vector(data.rewards), ElementsAre(0, 0, 1));
  EXPECT_THAT(to_vector(data.terminals), ElementsAre(0, 1, 1));
  EXPECT_THAT(to_vector(data.timeouts), ElementsAre(0, 0, 0));
  EXPECT_EQ(data.provenance["format"], "minari");
}

TEST_F(Minari, OrdersEpisodesByNumber) {
  for (int i = 0; i < 11; ++i) {
    add_episode(i, 1);
    parts_[fmt::format("episode_{}/observations", i)] = array<float>({2, 1});
  }
  const auto data = read();
  EXPECT_EQ(data.ids[2], "episode_2");
  EXPECT_EQ(data.ids[10], "episode_10");
  EXPECT_EQ(data.rewards[10], 10.0f);
}

TEST_F(Minari, ActionsMayBeDictionariesToo) {
  add_episode(0, 2);
  parts_.erase("episode_0/actions");
  parts_["episode_0/observations"] = array<float>({3, 1});
  parts_["episode_0/actions/_index_0"] = array<float>({2, 2}, {1, 2, 3, 4});
  parts_["episode_0/actions/_index_1"] = array<std::int64_t>({2}, {7, 8});
  const auto data = read();
  EXPECT_THAT(to_vector(data.actions.floats()), ElementsAre(1, 2, 7, 3, 4, 8));
  EXPECT_THAT(data.action_names, ElementsAre("_index_0[0]", "_index_0[1]", "_index_1"));
  ReadOptions options;
  options.action_keys = {"_index_1"};
  EXPECT_TRUE(read(options).actions.is_discrete());
}

TEST_F(Minari, LabelsMayBeText) {
  for (int i = 0; i < 3; ++i) {
    add_episode(i, 1);
    parts_[fmt::format("episode_{}/observations", i)] = array<float>({2, 1});
  }
  const auto path = write_parts(folder_ / "main_data.hdf5", parts_);
  modify(path, [](hid_t file) {  // as h5py writes text
    const hdf5::Handle type(H5Tcopy(H5T_C_S1)), space(H5Screate(H5S_SCALAR));
    H5Tset_size(type.get(), H5T_VARIABLE);
    for (const auto& [name, text] :
         {std::pair{"episode_0", "tim"}, std::pair{"episode_2", "ann"}}) {
      const hdf5::Handle made(H5Acreate_by_name(file, name, "operator", type.get(), space.get(),
                                                H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Awrite(made.get(), type.get(), &text);
    }
  });
  ReadOptions options;
  options.label_key = "operator";
  const auto data = read_trajectories(path, options);
  EXPECT_THAT(to_vector(data.labels), ElementsAre(1, -1, 0));
  EXPECT_THAT(data.label_names, ElementsAre("ann", "tim"));
}

TEST_F(Minari, JoinsDictionariesAndTuples) {
  add_episode(0, 2);
  parts_["episode_0/observations/b"] = array<double>({3, 2}, {1, 2, 3, 4, 5, 6});
  parts_["episode_0/observations/a/_index_10"] = array<float>({3}, {20, 21, 22});
  parts_["episode_0/observations/a/_index_9"] = array<std::int64_t>({3}, {10, 11, 12});
  parts_["episode_0/observations/image"] = array<std::uint8_t>({3, 2, 2}, {7, 7, 7, 7, 8});
  parts_["episode_0/observations/mission"] = strings({"go", "go", "stop"});
  EXPECT_THAT(expanded(read().observations), ElementsAre(10, 20, 1, 2, 11, 21, 3, 4));
  EXPECT_THAT(expanded(read(keys({"b", "a/_index_10"})).observations),
              ElementsAre(1, 2, 20, 3, 4, 21));
  EXPECT_THAT(expanded(read(keys({"a"})).observations), ElementsAre(10, 20, 11, 21));
  EXPECT_THAT(read().observation_names, ElementsAre("a/_index_9", "a/_index_10", "b[0]", "b[1]"));
  EXPECT_THAT(expanded(read(keys({"b[1]", "rewards"})).observations), ElementsAre(2, 0, 4, 0));
  const auto image = read(keys({"image"}));
  EXPECT_TRUE(image.observations.is_bytes());
  EXPECT_THAT(expanded(image.observations), ElementsAre(7, 7, 7, 7, 8, 0, 0, 0));
  EXPECT_THAT(error_of<InvalidArgument>([&] { read(keys({"goal"})); }),
              AllOf(HasSubstr("unknown observation key 'goal'"),
                    HasSubstr("a/_index_9, a/_index_10, b, image, mission")));
  EXPECT_THAT(error_of<DataFormatError>([&] { read(keys({"mission"})); }),
              HasSubstr("holds text, expected numbers"));
}

TEST_F(Minari, RefusesEpisodesThatDoNotFitEachOther) {
  add_episode(0, 2);
  add_episode(1, 2);
  parts_["episode_0/observations"] = array<float>({3, 2});
  parts_["episode_1/observations"] = array<float>({3, 3});
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              AllOf(HasSubstr("'episode_1/observations' has shape [3, 3]"),
                    HasSubstr("expected 2 numbers per row as in the first episode")));
  parts_["episode_1/observations"] = array<float>({2, 2});
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              HasSubstr("has 2 rows, expected 3 (one more than there are actions)"));
  parts_.erase("episode_1/observations");
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              HasSubstr("'episode_1/observations' is missing"));
}

TEST_F(Minari, ChecksTheStatedLength) {
  add_episode(0, 2);
  parts_["episode_0/observations"] = array<float>({3, 2});
  parts_["z"] = [](hdf5::OutputFile& file, const std::string&) {
    file.write_attribute("episode_0", "total_steps", 3);
  };
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              HasSubstr("has 2 rows, expected 3 (attribute 'total_steps' of 'episode_0')"));
}

TEST_F(Minari, RefusesEmptyEpisodesAndDictionaryActions) {
  add_episode(0, 1);
  parts_["episode_0/observations"] = array<float>({2, 2});
  add_episode(1, 1);
  parts_["episode_1/actions"] = array<std::int64_t>({0});
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              AllOf(HasSubstr("'episode_1/actions' has 0 rows"), HasSubstr("empty episodes")));
  parts_.erase("episode_1/actions");
  parts_["episode_1/actions/left"] = array<std::int64_t>({1});
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              HasSubstr("'episode_1/actions' is a group, expected an array"));
}

TEST_F(Minari, IsRecognisedAsAFolder) {
  const auto data = make_trajectories({.discrete = true});
  write_trajectories(data, folder_ / "set", Format::kMinari);
  for (const auto* path : {"set", "set/data", "set/data/main_data.hdf5"}) {
    EXPECT_EQ(recognise(folder_ / path), Format::kMinari);
    const auto found = read_trajectories(folder_ / path);
    expect_same_steps(found, data);
  }
}

TEST_F(Minari, TakesTheNumberOfActionsFromTheMetadata) {
  add_episode(0, 2);
  parts_["episode_0/observations"] = array<float>({3, 2});
  write_text(folder_ / "metadata.json",
             R"({"action_space": "{\"type\": \"Discrete\", \"n\": 7, \"start\": 0}"})");
  EXPECT_EQ(read().actions.count(), 7);
  for (const auto* broken : {"", "{", "[]", R"({"action_space": 3})", R"({"action_space": "{"})",
                             R"({"action_space": "{\"n\": -4}"})"}) {
    write_text(folder_ / "metadata.json", broken);
    EXPECT_EQ(read().actions.count(), 1);
  }
}

TEST_F(Minari, NeverReplacesAFolder) {
  const auto data = make_trajectories();
  std::filesystem::create_directories(folder_ / "set");
  EXPECT_THAT(
      error_of<IoError>([&] { write_trajectories(data, folder_ / "set", Format::kMinari); }),
      HasSubstr("remove it or choose another name"));
  EXPECT_THAT(error_of<IoError>(
                  [&] { write_trajectories(data, folder_ / "none" / "set", Format::kMinari); }),
              HasSubstr("cannot make the folder"));
}

}  // namespace
}  // namespace kindred
