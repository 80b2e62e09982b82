#include "kindred/segments/segmentation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/segments/step_evidence.h"

namespace kindred {
namespace {

/// The action, from what is seen, of who acts.
using Policy = std::function<std::array<double, 2>(const std::array<double, 3>&)>;

struct Made {
  Trajectories data;
  std::vector<std::int32_t> actors;  // [steps]
};

constexpr std::int64_t kEpisodes = 40, kLength = 150;

/// Episodes of a point that drifts where its actions push it; `acts(episode, step)` says who acts.
Made make(const std::vector<Policy>& policies,
          const std::function<std::size_t(std::int64_t, std::int64_t)>& acts) {
  Made made;
  std::vector<float> seen, done;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t e = 0; e < kEpisodes; ++e) {
    Random random(7, "episode", static_cast<std::uint64_t>(e));
    std::array<double, 3> state{random.normal(), random.normal(), random.normal()};
    for (std::int64_t t = 0; t < kLength; ++t) {
      const auto actor = acts(e, t);
      auto action = policies[actor](state);
      for (auto& one : action) one += 0.2 * random.normal();
      for (const double one : state) seen.push_back(static_cast<float>(one));
      for (const double one : action) done.push_back(static_cast<float>(one));
      made.actors.push_back(static_cast<std::int32_t>(actor));
      state[0] = 0.9 * state[0] + 0.1 * action[0] + 0.3 * random.normal();
      state[1] = 0.9 * state[1] + 0.1 * action[1] + 0.3 * random.normal();
      state[2] = std::sin(0.1 * static_cast<double>(t + 10 * e)) + 0.1 * random.normal();
    }
    offsets.push_back(offsets.back() + kLength);
    made.data.ids.push_back(std::to_string(e));
  }
  made.data.offsets = std::move(offsets);
  made.data.observations = Observations::dense(std::move(seen), 3);
  made.data.actions = Actions::continuous(std::move(done), 2);
  return made;
}

std::array<double, 2> pushes_on(const std::array<double, 3>& s) { return {s[0] + s[2], -s[1]}; }
std::array<double, 2> holds_back(const std::array<double, 3>& s) { return {-s[0], s[1] - s[2]}; }
/// One policy with two phases, which follow from what it sees.
std::array<double, 2> has_phases(const std::array<double, 3>& s) {
  return s[2] > 0.0 ? std::array{s[0] + 1.0, -s[1]} : std::array{-s[0], s[1] - 1.0};
}

Segmentation segment_all(const Made& made, SegmentOptions options = {}) {
  options.k_max = 4;
  return segment(made.data, options, RunContext{});
}

TEST(Segmentation, FindsWhoTookOverWhen) {
  const auto made = make({pushes_on, holds_back}, [](std::int64_t e, std::int64_t t) {
    return static_cast<std::size_t>((e + (t >= 40 + e)) % 2);
  });
  const auto found = segment_all(made);
  EXPECT_EQ(found.policies, 2);
  EXPECT_GT(matched_accuracy(found.actors, made.actors), 0.97);
  EXPECT_NEAR(static_cast<double>(found.switches()), kEpisodes, 4.0);
  EXPECT_GT(found.v, found.v_of_nobody);
  for (const auto& one : found.segments) {
    EXPECT_LE(one.earliest, one.begin);
    EXPECT_GE(one.latest, one.begin);
    EXPECT_GT(one.chance, 0.5);
  }
}

TEST(Segmentation, WhereNobodySwitchesEpisodesStayWhole) {
  const auto made = make({pushes_on, holds_back}, [](std::int64_t e, std::int64_t) {
    return static_cast<std::size_t>(e % 2);
  });
  const auto found = segment_all(made);
  EXPECT_EQ(found.policies, 2);
  EXPECT_EQ(found.switches(), 0);
  EXPECT_DOUBLE_EQ(matched_accuracy(found.actors, made.actors), 1.0);
}

TEST(Segmentation, OnePolicyIsOne) {
  const auto found = segment_all(make({pushes_on}, [](std::int64_t, std::int64_t) { return 0u; }));
  EXPECT_EQ(found.policies, 1);
  EXPECT_EQ(found.segments.size(), static_cast<std::size_t>(kEpisodes));
}

TEST(Segmentation, PhasesOfAPolicyAreNotPolicies) {
  const auto found = segment_all(make({has_phases}, [](std::int64_t, std::int64_t) { return 0u; }));
  EXPECT_EQ(found.policies, 1);
  EXPECT_EQ(found.switches(), 0);
}

TEST(Segmentation, TheNumberOfPoliciesCanBeGiven) {
  const auto made = make({pushes_on, holds_back}, [](std::int64_t e, std::int64_t t) {
    return static_cast<std::size_t>((e + t / 75) % 2);
  });
  SegmentOptions options;
  options.k = 2;
  EXPECT_EQ(segment_all(made, options).policies, 2);
}

TEST(Segmentation, PoliciesThatAreKnownAreUsed) {
  const auto made = make({pushes_on, holds_back}, [](std::int64_t e, std::int64_t t) {
    return static_cast<std::size_t>((e + (e % 4 == 0 && t >= 75)) % 2);
  });
  std::vector<std::int32_t> known;
  for (std::int64_t e = 0; e < kEpisodes; ++e) known.push_back(static_cast<std::int32_t>(e % 2));
  const auto found = segment(made.data, {}, RunContext{}, known);
  EXPECT_EQ(found.policies, 2);
  EXPECT_GT(matched_accuracy(found.actors, made.actors), 0.97);
}

TEST(Segmentation, DoesNotDependOnThreads) {
  const auto made = make({pushes_on, holds_back}, [](std::int64_t e, std::int64_t t) {
    return static_cast<std::size_t>((e + (t >= 60)) % 2);
  });
  RunContext one, three;
  one.pool = std::make_shared<ThreadPool>(1);
  three.pool = std::make_shared<ThreadPool>(3);
  EXPECT_EQ(segment(made.data, {}, one).actors, segment(made.data, {}, three).actors);
}

TEST(Segmentation, TooManyNumbersAreASentence) {
  Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 50};
  data.observations = Observations::dense(std::vector<float>(50 * 300, 1.0f), 300);
  data.actions = Actions::continuous(std::vector<float>(50, 0.0f), 1);
  data.ids = {"0"};
  EXPECT_THROW(segment(data, {}, RunContext{}), InvalidArgument);
}

