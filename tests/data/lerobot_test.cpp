// LeRobot folders as fixtures/make_lerobot.py makes them.
#include <cmath>

#include "kindred/core/files.h"
#include "kindred/data/extract.h"
#include "kindred/data/label_writer.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/lerobot_statistics.h"
#include "kindred/data/parquet_table.h"
#include "kindred/data/select.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Lerobot : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!has_parquet()) GTEST_SKIP() << "*** NOT TESTED: this build has no Parquet";
    fs::copy(fs::path(KINDRED_FIXTURES) / "lerobot" / GetParam(), root_,
             fs::copy_options::recursive);
  }

  bool is_v3() const { return GetParam() == std::string("v3"); }
  fs::path first_data_file() const {
    return root_ / "data/chunk-000" / (is_v3() ? "file-000.parquet" : "episode_000000.parquet");
  }

  TempDir folder_;
  fs::path root_ = folder_ / "cart";
};

TEST_P(Lerobot, IsReadWithNamesTasksAndEnds) {
  EXPECT_EQ(recognise(root_), Format::kLerobot);
  const auto data = read_trajectories(root_);
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 4, 7, 12, 15, 19, 22));
  EXPECT_THAT(data.ids, ElementsAre("0", "1", "2", "3", "4", "5"));
  EXPECT_THAT(data.observation_names, ElementsAre("x", "y"));
  EXPECT_THAT(data.action_names, ElementsAre("push"));
  EXPECT_EQ(data.provenance["tasks"], nlohmann::json({"push the cart"}));
  EXPECT_TRUE(data.labels.empty());
  const auto observations = expanded(data.observations);
  for (std::int64_t episode = 0; episode < data.episodes(); ++episode)
    for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step) {
      const auto time = step - data.offsets[episode];
      const auto* row = observations.data() + 2 * step;
      EXPECT_EQ(row[0], static_cast<float>(10 * episode + time));
      EXPECT_EQ(row[1], static_cast<float>(time));
      EXPECT_EQ(data.actions.floats()[step],
                static_cast<float>(episode % 2) - static_cast<float>(time) / 4);
      EXPECT_EQ(data.rewards[step], static_cast<float>(episode));
      EXPECT_EQ(data.terminals[step], step + 1 == data.offsets[episode + 1]);
    }
}

TEST_P(Lerobot, LabelsComeAndGoWithoutATrace) {
  const auto before = contents(root_);
  const auto data = read_trajectories(root_);
  const EpisodeLabels labels{.labels = {0, 1, 0, kNoLabel, 0, 1}, .margins = {}};
  write_labels(root_, Format::kLerobot, data, labels);
  for (const auto& [name, bytes] : before)
    if (name.ends_with(".parquet")) {
      EXPECT_TRUE(read_bytes(root_ / name).starts_with(bytes)) << name;
    }
  const auto labelled = read_trajectories(root_);
  expect_same_steps(labelled, data);
  EXPECT_THAT(labelled.provenance["labels"].get<std::string>(), HasSubstr("not the truth"));
  if (is_v3()) {
    const auto episodes = open_parquet_table({root_ / "meta/episodes/chunk-000/file-000.parquet"});
    EXPECT_THAT(episodes->read<std::int64_t>("policy_id", 0, 6), ElementsAre(0, 1, 0, -1, 0, 1));
    const auto steps = open_parquet_table({root_ / "data/chunk-000/file-001.parquet"});
    EXPECT_THAT(steps->read<std::int64_t>("policy_id", 0, 7), ElementsAre(-1, -1, -1, 0, 0, 0, 0));
  }
  write_labels(root_, Format::kLerobot, data, labels, {.key = "second"});
  undo_labels(root_, Format::kLerobot);
  EXPECT_EQ(contents(root_), before);
}

