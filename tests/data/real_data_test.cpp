// The public MuJoCo datasets, where they are at hand: episodes and returns against their tables.
#include <sstream>

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder

struct Task {
  const char* name;
  std::int64_t steps, episodes, observation_dim, action_dim;
};

class RealData : public ::testing::TestWithParam<Task> {};

TEST_P(RealData, HasTheEpisodesOfItsTable) {
  const auto task = GetParam();
  const auto folder = std::filesystem::path(KINDRED_SHARED_DATA) / "mujoco";
  const auto path = folder / fmt::format("{}-medium-expert.hdf5", task.name);
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "*** NOT TESTED: there is no '" << path.string()
                 << "'; set KINDRED_SHARED_DATA to the folder that holds mujoco/ ***";
  const auto data = read_trajectories(path);
  EXPECT_EQ(data.provenance["format"], "d4rl");
  EXPECT_EQ(data.steps(), task.steps);
  ASSERT_EQ(data.episodes(), task.episodes);
  EXPECT_EQ(data.observations.dim(), task.observation_dim);
  EXPECT_FALSE(data.observations.is_interned());
  EXPECT_EQ(data.actions.dim(), task.action_dim);

  const auto returns = episode_returns(data);
  std::ifstream table(folder / fmt::format("{}-medium-expert.labels.csv", task.name));
  std::string line;
  std::getline(table, line);  // episode,start,length,return,label
  std::int64_t episode = 0;
  for (; std::getline(table, line); ++episode) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream row(line);
    std::int64_t index = -1, start = -1, length = -1;
    double sum = 0;
    row >> index >> start >> length >> sum;
    EXPECT_EQ(index, episode);
    EXPECT_EQ(data.offsets[episode], start);
    EXPECT_EQ(data.length(episode), length);
    EXPECT_NEAR(returns[static_cast<std::size_t>(episode)], sum, 1e-4 * std::abs(sum) + 0.01);
  }
  EXPECT_EQ(episode, data.episodes());
}

INSTANTIATE_TEST_SUITE_P(Mujoco, RealData,
                         ::testing::Values(Task{"hopper", 201677, 214, 11, 3},
                                           Task{"halfcheetah", 200000, 200, 17, 6},
                                           Task{"walker2d", 200628, 225, 17, 6},
                                           Task{"ant", 200954, 218, 27, 8}),
                         [](const auto& task) { return task.param.name; });

}  // namespace
}  // namespace kindred
