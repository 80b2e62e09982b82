#include "kindred/experts/turns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "kindred/data/formats.h"
#include "kindred/data/select.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/rollout.h"

namespace kindred {
namespace {

using ::testing::Each;

/// Who acts in 1,000 steps in which nothing comes near failing.
std::vector<std::int32_t> actors(const TurnOptions& options, std::uint64_t seed,
                                 std::int64_t policies = 3) {
  Turns turns(options, policies, 1, 1000, Random(seed, "turns"));
  std::vector<std::int32_t> found;
  for (int step = 0; step < 1000; ++step) found.push_back(turns.next(false));
  return found;
}

std::int64_t changes(std::span<const std::int32_t> who) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < who.size(); ++i) count += who[i] != who[i - 1];
  return count;
}

TEST(Turns, NobodyTakesOverUnasked) { EXPECT_THAT(actors({}, 0), Each(1)); }

TEST(Turns, OnceIsOnceAndBeforeTheLatestStep) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto who = actors({.when = TakeOver::kOnce, .latest = 100}, seed);
    EXPECT_EQ(changes(who), 1);
    EXPECT_EQ(who.front(), 1);
    EXPECT_NE(who[101], 1);
  }
}

TEST(Turns, ARateIsKept) {
  std::int64_t all = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    all += changes(actors({.when = TakeOver::kRate, .rate = 0.02}, seed));
  EXPECT_NEAR(static_cast<double>(all) / 100.0, 20.0, 2.0);
}

TEST(Turns, InSomeEpisodesNobodyDoes) {
  int pure = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    pure += changes(actors({.when = TakeOver::kOnce, .share = 0.3}, seed)) == 0;
  EXPECT_NEAR(pure / 400.0, 0.7, 0.1);
}

TEST(Turns, EitherActsWhileHandingOver) {
  const auto who = actors({.when = TakeOver::kOnce, .latest = 1, .hand_over = 200}, 3, 2);
  const auto mine = std::count(who.begin() + 1, who.begin() + 201, 1);
  EXPECT_NEAR(static_cast<double>(mine), 100.0, 40.0);
  EXPECT_EQ(changes(std::span(who).subspan(201)), 0);
}

TEST(Turns, SomebodyComesToTheRescueAndStaysAWhile) {
  const TurnOptions options{.when = TakeOver::kNearFailure};
  Turns turns(options, 2, 0, 1000, Random(0, "turns"));
  EXPECT_EQ(turns.next(false), 0);
  EXPECT_EQ(turns.next(true), 1);
  for (int step = 0; step < 40; ++step) EXPECT_EQ(turns.next(true), 1);
}

class EveryEnvironment : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryEnvironment, SaysWhoActedAndKeepsItInAFile) {
  const auto path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("turns-{}.h5", GetParam());
  for (const char* name : {"diagonal", "takeball", "path-following"}) {
    const auto environment = make_environment(name, nlohmann::json::object());
    GenerateOptions options{.per_expert = 20};
    options.turns = {
        .when = std::string_view(GetParam()) == "once" ? TakeOver::kOnce : TakeOver::kRate,
        .rate = 0.1,
        .latest = 5};
    const auto data = generate(*environment, options);
    ASSERT_EQ(data.actors.size(), data.steps()) << name;
    EXPECT_GT(changes(data.actors.span()), 20) << name;
    EXPECT_EQ(most_frequent_actors(data), std::vector(data.labels.begin(), data.labels.end()));

    write_trajectories(data, path, Format::kKindred);
    const auto read = read_trajectories(path);
    EXPECT_TRUE(std::ranges::equal(read.actors, data.actors)) << name;
    const auto second = select_episodes(read, std::vector<std::int64_t>{1});
    EXPECT_TRUE(std::ranges::equal(
        second.actors.span(), data.actors.span().subspan(static_cast<std::size_t>(data.offsets[1]),
                                                         static_cast<std::size_t>(data.length(1)))))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Turns, EveryEnvironment, ::testing::Values("once", "rate"));

}  // namespace
}  // namespace kindred