TEST_P(Lerobot, PartsAreDatasetsOfTheirOwn) {
  const auto before = contents(root_);
  const auto data = read_trajectories(root_);
  const std::vector<std::int64_t> chosen{1, 2, 5};
  extract_episodes(root_, Format::kLerobot, data, chosen, folder_ / "part");
  const auto part = read_trajectories(folder_ / "part");
  expect_same_steps(part, select_episodes(data, chosen));
  EXPECT_THAT(part.ids, ElementsAre("0", "1", "2"));
  const auto info = nlohmann::json::parse(read_text(folder_ / "part" / "meta/info.json"));
  EXPECT_EQ(info["total_frames"], 11);
  EXPECT_EQ(info["splits"], nlohmann::json({{"train", "0:3"}}));
  if (is_v3()) {
    const auto stats = nlohmann::json::parse(read_text(folder_ / "part" / "meta/stats.json"));
    EXPECT_EQ(stats["index"]["max"], nlohmann::json({10}));
    EXPECT_NEAR(stats["index"]["mean"][0].get<double>(), 5.0, 1e-12);
    EXPECT_NEAR(stats["index"]["std"][0].get<double>(), std::sqrt(10.0), 1e-12);
  }
  EXPECT_EQ(contents(root_), before);
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                extract_episodes(root_, Format::kLerobot, data, chosen, folder_ / "part");
              }),
              HasSubstr("exists"));
}

