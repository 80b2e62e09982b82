#include "kindred/nn/adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr AdamOptions kWholeGradients{.max_gradient_norm = 1e6};

/// As published: m̂ / (√v̂ + ε), with m̂ and v̂ freed of their bias towards 0.
TEST(Adam, TakesThePublishedSteps) {
  auto options = kWholeGradients;
  options.learning_rate = 0.01;
  options.epsilon = 1e-5;
  double m = 0.0, v = 0.0, expected = 1.0;
  std::vector<float> parameter = {1.0F};
  Adam adam(1);
  for (std::int64_t step = 1; step <= 50; ++step) {
    const double gradient = std::sin(static_cast<double>(step));
    m = options.beta1 * m + (1.0 - options.beta1) * gradient;
    v = options.beta2 * v + (1.0 - options.beta2) * gradient * gradient;
    const auto power = static_cast<double>(step);
    const double unbiased_m = m / (1.0 - std::pow(options.beta1, power));
    const double unbiased_v = v / (1.0 - std::pow(options.beta2, power));
    expected -= options.learning_rate * unbiased_m / (std::sqrt(unbiased_v) + options.epsilon);
    adam.update(std::vector{static_cast<float>(gradient)}, options, parameter);
    ASSERT_NEAR(static_cast<double>(parameter[0]), expected, 2e-6) << "step " << step;
  }
}

TEST(Adam, ShortensLongGradientsOnly) {
  Adam adam(2);
  std::vector<float> parameters(2);
  adam.update(std::vector{30.0F, 40.0F}, {.max_gradient_norm = 0.5}, parameters);
  EXPECT_NEAR(adam.state().first[0], 0.1F * 0.3F, 1e-6F);
  EXPECT_NEAR(adam.state().first[1], 0.1F * 0.4F, 1e-6F);
  adam.forget();
  adam.update(std::vector{0.3F, 0.1F}, {.max_gradient_norm = 0.5}, parameters);
  EXPECT_NEAR(adam.state().first[0], 0.1F * 0.3F, 1e-6F);
}

TEST(Adam, StepsAfterForgettingAreThoseOfAFreshOne) {
  const std::vector<float> gradient = {1.0F, -2.0F, 0.5F};
  std::vector<float> used = {1.0F, 2.0F, 3.0F};
  Adam adam(3);
  for (int step = 0; step < 7; ++step) adam.update(gradient, kWholeGradients, used);
  adam.forget();
  auto expected = used;
  Adam fresh(3);
  for (int step = 0; step < 3; ++step) {
    adam.update(gradient, kWholeGradients, used);
    fresh.update(gradient, kWholeGradients, expected);
    EXPECT_EQ(used, expected);
  }
}

TEST(Adam, GoesOnFromASavedState) {
  const std::vector<float> gradient = {1.0F, -2.0F};
  std::vector<float> a = {1.0F, 2.0F};
  Adam first(2), second(2);
  for (int step = 0; step < 5; ++step) first.update(gradient, kWholeGradients, a);
  auto b = a;
  second.restore(first.state());
  first.update(gradient, kWholeGradients, a);
  second.update(gradient, kWholeGradients, b);
  EXPECT_EQ(a, b);

  EXPECT_THROW(Adam(3).restore(first.state()), InvalidArgument);
  auto damaged = first.state();
  damaged.steps = {-1};
  EXPECT_THROW(second.restore(damaged), InvalidArgument);
}

}  // namespace
}  // namespace kindred
