#include "kindred/nn/adam.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fixture.h"

namespace kindred {
namespace {

using testing::error;
using testing::Fixture;

/// torch.optim.Adam after clip_grad_norm_; the second of the three gradients is below the limit.
TEST(Adam, MatchesPyTorch) {
  const Fixture fixture;
  auto weight = fixture["adam/weight"];
  auto bias = fixture["adam/bias"];
  const auto d_weight = fixture["adam/d_weight"];
  const auto d_bias = fixture["adam/d_bias"];
  Adam adam({weight, bias}, {.learning_rate = 0.01, .max_gradient_norm = 0.5});
  for (std::int64_t step = 0; step < 3; ++step) {
    adam.step((weight * d_weight[step]).sum() + (bias * d_bias[step]).sum());
    EXPECT_LT(error(weight, fixture["adam/weights"][step]), 5e-7) << "step " << step;
    EXPECT_LT(error(bias, fixture["adam/biases"][step]), 5e-7) << "step " << step;
  }
  EXPECT_EQ(adam.steps(), 3);
}

TEST(Adam, ScalesTheLearningRate) {
  auto whole = at::ones({3});
  auto half = at::ones({3});
  Adam first({whole}, {});
  Adam second({half}, {});
  first.step(whole.sum());
  second.step(half.sum(), 0.5);
  EXPECT_LT(error(1.0 - half, 0.5 * (1.0 - whole)), 1e-3);  // of a difference of 1e-3
}

TEST(Adam, LeavesAloneWhatTheLossDoesNotTouch) {
  auto touched = at::ones({2});
  auto other = at::ones({2});
  Adam adam({touched, other}, {});
  adam.step(touched.sum());
  EXPECT_LT(touched.max().item<float>(), 1.0F);
  EXPECT_TRUE(at::equal(other.detach(), at::ones({2})));
  EXPECT_TRUE(at::equal(adam.second()[1], at::zeros({2})));
}

TEST(Adam, ForgetsOneParameter) {
  auto a = at::ones({2});
  auto b = at::ones({2});
  Adam adam({a, b}, {});
  adam.step(a.sum() + b.sum());
  adam.forget(0);
  EXPECT_EQ(adam.first()[0].abs().max().item<float>(), 0.0F);
  EXPECT_EQ(adam.second()[0].abs().max().item<float>(), 0.0F);
  EXPECT_GT(adam.first()[1].abs().max().item<float>(), 0.0F);
}

}  // namespace
}  // namespace kindred
