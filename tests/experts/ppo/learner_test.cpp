// One update of actor and critic: its gradient against finite differences of the loss, and what
// bounds it.
#include "kindred/experts/ppo/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "kindred/core/error.h"
#include "tests/envs/drift.h"
#include "tests/experts/ppo/chain.h"
#include "tests/nn/plain_mlp.h"

namespace kindred::ppo {
namespace {

constexpr double kEntropy = 0.05;
constexpr double kTiny = 1e-12;  // a learning rate that leaves parameters where they are

/// All rows in one gradient, which nothing shortens.
const PpoOptions kLearning{.lanes = 20,
                           .lane_steps = 15,
                           .epochs = 1,
                           .minibatch = 300,
                           .hidden = 16,
                           .max_gradient_norm = 1e6,
                           .seed = 7,
                           .workers = Workers(2)};

/// A policy that has moved since it acted, and what it lived through.
struct Moved {
  Moved(const Environment& environment, const PpoOptions& options)
      : learner(environment.spec(), options) {
    Collector collector(environment, options);
    collector.restart(0);
    collector.collect(learner.networks(), experience);
    estimate_advantages(options, 1.0F, experience);
    auto state = learner.save();
    Random random(1);
    const auto& networks = learner.networks();
    const auto moved = 2 * networks.view.mean.size() + networks.actor.parameters().size();
    for (std::size_t i = 2 * networks.view.mean.size(); i < moved; ++i)
      if (state[i] != 0.0F) state[i] += 0.1F * static_cast<float>(random.normal());
    learner.restore(state);
  }

  UpdateStatistics update(double learning_rate, double entropy = kEntropy) {
    return learner.update(experience, learning_rate, entropy, Random(2));
  }

  /// What Adam's first step remembers: a tenth of the gradient.
  std::vector<float> actor_gradient() const {
    return memory(actor_begin() + actor_size(), actor_size());
  }
  std::vector<float> critic_gradient() const {
    const auto size = learner.networks().critic.parameters().size();
    return memory(actor_begin() + 3 * actor_size() + size, size);
  }

  std::span<const float> input(std::size_t row) const {
    const auto width = static_cast<std::size_t>(learner.networks().view.inputs());
    return std::span(experience.inputs).subspan(row * width, width);
  }

  Learner learner;
  Experience experience;

