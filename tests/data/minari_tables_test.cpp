// Minari datasets as fixtures/make_minari.py makes them: a table of Arrow or Parquet per episode.
#include "kindred/data/minari_tables.h"

#include <sys/resource.h>

#include "kindred/core/files.h"
#include "kindred/data/arrow_file.h"
#include "kindred/data/extract.h"
#include "kindred/data/label_writer.h"
#include "kindred/data/parquet_table.h"
#include "kindred/data/select.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class TabledMinari : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!has_parquet()) GTEST_SKIP() << "*** NOT TESTED: this build has no Parquet";
    fs::copy(fs::path(KINDRED_FIXTURES) / "minari" / GetParam(), root_,
             fs::copy_options::recursive);
  }

  fs::path table(int episode) const {
    return root_ / fmt::format("data/{}/part-0.{}", episode, GetParam());
  }
  fs::path metadata(int episode) const {
    return root_ / fmt::format("data/{}/metadata.json", episode);
  }
  static Json parsed(const fs::path& path) { return Json::parse(read_text(path)); }
  void set(const fs::path& path, const Json& values) const {
    auto all = parsed(path);
    all.update(values);
    write_bytes(path, all.dump());
  }
  Trajectories read(std::vector<std::string> obs_keys, const std::string& label_key = "policy_id") {
    ReadOptions options;
    options.obs_keys = std::move(obs_keys);
    options.label_key = label_key;
    return read_trajectories(root_, options);
  }
  std::string refusal() const {
    return error_of<DataFormatError>([&] { read_trajectories(root_); });
  }

  TempDir folder_;
  fs::path root_ = folder_ / "cart-v0";
};

TEST_P(TabledMinari, AreReadUnderTheNamesOfTheHdf5Form) {
  EXPECT_EQ(recognise(root_), Format::kMinari);
  const auto data = read_trajectories(root_);
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 4, 7, 12, 13, 16));
  EXPECT_THAT(data.ids,
              ElementsAre("episode_0", "episode_1", "episode_2", "episode_3", "episode_4"));
  EXPECT_THAT(data.observation_names,
              ElementsAre("goal/_index_0", "goal/_index_1", "position[0]", "position[1]"));
  EXPECT_EQ(data.actions.count(), 4);  // of which two are taken
  EXPECT_TRUE(data.labels.empty());
  const auto observations = expanded(data.observations);
  for (std::int64_t episode = 0; episode < data.episodes(); ++episode)
    for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step) {
      const auto time = step - data.offsets[episode];
      const bool last = step + 1 == data.offsets[episode + 1];
      const auto* row = observations.data() + 4 * step;
      EXPECT_EQ(row[0], static_cast<float>(time) / 4);
      EXPECT_EQ(row[1], static_cast<float>(episode % 3));
      EXPECT_EQ(row[2], static_cast<float>(10 * episode + time));
      EXPECT_EQ(row[3], static_cast<float>(time));
      EXPECT_EQ(data.actions.ints()[step], (time + episode) % 2);
      EXPECT_EQ(data.rewards[step], static_cast<float>(episode));
      EXPECT_EQ(data.terminals[step], last && episode % 2 == 0);
      EXPECT_EQ(data.timeouts[step], last && episode % 2 == 1);
    }
  expect_same_steps(read_trajectories(root_ / "data"), data);
}

TEST_P(TabledMinari, AreReadByKeys) {
  const auto some = read({"position[1]", "goal", "infos/energy"});
  EXPECT_THAT(some.observation_names, ElementsAre("position[1]", "goal/_index_0", "goal/_index_1",
                                                  "energy[0]", "energy[1]"));
  const auto image = read({"camera"});
  EXPECT_TRUE(image.observations.is_bytes());
  EXPECT_EQ(image.observations.dim(), 12);
  EXPECT_THAT(error_of<InvalidArgument>([&] { read({"speed"}); }),
              AllOf(HasSubstr("has no array 'speed'"), HasSubstr("observations/position [16, 2]")));
  ReadOptions options;
  options.episode_key = "rewards";
  EXPECT_THAT(error_of<InvalidArgument>([&] { read_trajectories(root_, options); }),
              HasSubstr("each has a folder of its own"));
}

TEST_P(TabledMinari, HaveLabelsInTheMetadataOfSomeEpisodes) {
  for (const int episode : {0, 2}) set(metadata(episode), {{"policy_id", episode}});
  EXPECT_THAT(to_vector(read_trajectories(root_).labels), ElementsAre(0, -1, 2, -1, -1));
  for (const int episode : {1, 2})
    set(metadata(episode), {{"operator", episode == 1 ? "tim" : "ann"}});
  const auto by_name = read({}, "operator");
  EXPECT_THAT(to_vector(by_name.labels), ElementsAre(-1, 1, 0, -1, -1));
  EXPECT_THAT(by_name.label_names, ElementsAre("ann", "tim"));
}

