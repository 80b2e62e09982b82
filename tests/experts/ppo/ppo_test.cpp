// Whole trainings on tasks small enough to be solved in a moment, and their promise: the same
// policy bit by bit, whatever the threads and the interruptions.
#include "kindred/experts/ppo/ppo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "tests/envs/drift.h"
#include "tests/experts/ppo/chain.h"
#include "tests/experts/temporary_folder.h"

namespace kindred {
namespace {

/// Several groups of lanes, several chunks of a minibatch, a last checkpoint before the end.
const PpoOptions kShort{.steps = 6'000,
                        .lanes = 40,
                        .lane_steps = 15,
                        .epochs = 3,
                        .minibatch = 200,
                        .hidden = 16,
                        .entropy = 0.01,
                        .checkpoint = 4,
                        .seed = 3,
                        .workers = Workers(1)};

std::string bytes(const Ppo& training) { return training.policy("p", "A policy.")->to_bytes(); }

std::vector<CurvePoint> finish(Ppo& training) {
  std::vector<CurvePoint> curve;
  while (!training.finished()) curve.push_back(training.update());
  return curve;
}

std::string text(const std::vector<CurvePoint>& curve) {
  std::string all;
  for (const auto& point : curve) all += to_json(point).dump() + "\n";
  return all;
}

TEST(Ppo, LearnsToWalkToTheEndOfAChain) {
  const Chain chain;
  Ppo training(chain, {.steps = 40'000,
                       .lanes = 16,
                       .lane_steps = 32,
                       .epochs = 4,
                       .minibatch = 128,
                       .hidden = 16,
                       .learning_rate = 3e-3,
                       .workers = Workers(1)});
  const auto curve = finish(training);
  EXPECT_LT(curve.front().mean_return, 0.3);
  EXPECT_GT(curve.back().mean_return, 0.8);  // the best there is: 0.85
  const auto policy = training.policy("right", "Goes right.");
  for (std::int32_t cell = 0; cell + 1 < Chain::kCells; ++cell) {
    std::vector<float> probabilities(3);
    policy->distribution({1, {}, Chain::observation(cell)}, probabilities);
    EXPECT_GT(probabilities[Chain::kRight], 0.9f) << "cell " << cell;
  }
}

TEST(Ppo, LearnsToStayAtTheOrigin) {
  const Drift drift;
  Ppo training(drift, {.steps = 60'000,
                       .lanes = 16,
                       .lane_steps = 64,
                       .epochs = 6,
                       .minibatch = 256,
                       .hidden = 16,
                       .learning_rate = 3e-3,
                       .deviation = 0.6,
                       .workers = Workers(1)});
  const auto curve = finish(training);
  EXPECT_LT(curve.back().entropy, curve.front().entropy);
  const auto policy = training.policy("home", "Stays at the origin.");
  const std::vector<float> places = {0.5f, -0.5f, -0.5f, 0.5f};
  std::vector<float> gaussians(8);
  policy->distribution({2, {}, places}, gaussians);
  EXPECT_LT(gaussians[0], -0.5f);  // back to where it came from
  EXPECT_GT(gaussians[1], 0.5f);
  EXPECT_GT(gaussians[4], 0.5f);
  EXPECT_LT(gaussians[5], -0.5f);
  EXPECT_GT(curve.back().mean_return, 0.6 * curve.front().mean_return);  // both are costs
}

TEST(Ppo, CountsWhatItDid) {
  const Chain chain;
  Ppo training(chain, kShort);
  EXPECT_EQ(training.steps(), 0);
  const auto curve = finish(training);
  ASSERT_EQ(curve.size(), 10U);
  EXPECT_EQ(training.updates(), 10);
  EXPECT_EQ(training.steps(), 6'000);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    EXPECT_EQ(curve[i].steps, 600 * static_cast<std::int64_t>(i + 1));
    EXPECT_GE(curve[i].mean_length, 1.0);
    EXPECT_LE(curve[i].mean_length, 12.0);
    EXPECT_GT(curve[i].entropy, 0.0);
    EXPECT_GT(curve[i].episodes, i == 0 ? 0 : curve[i - 1].episodes);
    EXPECT_EQ(to_json(curve_point(to_json(curve[i]))), to_json(curve[i]));
  }
}

TEST(Ppo, ThreadsDoNotMatter) {
  const Chain chain;
  const Drift drift;
  for (const Environment* environment : std::vector<const Environment*>{&chain, &drift}) {
    Ppo one(*environment, kShort);
    const auto curve = text(finish(one));
    for (const int threads : {2, 3}) {
      auto options = kShort;
      options.workers = Workers(threads);
      Ppo many(*environment, options);
      EXPECT_EQ(text(finish(many)), curve);
      EXPECT_EQ(bytes(many), bytes(one));
    }
  }
}

TEST(Ppo, OtherSeedsGiveOtherPolicies) {
  const Chain chain;
  auto options = kShort;
  Ppo one(chain, options);
  options.seed = 4;
  Ppo other(chain, options);
  one.update();
  other.update();
  EXPECT_NE(bytes(one), bytes(other));
}

class Checkpoint : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "training.h5";
};

TEST_F(Checkpoint, ResumedEqualsUninterrupted) {
  const Drift drift;
  Ppo straight(drift, kShort);
  const auto curve = finish(straight);
  for (const std::int64_t stop : {0, 4, 8}) {
    Ppo first(drift, kShort);
    while (first.updates() < stop) first.update();
    ASSERT_TRUE(first.at_checkpoint());
    first.save(file_);
    auto options = kShort;
    options.workers = Workers(2);
    Ppo second(drift, options);
    second.resume(file_);
    EXPECT_EQ(second.updates(), stop);
    EXPECT_EQ(text(finish(second)), text({curve.begin() + stop, curve.end()}));
    EXPECT_EQ(bytes(second), bytes(straight));
  }
}

TEST_F(Checkpoint, OfAnotherTrainingIsRefused) {
  const Chain chain;
  Ppo training(chain, kShort);
  training.save(file_);
  const auto expect_refused = [&](const Environment& environment, const PpoOptions& options) {
    Ppo other(environment, options);
    const auto before = bytes(other);
    EXPECT_THAT([&] { other.resume(file_); },
                ::testing::ThrowsMessage<DataFormatError>(::testing::HasSubstr("other options")));
    EXPECT_EQ(bytes(other), before);
  };
  auto options = kShort;
  options.seed = 9;
  expect_refused(chain, options);
  options = kShort;
  options.hidden = 32;
  expect_refused(chain, options);
  expect_refused(Chain(13), kShort);  // an option of the environment
  expect_refused(Drift(), kShort);
}

TEST_F(Checkpoint, ThatIsNoneIsRefused) {
  const Chain chain;
  Ppo training(chain, kShort);
  EXPECT_THROW(training.resume(file_), IoError);
  write_text(file_, "not a checkpoint");
  EXPECT_THROW(training.resume(file_), Error);
}

TEST(Ppo, RefusesImpossibleOptions) {
  const Chain chain;
  const auto expect_refused = [&](const PpoOptions& options, const char* word) {
    EXPECT_THAT([&] { Ppo(chain, options); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr(word)));
  };
  expect_refused({.lanes = 0}, "lanes");
  expect_refused({.hidden = 40}, "hidden");
  expect_refused({.discount = 1.5}, "discount");
  expect_refused({.learning_rate = -1.0}, "learning-rate");
}

TEST(PpoOptions, DescribeEverythingThatChangesTheResult) {
  PpoOptions options;
  const auto described = to_json(options.describe());
  for (const auto* name : {"standardise", "memory", "target-kl", "seed"})
    EXPECT_TRUE(described.contains(name)) << name;
  EXPECT_FALSE(described.contains("threads"));
  PpoOptions copy;
  from_json(copy.describe(), described, "options");
  EXPECT_EQ(to_json(copy.describe()), described);
  EXPECT_EQ((PpoOptions{.steps = 1001, .lanes = 10, .lane_steps = 10}).updates(), 11);
}

}  // namespace
}  // namespace kindred
