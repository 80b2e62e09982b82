// How networks score steps: in no units, bounded, and the same however they are computed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/policies/centres.h"
#include "tests/methods/pg_kmeans_helpers.h"

namespace kindred::pg_kmeans {
namespace {

/// The same trajectories with their actions in other units: scale[d] · action + shift.
Trajectories in_units(Trajectories data, const std::vector<float>& scale, float shift = 0.0F) {
  std::vector<float> actions(data.actions.floats().begin(), data.actions.floats().end());
  for (std::size_t i = 0; i < actions.size(); ++i)
    actions[i] = scale[i % scale.size()] * actions[i] + shift;
  data.actions = Actions::continuous(Column<float>(std::move(actions)), data.actions.dim());
  return data;
}

/// The fused kernel and LibTorch's stack are two ways to the same policies.
TEST(PgKmeans, FusedAndStackedLearnersAgree) {
  const auto grid = gridworld("diagonal", 60);
  const auto control = linear_control({.episodes = 12, .length = 20});
  const auto idle = in_units(control, {1.0F, 0.0F});  // the second number of an action is always 0
  for (const auto& [data, share] : {std::pair{&grid, 0.0},
                                    {&control, 0.0},
                                    {&idle, 0.0},
                                    {&grid, 0.05},
                                    {&control, 0.05},
                                    {&idle, 0.05}}) {
    Options options = by_objective();
    options.k = 2;
    options.restarts = 1;
    options.hidden = 24;
    options.max_steps = 40;
    options.plateau_steps = 100;  // the stack stops as one, the fused kernel policy by policy
    options.common_share = share;
    options.log_prob_floor = Options::kNoFloor;
    options = resolve(options, *data);
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < data->episodes(); ++i)
      labels.push_back(static_cast<std::int32_t>(i % 2));
    const std::vector<std::int64_t> slots = {0, 1};
    const auto trained = [&](const auto& make) {
      const auto learner = make(*data, options, RunContext{});
      learner->fit(
          slots, [&](std::int64_t) { return std::span<const std::int32_t>(labels); }, 1);
      return learner->score(slots);
    };
    const auto fused = trained(make_network_learner);
    const auto stacked = trained(make_stack_learner);
    for (std::size_t i = 0; i < fused.values.size(); ++i)
      ASSERT_NEAR(fused.values[i], stacked.values[i], 0.02 * (1.0 + std::abs(stacked.values[i])))
          << (data == &grid ? "on counts" : "on batches") << ", share " << share;
  }
}

TEST(PgKmeans, LearnersComeBackFromWhatTheySaved) {
  const auto grid = gridworld("diagonal", 20);
  const auto control = linear_control({.episodes = 12, .length = 20});
  const std::vector<std::int64_t> slots = {0, 1};
  const auto path = std::filesystem::temp_directory_path() /
                    ("kindred-learner-" + std::to_string(::getpid()) + ".h5");
  using Make = std::function<std::unique_ptr<PolicyLearner>(const Trajectories&, const Options&,
                                                            const RunContext&)>;
  for (const auto* data : {&grid, &control})
    for (const Make& make : {Make(make_network_learner), Make(std::ref(make_stack_learner))}) {
      Options options = by_objective();
      options.k = 2;
      options.restarts = 1;
      options.hidden = 8;
      options.max_steps = 10;
      options = resolve(options, *data);
      const std::vector<std::int32_t> labels(static_cast<std::size_t>(data->episodes()), 0);
      const auto learner = make(*data, options, RunContext{});
      learner->fit(
          std::span(slots).first(1),
          [&](std::int64_t) { return std::span<const std::int32_t>(labels); }, 1);
      ArrayFileWriter writer(path);
      learner->save(writer);
      writer.close();
      const auto again = make(*data, options, RunContext{});
      again->load(ArrayFileReader(path));
      EXPECT_EQ(again->score(slots).values, learner->score(slots).values);
      const auto of_centres = again->centres(slots)->score(*data, {});
      const auto own = again->score(slots);
      for (std::size_t i = 0; i < own.values.size(); ++i)
        EXPECT_NEAR(of_centres.values[i], own.values[i], 1e-3 * (1.0 + std::abs(own.values[i])));
    }
  std::filesystem::remove(path);
}

TEST(PgKmeans, FloorBoundsEveryStep) {
  const auto data = gridworld("diagonal", 50);
  Options options = by_objective();
  options.k = 3;
  options.restarts = 1;
  options.policy = PolicyKind::kTabular;
  options.log_prob_floor = -2.0;
  const auto result = fit(data, options);
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (std::int64_t c = 0; c < result.k(); ++c)
      EXPECT_GE(result.scores(i, c), -2.0 * static_cast<double>(data.length(i)));
}

Options small_networks() {
  Options options = by_objective();
  options.k = 3;
  options.restarts = 2;
  options.seed = 2;
  options.hidden = 32;
  options.batch_steps = 128;
  return options;
}

/// Powers of two change no bit of what networks see; other units round differently.
TEST(PgKmeans, LabelsDoNotDependOnTheUnitsOfActions) {
  const auto data = linear_control({.episodes = 60, .policies = 3});
  const auto options = small_networks();
  const auto result = fit(data, options);
  EXPECT_GE(nmi(result, data), 0.99);
  const std::vector<std::vector<float>> exact = {
      {0x1p-10F, 0x1p-10F}, {0x1p14F, 0x1p14F}, {0x1p-10F, 0x1p14F}};
  for (const auto& scale : exact)
    EXPECT_EQ(fit(in_units(data, scale), options).scores.values, result.scores.values);
  for (const float scale : {1e-3F, 1e4F})
    EXPECT_EQ(fit(in_units(data, {scale, 1.0F}, 3.0F * scale), options).labels, result.labels);
}

TEST(PgKmeans, CentresActInTheUnitsOfTheData) {
  const auto data = linear_control({.episodes = 30, .policies = 3});
  const auto options = small_networks();
  const auto acted = [&](const Trajectories& from) {
    const auto result = fit(from, options);
    std::vector<float> rows(20UL * 3), out(20UL * 2 * 2);
    from.observations.copy(0, 20, rows.data());
    std::dynamic_pointer_cast<const PolicyCentres>(result.centres)->distribution(0, rows, out);
    return out;
  };
  auto expected = acted(data);
  for (auto& number : expected) number *= 0x1p14F;
  EXPECT_EQ(acted(in_units(data, {0x1p14F})), expected);
}

/// No network has to learn that an action is always the same, and none is preferred for it.
TEST(PgKmeans, NumbersOfAnActionThatNeverVaryDoNotCount) {
  const auto data = linear_control({.episodes = 30, .policies = 3});
  auto padded = data;
  std::vector<float> actions;
  for (std::int64_t t = 0; t < data.steps(); ++t)
    for (const float number :
         {data.actions.floats()[2 * t], 1e6F, data.actions.floats()[2 * t + 1]})
      actions.push_back(number);
  padded.actions = Actions::continuous(Column<float>(std::move(actions)), 3);
  const auto options = small_networks();
  const auto result = fit(padded, options);
  EXPECT_EQ(result.scores.values, fit(data, options).scores.values);
  EXPECT_EQ(result.centres->score(padded, {}).values, result.scores.values);
  std::vector<float> row(3), out(2UL * 3);
  padded.observations.copy(0, 1, row.data());
  std::dynamic_pointer_cast<const PolicyCentres>(result.centres)->distribution(0, row, out);
  EXPECT_EQ(out[1], 1e6F);
  EXPECT_EQ(out[4], 0.0F);
}

/// An action of 24 noisy numbers has a density of e^-30 or less under every policy: a floor of -5
/// ties them all, and labels stay where the random start put them.
TEST(PgKmeans, TellsNoisyPoliciesApartWhereAFloorTies) {
  const auto data =
      linear_control({.episodes = 40, .length = 60, .act_dim = 24, .policies = 2, .noise = 1.0});
  Options options = small_networks();
  options.k = 2;
  EXPECT_GE(nmi(fit(data, options), data), 0.99);
  options.use_paper_setting();
  const auto tied = fit(data, options);
  for (const auto& entry : tied.trace) EXPECT_EQ(entry.changed, 0);
  for (const auto& restart : tied.restarts) EXPECT_TRUE(restart.converged);
  EXPECT_LT(nmi(tied, data), 0.2);
}

TEST(PgKmeans, OneStepIsBoundedByTheShareOrByTheFloor) {
  const auto data = linear_control({.episodes = 10});
  const auto bound = [&](double share, double floor) {
    Options options = by_objective();
    options.k = 2;
    options.common_share = share;
    options.log_prob_floor = floor;
    options = resolve(options, data);
    return std::pair{options.common_share, options.log_prob_floor};
  };
  using Bound = std::pair<double, double>;
  const auto kAutoShare = Options::kAutoShare, kAutoFloor = Options::kAutoFloor;
  EXPECT_EQ(bound(kAutoShare, kAutoFloor), Bound(0.05, Options::kNoFloor));
  EXPECT_EQ(bound(0.1, kAutoFloor), Bound(0.1, Options::kNoFloor));
  EXPECT_EQ(bound(0.0, kAutoFloor), Bound(0.0, -5.0));
  EXPECT_EQ(bound(kAutoShare, -3.0), Bound(0.0, -3.0));
  EXPECT_EQ(bound(kAutoShare, Options::kNoFloor), Bound(0.0, Options::kNoFloor));
  EXPECT_EQ(bound(0.1, -3.0), Bound(0.1, -3.0));
  Options tables = by_objective();
  tables.k = 2;
  tables.policy = PolicyKind::kTabular;
  const auto grid = gridworld("diagonal", 4);
  EXPECT_EQ(resolve(tables, grid).log_prob_floor, -5.0);
  tables.common_share = 0.1;
  EXPECT_THROW(resolve(tables, grid), InvalidArgument);
}

TEST(PgKmeans, ThePapersSettingIsOneName) {
  Options options;
  options.k = 3;
  options.seed = 9;
  options.use_paper_setting();
  options = resolve(options, linear_control({.episodes = 10}));
  EXPECT_EQ(options.policy, PolicyKind::kMlp);
  EXPECT_EQ(options.choose, Choose::kObjective);
  EXPECT_EQ(options.restarts, 5);
  EXPECT_EQ(options.log_prob_floor, -5.0);
  EXPECT_EQ(options.common_share, 0.0);
  EXPECT_FALSE(options.standardize_actions);
  EXPECT_EQ(options.k, 3);
  EXPECT_EQ(options.seed, 9);
}

/// Rounds may score roughly where there are many steps; what a run ends with is exact.
TEST(PgKmeans, EndsOnExactScores) {
  const auto data = linear_control({.episodes = 350, .length = 100, .policies = 3});
  Options options = by_objective();
  options.k = 4;
  options.merge_to = 3;
  options.restarts = 2;
  options.hidden = 16;
  options.max_steps = 60;
  options.max_rounds = 4;
  options.seed = 5;
  const auto found = fit(data, options, RunContext{});
  double objective = 0.0;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    objective += found.scores(i, found.labels[static_cast<std::size_t>(i)]);
  const auto& best = found.restarts[static_cast<std::size_t>(found.best_restart)];
  EXPECT_EQ(best.objective, objective);
  EXPECT_EQ(found.centres->score(data, {}).values, found.scores.values);
}

}  // namespace
}  // namespace kindred::pg_kmeans