TEST_P(TabledMinari, LabelsComeAndGoWithoutATrace) {
  const auto before = contents(folder_.path());
  const auto data = read_trajectories(root_);
  const EpisodeLabels labels{.labels = {0, 1, 0, kNoLabel, 1}, .margins = {}};
  write_labels(root_, Format::kMinari, data, labels);
  EXPECT_EQ(parsed(metadata(1)),
            Json({{"id", 1}, {"total_steps", 3}, {"seed", 1}, {"policy_id", 1}}));
  EXPECT_FALSE(parsed(metadata(3)).contains("policy_id"));
  EXPECT_EQ(read_text(folder_ / "cart-v0.policy.csv"),
            "episode,label\nepisode_0,0\nepisode_1,1\nepisode_2,0\nepisode_4,1\n");
  const auto labelled = read_trajectories(root_);
  expect_same_steps(labelled, data);
  EXPECT_TRUE(labelled.labels.empty());
  EXPECT_THAT(labelled.provenance["labels"].get<std::string>(), HasSubstr("not the truth"));
  const EpisodeLabels fewer{.labels = {kNoLabel, 0, 0, 0, 0}, .margins = {}};
  write_labels(root_, Format::kMinari, data, fewer);
  EXPECT_FALSE(parsed(metadata(0)).contains("policy_id"));
  write_labels(root_ / "", Format::kMinari, data, labels, {.key = "second"});
  undo_labels(root_, Format::kMinari);
  EXPECT_EQ(contents(folder_.path()), before);
  EXPECT_THAT(error_of<InvalidArgument>([&] { undo_labels(root_, Format::kMinari); }),
              HasSubstr("nothing to undo"));
}

TEST_P(TabledMinari, KeepTheLabelsOfOthers) {
  set(metadata(4), {{"policy_id", "ann"}});
  const auto before = contents(folder_.path());
  const auto data = read_trajectories(root_);
  const EpisodeLabels labels{.labels = {0, 1, 0, 0, 1}, .margins = {}};
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { write_labels(root_, Format::kMinari, data, labels); }),
      HasSubstr("--replace"));
  EXPECT_EQ(contents(folder_.path()), before);
  write_labels(root_, Format::kMinari, data, labels, {.replace = true});
  EXPECT_EQ(parsed(metadata(4))["policy_id"], 1);
  undo_labels(root_, Format::kMinari);
  EXPECT_EQ(contents(folder_.path()), before);
}

