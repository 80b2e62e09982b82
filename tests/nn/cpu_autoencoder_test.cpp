// The fused kernels against LibTorch's operations at the default size, and what they promise
// besides: the same bits whatever surrounds a sequence.
#include "kindred/nn/cpu_autoencoder.h"

#include <gtest/gtest.h>

#include "kindred/core/error.h"
#include "sequences.h"

namespace kindred {
namespace {

using namespace testing;

const AutoencoderArchitecture kDiscrete{.inputs = 11, .discrete = true, .actions = 5};
const AutoencoderArchitecture kContinuous{.inputs = 17, .discrete = false, .actions = 6};
const std::vector<std::int64_t> kLengths = {300, 211, 64, 63, 17, 2, 1, 1};
const std::vector<std::size_t> kSplit = {2, 1, 4, 1};
constexpr Tolerance kKernelTolerance{.outputs = 2e-6, .gradients = 1e-4};  // over 300 steps

at::Tensor random_tensor(std::vector<std::int64_t> shape, std::uint64_t seed) {
  Random random(seed, "autoencoder");
  auto values = at::empty(shape);
  for (auto *x = values.data_ptr<float>(), *end = x + values.numel(); x != end; ++x)
    *x = static_cast<float>(random.normal());
  return values;
}

/// Observations of one of nine kinds when actions are discrete, each its own otherwise.
std::vector<Sequence> random_sequences(const AutoencoderArchitecture& a,
                                       const std::vector<std::int64_t>& lengths) {
  Random random(7, "sequences");
  const auto kinds = random_tensor({9, a.inputs}, 8);
  std::vector<Sequence> sequences(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::int64_t t = 0; t < lengths[i]; ++t) {
      auto& [observations, actions] = sequences[i];
      const auto* kind =
          kinds.data_ptr<float>() + static_cast<std::int64_t>(random.below(9)) * a.inputs;
      for (std::int64_t j = 0; j < a.inputs; ++j)
        observations.push_back(a.discrete ? kind[j] : static_cast<float>(random.normal()));
      if (a.discrete)
        actions.push_back(static_cast<float>(random.below(static_cast<std::uint64_t>(a.actions))));
      for (std::int64_t j = 0; !a.discrete && j < a.actions; ++j)
        actions.push_back(static_cast<float>(random.normal()));
    }
  return sequences;
}

class CpuAutoencoderTest : public ::testing::TestWithParam<bool> {
 protected:
  Evaluation evaluate_with(AutoencoderEngine& engine, std::span<const SequenceBatch> parts) const {
    return evaluate(engine, parameters_, parts, feature_weight_, likelihood_weight_);
  }
  std::vector<SequenceBatch> parts(const std::vector<std::size_t>& sizes,
                                   Rows rows = Rows::kDistinct) const {
    return parts_of(architecture_, sequences_, sizes, rows);
  }

