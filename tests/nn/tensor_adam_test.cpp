#include "kindred/nn/tensor_adam.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"
#include "kindred/core/error.h"

namespace kindred {
namespace {

using testing::error;
using testing::Fixture;

void step(TensorAdam& adam, const at::Tensor& loss, const AdamOptions& options = {}) {
  adam.differentiate(loss);
  adam.update(options);
}

/// torch.optim.Adam after clip_grad_norm_; the second of the three gradients is below the limit.
TEST(TensorAdam, MatchesPyTorch) {
  const Fixture fixture;
  auto weight = fixture["adam/weight"];
  auto bias = fixture["adam/bias"];
  const auto d_weight = fixture["adam/d_weight"];
  const auto d_bias = fixture["adam/d_bias"];
  TensorAdam adam({weight, bias});
  for (std::int64_t i = 0; i < 3; ++i) {
    step(adam, (weight * d_weight[i]).sum() + (bias * d_bias[i]).sum(),
         {.learning_rate = 0.01, .max_gradient_norm = 0.5});
    EXPECT_LT(error(weight, fixture["adam/weights"][i]), 5e-7) << "step " << i;
    EXPECT_LT(error(bias, fixture["adam/biases"][i]), 5e-7) << "step " << i;
  }
  EXPECT_EQ(adam.state().steps, (std::vector<std::int64_t>{3, 3}));
}

TEST(TensorAdam, ShortensEachProblemsGradientOnItsOwn) {
  // f(x) = 0.5 * 30 x²: the gradient 30 is shortened to 0.5 for the first problem only.
  auto x = at::tensor({1.0F, 0.01F}).view({2, 1, 1});
  TensorAdam adam({x}, 2);
  double m[2] = {0, 0}, v[2] = {0, 0}, expected[2] = {1.0, 0.01};
  for (int t = 1; t <= 5; ++t) {
    step(adam, (15.0 * x * x).sum(), {.learning_rate = 0.1, .max_gradient_norm = 0.5});
    for (int i = 0; i < 2; ++i) {
      double g = 30.0 * expected[i];
      g *= std::min(1.0, 0.5 / (std::abs(g) + 1e-6));
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      expected[i] -= 0.1 * (m[i] / (1 - std::pow(0.9, t))) /
                     (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8);
      EXPECT_NEAR(x[i][0][0].item<double>(), expected[i], 1e-5);
    }
  }
}

/// A kernel gets what LibTorch's operations would have used, and what it does is remembered.
TEST(TensorAdam, LeavesStepsToAKernel) {
  auto first = at::ones({3}), second = at::full({2}, 2.0);
  auto expected_first = first.clone(), expected_second = second.clone();
  TensorAdam adam({first, second}), by_torch({expected_first, expected_second});
  adam.use([](std::span<const AdamPiece> pieces, const AdamOptions& o) {
    for (const auto& piece : pieces)
      for (std::int64_t i = 0; i < piece.numbers; ++i) {
        const double g = piece.gradient[i];
        piece.first[i] = static_cast<float>(o.beta1 * piece.first[i] + (1 - o.beta1) * g);
        piece.second[i] = static_cast<float>(o.beta2 * piece.second[i] + (1 - o.beta2) * g * g);
        piece.parameter[i] -= static_cast<float>(
            piece.rates.rate * piece.first[i] / (std::sqrt(piece.second[i]) + piece.rates.epsilon));
      }
  });
  for (int i = 0; i < 3; ++i) {
    const auto gradient = at::tensor({0.1F, -0.2F, 0.0F, 0.3F, 0.05F}) * (i + 1);
    for (auto* each : {&adam, &by_torch}) {
      each->set_gradient(gradient);
      each->update({.learning_rate = 0.1, .max_gradient_norm = 1e9});
    }
  }
  EXPECT_LT(error(first, expected_first), 1e-6);
  EXPECT_LT(error(second, expected_second), 1e-6);
  EXPECT_EQ(adam.state().steps, by_torch.state().steps);
  EXPECT_LT(error(at::tensor(adam.state().second), at::tensor(by_torch.state().second)), 1e-6);
}

TEST(TensorAdam, LeavesAloneWhatTheLossDoesNotTouch) {
  auto touched = at::ones({2});
  auto other = at::ones({2});
  TensorAdam adam({touched, other});
  step(adam, touched.sum());
  EXPECT_LT(touched.max().item<float>(), 1.0F);
  EXPECT_TRUE(at::equal(other.detach(), at::ones({2})));
  EXPECT_EQ(adam.state().steps, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(adam.state().second[2], 0.0F);
}

/// What two processes do that add their gradients before the step.
TEST(TensorAdam, StepsAgainstTheGradientAsItIsThen) {
  auto together = at::ones({2, 3});
  auto apart = at::ones({2, 3});
  const auto half = at::arange(6.0F).view({2, 3});
  const auto other_half = 1.0F - half;
  TensorAdam of_all({together}), of_half({apart});
  step(of_all, (together * (half + other_half)).sum());
  of_half.differentiate((apart * half).sum());
  ASSERT_TRUE(at::equal(of_half.gradient(), half.flatten()));
  of_half.gradient().add_(other_half.flatten());
  of_half.update({});
  EXPECT_TRUE(at::equal(together.detach(), apart.detach()));
}

TEST(TensorAdam, StepsAfterForgettingAreThoseOfAFreshOne) {
  auto a = at::ones({2});
  auto b = at::ones({2});
  TensorAdam adam({a, b});
  for (int i = 0; i < 20; ++i) step(adam, a.square().sum() + b.square().sum());
  adam.forget(0);
  EXPECT_EQ(adam.state().steps, (std::vector<std::int64_t>{0, 20}));
  EXPECT_EQ(adam.state().first[0], 0.0F);
  EXPECT_NE(adam.state().first[2], 0.0F);

  auto expected = a.detach().clone();
  TensorAdam fresh({expected});
  for (int i = 0; i < 3; ++i) {
    step(adam, 0.1 * a.sum());
    step(fresh, 0.1 * expected.sum());
    EXPECT_TRUE(at::equal(a.detach(), expected.detach())) << "step " << i;
  }
}

TEST(TensorAdam, GoesOnFromASavedState) {
  auto a = at::ones({2, 2});
  TensorAdam first({a});
  for (int i = 0; i < 5; ++i) step(first, a.square().sum());
  auto b = a.detach().clone();
  TensorAdam second({b});
  second.restore(first.state());
  step(first, a.square().sum());
  step(second, b.square().sum());
  EXPECT_TRUE(at::equal(a.detach(), b.detach()));

  auto shorter = at::ones({3});
  EXPECT_THROW(TensorAdam({shorter}).restore(first.state()), InvalidArgument);
}

}  // namespace
}  // namespace kindred
