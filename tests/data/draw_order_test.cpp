// Without a buffer episodes and steps come from all over the data; with one, blocks of neighbours
// do.
#include "kindred/data/draw_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "kindred/core/resources.h"
#include "kindred/data/memory_promise.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using Order = std::vector<std::int64_t>;

Order drawn(const Trajectories& data, std::int64_t buffer, std::uint64_t seed = 0) {
  Random random(seed, "test");
  Order order;
  DrawOrder(data, buffer).shuffle(random, order);
  return order;
}

Order all_of(const Trajectories& data) {
  Order order(static_cast<std::size_t>(data.episodes()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(DrawOrder, WithoutABufferEpisodesAreShuffledAsEver) {
  const auto data = make_trajectories({.episodes = 50});
  auto expected = all_of(data);
  Random(3, "test").shuffle(std::span(expected));
  EXPECT_EQ(drawn(data, 0, 3), expected);
  EXPECT_FALSE(DrawOrder(data, 0).is_buffered());
}

TEST(DrawOrder, EveryEpisodeComesOnceAndSeedsDecideWhen) {
  const auto data = make_trajectories({.episodes = 500});
  const auto order = drawn(data, 200);
  EXPECT_THAT(order, ::testing::UnorderedElementsAreArray(all_of(data)));
  EXPECT_EQ(order, drawn(data, 200));
  EXPECT_NE(order, drawn(data, 200, 1));
}

/// How many runs of neighbours the first so many steps consist of.
std::int64_t runs_in_first(const Trajectories& data, const Order& order, std::int64_t steps) {
  std::set<std::int64_t> met;
  for (const auto episode : order) {
    met.insert(episode);
    if ((steps -= data.length(episode)) <= 0) break;
  }
  return std::ranges::count_if(met, [&](auto episode) { return !met.contains(episode - 1); });
}

TEST(DrawOrder, ABufferHoldsAFewBlocksFromAllOverTheData) {
  const auto data = make_trajectories({.episodes = 5000});
  const auto buffer = data.steps() / 10;
  const auto order = drawn(data, buffer);
  EXPECT_LE(runs_in_first(data, order, buffer), 50);  // the last episodes it holds may come later
  EXPECT_GE(runs_in_first(data, order, buffer), 8);   // some blocks are neighbours
  EXPECT_GT(runs_in_first(data, drawn(data, 0), buffer), 300);
  EXPECT_FALSE(std::ranges::is_sorted(order.begin(), order.begin() + 100));
}

TEST(DrawOrder, OnlyDataThatDoesNotFitIsBuffered) {
  const auto data = make_trajectories({.episodes = 100'000, .dim = 40});
  EXPECT_EQ(resolve_buffer(0, data), 0);
  EXPECT_EQ(resolve_buffer(1000, data), 1000);
  EXPECT_EQ(resolve_buffer(data.steps(), data), 0);
  const TempDir folder;
  const auto here = ResidentMemory().look();
  {
    const MemoryPromise promise(here + 10'000'000'000, folder.path());
    EXPECT_EQ(resolve_buffer(0, data), 0);
    EXPECT_EQ(resolve_buffer(1000, data), 1000);
  }
  const auto budget = here + 100'000'000;
  const MemoryPromise promise(budget, folder.path());
  const auto steps = resolve_buffer(0, data);
  const auto bytes = static_cast<std::int64_t>(sizeof(float)) * (40 + data.actions.dim());
  EXPECT_EQ(steps, data.steps() * bytes > budget / 2 ? budget / 4 / bytes : 0);
}

TEST(DrawOrder, ExpectingEpisodesChangesNothing) {
  const auto data = make_trajectories({.episodes = 300});
  const TempDir folder;
  const MemoryPromise promise(ResidentMemory().look() + 300'000'000, folder.path());
  const DrawOrder order(data, 100);
  order.expect(Order{7, 3, 4, 299, 3});
  order.expect({});
}

/// All but the first step of every other episode.
std::vector<Stretch> some_of(const Trajectories& data) {
  std::vector<Stretch> stretches;
  for (std::int64_t i = 0; i < data.episodes(); i += 2)
    if (data.length(i) > 1) stretches.push_back({i, 1, data.length(i)});
  return stretches;
}

std::vector<std::int64_t> steps_of(const Trajectories& data, std::span<const Stretch> stretches) {
  std::vector<std::int64_t> steps;
  for (const auto& one : stretches)
    for (auto t = one.begin; t < one.end; ++t) steps.push_back(data.offsets[one.episode] + t);
  return steps;
}

TEST(DrawBuffer, WithoutOneAnyStepIsDrawnAsFromAList) {
  const auto data = make_trajectories({.episodes = 60});
  const auto own = some_of(data);
  const auto steps = steps_of(data, own);
  DrawBuffer buffer(data, own, 0, 3, Random(1, "buffer"));
  Random random(2, "draws"), expected(2, "draws");
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_TRUE(buffer.refill());
    EXPECT_TRUE(buffer.holds_all());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_EQ(buffer.refill(), false);
      ASSERT_EQ(buffer.draw(random), steps[expected.below(steps.size())]);
      buffer.drawn(1);
    }
    EXPECT_EQ(buffer.passes(), pass);
  }
}

TEST(DrawBuffer, HoldsAShareAndGoesThroughAllOfItsOwn) {
  const auto data = make_trajectories({.episodes = 2000});
  const auto own = some_of(data);
  const auto room = data.steps() / 10;
  DrawBuffer buffer(data, own, 2 * room, 2, Random(1, "buffer"));
  Random random(2, "draws");
  std::map<std::int64_t, int> times;
  while (true) {
    ASSERT_TRUE(buffer.refill());
    if (buffer.passes() > 0) break;
    EXPECT_FALSE(buffer.holds_all());
    EXPECT_GE(buffer.held_steps(), room);
    EXPECT_LE(buffer.held_steps(), room + 100);
    for (const auto& one : buffer.held()) ++times[one.episode];
    const auto held = steps_of(data, buffer.held());
    const std::set<std::int64_t> among(held.begin(), held.end());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(among.contains(buffer.draw(random)));
    buffer.drawn(buffer.held_steps());
  }
  EXPECT_EQ(times.size(), own.size());
}

TEST(DrawBuffer, PoliciesWithOneOrderReadTheSamePlaces) {
  const auto data = make_trajectories({.episodes = 2000});
  const auto own = some_of(data);
  std::vector<Stretch> fewer;  // every other of them
  for (std::size_t i = 0; i < own.size(); i += 2) fewer.push_back(own[i]);
  DrawBuffer a(data, own, data.steps() / 10, 1, Random(1, "buffer"));
  DrawBuffer b(data, fewer, data.steps() / 10, 1, Random(1, "buffer"));
  a.refill();
  b.refill();
  std::set<std::int64_t> held_by_b;
  for (const auto& one : b.held()) held_by_b.insert(one.episode);
  for (const auto& one : a.held())
    EXPECT_EQ(held_by_b.contains(one.episode), one.episode % 4 == 0) << one.episode;
}

}  // namespace
}  // namespace kindred