TEST_P(Lerobot, SegmentsAreEpisodesOfTheirOwn) {
  const auto before = contents(root_);
  const auto data = read_trajectories(root_);
  const std::vector<Stretch> chosen{{0, 0, 2}, {0, 2, 4}, {2, 1, 5}, {5, 0, 3}};
  extract_stretches(root_, Format::kLerobot, data, chosen, folder_ / "part");
  const auto part = read_trajectories(folder_ / "part");
  const auto wanted = select_stretches(data, chosen);
  EXPECT_THAT(part.ids, ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(to_vector(part.offsets), to_vector(wanted.offsets));
  EXPECT_EQ(to_vector(part.actions.floats()), to_vector(wanted.actions.floats()));
  EXPECT_EQ(expanded(part.observations), expanded(wanted.observations));
  EXPECT_EQ(to_vector(part.terminals), to_vector(wanted.terminals));
  const auto info = nlohmann::json::parse(read_text(folder_ / "part/meta/info.json"));
  EXPECT_EQ(info["total_episodes"], 4);
  EXPECT_EQ(info["total_frames"], 11);
  if (is_v3()) {
    const auto episodes =
        open_parquet_table({folder_ / "part/meta/episodes/chunk-000/file-000.parquet"});
    EXPECT_THAT(episodes->read<std::int64_t>("cut_from", 0, 4), ElementsAre(0, 0, 2, 5));
    EXPECT_THAT(episodes->read<std::int64_t>("first_step", 0, 4), ElementsAre(0, 2, 1, 0));
    EXPECT_THAT(episodes->read<std::int64_t>("dataset_to_index", 0, 4), ElementsAre(2, 4, 8, 11));
    EXPECT_THAT(episodes->read<double>("stats/index/mean", 0, 4), ElementsAre(0.5, 2.5, 5.5, 9.0));
    const auto stats = nlohmann::json::parse(read_text(folder_ / "part/meta/stats.json"));
    EXPECT_NEAR(stats["index"]["mean"][0].get<double>(), 5.0, 1e-12);
  } else {
    const auto lines = read_json_lines(folder_ / "part/meta/episodes.jsonl");
    EXPECT_EQ(lines[2]["length"], 4);
    EXPECT_EQ(lines[2]["cut_from"], 2);
    EXPECT_EQ(lines[2]["first_step"], 1);
  }
  EXPECT_EQ(contents(root_), before);
}

TEST_P(Lerobot, ItsTablesAloneAreCutToo) {
  const auto source = root_ / "data";
  const auto data = read_trajectories(source);
  ASSERT_EQ(recognise(source), Format::kParquet);
  const std::vector<Stretch> chosen{{0, 1, 4}, {1, 0, 2}, {4, 2, 4}};
  extract_stretches(source, Format::kParquet, data, chosen, folder_ / "part");
  const auto part = read_trajectories(folder_ / "part");
  const auto wanted = select_stretches(data, chosen);
  EXPECT_THAT(part.ids, ElementsAre("0", "1", "2"));
  EXPECT_EQ(to_vector(part.offsets), to_vector(wanted.offsets));
  EXPECT_EQ(to_vector(part.actions.floats()), to_vector(wanted.actions.floats()));
  EXPECT_EQ(expanded(part.observations), expanded(wanted.observations));
}

TEST_P(Lerobot, AFilmOfEachEpisodeIsNotCut) {
  auto info = nlohmann::ordered_json::parse(read_text(root_ / "meta/info.json"));
  info["features"]["observation.images.top"] = {{"dtype", "video"}, {"shape", {2, 2, 3}}};
  info["video_path"] = "videos/{video_key}/episode_{episode_index:06d}.mp4";
  write_text(root_ / "meta/info.json", info.dump());
  const auto data = read_trajectories(root_);
  const std::vector<Stretch> whole{{0, 0, 4}}, cut{{0, 0, 3}};
  extract_stretches(root_, Format::kLerobot, data, whole, folder_ / "whole");
  const auto cut_it = [&] {
    extract_stretches(root_, Format::kLerobot, data, cut, folder_ / "cut");
  };
  if (is_v3())
    cut_it();  // a time of a file that several share
  else
    EXPECT_THAT(error_of<InvalidArgument>(cut_it), HasSubstr("convert_dataset_v21_to_v30"));
  EXPECT_EQ(fs::exists(folder_ / "cut"), is_v3());
}

TEST(LerobotStatistics, AreThoseOfNumpy) {
  const std::vector<double> values{1, 9, 2, 7, 4, 8, 8, 1};  // [4, 2]
  auto found = feature_statistics(values, 2);
  EXPECT_THAT(found["min"], ElementsAre(1, 1));
  EXPECT_THAT(found["max"], ElementsAre(8, 9));
  EXPECT_THAT(found["mean"], ElementsAre(3.75, 6.25));
  EXPECT_THAT(found["count"], ElementsAre(4));
  EXPECT_NEAR(found["std"][0], 2.680951323690902, 1e-12);
  EXPECT_NEAR(found["q10"][0], 1.3, 1e-12);
  EXPECT_NEAR(found["q50"][0], 3.0, 1e-12);
  EXPECT_NEAR(found["q99"][1], 8.97, 1e-12);
  EXPECT_THAT(feature_statistics(std::vector<double>{5}, 1)["q90"], ElementsAre(5));
}

TEST_P(Lerobot, ACutFileIsRefusedWithItsName) {
  const auto bytes = read_bytes(first_data_file());
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    write_bytes(first_data_file(), bytes.substr(0, size));
    EXPECT_THAT(error_of<DataFormatError>([&] { read_trajectories(root_); }),
                HasSubstr(first_data_file().string()));
  }
}

TEST_P(Lerobot, OtherBytesAreReadOrRefused) {
  const auto bytes = read_bytes(first_data_file());
  Random random(1, "damage");
  for (int i = 0; i < 300; ++i) {
    auto damaged = bytes;
    damaged[random.below(bytes.size())] = static_cast<char>(random.below(256));
    write_bytes(first_data_file(), damaged);
    try {
      read_trajectories(root_);
    } catch (const Error&) {  // in one sentence
    }
  }
}

TEST_P(Lerobot, DoesNotLabelWhatOthersCalledSo) {
  const auto data = read_trajectories(root_);
  const EpisodeLabels labels{.labels = {0, 0, 0, 1, 1, 1}, .margins = {}};
  const auto before = contents(root_);
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                write_labels(root_, Format::kLerobot, data, labels, {.key = "task_index"});
              }),
              HasSubstr("LeRobot itself needs 'task_index'"));
  EXPECT_EQ(contents(root_), before);
}

INSTANTIATE_TEST_SUITE_P(Versions, Lerobot, ::testing::Values("v2", "v3"),
                         [](const auto& version) { return std::string(version.param); });

}  // namespace
}  // namespace kindred
