#include "kindred/runs/assign.h"

#include <gmock/gmock.h>

#include "kindred/core/error.h"
#include "kindred/data/select.h"
#include "tests/runs/finished_run.h"

namespace kindred {
namespace {

using testing::FinishedRun;
using testing::gridworld;
using testing::linear_control;

/// The episodes whose true label is not `left_out`, or is.
Trajectories of_policies(const Trajectories& data, std::int32_t left_out, bool known) {
  std::vector<std::int64_t> episodes;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    if ((data.labels[i] != left_out) == known) episodes.push_back(i);
  return select_episodes(data, episodes);
}

/// How often one of the first is above one of the second; ties count half.
double auc(std::span<const double> higher, std::span<const double> lower) {
  double above = 0.0;
  for (const double h : higher)
    for (const double l : lower) above += h > l ? 1.0 : h == l ? 0.5 : 0.0;
  return above / static_cast<double>(higher.size() * lower.size());
}

double share_of_misfits(const Assignment& assigned) {
  return static_cast<double>(assigned.misfits()) / static_cast<double>(assigned.labels.size());
}

class AssignTest : public FinishedRun {
 protected:
  /// A run by policies in closed form, with k found.
  LoadedRun fit(const Trajectories& data) {
    write_trajectories(data, data_, Format::kKindred);
    method_ = find_method("pg-kmeans").make();
    run();
    return load_run(folder_);
  }
};

TEST_F(AssignTest, PosteriorsOfAnEpisodeSumToOne) {
  const auto fitted = fit(gridworld("diagonal", 100));
  ASSERT_TRUE(fitted.calibration);
  const auto assigned = assign(fitted, gridworld("diagonal", 50, 2), kFalseAlarms, {});
  bool any_doubt = false;
  for (std::int64_t i = 0; i < assigned.posteriors.rows; ++i) {
    double sum = 0.0;
    for (const double posterior : assigned.posteriors.row(i)) {
      EXPECT_GE(posterior, 0.0);
      sum += posterior;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    any_doubt |= assigned.posteriors(i, assigned.labels[static_cast<std::size_t>(i)]) < 0.9;
  }
  EXPECT_TRUE(any_doubt);  // some of Diagonal's episodes two policies would make alike
}

TEST_F(AssignTest, PosteriorsAreRightAsOftenAsTheySay) {
  const testing::LinearOptions few_steps{.episodes = 800, .length = 5, .policies = 3, .noise = 1.5};
  const auto fitted = fit(linear_control({.episodes = 90, .policies = 3, .noise = 1.5}, 5));
  ASSERT_EQ(fitted.centres->count(), 3);
  const auto data = linear_control(few_steps, 5);
  const auto assigned = assign(fitted, data, kFalseAlarms, {});
  double said = 0.0, right = 0.0;
  for (std::size_t i = 0; i < assigned.labels.size(); ++i) {
    said += assigned.posteriors(static_cast<std::int64_t>(i), assigned.labels[i]);
    // Policies take turns, in the run as well: its first episodes are one of each.
    right += assigned.labels[i] == fitted.labels[i % 3];
  }
  EXPECT_LT(right, 790.0);
  EXPECT_NEAR(said, right, 0.04 * 800.0);
}

TEST_F(AssignTest, KnownPoliciesRarelyRaiseAFalseAlarm) {
  const auto fitted = fit(linear_control({.episodes = 120, .policies = 3}));
  ASSERT_TRUE(fitted.calibration && fitted.calibration->held_out);
  auto fresh = linear_control({.episodes = 900, .policies = 3});
  std::vector<std::int64_t> later;  // the first 120 are those of the run
  for (std::int64_t i = 120; i < 900; ++i) later.push_back(i);
  fresh = select_episodes(fresh, later);
  EXPECT_LT(share_of_misfits(assign(fitted, fresh, 0.01, {})), 0.03);
  const double often = share_of_misfits(assign(fitted, fresh, 0.2, {}));
  EXPECT_GT(often, 0.1);
  EXPECT_LT(often, 0.3);
  EXPECT_EQ(assign(fitted, fresh, 0.0, {}).misfits(), 0);
}

TEST_F(AssignTest, ShortEpisodesRaiseNoMoreFalseAlarms) {
  const auto fitted = fit(linear_control({.episodes = 120, .policies = 3}));
  const auto brief = linear_control({.episodes = 600, .length = 8, .policies = 3});
  EXPECT_LT(share_of_misfits(assign(fitted, brief, 0.01, {})), 0.04);
}

TEST_F(AssignTest, PoliciesThatWereNotInTheRunAreFound) {
  for (std::int32_t left_out = 0; left_out < 4; ++left_out) {
    const auto data = linear_control({.episodes = 160, .policies = 4});
    std::vector<std::int64_t> first, second;
    for (std::int64_t i = 0; i < 160; ++i) (i < 80 ? first : second).push_back(i);
    const auto later = select_episodes(data, second);
    const auto fitted = fit(of_policies(select_episodes(data, first), left_out, true));
    const auto known = assign(fitted, of_policies(later, left_out, true), kFalseAlarms, {});
    const auto unseen = assign(fitted, of_policies(later, left_out, false), kFalseAlarms, {});
    EXPECT_GT(auc(unseen.surprises, known.surprises), 0.99) << left_out;
    EXPECT_GT(share_of_misfits(unseen), 0.9) << left_out;
  }
}

TEST_F(AssignTest, ExpertsThatWereNotInTheRunAreFound) {
  double sum = 0.0;
  for (std::int32_t left_out = 0; left_out < 5; ++left_out) {
    const auto fitted = fit(of_policies(gridworld("diagonal", 150), left_out, true));
    const auto later = gridworld("diagonal", 150, 2);
    const auto known = assign(fitted, of_policies(later, left_out, true), kFalseAlarms, {});
    const auto unseen = assign(fitted, of_policies(later, left_out, false), kFalseAlarms, {});
    EXPECT_LT(share_of_misfits(known), 0.02) << left_out;
    sum += auc(unseen.surprises, known.surprises);
  }
  // One episode in seven of two of the experts is step for step what another would do.
  EXPECT_GT(sum / 5.0, 0.97);
}

TEST_F(AssignTest, CentresOfOtherMethodsAreJudgedByTheirOwnScores) {
  run();  // networks
  const auto fitted = load_run(folder_);
  ASSERT_TRUE(fitted.calibration);
  EXPECT_FALSE(fitted.calibration->held_out);
  const auto data = linear_control({});
  const auto own = assign(fitted, data, kFalseAlarms, {});
  EXPECT_LT(share_of_misfits(own), 0.05);
  auto actions = std::vector<float>(data.actions.floats().begin(), data.actions.floats().end());
  for (auto& action : actions) action += 30.0F;
  auto strange = data;
  strange.actions = Actions::continuous(actions, data.actions.dim());
  EXPECT_EQ(share_of_misfits(assign(fitted, strange, kFalseAlarms, {})), 1.0);
}

TEST_F(AssignTest, RunsWithoutCalibrationAreJudgedAsBefore) {
  run();
  auto fitted = load_run(folder_);
  fitted.calibration.reset();
  fitted.misfit_below = {-1e9, 1e9};
  const auto data = linear_control({});
  const auto assigned = assign(fitted, data, kFalseAlarms, {});
  for (std::size_t i = 0; i < assigned.labels.size(); ++i)
    EXPECT_EQ(assigned.fits[i] != 0, assigned.labels[i] == 0);
  write_assignment(home_ / "labels.csv", data, assigned);
  EXPECT_THAT(read_text(home_ / "labels.csv"),
              ::testing::StartsWith("episode,label,margin,fits\n"));
}

TEST(Calibration, MisfitFallsWithSurpriseBeyondTheRunsOwn) {
  Calibration calibration;
  for (int i = 30; i > 0; --i) calibration.surprises.push_back(0.1 * i);
  double before = 1.0;
  for (double surprise = -1.0; surprise < 40.0; surprise += 0.05) {
    const double misfit = calibration.misfit(surprise);
    EXPECT_GT(misfit, 0.0);
    EXPECT_LE(misfit, before + 1e-12) << surprise;
    before = misfit;
  }
  EXPECT_EQ(calibration.misfit(-1.0), 1.0);
  EXPECT_LT(before, 1e-4);
}

TEST(Calibration, OneStrangeEpisodeOfTheRunHidesNoOthers) {
  Calibration calibration{.surprises = {50.0}, .usual = {}, .spread = {}};
  for (int i = 80; i > 0; --i) calibration.surprises.push_back(0.02 * i);
  EXPECT_LT(calibration.misfit(12.0), 0.01);
}

}  // namespace
}  // namespace kindred