TEST_P(TabledMinari, MayBeMoreThanAProcessCanHaveOpen) {
  rlimit usual{};
  ::getrlimit(RLIMIT_NOFILE, &usual);
  constexpr int kEpisodes = 80;
  for (int i = 5; i < kEpisodes; ++i) {
    fs::copy(root_ / "data/0", root_ / "data" / std::to_string(i), fs::copy_options::recursive);
    set(metadata(i), {{"id", i}});
  }
  set(root_ / "data/metadata.json", {{"total_episodes", kEpisodes}});
  const auto before = contents(folder_.path());
  const rlimit few{60, usual.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const auto data = read_trajectories(root_);
  EXPECT_EQ(data.ids[10], "episode_10");
  write_labels(root_, Format::kMinari, data, {std::vector<std::int32_t>(kEpisodes, 1), {}});
  EXPECT_EQ(parsed(metadata(kEpisodes - 1))["policy_id"], 1);
  undo_labels(root_, Format::kMinari);
  ::setrlimit(RLIMIT_NOFILE, &usual);
  EXPECT_EQ(contents(folder_.path()), before);
}

TEST_P(TabledMinari, PartsAreDatasetsOfTheirOwn) {
  const auto data = read_trajectories(root_);
  write_labels(root_, Format::kMinari, data, {{0, 1, 0, 1, 1}, {}});
  const std::vector<std::int64_t> chosen{1, 2, 4};
  extract_episodes(root_, Format::kMinari, data, chosen, folder_ / "part");
  const auto part = read_trajectories(folder_ / "part");
  expect_same_steps(part, select_episodes(data, chosen));
  EXPECT_THAT(part.ids, ElementsAre("episode_0", "episode_1", "episode_2"));
  const auto stated = parsed(folder_ / "part/data/metadata.json");
  EXPECT_EQ(stated["dataset_id"], "part-v0");
  EXPECT_EQ(stated["total_steps"], 11);
  EXPECT_EQ(parsed(folder_ / "part/data/1/metadata.json"),
            Json({{"id", 1}, {"total_steps", 5}, {"seed", 2}, {"policy_id", 0}}));
  EXPECT_FALSE(fs::exists(folder_ / "part/data/1/metadata.json.kindred-undo"));
}

TEST_P(TabledMinari, SegmentsEndTruncatedWithWhatCameNext) {
  const auto data = read_trajectories(root_);
  const std::vector<Stretch> chosen{{0, 0, 2}, {0, 2, 4}, {2, 1, 4}, {3, 0, 1}};
  extract_stretches(root_, Format::kMinari, data, chosen, folder_ / "part");
  const auto part = read_trajectories(folder_ / "part");
  const auto wanted = select_stretches(data, chosen);
  EXPECT_EQ(to_vector(part.offsets), to_vector(wanted.offsets));
  EXPECT_EQ(expanded(part.observations), expanded(wanted.observations));
  EXPECT_EQ(to_vector(part.rewards), to_vector(wanted.rewards));
  EXPECT_EQ(to_vector(part.terminals), to_vector(wanted.terminals));
  EXPECT_TRUE(part.timeouts[1]);  // cut; the others end as their episodes did, or are cut too
  EXPECT_TRUE(part.timeouts[6]);
  EXPECT_EQ(std::ranges::count(to_vector(part.timeouts), 1) +
                std::ranges::count(to_vector(part.terminals), 1),
            4);
  const auto its = parsed(folder_ / "part/data/2/metadata.json");
  EXPECT_EQ(its["total_steps"], 3);
  EXPECT_EQ(its["cut_from"], "episode_2");
  EXPECT_EQ(its["first_step"], 1);
  EXPECT_EQ(parsed(folder_ / "part/data/metadata.json")["total_steps"], 8);
  const auto cut = fmt::format("part/data/0/part-0.{}", GetParam());
  EXPECT_EQ(open_arrow_file(folder_ / cut)->rows(), 3);
}

TEST_P(TabledMinari, ThatAreNotWholeAreRefused) {
  fs::rename(root_ / "data/3", folder_ / "lost");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("holds 4 folders of episodes, expected 5")));
  fs::rename(folder_ / "lost", root_ / "data/3");
  set(metadata(2), {{"total_steps", 6}});
  EXPECT_THAT(refusal(), AllOf(HasSubstr(table(2).string()), HasSubstr("6 rows, expected 7")));
  set(metadata(2), {{"total_steps", 5}});
  write_text(metadata(1), R"({"id": 1, "mean": NaN, "text": "a \"NaN\" -Infinity"})");
  EXPECT_EQ(read_trajectories(root_).episodes(), 5);
  write_text(metadata(1), "[1]");
  EXPECT_THAT(refusal(), AllOf(HasSubstr(metadata(1).string()), HasSubstr("no JSON object")));
  write_text(metadata(1), "{}");
  fs::copy(table(1), root_ / "data/1/part-1");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("data/1'"), HasSubstr("2 tables, expected one")));
}

TEST_P(TabledMinari, ATableOfAnotherKindIsRefusedWithItsColumn) {
  fs::remove(metadata(1));
  const auto other = std::string(GetParam()) == "arrow" ? "parquet" : "arrow";
  fs::copy(
      fs::path(KINDRED_FIXTURES) / "minari" / other / "data/1" / fmt::format("part-0.{}", other),
      table(1), fs::copy_options::overwrite_existing);
  EXPECT_EQ(read_trajectories(root_).episodes(), 5);  // told apart by content
  fs::copy(fs::path(KINDRED_FIXTURES) / "lerobot/v2/data/chunk-000/episode_000000.parquet",
           table(1), fs::copy_options::overwrite_existing);
  EXPECT_THAT(refusal(), AllOf(HasSubstr(table(1).string()), HasSubstr("is missing")));
}

TEST_P(TabledMinari, ACutTableIsRefusedWithItsName) {
  const auto bytes = read_bytes(table(0));
  for (std::size_t size = 0; size < bytes.size(); size += 41) {
    write_bytes(table(0), bytes.substr(0, size));
    EXPECT_THAT(refusal(), HasSubstr(table(0).string()));
  }
}

TEST_P(TabledMinari, OtherBytesAreReadOrRefused) {
  const auto bytes = read_bytes(table(0));
  Random random(1, "damage");
  for (int i = 0; i < 600; ++i) {
    auto damaged = bytes;
    for (auto times = 1 + random.below(3); times > 0; --times)
      damaged[random.below(bytes.size())] = static_cast<char>(random.below(256));
    write_bytes(table(0), damaged);
    try {
      read({"goal", "position", "camera", "infos/energy"});
    } catch (const Error&) {  // in one sentence
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, TabledMinari, ::testing::Values("arrow", "parquet"),
                         [](const auto& form) { return std::string(form.param); });

TEST(PythonJson, MayHoldNumbersThatJsonHasNot) {
  EXPECT_EQ(parse_python_json(R"({"a": [-Infinity, NaN, 1], "b": "NaN\\", "c": Infinity})"),
            Json({{"a", {0, 0, 1}}, {"b", "NaN\\"}, {"c", 0}}));
  EXPECT_TRUE(parse_python_json("{").is_discarded());
}

}  // namespace
}  // namespace kindred
