// The squashed Gaussian: its density and the actor's gradient against the definition, in double
// precision.
#include "kindred/experts/sac/squashed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "kindred/core/random.h"
#include "tests/nn/plain_mlp.h"

namespace kindred::sac {
namespace {

constexpr std::size_t kDim = 3;

std::vector<float> random_values(std::size_t n, std::uint64_t seed, double scale) {
  Random random(seed);
  std::vector<float> values(n);
  for (auto& value : values) value = static_cast<float>(scale * random.normal());
  return values;
}

double deviation(double output) { return std::exp(-1.5 + 3.5 * std::tanh(output)); }

/// The actions for the noise, in double precision.
std::vector<double> actions(const std::vector<double>& outputs, const std::vector<float>& noise) {
  std::vector<double> result(kDim);
  for (std::size_t i = 0; i < kDim; ++i)
    result[i] =
        std::tanh(outputs[i] + deviation(outputs[kDim + i]) * static_cast<double>(noise[i]));
  return result;
}

/// The density of an action by the change of variables: normal(artanh a) / (1 - a²).
double log_density(const std::vector<double>& outputs, const std::vector<double>& action) {
  double sum = 0.0;
  for (std::size_t i = 0; i < kDim; ++i) {
    const double sigma = deviation(outputs[kDim + i]);
    const double z = (std::atanh(action[i]) - outputs[i]) / sigma;
    sum -= 0.5 * z * z + std::log(sigma) + 0.5 * std::log(2.0 * std::numbers::pi);
    sum -= std::log(1.0 - action[i] * action[i]);
  }
  return sum;
}

TEST(Squashed, DrawsWithTheDensityOfTheDefinition) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto outputs = random_values(2 * kDim, seed, 0.5), noise = random_values(kDim, 99, 1.0);
    const std::vector<double> exact(outputs.begin(), outputs.end());
    std::vector<float> action(kDim);
    const float found = draw(outputs, noise, action);
    const auto expected = actions(exact, noise);
    for (std::size_t i = 0; i < kDim; ++i)
      EXPECT_NEAR(static_cast<double>(action[i]), expected[i], 1e-6);
    EXPECT_NEAR(static_cast<double>(found), log_density(exact, expected), 1e-4);
  }
}

TEST(Squashed, DensityStaysFiniteFarOut) {
  const std::vector<float> outputs = {60.0F, -60.0F, 0.0F, 50.0F, -50.0F, 0.0F};
  const std::vector<float> noise = {3.0F, -3.0F, 0.0F};
  std::vector<float> action(kDim), gradient(2 * kDim);
  EXPECT_TRUE(std::isfinite(draw(outputs, noise, action)));
  EXPECT_EQ(action[0], 1.0F);
  actor_gradient(outputs, noise, action, std::vector<float>(kDim, 1.0F), 0.2F, gradient);
  for (const float slope : gradient) EXPECT_TRUE(std::isfinite(slope));
}

/// The value is linear in the action, so its gradient is the same everywhere.
TEST(Squashed, ActorGradientMatchesFiniteDifferences) {
  constexpr double kTemperature = 0.3;
  const auto d_value = random_values(kDim, 5, 1.0);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto outputs = random_values(2 * kDim, seed, 0.7);
    const auto noise = random_values(kDim, 100 + seed, 1.0);
    std::vector<float> action(kDim), found(2 * kDim);
    draw(outputs, noise, action);
    actor_gradient(outputs, noise, action, d_value, static_cast<float>(kTemperature), found);
    const auto loss = [&](const std::vector<double>& x) {
      const auto chosen = actions(x, noise);
      double sum = kTemperature * log_density(x, chosen);
      for (std::size_t i = 0; i < kDim; ++i) sum -= static_cast<double>(d_value[i]) * chosen[i];
      return sum;
    };
    for (std::size_t i = 0; i < 2 * kDim; ++i) {
      const double expected = slope(loss, {outputs.begin(), outputs.end()}, i);
      EXPECT_NEAR(static_cast<double>(found[i]), expected, 1e-3 * (1.0 + std::abs(expected)));
    }
  }
}

}  // namespace
}  // namespace kindred::sac
