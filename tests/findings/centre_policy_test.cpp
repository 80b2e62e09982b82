// A centre acts exactly as its policy says.
#include "kindred/findings/centre_policy.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/core/thread_pool.h"
#include "kindred/envs/diagonal.h"
#include "kindred/nn/tensor_stack.h"
#include "mirror.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kRows = 19;

std::vector<float> random_values(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (auto& x : values) x = static_cast<float>(random.normal());
  return values;
}

at::Tensor view(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

/// Two random policies that see `columns` of the observations, shifted and scaled.
std::shared_ptr<const NetworkCentres> random_centres(std::int64_t obs_dim, bool discrete,
                                                     std::int64_t actions) {
  NetworkInputs inputs{.obs_dim = obs_dim, .columns = {}, .mean = {}, .scale = {}};
  for (std::int64_t d = 0; d < obs_dim; d += 2) {
    inputs.columns.push_back(d);
    inputs.mean.push_back(0.3F);
    inputs.scale.push_back(2.0F);
  }
  PolicyStack stack({.inputs = inputs.count(), .discrete = discrete, .actions = actions}, 2);
  for (std::int64_t i = 0; i < 2; ++i)
    stack.initialise(i, Random(3, "policy", static_cast<std::uint64_t>(i)));
  return std::make_shared<NetworkCentres>(NetworkView{inputs, {}}, std::move(stack));
}

std::vector<float> seen_by(const NetworkCentres& centres, const std::vector<float>& observations) {
  std::vector<float> seen(kRows * static_cast<std::size_t>(centres.view().inputs.count()));
  centres.view().inputs.apply(observations, seen);
  return seen;
}

EnvironmentSpec continuous_spec(std::int64_t observations, std::int64_t actions) {
  EnvironmentSpec spec = testing::Mirror().spec();
  spec.observation_shape = {observations};
  spec.action_width = actions;
  return spec;
}

TEST(CentrePolicy, DiscreteIsWhatTheStackSays) {
  const Diagonal diagonal;
  const auto centres = random_centres(diagonal.spec().observation_dim(), true, 5);
  const auto observations = random_values(kRows * centres->obs_dim(), 1);
  const CentrePolicy policy("second", centres, 1, diagonal.spec(), Acting::kSample);
  std::vector<float> out(kRows * 5);
  policy.distribution({kRows, {}, observations}, out);
  const auto expected = TensorStack(centres->policies(), at::kCPU)
                            .all_log_probs(view(seen_by(*centres, observations),
                                                {kRows, centres->view().inputs.count()}))
                            .exp()[1];
  EXPECT_LT((view(out, {kRows, 5}) - expected).abs().max().item<double>(), 1e-6);
}

TEST(CentrePolicy, ContinuousIsWhatTheStackSays) {
  const auto centres = random_centres(7, false, 3);
  const auto observations = random_values(kRows * 7, 1);
  const CentrePolicy policy("second", centres, 1, continuous_spec(7, 3), Acting::kSample);
  std::vector<float> out(kRows * 6);
  policy.distribution({kRows, {}, observations}, out);
  const auto actions = random_values(kRows * 3, 2);
  const auto expected = TensorStack(centres->policies(), at::kCPU)
                            .log_probs(view(seen_by(*centres, observations), {kRows, 4}),
                                       view(actions, {kRows, 3}))[1];
  for (std::int64_t i = 0; i < kRows; ++i)
    EXPECT_NEAR(
        gaussian_log_density(std::span(out).subspan(static_cast<std::size_t>(i * 6), 6),
                             std::span(actions).subspan(static_cast<std::size_t>(i * 3), 3)),
        expected[i].item<double>(), 1e-4);
}

TEST(CentrePolicy, IsTheSameFromSeveralThreads) {
  const auto centres = random_centres(7, false, 3);
  const auto observations = random_values(kRows * 7, 1);
  const CentrePolicy policy("first", centres, 0, continuous_spec(7, 3), Acting::kSample);
  std::vector<float> once(kRows * 6);
  policy.distribution({kRows, {}, observations}, once);
  std::vector<std::vector<float>> often(64, std::vector<float>(kRows * 6));
  ThreadPool(8).chunks(64, 1, [&](std::int64_t i, std::int64_t) {
    policy.distribution({kRows, {}, observations}, often[static_cast<std::size_t>(i)]);
  });
  for (const auto& out : often) EXPECT_EQ(out, once);
}

TEST(CentrePolicy, MostLikelyIsAPointMass) {
  const Diagonal diagonal;
  const auto choosing = random_centres(diagonal.spec().observation_dim(), true, 5);
  const auto grid = random_values(kRows * choosing->obs_dim(), 1);
  std::vector<float> chances(kRows * 5), certain(kRows * 5);
  CentrePolicy("a", choosing, 0, diagonal.spec(), Acting::kSample)
      .distribution({kRows, {}, grid}, chances);
  CentrePolicy("a", choosing, 0, diagonal.spec(), Acting::kMost)
      .distribution({kRows, {}, grid}, certain);
  for (std::size_t i = 0; i < certain.size(); i += 5) {
    const auto most = std::ranges::max(std::span(chances).subspan(i, 5));
    for (std::size_t a = i; a < i + 5; ++a) EXPECT_EQ(certain[a], chances[a] == most ? 1.0F : 0.0F);
  }

  const auto steering = random_centres(7, false, 3);
  const auto observations = random_values(kRows * 7, 1);
  std::vector<float> gaussian(kRows * 6), mean(kRows * 6);
  CentrePolicy("b", steering, 0, continuous_spec(7, 3), Acting::kSample)
      .distribution({kRows, {}, observations}, gaussian);
  CentrePolicy("b", steering, 0, continuous_spec(7, 3), Acting::kMost)
      .distribution({kRows, {}, observations}, mean);
  Random random(1);
  for (std::size_t i = 0; i < mean.size(); i += 6) {
    std::vector<float> action(3);
    draw_continuous(std::span(mean).subspan(i, 6), random, action);
    EXPECT_THAT(action, ElementsAre(gaussian[i], gaussian[i + 1], gaussian[i + 2]));
  }
}

TEST(CentrePolicy, TablesActByTheirFrequencies) {
  // Two observations of two numbers, two actions, two centres; log-probabilities [2 × 2, 2].
  const auto l = [](double p) { return std::log(p); };
  const auto centres = std::make_shared<TabularCentres>(
      std::vector<float>{0.0F, 1.0F, 1.0F, 0.0F}, 2, 2,
      std::vector<double>{l(0.25), l(0.5), l(0.75), l(0.5), l(1.0), l(0.9), l(1e-9), l(0.1)}, 2);
  EnvironmentSpec spec = Diagonal().spec();
  spec.observation_shape = {2};
  const CentrePolicy policy("table", centres, 0, spec, Acting::kSample);
  std::vector<float> out(std::size_t{3} * 5, -1.0F);
  policy.distribution({3, {}, std::vector<float>{0.0F, 1.0F, 1.0F, 0.0F, 5.0F, 5.0F}}, out);
  const std::vector<float> expected = {0.25F, 0.75F, 0,    0,    0, 1.0F, 0, 0,
                                       0,     0,     0.5F, 0.5F, 0, 0,    0};  // unseen: uniform
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-6) << i;
}

TEST(CentrePolicy, OtherDimensionsAreExplained) {
  const auto message = [](const EnvironmentSpec& spec) {
    try {
      CentrePolicy("x", random_centres(7, false, 3), 0, spec, Acting::kSample);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(continuous_spec(7, 3)), "");
  EXPECT_THAT(message(continuous_spec(8, 3)), HasSubstr("8 observation numbers"));
  EXPECT_THAT(message(continuous_spec(7, 2)), HasSubstr("2 action numbers"));
  EXPECT_THAT(message(Diagonal().spec()), HasSubstr("5 discrete actions"));
}

}  // namespace
}  // namespace kindred