  const AutoencoderArchitecture architecture_ = GetParam() ? kDiscrete : kContinuous;
  const std::vector<Sequence> sequences_ = random_sequences(architecture_, kLengths);
  const at::Tensor parameters_ = initial_parameters(architecture_, Random(3));
  const at::Tensor feature_weight_ = random_tensor({8, 16}, 1);
  const at::Tensor likelihood_weight_ = random_tensor({8}, 2);
  const std::unique_ptr<AutoencoderEngine> engine_ =
      make_cpu_autoencoder(architecture_, Workers(1));
};

TEST_P(CpuAutoencoderTest, MatchesLibTorch) {
  const auto whole = parts({8});
  const auto expected = evaluate_with(*make_torch_autoencoder(architecture_), whole);
  expect_close(architecture_, evaluate_with(*engine_, whole), expected, kKernelTolerance);
  expect_close(architecture_, evaluate_with(*engine_, parts(kSplit)), expected, kKernelTolerance);
}

TEST_P(CpuAutoencoderTest, DoesNotDependOnThreads) {
  const auto split = parts(kSplit);
  const auto one = evaluate_with(*engine_, split);
  for (const int threads : {2, 3, 8})
    expect_identical(evaluate_with(*make_cpu_autoencoder(architecture_, Workers(threads)), split),
                     one);
}

TEST_P(CpuAutoencoderTest, ASequenceDoesNotDependOnItsBatch) {
  const auto together = evaluate_with(*engine_, parts({8}));
  const auto apart = evaluate_with(*engine_, parts(kSplit));
  EXPECT_TRUE(at::equal(apart.features, together.features));
  EXPECT_TRUE(at::equal(apart.log_likelihood, together.log_likelihood));
  EXPECT_TRUE(at::equal(apart.d_features, together.d_features));
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    const std::vector<SequenceBatch> alone = {
        batch_of(architecture_, std::span(sequences_).subspan(i, 1), Rows::kDistinct)};
    const auto features = engine_->encode(parameters_, alone);
    const auto row = static_cast<std::int64_t>(i);
    EXPECT_TRUE(at::equal(features[0], together.features[row])) << "sequence " << i;
    EXPECT_TRUE(at::equal(engine_->log_likelihood(parameters_, features, alone)[0],
                          together.log_likelihood[row]))
        << "sequence " << i;
  }
}

TEST_P(CpuAutoencoderTest, HowRowsAreKeptDoesNotMatter) {
  const auto distinct = evaluate_with(*engine_, parts({8}, Rows::kDistinct));
  for (const auto rows : {Rows::kPerStep, Rows::kBackwards}) {
    const auto found = evaluate_with(*engine_, parts({8}, rows));
    EXPECT_TRUE(at::equal(found.features, distinct.features));
    EXPECT_TRUE(at::equal(found.log_likelihood, distinct.log_likelihood));
    expect_close(architecture_, found, distinct, kKernelTolerance);
  }
}

TEST_P(CpuAutoencoderTest, BatchesOfChangingSizeDoNotLeakIntoEachOther) {
  const auto large = parts({8});
  const auto first = evaluate_with(*engine_, large);
  const std::vector<SequenceBatch> small = {
      batch_of(architecture_, std::span(sequences_).last(3), Rows::kDistinct)};
  const auto weights = likelihood_weight_.narrow(0, 5, 3);
  const auto few = evaluate(*engine_, parameters_, small, feature_weight_.narrow(0, 5, 3), weights);
  EXPECT_TRUE(at::equal(few.features, first.features.narrow(0, 5, 3)));
  expect_identical(evaluate_with(*engine_, large), first);
}

/// Parameters may be the result of an expression that nobody else keeps, and another one for the
/// decoder than for the encoder.
TEST_P(CpuAutoencoderTest, GradientsPassThroughComputedParameters) {
  const auto whole = parts({8});
  const auto gradient = [&](AutoencoderEngine& engine) {
    const auto halves = (0.5 * parameters_).set_requires_grad(true);
    const auto features = engine.encode(halves * 2.0, whole);
    const auto log_likelihood = engine.log_likelihood(halves * 2.2, features, whole);
    const auto total =
        (features * feature_weight_).sum() + (log_likelihood * likelihood_weight_).sum();
    return torch::autograd::grad({total}, {halves})[0];
  };
  expect_blocks_close(architecture_, gradient(*engine_),
                      gradient(*make_torch_autoencoder(architecture_)), kKernelTolerance.gradients);
}

TEST_P(CpuAutoencoderTest, RefusesGradientsOfAnEarlierRun) {
  const auto whole = parts({8});
  const auto parameters = parameters_.detach().clone().set_requires_grad(true);
  const auto first = engine_->encode(parameters, whole).sum();
  const auto second = engine_->encode(parameters, whole).sum();
  EXPECT_THROW(torch::autograd::grad({first}, {parameters}), std::logic_error);
  EXPECT_NO_THROW(torch::autograd::grad({second}, {parameters}));
}

INSTANTIATE_TEST_SUITE_P(Actions, CpuAutoencoderTest, ::testing::Bool(), [](const auto& discrete) {
  return discrete.param ? "discrete" : "continuous";
});

TEST(CpuAutoencoder, RefusesWidthsThatDoNotFillLanes) {
  auto architecture = kDiscrete;
  architecture.decoder3 = 20;
  EXPECT_THROW(make_cpu_autoencoder(architecture, Workers(1)), InvalidArgument);
}

}  // namespace
}  // namespace kindred