 private:
  std::size_t actor_begin() const { return 2 * learner.networks().view.mean.size(); }
  std::size_t actor_size() const {
    return learner.networks().actor.parameters().size() + learner.networks().log_deviation.size();
  }
  std::vector<float> memory(std::size_t begin, std::size_t size) const {
    const auto state = learner.save();
    std::vector<float> gradient(state.begin() + static_cast<std::ptrdiff_t>(begin),
                                state.begin() + static_cast<std::ptrdiff_t>(begin + size));
    for (float& number : gradient) number /= 0.1F;
    return gradient;
  }
};

struct Terms {
  double log_probability, entropy;
};

/// Mean over all rows of the loss that PPO's paper gives, where terms_of(row, outputs) tells the
/// log-probability of the row's action and the entropy.
template <class TermsOf>
double actor_loss(const Moved& moved, const std::vector<double>& parameters, TermsOf terms_of) {
  const auto& e = moved.experience;
  double sum = 0.0;
  for (std::size_t row = 0; row < e.rewards.size(); ++row) {
    const auto outputs =
        plain_outputs(moved.learner.networks().actor.shape(), parameters, moved.input(row));
    const Terms terms = terms_of(row, outputs);
    const double ratio =
        std::exp(terms.log_probability - static_cast<double>(e.log_probabilities[row]));
    const auto advantage = static_cast<double>(e.advantages[row]);
    sum -= std::min(ratio * advantage, std::clamp(ratio, 0.8, 1.2) * advantage);
    sum -= kEntropy * terms.entropy;
  }
  return sum / static_cast<double>(e.rewards.size());
}

/// Every `every`-th number of `gradient` against the slope of the loss.
template <class Loss>
void expect_slopes(const std::vector<float>& gradient, const Loss& loss,
                   const std::vector<double>& parameters, std::size_t every) {
  ASSERT_EQ(gradient.size(), parameters.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < parameters.size(); i += every) {
    const double expected = slope(loss, parameters, i);
    ASSERT_NEAR(static_cast<double>(gradient[i]), expected, 2e-5) << "parameter " << i;
    largest = std::max(largest, std::abs(expected));
  }
  EXPECT_GT(largest, 0.01);
}

Terms softmax_terms(const std::vector<double>& logits, std::int32_t action) {
  double sum = 0.0, entropy = 0.0;
  for (const double logit : logits) sum += std::exp(logit);
  for (const double logit : logits) entropy -= std::exp(logit) / sum * (logit - std::log(sum));
  return {logits[static_cast<std::size_t>(action)] - std::log(sum), entropy};
}

TEST(Learner, DiscreteActorFollowsTheSlopesOfTheLoss) {
  Moved moved(Chain(), kLearning);
  const auto parameters = packed_doubles(moved.learner.networks().actor);
  const auto statistics = moved.update(kTiny);
  EXPECT_GT(statistics.clipped, 0.02);  // rows on both sides of the clip
  EXPECT_LT(statistics.clipped, 0.98);
  EXPECT_GT(statistics.divergence, 0.0);
  EXPECT_EQ(statistics.minibatches, 1);
  const auto loss = [&](const std::vector<double>& at) {
    return actor_loss(moved, at, [&](std::size_t row, const std::vector<double>& outputs) {
      return softmax_terms(outputs, moved.experience.discrete[row]);
    });
  };
  expect_slopes(without_padding(moved.learner.networks().actor.shape(), moved.actor_gradient()),
                loss, parameters, 3);
}

TEST(Learner, GaussianActorFollowsTheSlopesOfTheLoss) {
  Moved moved(Drift(), kLearning);
  auto parameters = packed_doubles(moved.learner.networks().actor);
  const auto weights = parameters.size();
  for (const float number : moved.learner.networks().log_deviation)  // lie behind the weights
    parameters.push_back(static_cast<double>(number));
  moved.update(kTiny);
  const auto loss = [&](const std::vector<double>& at) {
    return actor_loss(moved, at, [&](std::size_t row, const std::vector<double>& means) {
      Terms terms{0.0, 0.0};
      for (std::size_t i = 0; i < 2; ++i) {
        const double deviation = std::exp(at[weights + i]);
        const double z =
            (static_cast<double>(moved.experience.continuous[2 * row + i]) - means[i]) / deviation;
        terms.log_probability -=
            0.5 * z * z + std::log(deviation) + 0.5 * std::log(2.0 * std::numbers::pi);
        terms.entropy += std::log(deviation) + 0.5 * std::log(2.0 * std::numbers::pi) + 0.5;
      }
      return terms;
    });
  };
  const auto found = moved.actor_gradient();
  const auto padded_size = moved.learner.networks().actor.parameters().size();
  auto gradient =
      without_padding(moved.learner.networks().actor.shape(), std::span(found).first(padded_size));
  gradient.insert(gradient.end(), found.begin() + static_cast<std::ptrdiff_t>(padded_size),
                  found.end());
  expect_slopes(gradient, loss, parameters, 1);
}

TEST(Learner, CriticFollowsTheSlopesOfTheSquaredError) {
  Moved moved(Chain(), kLearning);
  const auto shape = moved.learner.networks().critic.shape();
  const auto parameters = packed_doubles(moved.learner.networks().critic);
  const auto loss = [&](const std::vector<double>& at) {
    double sum = 0.0;
    for (std::size_t row = 0; row < moved.experience.rewards.size(); ++row) {
      const double error = plain_outputs(shape, at, moved.input(row)).front() -
                           static_cast<double>(moved.experience.returns[row]);
      sum += 0.5 * error * error;
    }
    return sum / static_cast<double>(moved.experience.rewards.size());
  };
  const auto statistics = moved.update(kTiny);
  EXPECT_NEAR(statistics.value_error, 2.0 * loss(parameters), 1e-5);
  expect_slopes(without_padding(shape, moved.critic_gradient()), loss, parameters, 3);
}

TEST(Learner, PaidActionsBecomeLikelierAndOthersLessSo) {
  const Chain chain;
  Moved moved(chain, kLearning);
  auto& e = moved.experience;
  const auto chance = [&](std::int32_t action) {
    Mlp::Pass pass;
    const auto outputs =
        moved.learner.networks().actor.forward(1, Chain::observation(2).data(), pass);
    return std::exp(softmax_terms({outputs.begin(), outputs.begin() + 3}, action).log_probability);
  };
  for (std::size_t row = 0; row < e.advantages.size(); ++row)
    e.advantages[row] = e.discrete[row] == 0 ? 1.0F : e.discrete[row] == 1 ? -1.0F : 0.0F;
  const double paid = chance(0), punished = chance(1);
  moved.update(1e-3, 0.0);
  EXPECT_GT(chance(0), paid);
  EXPECT_LT(chance(1), punished);
}

TEST(Learner, BeyondTheClipNothingMoves) {
  Moved moved(Chain(), kLearning);
  auto& e = moved.experience;
  for (std::size_t row = 0; row < e.advantages.size(); ++row) {
    e.advantages[row] = row % 2 == 0 ? 1.0F : -1.0F;
    e.log_probabilities[row] += row % 2 == 0 ? -5.0F : 5.0F;  // it has become far likelier, or less
  }
  const auto before = moved.learner.networks().actor.packed();
  EXPECT_NEAR(moved.update(1e-2, 0.0).clipped, 1.0, 1e-6);
  EXPECT_EQ(moved.learner.networks().actor.packed(), before);
}

TEST(Learner, LongGradientsAreShortened) {
  auto options = kLearning;
  options.max_gradient_norm = 0.01;
  Moved moved(Chain(), options);
  moved.update(kTiny);
  for (const auto& gradient : {moved.actor_gradient(), moved.critic_gradient()}) {
    double squares = 0.0;
    for (const float number : gradient) squares += std::pow(static_cast<double>(number), 2);
    EXPECT_NEAR(std::sqrt(squares), 0.01, 1e-4);
  }
}

TEST(Learner, DivergenceEndsAnUpdate) {
  auto options = kLearning;
  options.epochs = 10;
  options.minibatch = 128;  // three to an epoch, the last one smaller
  EXPECT_EQ(Moved(Chain(), options).update(1e-3).minibatches, 30);
  options.target_kl = 1e-6;
  EXPECT_EQ(Moved(Chain(), options).update(1e-3).minibatches, 3);
}

/// What two processes do that share a minibatch and add their gradients before the step.
TEST(Learner, GradientsOfPartsAddUpToThatOfTheWhole) {
  Moved moved(Drift(), kLearning);
  std::vector<std::int64_t> rows(moved.experience.rewards.size());
  std::iota(rows.begin(), rows.end(), 0);
  const float weight = 1.0F / static_cast<float>(rows.size());
  const auto take = [&](std::span<const std::int64_t> part) {
    moved.learner.gradient_on(moved.experience, part, kEntropy, weight);
    return std::vector<float>(moved.learner.gradient().begin(), moved.learner.gradient().end());
  };
  const auto before = moved.learner.save();
  const auto whole = take(rows);
  const auto part = take(std::span(rows).first(140));
  const auto rest = take(std::span(rows).subspan(140));
  const auto sum = moved.learner.gradient();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], whole[i], 1e-6F);
  EXPECT_NE(part, rest);
  EXPECT_EQ(moved.learner.save(), before);  // a gradient alone moves nothing

  moved.learner.step(kTiny);
  const auto actor = moved.actor_gradient();
  for (std::size_t i = 0; i < actor.size(); ++i) ASSERT_NEAR(actor[i], sum[i], 1e-5F);
}

TEST(Learner, ContinuesWhereItWasSaved) {
  auto options = kLearning;
  options.epochs = 2;
  options.minibatch = 64;
  Moved first(Drift(), options), second(Drift(), options);
  first.update(1e-3);
  second.learner.restore(first.learner.save());
  first.update(1e-3);
  second.update(1e-3);
  EXPECT_EQ(second.learner.save(), first.learner.save());

  auto damaged = first.learner.save();
  damaged.pop_back();
  EXPECT_THROW(second.learner.restore(damaged), DataFormatError);
}

}  // namespace
}  // namespace kindred::ppo
