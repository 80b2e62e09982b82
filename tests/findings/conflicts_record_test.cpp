// What the record for a page says about conflicts.
#include "kindred/findings/conflicts_record.h"

#include <gmock/gmock.h>

#include "kindred/envs/registry.h"
#include "kindred/experts/rollout.h"

namespace kindred::findings {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

Trajectories generated(const std::string& environment) {
  GenerateOptions options;
  options.per_expert = 60;
  options.seed = 1;
  return generate(*make_environment(environment), options);
}

/// Of a run with these labels.
Json record_of(const Trajectories& data, std::vector<std::int32_t> labels) {
  RunData found{.run = {}, .data = data};
  found.run.labels = std::move(labels);
  return conflicts_json(found, run_conflicts(found));
}

TEST(ConflictsRecord, OfRightLabelsHasNoneInside) {
  const auto data = generated("diagonal");
  const auto json = record_of(data, {data.labels.begin(), data.labels.end()});
  EXPECT_EQ(json.at("at_most"), 5);
  EXPECT_THAT(json.at("conclusion").get<std::string>(), HasSubstr("5 deterministic policies"));
  ASSERT_EQ(json.at("inside").size(), 5u);
  for (const auto& cluster : json.at("inside")) EXPECT_EQ(cluster.at("conflicts"), 0.0);
  const auto episodes = json.at("drawn").at("episodes").get<std::vector<std::int64_t>>();
  EXPECT_GE(episodes.size(), 20u);
  EXPECT_THAT(episodes, Each(::testing::Lt(data.episodes())));
  EXPECT_FALSE(json.at("drawn").at("edges").empty());
  for (const auto& edge : json.at("drawn").at("edges"))
    EXPECT_NE(data.labels[episodes.at(edge.at(0))], data.labels[episodes.at(edge.at(1))]);
}

TEST(ConflictsRecord, OfAllInOneClusterHasAllInside) {
  const auto data = generated("diagonal");
  const auto json = record_of(data, std::vector<std::int32_t>(300, 0));
  EXPECT_EQ(json.at("inside").at(0).at("conflicts"), json.at("conflicts").get<double>());
  EXPECT_GT(json.at("conflicts"), 0);
}

TEST(ConflictsRecord, IsNothingWhereThereCanBeNone) {
  EXPECT_TRUE(record_of(generated("path-following"), std::vector<std::int32_t>(180, 0)).is_null());
}

}  // namespace
}  // namespace kindred::findings
