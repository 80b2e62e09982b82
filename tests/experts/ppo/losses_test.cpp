// Every gradient of the loss of one step against finite differences, in double precision.
#include "kindred/experts/ppo/losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kindred/core/random.h"
#include "tests/nn/plain_mlp.h"

namespace kindred::ppo {
namespace {

using Values = std::vector<double>;

std::vector<float> to_floats(const Values& values) { return {values.begin(), values.end()}; }

/// Numbers that a float holds exactly.
Values random_values(std::size_t n, std::uint64_t seed, double scale = 1.0) {
  Random random(seed);
  Values values(n);
  for (auto& value : values)
    value = static_cast<double>(static_cast<float>(scale * random.normal()));
  return values;
}

double log_softmax(const Values& logits, std::size_t action) {
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit);
  return logits[action] - std::log(sum);
}

double categorical_entropy(const Values& logits) {
  double entropy = 0.0;
  for (std::size_t a = 0; a < logits.size(); ++a)
    entropy -= std::exp(log_softmax(logits, a)) * log_softmax(logits, a);
  return entropy;
}

TEST(CategoricalTerms, MatchTheDefinitionAndItsSlopes) {
  for (const double scale : {0.01, 1.0, 4.0}) {
    const auto logits = random_values(5, 1, scale);
    for (std::size_t action = 0; action < logits.size(); ++action) {
      std::vector<float> d_log_probability(5), d_entropy(5);
      const auto terms = categorical_terms(to_floats(logits), static_cast<std::int32_t>(action),
                                           d_log_probability, d_entropy);
      EXPECT_NEAR(static_cast<double>(terms.log_probability), log_softmax(logits, action), 2e-6);
      EXPECT_NEAR(static_cast<double>(terms.entropy), categorical_entropy(logits), 2e-6);
      for (std::size_t i = 0; i < logits.size(); ++i) {
        const auto f = [&](const Values& x) { return log_softmax(x, action); };
        EXPECT_NEAR(static_cast<double>(d_log_probability[i]), slope(f, logits, i), 2e-6);
        EXPECT_NEAR(static_cast<double>(d_entropy[i]), slope(categorical_entropy, logits, i), 2e-6);
      }
    }
  }
}

TEST(CategoricalTerms, StayFiniteFarOut) {
  std::vector<float> d_log_probability(3), d_entropy(3);
  const auto terms =
      categorical_terms(std::vector{500.0F, -500.0F, 0.0F}, 1, d_log_probability, d_entropy);
  EXPECT_EQ(terms.log_probability, -1000.0F);
  for (const auto& gradient : {d_log_probability, d_entropy})
    for (const float number : gradient) EXPECT_TRUE(std::isfinite(number));
}

double log_density(const Values& means, const Values& log_deviation, const Values& action) {
  double sum = 0.0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double deviation = std::exp(log_deviation[i]);
    const double z = (action[i] - means[i]) / deviation;
    sum += std::log(std::exp(-0.5 * z * z) / (deviation * std::sqrt(2.0 * std::numbers::pi)));
  }
  return sum;
}

TEST(GaussianTerms, MatchTheDefinitionAndItsSlopes) {
  const auto means = random_values(4, 2), action = random_values(4, 3);
  const auto log_deviation = random_values(4, 4, 0.5);
  std::vector<float> d_means(4), d_deviation(4);
  const auto terms = gaussian_terms(to_floats(means), to_floats(log_deviation), to_floats(action),
                                    d_means, d_deviation);
  EXPECT_NEAR(static_cast<double>(terms.log_probability), log_density(means, log_deviation, action),
              1e-5);
  double entropy = 0.0;
  for (const double log_scale : log_deviation)
    entropy += 0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e) + log_scale;
  EXPECT_NEAR(static_cast<double>(terms.entropy), entropy, 1e-5);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto by_mean = [&](const Values& x) { return log_density(x, log_deviation, action); };
    const auto by_deviation = [&](const Values& x) { return log_density(means, x, action); };
    EXPECT_NEAR(static_cast<double>(d_means[i]), slope(by_mean, means, i), 2e-5);
    EXPECT_NEAR(static_cast<double>(d_deviation[i]), slope(by_deviation, log_deviation, i), 2e-5);
  }
}

double clipped_loss(double log_ratio, double advantage, double clip) {
  const double ratio = std::exp(log_ratio);
  return -std::min(ratio * advantage, std::clamp(ratio, 1.0 - clip, 1.0 + clip) * advantage);
}

TEST(ClippedSurrogate, MatchesTheSlopesOfTheLoss) {
  for (const double advantage : {-2.0, -0.5, 0.0, 0.5, 2.0})
    for (double log_ratio = -1.0; log_ratio < 1.0; log_ratio += 0.0625) {
      const auto found =
          clipped_surrogate(static_cast<float>(log_ratio), static_cast<float>(advantage), 0.2F);
      const auto f = [&](const Values& x) { return clipped_loss(x[0], advantage, 0.2); };
      EXPECT_NEAR(static_cast<double>(found.slope), slope(f, {log_ratio}, 0), 1e-5)
          << advantage << " at " << log_ratio;
      EXPECT_NEAR(static_cast<double>(found.divergence), std::exp(log_ratio) - 1.0 - log_ratio,
                  1e-6);
      const bool beyond = (advantage > 0.0 && std::exp(log_ratio) > 1.2) ||
                          (advantage < 0.0 && std::exp(log_ratio) < 0.8);
      EXPECT_EQ(found.at_clip, beyond);
    }
}

TEST(ClippedSurrogate, StaysFiniteWhenAPolicyHasMovedFar) {
  for (const float log_ratio : {-1000.0F, 1000.0F})
    for (const float advantage : {-1.0F, 1.0F}) {
      const auto found = clipped_surrogate(log_ratio, advantage, 0.2F);
      EXPECT_TRUE(std::isfinite(found.slope));
      EXPECT_TRUE(std::isfinite(found.divergence));
    }
}

}  // namespace
}  // namespace kindred::ppo
