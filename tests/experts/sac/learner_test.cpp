// Both gradients against finite differences of the losses, in double precision, and what a step
// changes.
#include "kindred/experts/sac/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kindred/core/error.h"
#include "kindred/experts/sac/collector.h"
#include "tests/envs/drift.h"
#include "tests/experts/ppo/chain.h"
#include "tests/nn/plain_mlp.h"

namespace kindred::sac {
namespace {

using Values = std::vector<double>;

constexpr std::size_t kSeen = 2, kActed = 2;  // of Drift

/// Two chunks of a minibatch.
const SacOptions kLearning{.lanes = 10,
                           .lane_steps = 40,
                           .minibatch = 200,
                           .hidden = 16,
                           .seed = 7,
                           .workers = Workers(2)};

/// A learner, what it learns from, and the losses that its gradients are of.
class SacLearner : public ::testing::Test {
 protected:
  void SetUp() override {
    Collector collector(drift_, kLearning);
    collector.restart(0);
    collector.collect(learner_.view(), nullptr, replay_);
    Random random(3);
    batch_ = draw_minibatch(replay_, kLearning.minibatch, kActed, random);
  }

  struct Acted {
    Values action;
    double log_density = 0.0;
  };
  static Acted act(const MlpShape& shape, const Values& parameters, std::span<const float> seen,
                   std::span<const float> noise) {
    const auto outputs = plain_outputs(shape, parameters, seen);
    Acted result{Values(kActed)};
    for (std::size_t i = 0; i < kActed; ++i) {
      const double log_sigma = -1.5 + 3.5 * std::tanh(outputs[kActed + i]);
      const auto e = static_cast<double>(noise[i]);
      const double u = outputs[i] + std::exp(log_sigma) * e;
      result.action[i] = std::tanh(u);
      result.log_density -= 0.5 * e * e + log_sigma + 0.5 * std::log(2.0 * std::numbers::pi) +
                            std::log(1.0 - result.action[i] * result.action[i]);
    }
    return result;
  }
  static double value(const Mlp& critic, const Values& parameters, std::span<const float> seen,
                      const Values& action) {
    Values pair(seen.begin(), seen.end());
    pair.insert(pair.end(), action.begin(), action.end());
    return exact_outputs(critic.shape(), parameters, pair).front();
  }
  std::span<const float> noise(const std::vector<float>& all, std::size_t i) const {
    return std::span(all).subspan(i * kActed, kActed);
  }

  double critic_loss(std::size_t c, const Values& parameters) const {
    const auto actor = packed_doubles(learner_.actor());
    double sum = 0.0;
    for (std::size_t i = 0; i < batch_.rows.size(); ++i) {
      const auto step = replay_[batch_.rows[i]];
      const auto next =
          act(learner_.actor().shape(), actor, step.next, noise(batch_.next_noise, i));
      double lowest = std::numeric_limits<double>::infinity();
      for (const auto& target : learner_.targets())
        lowest = std::min(lowest, value(target, packed_doubles(target), step.next, next.action));
      const double following = lowest - learner_.temperature() * next.log_density;
      const double wanted =
          static_cast<double>(step.reward) + (step.terminal ? 0.0 : 0.99 * following);
      const double error = value(learner_.critics()[c], parameters, step.observation,
                                 {step.action.begin(), step.action.end()}) -
                           wanted;
      sum += 0.5 * error * error;
    }
    return sum / static_cast<double>(batch_.rows.size());
  }

  double actor_loss(const Values& parameters) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < batch_.rows.size(); ++i) {
      const auto step = replay_[batch_.rows[i]];
      const auto acted =
          act(learner_.actor().shape(), parameters, step.observation, noise(batch_.noise, i));
      double lowest = std::numeric_limits<double>::infinity();
      for (const auto& critic : learner_.critics())
        lowest =
            std::min(lowest, value(critic, packed_doubles(critic), step.observation, acted.action));
      sum += learner_.temperature() * acted.log_density - lowest;
    }
    return sum / static_cast<double>(batch_.rows.size());
  }

