// What the record of who acted when holds: the right numbers in the right places.
#include "kindred/findings/segments_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/select.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/rollout.h"
#include "kindred/findings/column.h"
#include "kindred/runs/segment_evidence.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using findings::column;
using findings::Json;
using Bytes = std::vector<std::uint8_t>;

class SegmentsRecord : public ::testing::Test {
 protected:
  /// Two episodes, of four steps and of six; policy 1 takes over at step 2 of the second.
  SegmentsRecord() {
    fs::create_directories(folder_.path());
    data_.offsets = std::vector<std::int64_t>{0, 4, 10};
    data_.ids = {"a", "b"};
    data_.observations = Observations::dense(std::vector<float>(10, 0.5F), 1);
    data_.actions = Actions::discrete(std::vector<std::int32_t>{0, 0, 1, 0, 2, 2, 1, 1, 0, 1}, 3);
    loaded_.record = {{"dataset", {{"episodes", 2}}},
                      {"result", {{"k", 2}, {"switches", 1}, {"episodes_with_switches", 1}}}};
    loaded_.episodes = {"a", "b", "b"};
    loaded_.segments = {{.begin = 0, .end = 4, .policy = 0},
                        {.begin = 0, .end = 2, .policy = 0},
                        {.begin = 2, .end = 6, .policy = 1, .earliest = 1, .latest = 3}};
  }
  ~SegmentsRecord() override { remove_tree(folder_.path()); }

  Json record() const { return segments_record(folder_, loaded_, data_); }

  SegmentFolder folder_{fs::temp_directory_path() /
                        ("kindred-segments-record-" + std::to_string(::getpid()))};
  Trajectories data_;
  LoadedSegments loaded_;
};

TEST_F(SegmentsRecord, HoldsEverySegment) {
  const auto found = record();
  EXPECT_EQ(found.at("conclusion"), "2 policies; 1 switch in 1 of 2 episodes.");
  EXPECT_EQ(found.at("episodes").at("ids"), Json({"a", "b"}));
  EXPECT_EQ(found.at("episodes").at("length"), column(Bytes{4, 6}));
  const auto& segments = found.at("segments");
  EXPECT_EQ(segments.at("begin"), column(Bytes{0, 0, 2}));
  EXPECT_EQ(segments.at("policy"), column(Bytes{0, 0, 1}));
  EXPECT_EQ(segments.at("earliest"), column(Bytes{0, 0, 1}));
  EXPECT_EQ(segments.at("latest"), column(Bytes{0, 0, 3}));
  EXPECT_TRUE(found.at("truth").is_null());
  EXPECT_TRUE(found.at("evidence").empty());
}

