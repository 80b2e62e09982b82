// The terms on latent vectors and their gradients against PyTorch's distributions and autograd.
// Errors are relative to the largest number of each array.
#include "kindred/nn/latent_losses.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fixture.h"

namespace kindred {
namespace {

using testing::error;
using testing::Fixture;

constexpr double kLossTolerance = 1e-5;

std::vector<at::Tensor> gradients(const at::Tensor& loss, const std::vector<at::Tensor>& of) {
  return torch::autograd::grad({loss}, of);
}

class LatentLosses : public ::testing::Test {
 protected:
  at::Tensor leaf(const std::string& name) const { return fixture_[name].set_requires_grad(true); }
  Fixture fixture_;
};

TEST_F(LatentLosses, Caae) {
  for (const std::string name : {"discrete", "continuous"}) {
    SCOPED_TRACE(name);
    const auto centres = leaf(name + "/caae/centres");
    EXPECT_LT(error(squared_distances(fixture_[name + "/features"], centres),
                    fixture_[name + "/caae/distances"]),
              kLossTolerance);
    EXPECT_LT(error(codebook_spread(centres), fixture_[name + "/caae/spread"]), kLossTolerance);
  }
}

TEST_F(LatentLosses, SpreadCountsNoPairBeyondOne) {
  const auto centres = at::tensor({0.0F, 3.0F, 3.5F}).view({3, 1}).set_requires_grad(true);
  const auto spread = codebook_spread(centres);  // six ordered pairs: 4 · 1 + 2 · 0.25
  EXPECT_FLOAT_EQ(spread.item<float>(), 4.5F / 9.0F);
  const auto gradient = gradients(spread, {centres})[0];
  EXPECT_LT(error(gradient, at::tensor({0.0F, -2.0F / 9.0F, 2.0F / 9.0F}).view({3, 1})),
            kLossTolerance);
}

TEST_F(LatentLosses, Dec) {
  const auto z = leaf("dec/z");
  const auto centres = leaf("dec/centres");
  const auto q = student_assignment(z, centres);
  const auto p = target_distribution(q).detach();
  const auto kl = assignment_kl(p, q);
  EXPECT_LT(error(q, fixture_["dec/q"]), kLossTolerance);
  EXPECT_LT(error(p, fixture_["dec/p"]), kLossTolerance);
  EXPECT_LT(error(kl, fixture_["dec/kl"]), kLossTolerance);
  const auto found = gradients(kl.sum(), {z, centres});
  EXPECT_LT(error(found[0], fixture_["dec/d_z"]), kLossTolerance);
  EXPECT_LT(error(found[1], fixture_["dec/d_centres"]), kLossTolerance);
}

TEST_F(LatentLosses, AssignmentsMayBeZero) {
  const auto p = at::tensor({1.0F, 0.0F}).view({1, 2});
  const auto q = at::tensor({1.0F, 0.0F}).view({1, 2}).set_requires_grad(true);
  const auto kl = assignment_kl(p, q);
  EXPECT_EQ(kl.item<float>(), 0.0F);
  EXPECT_TRUE(gradients(kl.sum(), {q})[0].isfinite().all().item<bool>());
}

TEST_F(LatentLosses, Vae) {
  const auto mean = leaf("vae/mean");
  const auto log_variance = leaf("vae/log_variance");
  const auto kl = gaussian_kl(mean, log_variance);
  EXPECT_LT(error(kl, fixture_["vae/kl"]), kLossTolerance);
  const auto found = gradients((kl * fixture_["vae/weight"]).sum(), {mean, log_variance});
  EXPECT_LT(error(found[0], fixture_["vae/d_mean"]), kLossTolerance);
  EXPECT_LT(error(found[1], fixture_["vae/d_log_variance"]), kLossTolerance);
}

/// Straight through: the reconstruction moves z, the codebook term moves codes towards z, the
/// commitment z towards its code.
TEST_F(LatentLosses, VqVae) {
  const auto z = leaf("vq/z");
  const auto codebook = leaf("vq/codebook");
  const auto to_codes = squared_distances(z.detach(), codebook).min(1);
  const auto codes = std::get<1>(to_codes);
  const auto quantised = z + (codebook.index_select(0, codes) - z).detach();
  const auto reconstruction = (quantised - fixture_["vq/target"]).square().sum();
  const auto commitment = std::get<0>(squared_distances(z, codebook.detach()).min(1));
  const auto loss = reconstruction + std::get<0>(to_codes).sum() + commitment.sum();
  EXPECT_TRUE(at::equal(codes, at::tensor(fixture_.integers("vq/codes"))));
  EXPECT_LT(error(loss, fixture_["vq/loss"]), kLossTolerance);
  const auto found = gradients(loss, {z, codebook});
  EXPECT_LT(error(found[0], fixture_["vq/d_z"]), kLossTolerance);
  EXPECT_LT(error(found[1], fixture_["vq/d_codebook"]), kLossTolerance);
}

}  // namespace
}  // namespace kindred
