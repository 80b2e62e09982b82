// Whole trainings on a task small enough to be solved in a moment, and their promise: the same
// policy bit by bit, whatever the threads and the interruptions.
#include "kindred/experts/sac/sac.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "tests/envs/drift.h"
#include "tests/experts/temporary_folder.h"

namespace kindred::sac {
namespace {

/// Several groups of lanes, several chunks of a minibatch, a memory that forgets, a last checkpoint
/// before the end.
const SacOptions kShort{.steps = 1'200,
                        .lanes = 20,
                        .lane_steps = 6,
                        .gradients = 5,
                        .minibatch = 200,
                        .hidden = 16,
                        .start = 240,
                        .replay = 700,
                        .checkpoint = 4,
                        .seed = 3,
                        .workers = Workers(1)};

std::string bytes(const Sac& training) { return training.policy("p", "A policy.")->to_bytes(); }

std::string finish(Sac& training) {
  std::string curve;
  while (!training.finished()) curve += to_json(training.update()).dump() + "\n";
  return curve;
}

TEST(Sac, LearnsToStayAtTheOrigin) {
  const Drift drift;
  Sac training(drift, {.steps = 6'000,
                       .lanes = 16,
                       .lane_steps = 4,
                       .gradients = 16,
                       .minibatch = 64,
                       .hidden = 16,
                       .start = 600,
                       .learning_rate = 3e-3,
                       .final_learning_rate = 1e-3,
                       .workers = Workers(1)});
  CurvePoint first, last;
  while (!training.finished()) {
    last = training.update();
    if (training.steps() <= 600) first = last;
  }
  EXPECT_GT(last.mean_return, 0.5 * first.mean_return);  // both are costs
  const auto policy = training.policy("home", "Stays at the origin.");
  const std::vector<float> places = {0.5F, -0.5F, -0.5F, 0.5F};
  std::vector<float> gaussians(8);
  policy->distribution({2, {}, places}, gaussians);
  EXPECT_LT(gaussians[0], -0.5F);  // back to where it came from
  EXPECT_GT(gaussians[1], 0.5F);
  EXPECT_GT(gaussians[4], 0.5F);
  EXPECT_LT(gaussians[5], -0.5F);
}

TEST(Sac, CountsWhatItDid) {
  const Drift drift;
  Sac training(drift, kShort);
  EXPECT_EQ(training.algorithm(), "sac");
  EXPECT_EQ(training.planned_updates(), 10);
  EXPECT_EQ(training.planned_steps(), 1'200);
  for (std::int64_t i = 1; !training.finished(); ++i) {
    const auto point = training.update();
    EXPECT_EQ(point.steps, 120 * i);
    EXPECT_EQ(training.updates(), i);
    EXPECT_EQ(to_json(curve_point(to_json(point))), to_json(point));
    ASSERT_TRUE(point.temperature);
    EXPECT_EQ(std::abs(*point.temperature - 0.2) < 1e-6, i < 2);  // nothing is learned yet
    EXPECT_GE(point.episodes, i > 2 ? 20 : 0);
  }
  EXPECT_EQ(training.steps(), 1'200);
}

TEST(Sac, ThreadsDoNotMatter) {
  const Drift drift;
  Sac one(drift, kShort);
  const auto curve = finish(one);
  for (const int threads : {2, 3}) {
    auto options = kShort;
    options.workers = Workers(threads);
    Sac many(drift, options);
    EXPECT_EQ(finish(many), curve);
    EXPECT_EQ(bytes(many), bytes(one));
  }
}

TEST(Sac, OtherSeedsGiveOtherPolicies) {
  const Drift drift;
  auto options = kShort;
  Sac one(drift, options);
  options.seed = 4;
  EXPECT_NE(bytes(one), bytes(Sac(drift, options)));
}

class SacCheckpoint : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "training.h5";
  Drift drift_;
};

TEST_F(SacCheckpoint, ResumedEqualsUninterrupted) {
  Sac straight(drift_, kShort);
  const auto curve = finish(straight);
  for (const std::int64_t stop : {0, 4, 8}) {
    Sac first(drift_, kShort);
    while (first.updates() < stop) first.update();
    ASSERT_TRUE(first.at_checkpoint());
    first.save(file_);
    auto options = kShort;
    options.workers = Workers(2);
    Sac second(drift_, options);
    second.resume(file_);
    EXPECT_EQ(second.updates(), stop);
    EXPECT_THAT(curve, ::testing::EndsWith(finish(second)));
    EXPECT_EQ(bytes(second), bytes(straight));
  }
}

TEST_F(SacCheckpoint, OfAnotherTrainingIsRefused) {
  Sac(drift_, kShort).save(file_);
  auto options = kShort;
  options.seed = 9;
  Sac other(drift_, options);
  EXPECT_THAT([&] { other.resume(file_); },
              ::testing::ThrowsMessage<DataFormatError>(::testing::HasSubstr("other options")));
  write_text(file_, "not a checkpoint");
  EXPECT_THROW(other.resume(file_), Error);
}

TEST(Sac, RefusesImpossibleOptions) {
  const Drift drift;
  const auto expect_refused = [&](const SacOptions& options, const char* word) {
    EXPECT_THAT([&] { Sac(drift, options); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr(word)));
  };
  expect_refused({.lanes = 0}, "lanes");
  expect_refused({.hidden = 40}, "hidden");
  expect_refused({.follow = 2.0}, "follow");
}

TEST(SacOptions, DescribeEverythingThatChangesTheResult) {
  SacOptions options;
  const auto described = to_json(options.describe());
  for (const auto* name : {"replay", "actor-every", "target-entropy", "seed"})
    EXPECT_TRUE(described.contains(name)) << name;
  EXPECT_FALSE(described.contains("threads"));
  SacOptions copy;
  from_json(copy.describe(), described, "options");
  EXPECT_EQ(to_json(copy.describe()), described);
}

}  // namespace
}  // namespace kindred::sac
