// Cloning finds the policy that made the data, and never makes one worse.
#include "kindred/policies/cloning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <thread>

#include "kindred/core/error.h"
#include "kindred/policies/architecture.h"
#include "kindred/policies/centres.h"
#include "tests/clustering/synthetic.h"
#include "tests/core/stopping.h"

namespace kindred {
namespace {

EpisodeGroups groups_of(const Trajectories& data, std::int32_t labels) {
  EpisodeGroups groups(static_cast<std::size_t>(labels));
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    groups[static_cast<std::size_t>(data.labels[i])].push_back(i);
  return groups;
}

struct Fixture {
  Trajectories data;
  NetworkView view;
  PolicyStack policies;

  Fixture(Trajectories d, bool standardize, std::int64_t count, std::int64_t hidden = 32)
      : data(std::move(d)),
        view{NetworkInputs::from(data.observations, standardize), {}},
        policies(architecture_for(data, view, hidden, 2), count) {
    for (std::int64_t i = 0; i < count; ++i)
      policies.initialise(i, Random(1, "policy", static_cast<std::uint64_t>(i)));
  }

  std::vector<float> parameters() const {
    std::vector<float> all;
    for (const auto& parameter : policies.parameters())
      all.insert(all.end(), parameter.values.begin(), parameter.values.end());
    return all;
  }
};

CloningOptions quick() {
  CloningOptions options;
  options.max_rounds = 12;
  options.round_batches = 150;
  options.batch_steps = 128;
  options.patience = 3;
  return options;
}

TEST(Cloning, FindsEachGroupsController) {
  Fixture f(testing::linear_control({.episodes = 300, .noise = 0.3}), true, 2);
  const auto groups = groups_of(f.data, 2);
  const auto summaries = clone_policies(f.data, f.view, groups, quick(), f.policies, {});
  // The controllers' noise is all that is left: two numbers of deviation 0.3.
  const double entropy = 2.0 * (0.5 + 0.5 * std::log(2.0 * std::numbers::pi) + std::log(0.3));
  for (const auto& summary : summaries) {
    EXPECT_NEAR(summary.loss, entropy, 0.15);
    EXPECT_LT(summary.loss, summary.loss_before - 1.0);
    EXPECT_GE(summary.rounds, 3);
  }
  const NetworkCentres centres(f.view, std::move(f.policies));
  EXPECT_EQ(best_columns(centres.score(f.data, {})),
            std::vector<std::int32_t>(f.data.labels.begin(), f.data.labels.end()));
}

TEST(Cloning, EpisodesThatCountForNothingTeachNothing) {
  Fixture f(testing::linear_control({.episodes = 300, .noise = 0.3}), true, 2);
  std::vector<std::int64_t> all(static_cast<std::size_t>(f.data.episodes()));
  std::iota(all.begin(), all.end(), 0);
  EpisodeWeights weights(2, std::vector<double>(all.size(), 0.0));
  for (std::size_t i = 0; i < all.size(); ++i)
    weights[static_cast<std::size_t>(f.data.labels[static_cast<std::int64_t>(i)])][i] = 1.0;
  clone_policies(f.data, f.view, {all, all}, quick(), f.policies, {}, weights);
  const NetworkCentres centres(f.view, std::move(f.policies));
  EXPECT_EQ(best_columns(centres.score(f.data, {})),
            std::vector<std::int32_t>(f.data.labels.begin(), f.data.labels.end()))
      << "each is the controller of the episodes that counted";
  Fixture none(testing::linear_control({.episodes = 20, .noise = 0.3}), true, 1);
  EXPECT_THROW(clone_policies(none.data, none.view, {{0, 1, 2}}, quick(), none.policies, {},
                              {{0.0, 0.0, 0.0}}),
               InvalidArgument);
}

TEST(Cloning, FindsEachGroupsControllerFromABuffer) {
  const auto data = testing::linear_control({.episodes = 300, .noise = 0.3});
  auto buffered = quick();
  buffered.buffer_steps = data.steps() / 10;
  std::vector<std::vector<float>> found;
  for (const auto& options : {buffered, buffered, quick()}) {
    Fixture f(data, true, 2);
    const auto summaries =
        clone_policies(f.data, f.view, groups_of(f.data, 2), options, f.policies, {});
    for (const auto& summary : summaries) EXPECT_LT(summary.loss, summary.loss_before - 1.0);
    found.push_back(f.parameters());
    const NetworkCentres centres(f.view, std::move(f.policies));
    EXPECT_EQ(best_columns(centres.score(f.data, {})),
              std::vector<std::int32_t>(f.data.labels.begin(), f.data.labels.end()));
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_NE(found[0], found[2]);
}

TEST(Cloning, FindsADiscreteRule) {
  const auto grid = testing::gridworld("diagonal", 300);
  Fixture f(grid, false, 5);
  const auto summaries =
      clone_policies(f.data, f.view, groups_of(grid, 5), quick(), f.policies, {});
  for (const auto& summary : summaries) EXPECT_LT(summary.loss, 0.02);  // the experts never waver
}

constexpr std::int64_t kTossObservation = 16;  // numbers enough to tell every episode by

/// In each episode one observation and one coin toss, over and over.
Trajectories coin_tosses(std::int64_t episodes, std::int64_t length) {
  Random random(3, "tosses");
  std::vector<float> observations;
  std::vector<std::int32_t> actions;
  Trajectories data;
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t i = 0; i < episodes; ++i) {
    std::vector<float> seen(kTossObservation);
    for (auto& x : seen) x = static_cast<float>(random.normal());
    const auto toss = static_cast<std::int32_t>(random.below(2));
    for (std::int64_t t = 0; t < length; ++t)
      observations.insert(observations.end(), seen.begin(), seen.end());
    actions.insert(actions.end(), static_cast<std::size_t>(length), toss);
    offsets.push_back(offsets.back() + length);
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = offsets;
  data.observations = Observations::dense(Column<float>(observations), kTossObservation);
  data.actions = Actions::discrete(actions, 2);
  return data;
}

/// The toss of an episode says nothing of the next one's: learning tosses by heart must not count.
TEST(Cloning, IsJudgedByEpisodesItHasNotSeen) {
  Fixture f(coin_tosses(60, 20), true, 1);
  std::vector<std::int64_t> all(60);
  std::iota(all.begin(), all.end(), 0);
  const auto summary = clone_policies(f.data, f.view, {all}, quick(), f.policies, {}).at(0);
  EXPECT_GT(summary.loss, 0.5);  // a coin toss is worth log 2 = 0.69; by heart it would be near 0
}

/// Four episodes cannot spare one, and the steps of each come from one controller.
TEST(Cloning, FewEpisodesAreJudgedByTheirEnds) {
  auto data = testing::linear_control({.episodes = 4, .length = 300, .policies = 1});
  auto turned = data;
  std::vector<float> actions(data.actions.floats().begin(), data.actions.floats().end());
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (auto t = data.offsets[i + 1] - data.length(i) / 10; t < data.offsets[i + 1]; ++t)
      for (std::int64_t a = 0; a < 2; ++a) actions[static_cast<std::size_t>(t * 2 + a)] += 100.0F;
  turned.actions = Actions::continuous(actions, 2);
  Fixture plain(std::move(data), true, 1), odd(std::move(turned), true, 1);
  const EpisodeGroups all = {{0, 1, 2, 3}};
  EXPECT_LT(clone_policies(plain.data, plain.view, all, quick(), plain.policies, {})[0].loss, 2.0);
  EXPECT_GT(clone_policies(odd.data, odd.view, all, quick(), odd.policies, {})[0].loss, 100.0);
}

TEST(Cloning, KeepsTheBestRound) {
  Fixture f(testing::linear_control({.episodes = 80}), true, 2);
  const auto groups = groups_of(f.data, 2);
  const auto first = clone_policies(f.data, f.view, groups, quick(), f.policies, {});
  auto wild = quick();  // steps so large that every round ends up worse
  wild.adam.learning_rate = 0.3;
  const auto before = f.parameters();
  const auto second = clone_policies(f.data, f.view, groups, wild, f.policies, {});
  EXPECT_EQ(f.parameters(), before);
  for (std::size_t g = 0; g < 2; ++g) {
    EXPECT_DOUBLE_EQ(second[g].loss_before, first[g].loss);
    EXPECT_DOUBLE_EQ(second[g].loss, first[g].loss);
    EXPECT_TRUE(second[g].converged);
    EXPECT_EQ(second[g].rounds, wild.patience * (1 + wild.rate_drops));
  }
}

TEST(Cloning, ALowerRateHelpsWhereTrainingStalls) {
  auto options = quick();
  options.adam.learning_rate = 0.03;
  options.max_rounds = 100;
  std::vector<double> losses;
  for (const std::int64_t drops : {0, 2}) {
    options.rate_drops = drops;
    Fixture f(testing::linear_control({.episodes = 80}), true, 2);
    const auto summaries =
        clone_policies(f.data, f.view, groups_of(f.data, 2), options, f.policies, {});
    EXPECT_TRUE(summaries[0].converged);
    losses.push_back(summaries[0].loss);
  }
  EXPECT_LT(losses[1], losses[0] - 0.01);
}

TEST(Cloning, NoRoundsLeavePoliciesAlone) {
  Fixture f(testing::linear_control({}), true, 1);
  const auto before = f.parameters();
  auto none = quick();
  none.max_rounds = 0;
  const auto summaries = clone_policies(f.data, f.view, {{0, 1, 2}}, none, f.policies, {});
  EXPECT_EQ(f.parameters(), before);
  EXPECT_EQ(summaries.at(0).rounds, 0);
}

TEST(Cloning, DoesNotDependOnThreadsAndTellsItsProgress) {
  auto options = quick();
  options.max_rounds = 2;
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 3}) {
    Fixture f(testing::linear_control({}), true, 2);
    RunContext run;
    run.pool = std::make_shared<ThreadPool>(threads);
    std::vector<double> fractions;
    const auto caller = std::this_thread::get_id();
    run.progress = [&](const Progress& progress) {
      EXPECT_EQ(progress.stage, "cloning");
      EXPECT_EQ(std::this_thread::get_id(), caller);
      fractions.push_back(progress.fraction);
    };
    clone_policies(f.data, f.view, groups_of(f.data, 2), options, f.policies, run);
    results.push_back(f.parameters());
    EXPECT_TRUE(std::ranges::is_sorted(fractions));
    EXPECT_NEAR(fractions.back(), 1.0, 1e-9);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Cloning, StopsWithinASecond) {
  Fixture f(testing::linear_control({.episodes = 400, .length = 300}), true, 2);
  CloningOptions options;
  RunContext run;
  const double seconds = stopping::seconds_until_end(0.2, [&](const auto& stop_requested) {
    run.stop_requested = stop_requested;
    EXPECT_THROW(clone_policies(f.data, f.view, groups_of(f.data, 2), options, f.policies, run),
                 Interrupted);
  });
  EXPECT_LT(seconds, 1.0);
}

TEST(Cloning, AskedForTheImpossible) {
  Fixture f(testing::linear_control({}), true, 2);
  EXPECT_THROW(clone_policies(f.data, f.view, {{0}, {}}, quick(), f.policies, {}), InvalidArgument);
  EXPECT_THROW(clone_policies(f.data, f.view, {{0}}, quick(), f.policies, {}), InvalidArgument);
}

}  // namespace
}  // namespace kindred