  template <class Loss>
  static void expect_slopes(const Mlp& network, std::span<const float> padded, const Loss& loss) {
    const auto gradient = without_padding(network.shape(), padded);
    const auto parameters = packed_doubles(network);
    ASSERT_EQ(gradient.size(), parameters.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < parameters.size(); i += 7) {
      const double expected = slope(loss, parameters, i);
      ASSERT_NEAR(static_cast<double>(gradient[i]), expected, 1e-4) << "parameter " << i;
      largest = std::max(largest, std::abs(expected));
    }
    EXPECT_GT(largest, 0.01);
  }

  Drift drift_;
  Learner learner_{drift_.spec(), kLearning};
  Replay replay_{1000, kSeen, kActed};
  Minibatch batch_;
};

TEST_F(SacLearner, CriticGradientMatchesFiniteDifferences) {
  const double error = learner_.critic_gradient(replay_, batch_);
  const auto gradient = learner_.critics_gradient();
  double expected = 0.0;
  for (std::size_t c = 0; c < 2; ++c) {
    const auto& critic = learner_.critics()[c];
    const auto loss = [&](const Values& parameters) { return critic_loss(c, parameters); };
    expect_slopes(critic, gradient.subspan(c * gradient.size() / 2, gradient.size() / 2), loss);
    expected += loss(packed_doubles(critic));
  }
  EXPECT_NEAR(error, expected, 1e-4);  // two halves of a squared error each
}

TEST_F(SacLearner, ActorGradientMatchesFiniteDifferences) {
  learner_.actor_gradient(replay_, batch_);
  expect_slopes(learner_.actor(), learner_.actors_gradient(),
                [&](const Values& parameters) { return actor_loss(parameters); });
}

TEST_F(SacLearner, StepsLowerTheLossesAndTargetsFollow) {
  const auto critic = packed_doubles(learner_.critics()[0]);
  const double before = critic_loss(0, critic);
  learner_.critic_gradient(replay_, batch_);
  learner_.critic_step(1e-3);
  const auto moved = packed_doubles(learner_.critics()[0]);
  const auto target = packed_doubles(learner_.targets()[0]);
  for (std::size_t i = 0; i < critic.size(); i += 11)
    EXPECT_NEAR(target[i], critic[i] + 0.005 * (moved[i] - critic[i]), 1e-6);
  EXPECT_LT(critic_loss(0, moved), before);

  const auto actor = packed_doubles(learner_.actor());
  const double loss = actor_loss(actor);
  const double entropy = learner_.actor_gradient(replay_, batch_);
  const double temperature = learner_.temperature();
  ASSERT_GT(entropy, -2.0);  // more than is aimed at, so that it becomes worth less
  learner_.actor_step(1e-3, entropy);
  EXPECT_LT(learner_.temperature(), temperature);
  learner_.actor_step(1e-30, -10.0);
  EXPECT_NE(packed_doubles(learner_.actor()), actor);
  EXPECT_LT(actor_loss(packed_doubles(learner_.actor())), loss);
}

TEST_F(SacLearner, SavedAndRestoredGoesOnTheSame) {
  learner_.critic_gradient(replay_, batch_);
  learner_.critic_step(1e-3);
  learner_.actor_step(1e-3, learner_.actor_gradient(replay_, batch_));
  Learner copy(drift_.spec(), kLearning);
  copy.restore(learner_.save());
  for (auto* learner : {&learner_, &copy}) {
    learner->critic_gradient(replay_, batch_);
    learner->critic_step(1e-3);
    learner->actor_step(1e-3, learner->actor_gradient(replay_, batch_));
  }
  EXPECT_EQ(copy.save(), learner_.save());
  auto other = learner_.save();
  other.pop_back();
  EXPECT_THROW(copy.restore(other), DataFormatError);
  other.push_back(-1.0F);
  EXPECT_THROW(copy.restore(other), DataFormatError);
}

TEST(Sac, RefusesDiscreteActions) {
  EXPECT_THROW(Learner(Chain().spec(), kLearning), InvalidArgument);
}

}  // namespace
}  // namespace kindred::sac
