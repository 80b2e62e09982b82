// Recorded transitions of the public MuJoCo datasets, taken again: the state is rebuilt from the
// recorded observation, the recorded action applied, and what follows compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kindred/data/formats.h"
#include "tests/envs/body.h"

namespace kindred {
namespace {

class Replay : public LocomotionTest {
 protected:
  void SetUp() override {
    LocomotionTest::SetUp();
    if (IsSkipped()) return;
    const auto path = std::filesystem::path(KINDRED_SHARED_DATA) / "mujoco" /
                      fmt::format("{}-medium-expert.hdf5", GetParam());
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "*** NOT TESTED: there is no '" << path.string()
                   << "'; set KINDRED_SHARED_DATA to the folder that holds mujoco/ ***";
    data_ = read_trajectories(path);
  }

  std::vector<float> observation(std::int64_t row) const {
    std::vector<float> seen(static_cast<std::size_t>(data_.observations.dim()));
    data_.observations.copy(row, row + 1, seen.data());
    return seen;
  }

  std::span<const float> action(std::int64_t row) const {
    const auto width = data_.actions.dim();
    return {data_.actions.floats().data() + row * width, static_cast<std::size_t>(width)};
  }

  /// Puts the body into the state a row recorded, but for its place on the ground. False where the
  /// row does not tell: a velocity was cut.
  bool put(Body& body, std::int64_t row) const {
    const auto seen = observation(row);
    const auto unseen = body.task().unseen;
    const auto positions = seen.begin() + static_cast<std::ptrdiff_t>(body.qpos().size() - unseen);
    std::vector<double> position(unseen, 0.0), velocity(positions, seen.end());
    position.insert(position.end(), seen.begin(), positions);
    body.put(position, velocity);
    const auto limit = body.task().seen_speed;
    return std::ranges::all_of(velocity, [=](double v) { return std::abs(v) < limit; });
  }

  /// About `count` rows that are `before_end` or more before their episode's end.
  std::vector<std::int64_t> some_rows(std::int64_t count, std::int64_t before_end) const {
    std::vector<std::int64_t> rows;
    const auto stride = data_.steps() / count;
    for (std::int64_t episode = 0; episode < data_.episodes(); ++episode)
      for (auto row = data_.offsets[episode]; row + before_end < data_.offsets[episode + 1];
           row += stride)
        rows.push_back(row);
    return rows;
  }

  /// The largest difference between two observations, relative where they are above 1.
  static double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double most = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, difference(a[i], b[i]));
    return most;
  }
  static double difference(float a, float b) {
    return std::abs(static_cast<double>(a) - b) / std::max(1.0f, std::abs(b));
  }

  /// The differences between each row's successor and the body's, in ascending order.
  std::vector<double> successor_differences(Body body) const {
    std::vector<double> differences;
    for (const auto row : some_rows(2000, 1)) {
      if (!put(body, row)) continue;
      body.step(action(row));
      differences.push_back(difference(body.observation(), observation(row + 1)));
    }
    std::ranges::sort(differences);
    return differences;
  }

  Trajectories data_;
};

INSTANTIATE_TEST_SUITE_P(Mujoco, Replay, kAllTasks, task_name);

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// The rows are float32; contacts amplify what that loses, most of all the HalfCheetah's.
TEST_P(Replay, OneStepLeadsToTheRecordedObservation) {
  const auto old = successor_differences(Body(GetParam()));
  ASSERT_GT(old.size(), 400u);
  EXPECT_LT(quantile(old, 0.5), 5e-7);
  EXPECT_LT(quantile(old, 0.99), 1e-5);
  EXPECT_LT(old.back(), 5e-4);
  const auto native = successor_differences(Body(GetParam(), {.inertia = CapsuleInertia::kNative}));
  EXPECT_GT(quantile(native, 0.5), 1000 * quantile(old, 0.5)) << "the test cannot tell inertias";
}

TEST_P(Replay, RewardsAreTheRecordedOnes) {
  Body body(GetParam());
  int compared = 0;
  for (const auto row : some_rows(1000, 1)) {
    if (!put(body, row)) continue;
    const auto first = body.step(action(row));
    // Where the Ant's torso was last seen before this row is not recorded.
    if (!body.task().follows_torso) {
      EXPECT_LT(difference(first.reward, data_.rewards[row]), 2e-5) << "row " << row;
    }
    if (first.ending != Ending::kNone) continue;
    const auto second = body.step(action(row + 1));
    EXPECT_LT(difference(second.reward, data_.rewards[row + 1]), 1e-3) << "row " << row + 1;
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

TEST_P(Replay, EpisodesEndWhereTheyDidEnd) {
  Body body(GetParam());
  int ended = 0;
  for (std::int64_t episode = 0; episode < data_.episodes(); ++episode) {
    const auto last = data_.offsets[episode + 1] - 1;
    if (!put(body, last)) continue;
    const bool ends = data_.terminals[last] != 0;
    EXPECT_EQ(body.step(action(last)).ending, ends ? Ending::kTerminal : Ending::kNone)
        << "episode " << episode;
    ended += ends;
  }
  EXPECT_EQ(ended > 5, GetParam() != "halfcheetah") << ended;
  for (const auto row : some_rows(1000, 1))
    if (put(body, row)) {
      EXPECT_EQ(body.step(action(row)).ending, Ending::kNone) << "row " << row;
    }
}

}  // namespace
}  // namespace kindred