TEST_F(SegmentsRecord, NamesTheFoundPolicyThatEachTrueOneMatches) {
  data_.label_names = {"human", "robot", "nobody"};
  data_.actors = std::vector<std::int32_t>{1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
  const auto truth = record().at("truth");
  EXPECT_EQ(truth.at("match"), Json({1, 0}));
  EXPECT_EQ(truth.at("begin"), column(Bytes{0, 0, 3}));
  EXPECT_EQ(truth.at("policy"), column(Bytes{1, 1, 0}));
}

TEST_F(SegmentsRecord, TrueLabelsOfEpisodesMayHaveGaps) {
  data_.labels = std::vector<std::int32_t>{1'000'000'000, 7};
  const auto truth = record().at("truth");
  EXPECT_EQ(truth.at("names"), Json({"true policy 7", "true policy 1000000000"}));
  EXPECT_EQ(truth.at("policy"), column(Bytes{1, 0}));
  EXPECT_EQ(truth.at("match"), Json({1, 0}));
}

/// Of the second episode.
SegmentEvidence some_evidence() {
  SegmentEvidence evidence;
  evidence.policies = 2;
  evidence.episodes = {1};
  evidence.offsets = {0, 6};
  evidence.nats = {-1, -3, -1, -3, -5, -1, -5, -1, -5, -1, -5, -1};
  return evidence;
}

TEST_F(SegmentsRecord, WhatWasDoneIsBesideTheEvidence) {
  save_evidence(some_evidence(), folder_.evidence());
  const auto choices = record();
  EXPECT_EQ(choices.at("actions").at("names").size(), 3U);
  EXPECT_EQ(choices.at("actions").at("discrete"), true);
  EXPECT_EQ(choices.at("evidence")[0].at("actions"), column(Bytes{2, 2, 1, 1, 0, 1}));
  EXPECT_TRUE(choices.at("pictures").is_null());
}

TEST_F(SegmentsRecord, OfManyNumbersThoseAreShownThatPoliciesDifferIn) {
  save_evidence(some_evidence(), folder_.evidence());
  std::vector<float> values;
  for (int t = 0; t < 10; ++t)  // the fourth number says who acts, the first says nothing
    for (int i = 0; i < 5; ++i)
      values.push_back(i == 3   ? (t >= 6 ? 1.0F : -1.0F)
                       : i == 0 ? 1.0F
                                : static_cast<float>((t * (i + 2)) % 5));
  data_.actions = Actions::continuous(std::move(values), 5);
  data_.action_names = {"a", "b", "c", "d", "e"};
  const auto actions = record().at("actions");
  EXPECT_EQ(actions.at("of"), 5);
  EXPECT_EQ(actions.at("names").size(), 3U);
  EXPECT_EQ(actions.at("names")[0], "d");
  EXPECT_THAT(actions.at("names"), ::testing::Not(::testing::Contains("a")));
}

TEST_F(SegmentsRecord, AFewNumbersOfActionsStayInTheirOrder) {
  save_evidence(some_evidence(), folder_.evidence());
  std::vector<float> values;
  for (int t = 0; t < 10; ++t) {
    values.push_back(0.1F);
    values.push_back(t >= 6 ? 1.0F : -1.0F);  // this one says who acts
  }
  data_.actions = Actions::continuous(std::move(values), 2);
  data_.action_names = {"x", "y"};
  EXPECT_EQ(record().at("actions").at("names"), Json({"x", "y"}));
}

TEST_F(SegmentsRecord, NamesWhoElseMayHaveActed) {
  loaded_.unsure_episodes = {"a", "b"};
  loaded_.unsure = {{.begin = 1, .end = 3, .candidates = {{.policy = 0, .chance = 1.0}}},
                    {.begin = 2,
                     .end = 4,
                     .candidates = {{.policy = 1, .chance = 1.0}, {.policy = 0, .chance = 0.0}}}};
  const auto unsure = record().at("unsure");
  EXPECT_EQ(unsure.at("episode"), column(Bytes{0, 1, 1}));
  EXPECT_EQ(unsure.at("begin"), column(Bytes{1, 2, 2}));
  EXPECT_EQ(unsure.at("end"), column(Bytes{3, 4, 4}));
  EXPECT_EQ(unsure.at("policy"), column(Bytes{0, 1, 0}));
  loaded_.unsure[1].end = 7;
  EXPECT_THROW(record(), DataFormatError);
  loaded_.unsure[1].end = 4;
  loaded_.unsure[0].candidates[0].policy = 2;
  EXPECT_THROW(record(), DataFormatError);
  loaded_.unsure_episodes = {"b", "a"};
  EXPECT_THROW(record(), DataFormatError);
}

/// A grid that says where the agent is, as those of the environments do.
TEST_F(SegmentsRecord, AGridworldIsShownStepByStep) {
  const auto environment = make_environment("diagonal");
  const auto grid = rollout(*environment, make_experts(*environment), {.per_expert = 1});
  data_ = select_episodes(grid, std::vector<std::int64_t>{0, 1});
  const auto first = data_.length(0), second = data_.length(1);
  loaded_.episodes = {data_.ids[0], data_.ids[1]};
  loaded_.segments = {{.begin = 0, .end = first}, {.begin = 0, .end = second}};
  SegmentEvidence evidence;
  evidence.policies = 2;
  evidence.episodes = {1};
  evidence.offsets = {0, second};
  evidence.nats.resize(static_cast<std::size_t>(2 * second));
  save_evidence(evidence, folder_.evidence());
  const auto found = record();
  EXPECT_EQ(found.at("scene").at("kind"), "grid");
  EXPECT_EQ(found.at("scene").at("frame"), "map");
  const auto& shown = found.at("evidence")[0].at("grid");
  EXPECT_EQ(shown.at("agent").size(), static_cast<std::size_t>(second));
  EXPECT_EQ(shown.at("objects").size(), static_cast<std::size_t>(second));
  EXPECT_GT(shown.at("agent")[0], 0);  // inside the ring of walls
}

TEST_F(SegmentsRecord, NumbersOverTimeHaveNoScene) {
  save_evidence(some_evidence(), folder_.evidence());
  EXPECT_TRUE(record().at("scene").is_null());
}

TEST_F(SegmentsRecord, EvidenceIsHowFarEachPolicyIsBehindWhoActed) {
  auto evidence = some_evidence();
  save_evidence(evidence, folder_.evidence());
  const auto list = record().at("evidence");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("episode"), 1);
  EXPECT_EQ(list[0].at("stride"), 1);
  EXPECT_EQ(list[0].at("behind"),
            column(std::vector<float>{0, -2, 0, -4, -4, -4, -8, -4, -12, -4, -16, -4}));
  evidence.offsets = {0, 5};
  evidence.nats.resize(10);
  save_evidence(evidence, folder_.evidence());
  EXPECT_THROW(record(), DataFormatError);
}

TEST_F(SegmentsRecord, SegmentsThatAreNotThoseOfTheDataAreRefused) {
  const auto whole = loaded_;
  const auto refused = [&](const auto& damage) {
    loaded_ = whole;
    damage();
    EXPECT_THROW(record(), DataFormatError);
  };
  refused([&] { loaded_.segments[1].end = 1; });
  refused([&] { loaded_.segments[2].end = 7; });
  refused([&] { loaded_.segments[2].policy = 2; });
  refused([&] { loaded_.episodes[0] = "c"; });
  refused([&] { loaded_.segments.pop_back(), loaded_.episodes.pop_back(); });
  refused([&] {
    loaded_.segments.push_back({.begin = 0, .end = 1});
    loaded_.episodes.push_back("c");
  });
  refused([&] { loaded_.record.erase("result"); });
}

TEST_F(SegmentsRecord, SaysWhenNobodySwitches) {
  auto& result = loaded_.record["result"];
  result["switches"] = 0;
  EXPECT_EQ(segments_conclusion(loaded_.record),
            "2 policies, and nobody switches within an episode.");
  result["k"] = 1;
  EXPECT_EQ(segments_conclusion(loaded_.record), "One policy acted throughout.");
}

}  // namespace
}  // namespace kindred