TEST(Segmentation, TablesSwitchToo) {
  // A ring of 12 cells: one policy goes round one way, the other the other way.
  std::vector<std::int32_t> seen, done, actors;
  std::vector<std::int64_t> offsets{0};
  Trajectories data;
  for (std::int64_t e = 0; e < 200; ++e) {
    Random random(3, "ring", static_cast<std::uint64_t>(e));
    auto cell = static_cast<std::int32_t>(random.below(12));
    for (std::int64_t t = 0; t < 30; ++t) {
      const auto actor = static_cast<std::int32_t>((e + (t >= 15)) % 2);
      seen.push_back(cell);
      done.push_back(actor);
      actors.push_back(actor);
      cell = (cell + (actor == 0 ? 1 : 11)) % 12;
    }
    offsets.push_back(offsets.back() + 30);
    data.ids.push_back(std::to_string(e));
  }
  std::vector<float> table(12);
  for (std::size_t i = 0; i < 12; ++i) table[i] = static_cast<float>(i);
  data.offsets = std::move(offsets);
  data.observations = Observations::interned(std::move(table), 1, std::move(seen));
  data.actions = Actions::discrete(std::move(done), 2);
  const auto found = segment(data, {}, RunContext{});
  EXPECT_EQ(found.policies, 2);
  EXPECT_DOUBLE_EQ(matched_accuracy(found.actors, actors), 1.0);
  EXPECT_EQ(found.switches(), 200);
}

/// Ten cells, drawn at random at every step. Each of three policies always goes left but in the
/// cells it has to itself, three of them. In half of the episodes another takes over.
Made rarely_different() {
  Made made;
  std::vector<std::int32_t> seen, done;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t e = 0; e < 900; ++e) {
    Random random(11, "cells", static_cast<std::uint64_t>(e));
    auto actor = static_cast<std::int32_t>(e % 3);
    const auto taken = e % 2 == 0 ? 4 + static_cast<std::int64_t>(random.below(16)) : 24;
    for (std::int64_t t = 0; t < 24; ++t) {
      if (t == taken) actor = (actor + 1 + static_cast<std::int32_t>(random.below(2))) % 3;
      const auto cell = static_cast<std::int32_t>(random.below(10));
      seen.push_back(cell);
      done.push_back(cell / 3 == actor ? 1 : 0);
      made.actors.push_back(actor);
    }
    offsets.push_back(offsets.back() + 24);
    made.data.ids.push_back(std::to_string(e));
  }
  std::vector<float> table(10);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  made.data.offsets = std::move(offsets);
  made.data.observations = Observations::interned(std::move(table), 1, std::move(seen));
  made.data.actions = Actions::discrete(std::move(done), 2);
  return made;
}

TEST(Segmentation, TablesLearnWhatAPolicyNeverDoes) {
  const auto made = rarely_different();
  const auto found = segment(made.data, {}, RunContext{});
  ASSERT_EQ(found.policies, 3);
  EXPECT_GT(matched_accuracy(found.actors, made.actors), 0.95);
  double sharpest = 0.0;  // of what a single step says against somebody
  for (std::int64_t t = 0; t < found.nats.rows; ++t)
    sharpest = std::max(sharpest,
                        std::ranges::max(found.nats.row(t)) - std::ranges::min(found.nats.row(t)));
  EXPECT_GT(sharpest, 7.0);
}

TEST(TableSteps, ChancesOfOneOrNoneAreLabels) {
  const auto made = rarely_different();
  const auto evidence = step_evidence(made.data, Workers(1));
  Matrix chances(made.data.steps(), 3);
  for (std::int64_t t = 0; t < chances.rows; ++t)
    chances(t, made.actors[static_cast<std::size_t>(t)]) = 1.0;
  const auto shared = evidence->judge_shared(chances, 1.0);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->values, evidence->judge(made.actors, 3).nats.values);
  const auto bold = evidence->judge_shared(chances, 0.1);
  EXPECT_LT(std::ranges::min(bold->values), std::ranges::min(shared->values));
}

}  // namespace
}  // namespace kindred
