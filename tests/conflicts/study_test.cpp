// What conflicts say of the paper's examples: gridworlds, the bandit, permuted Takeball.
#include "kindred/conflicts/study.h"

#include <gmock/gmock.h>

#include "kindred/conflicts/picture.h"
#include "kindred/envs/bandit.h"
#include "kindred/envs/diagonal.h"
#include "kindred/envs/takeball.h"
#include "kindred/experts/rollout.h"
#include "small_data.h"

namespace kindred {
namespace {

using ::testing::HasSubstr;

Trajectories played(const Environment& environment, std::int64_t per_expert) {
  GenerateOptions options;
  options.per_expert = per_expert;
  options.seed = 1;
  return generate(environment, options);
}

bool without_conflicts(const ConflictStudy& study, std::span<const std::int32_t> labels) {
  return std::ranges::all_of(conflicts_inside(study.graph, labels, Workers(1)),
                             &ClusterConflicts::one_policy);
}

TEST(Study, FivePoliciesOfDiagonal) {
  const auto data = played(Diagonal(), 400);
  const auto study = study_conflicts(data, {}, Workers(1));
  EXPECT_EQ(study.least.at_least, 5);
  EXPECT_EQ(study.least.at_most, 5);
  EXPECT_TRUE(study.graph.contradicts.empty()) << "its experts are deterministic";
  EXPECT_TRUE(without_conflicts(study, data.labels.span()));
  EXPECT_TRUE(without_conflicts(study, policies_of_episodes(study.graph, study.least)));
  // Where there is no choice, the division is the truth.
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (std::int64_t j = 0; j < i; j += 7) {
      const auto a = study.graph.behaviour[static_cast<std::size_t>(i)];
      const auto b = study.graph.behaviour[static_cast<std::size_t>(j)];
      if (study.least.forced[static_cast<std::size_t>(a)] &&
          study.least.forced[static_cast<std::size_t>(b)]) {
        ASSERT_EQ(data.labels[i] == data.labels[j],
                  study.least.policy[static_cast<std::size_t>(a)] ==
                      study.least.policy[static_cast<std::size_t>(b)]);
      }
    }
  EXPECT_GT(study.forced(), data.episodes() / 2);
  auto mixed = std::vector<std::int32_t>(data.labels.begin(), data.labels.end());
  std::ranges::replace(mixed, 1, 0);
  EXPECT_FALSE(without_conflicts(study, mixed));
}

TEST(Study, TheBanditHasTwoUnrelatedDivisions) {
  const auto data = played(Bandit(), 50);
  const auto study = study_conflicts(data, {}, Workers(1));
  EXPECT_EQ(study.graph.behaviours.count(), 4);
  EXPECT_EQ(study.least.at_most, 2);
  EXPECT_EQ(study.least.parts.size(), 2u);
  EXPECT_NEAR(study.least.log10_divisions(), std::log10(2.0), 1e-9);
  // Policies 1 and 4 of the paper, or 2 and 3: by the action, or by state and action together.
  std::vector<std::int32_t> by_action, by_both;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    by_action.push_back(data.actions.ints()[i]);
    by_both.push_back(data.actions.ints()[i] ^ data.observations.index()[i]);
  }
  EXPECT_TRUE(without_conflicts(study, by_action));
  EXPECT_TRUE(without_conflicts(study, by_both));
  EXPECT_FALSE(without_conflicts(study, std::vector<std::int32_t>(by_action.size(), 0)));
}

TEST(Study, PermutedTakeballByNumberAndByPosition) {
  const TakeballPermuted environment;
  const auto data = played(environment, 400);
  const auto study = study_conflicts(data, {}, Workers(1));
  EXPECT_EQ(study.least.at_least, 4);
  EXPECT_EQ(study.least.at_most, 4);
  EXPECT_EQ(study.least.parts.size(), 24u) << "one for each arrangement of the balls";
  EXPECT_TRUE(without_conflicts(study, data.labels.span())) << "by number";
  // The place of the ball that the expert wants, from the first observation of its episode.
  std::vector<std::int32_t> by_position;
  std::vector<float> seen(static_cast<std::size_t>(data.observations.dim()));
  const auto planes = data.observations.dim() / (9 * 9);
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    data.observations.copy(data.offsets[i], data.offsets[i] + 1, seen.data());
    for (int place = 0; place < Takeball::kBalls; ++place) {
      const auto cell = environment.place(place);
      const auto at = (cell.row * 9 + cell.column) * planes + 3 + data.labels[i];
      if (seen[static_cast<std::size_t>(at)] == 1.0F) by_position.push_back(place);
    }
  }
  ASSERT_EQ(std::ssize(by_position), data.episodes());
  EXPECT_TRUE(without_conflicts(study, by_position));
}

TEST(Study, SaysWhatItDoesNotKnow) {
  const auto said = [](const std::vector<Way>& ways) {
    return conclusion_of(study_conflicts(data_of(ways), {}, Workers(1)));
  };
  EXPECT_THAT(said({{{0, 0}, {0, 1}}}), HasSubstr("no deterministic policy"));
  EXPECT_THAT(said({{{0, 0}, {0, 1}}, {{1, 0}}}), HasSubstr("1 of 2 trajectories"));
  EXPECT_THAT(said({{{0, 0}}, {{1, 0}}}), HasSubstr("One deterministic policy can"));
  EXPECT_THAT(said({{{0, 0}}, {{0, 1}}}), HasSubstr("2 deterministic policies can"));
}

TEST(Study, ASampleHoldsTheCliqueAndAllGroups) {
  const auto data = played(Diagonal(), 100);
  const auto study = study_conflicts(data, {}, Workers(1));
  const auto groups = policies_of_episodes(study.graph, study.least);
  const auto sample = sample_conflicts(study, groups, 40);
  EXPECT_LE(sample.episodes.size(), 40u);
  EXPECT_GE(sample.episodes.size(), 35u);
  for (const auto episode : study.clique_episodes())
    EXPECT_THAT(sample.episodes, ::testing::Contains(episode));
  for (const auto& [a, b] : sample.edges)
    EXPECT_NE(groups[static_cast<std::size_t>(sample.episodes[static_cast<std::size_t>(a)])],
              groups[static_cast<std::size_t>(sample.episodes[static_cast<std::size_t>(b)])]);
  const auto picture = draw_conflicts(study, data, groups);
  EXPECT_THAT(picture, HasSubstr(", 0 within a policy"));
  EXPECT_EQ(picture, draw_conflicts(study, data, groups));
}

}  // namespace
}  // namespace kindred
