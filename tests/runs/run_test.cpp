#include "kindred/runs/run.h"

#include <gmock/gmock.h>

#include "kindred/core/error.h"
#include "tests/runs/finished_run.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using testing::FinishedRun;
using ::testing::HasSubstr;
using testing::linear_control;
using testing::message_of;

using RunTest = FinishedRun;

void tamper(const fs::path& file, const std::function<void(nlohmann::ordered_json&)>& change) {
  auto json = nlohmann::ordered_json::parse(read_text(file));
  change(json);
  write_text(file, json.dump());
}

TEST_F(RunTest, ComesBackAsItWas) {
  const auto data = request().dataset.load().data;
  const auto clustering = method_->fit(data, {});
  run();
  const auto loaded = load_run(folder_);
  EXPECT_EQ(loaded.record.method, "pg-kmeans");
  EXPECT_EQ(loaded.labels, clustering.labels);
  EXPECT_EQ(loaded.episodes, data.ids);
  EXPECT_EQ(loaded.record.fingerprint(), fingerprint_of(data));
  const auto scores = loaded.centres->score(data, {});
  for (std::size_t i = 0; i < scores.values.size(); ++i)
    ASSERT_NEAR(scores.values[i], clustering.scores.values[i],
                1e-4 * (1.0 + std::abs(scores.values[i])));
}

TEST_F(RunTest, RecordHoldsTheWholeConfiguration) {
  run();
  const auto record = RunRecord::read(folder_.record());
  for (const auto& option : method_->describe())
    EXPECT_TRUE(record.options.contains(option.name)) << option.name;
  EXPECT_EQ(record.options["k"], 2);
  EXPECT_EQ(record.options["standardize"], "on");  // resolved, not "auto"
  EXPECT_EQ(record.dataset["reading"]["min-length"], 1);
}

TEST_F(RunTest, FoldersWithoutAFinishedRunAreExplained) {
  fs::create_directories(folder_.path());
  const auto message = [&] { return message_of([&] { load_run(folder_); }); };
  EXPECT_THAT(message(), HasSubstr("is not a run folder"));
  write_text(folder_.state(), "");
  EXPECT_THAT(message(), HasSubstr("--resume"));
  write_text(folder_.record(), "{\"kindred_run\": 1}");
  EXPECT_THAT(message(), HasSubstr("does not say what data"));
  write_text(folder_.record(), "{\"kindred_run\": 99}");
  EXPECT_THAT(message(), HasSubstr("newer"));
  write_text(folder_.record(), "[1, 2]");
  EXPECT_THAT(message(), HasSubstr("is not a run record"));
}

TEST_F(RunTest, DamagedFilesAreNamed) {
  run();
  const auto damaged = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    run();
    tamper(folder_.record(), change);
    return message_of<DataFormatError>([&] { load_run(folder_); });
  };
  EXPECT_THAT(damaged([](auto& json) { json["result"] = 5; }), HasSubstr("'result'"));
  EXPECT_THAT(damaged([](auto& json) { json["result"].erase("sizes"); }),
              HasSubstr("'result.sizes' is missing"));
  EXPECT_THAT(damaged([](auto& json) { json["result"]["sizes"][1] = "many"; }),
              HasSubstr("'result.sizes[1]'"));
  EXPECT_THAT(damaged([](auto& json) { json["trace"][0]["round"] = -1; }),
              HasSubstr("'trace[0].round'"));
  EXPECT_THAT(damaged([](auto& json) { json["result"]["k"] = 7; }), HasSubstr("7 clusters"));
  EXPECT_THAT(damaged([](auto& json) { json["result"]["alternatives"] = 3; }),
              HasSubstr("'result.alternatives' should be an array"));
  EXPECT_THAT(damaged([](auto& json) {
                json["result"]["alternatives"] = {{{"v", 1.0}}};
              }),
              HasSubstr("'result.alternatives[0].nmi' is missing"));
  EXPECT_THAT(damaged([](auto& json) { json["dataset"]["fingerprint"]["action_hash"] = "x"; }),
              HasSubstr("hash"));
}

TEST_F(RunTest, LabelsThatAreNotClustersAreRefused) {
  run();
  auto labels = read_text(folder_.labels());
  labels.replace(labels.find(",0,"), 3, ",9,");
  write_text(folder_.labels(), labels);
  EXPECT_THAT(message_of<DataFormatError>([&] { load_run(folder_); }),
              HasSubstr("the label 9, but the run has clusters 0 to 1"));
}

TEST_F(RunTest, ReadsItsDatasetAsItDidAndNoOther) {
  auto asked = request();
  asked.dataset.sample = 20;
  cluster(asked, {});
  const auto record = load_run(folder_).record;
  EXPECT_EQ(load_dataset(record, "").episodes(), 20);

  const auto other = (home_ / "other.h5").string();
  auto same_shape = linear_control({});
  auto actions =
      std::vector<float>(same_shape.actions.floats().begin(), same_shape.actions.floats().end());
  for (auto& action : actions) action += 1.0F;
  same_shape.actions = Actions::continuous(actions, same_shape.actions.dim());
  write_trajectories(same_shape, other, Format::kKindred);
  const std::string sentence = "is not the dataset this run was made from: its actions are others";
  EXPECT_THAT(message_of([&] { load_dataset(record, other); }), HasSubstr(sentence));
  EXPECT_THAT(message_of([&] { load_labelled_dataset(load_run(folder_), other, "--data"); }),
              HasSubstr(sentence));
}

TEST_F(RunTest, SaysWhereTheDatasetShouldBe) {
  run();
  fs::remove(data_);
  EXPECT_THAT(message_of([&] { load_dataset(load_run(folder_).record, "", "--into"); }),
              HasSubstr("is not there; name it with --into"));
}

TEST(RunRecord, IsWrittenForAFileWhoseNameIsNotText) {
  const auto path =
      fs::path(::testing::TempDir()) / ("kindred-record-" + std::to_string(::getpid()) + ".json");
  RunRecord record;
  record.dataset = {{"path", "/data/b\xff.h5"}};
  record.write(path);
  EXPECT_THAT(read_text(path), HasSubstr("/data/b\uFFFD.h5"));
  fs::remove(path);
}

}  // namespace
}  // namespace kindred
