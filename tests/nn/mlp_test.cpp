// The small network against plain loops in double precision, and its promises about rows.
#include "kindred/nn/mlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/error.h"
#include "kindred/nn/gemm.h"
#include "tests/nn/plain_mlp.h"

namespace kindred {
namespace {

const MlpShape kDense{.inputs = 7, .hidden = {32, 16}, .outputs = 5};
const MlpShape kSparse{.inputs = 300, .hidden = {48, 16}, .outputs = 3, .sparse = true};

Mlp random_network(const MlpShape& shape, std::uint64_t seed = 1) {
  Mlp network(shape);
  network.initialise(Random(seed, "mlp"), 1.0);
  auto values = network.packed();
  Random random(seed, "bias");
  for (auto& value : values) value += 0.1F * static_cast<float>(random.normal());
  network.unpack(values);
  return network;
}

/// Rows of which about one number in `every` is not 0.
std::vector<float> random_rows(std::int64_t rows, std::int64_t width, std::uint64_t every = 1) {
  Random random(2, "rows");
  std::vector<float> values(static_cast<std::size_t>(rows * width));
  for (auto& value : values)
    if (random.below(every) == 0) value = static_cast<float>(random.normal());
  return values;
}

struct Case {
  MlpShape shape;
  std::uint64_t every;  // of how many inputs one is set
};

class MlpOf : public ::testing::TestWithParam<Case> {
 protected:
  const MlpShape& shape() const { return GetParam().shape; }
  std::vector<float> rows(std::int64_t count) const {
    return random_rows(count, shape().inputs, GetParam().every);
  }
};
INSTANTIATE_TEST_SUITE_P(
    Shapes, MlpOf,
    ::testing::Values(Case{kDense, 1}, Case{kSparse, 12},
                      Case{{.inputs = 1, .hidden = {16}, .outputs = 1}, 1},
                      Case{{.inputs = 3, .hidden = {16, 32, 16}, .outputs = 20}, 1},
                      Case{{.inputs = 5, .hidden = {17, 6}, .outputs = 2}, 1},
                      Case{{.inputs = 2, .hidden = {}, .outputs = 3}, 1},
                      Case{{.inputs = 6, .hidden = {17, 16}, .outputs = 6, .heads = 2}, 1},
                      Case{{.inputs = 8, .hidden = {16}, .outputs = 11, .heads = 3}, 1},
                      Case{{.inputs = 4, .hidden = {}, .outputs = 5, .heads = 2}, 1},
                      Case{{.inputs = 90, .hidden = {}, .outputs = 5, .heads = 2, .sparse = true},
                           12}),
    [](const auto& tested) {
      return fmt::format("{}{}", tested.param.shape.sparse ? "Sparse" : "Of",
                         tested.param.shape.inputs);
    });

TEST_P(MlpOf, ForwardMatchesTheDefinition) {
  constexpr std::int64_t kRows = 23;
  const auto network = random_network(shape());
  const auto x = rows(kRows);
  Mlp::Pass pass;
  const auto outputs = network.forward(kRows, x.data(), pass);
  const auto stride = static_cast<std::size_t>(network.output_stride());
  ASSERT_EQ(network.output_stride(), padded(shape().heads * shape().outputs));
  ASSERT_EQ(outputs.size(), kRows * stride);
  const auto width = static_cast<std::size_t>(shape().inputs);
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto expected =
        plain_outputs(shape(), packed_doubles(network), std::span(x).subspan(r * width, width));
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(static_cast<double>(outputs[r * stride + i]), expected[i], 1e-5);
    for (auto i = expected.size(); i < stride; ++i) ASSERT_EQ(outputs[r * stride + i], 0.0F);
  }
}

/// Numbers for every output, 0 in the padding.
std::vector<float> random_factors(const Mlp& network, std::int64_t rows) {
  auto factors = random_rows(rows, network.output_stride());
  const auto stride = static_cast<std::size_t>(network.output_stride());
  for (std::size_t i = 0; i < factors.size(); ++i)
    if (i % stride >= static_cast<std::size_t>(network.shape().heads * network.shape().outputs))
      factors[i] = 0.0F;
  return factors;
}

std::vector<float> gradient_of(const Mlp& network, std::int64_t rows, const std::vector<float>& x,
                               const std::vector<float>& factors, Mlp::Pass& pass) {
  std::vector<float> gradient(network.parameters().size());
  network.forward(rows, x.data(), pass);
  network.backward(rows, x.data(), factors, pass, gradient);
  return gradient;
}

/// Of the same loss as below, along some of the inputs.
TEST(Mlp, InputGradientMatchesFiniteDifferences) {
  constexpr std::size_t kRows = 5;
  for (const auto activation : {Activation::kTanh, Activation::kRelu}) {
    auto shape = kDense;
    shape.activation = activation;
    const auto network = random_network(shape);
    const auto x = random_rows(kRows, shape.inputs);
    const auto factors = random_factors(network, kRows);
    const auto parameters = packed_doubles(network);
    const auto stride = static_cast<std::size_t>(network.output_stride());
    Mlp::Pass pass;
    network.forward(kRows, x.data(), pass);
    const auto found = network.input_gradient(kRows, factors, 4, 3, pass);
    ASSERT_EQ(found.size(), kRows * 16);
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::vector<double> row(x.begin() + static_cast<std::ptrdiff_t>(7 * r),
                                    x.begin() + static_cast<std::ptrdiff_t>(7 * r + 7));
      const auto loss = [&](const std::vector<double>& inputs) {
        const auto outputs = exact_outputs(shape, parameters, inputs);
        double sum = 0.0;
        for (std::size_t i = 0; i < outputs.size(); ++i)
          sum += outputs[i] * static_cast<double>(factors[r * stride + i]);
        return sum;
      };
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(static_cast<double>(found[16 * r + i]), slope(loss, row, 4 + i), 1e-4);
    }
  }
  const Mlp shallow({.inputs = 2, .hidden = {}, .outputs = 3});
  Mlp::Pass pass;
  EXPECT_THROW(shallow.input_gradient(1, {}, 0, 1, pass), InvalidArgument);
}

/// Of the loss Σ outputs · factors, over all rows.
TEST_P(MlpOf, BackwardMatchesFiniteDifferences) {
  constexpr std::size_t kRows = 9;
  const auto network = random_network(shape());
  const auto x = rows(kRows);
  const auto factors = random_factors(network, kRows);
  Mlp::Pass pass;
  const auto found = without_padding(shape(), gradient_of(network, kRows, x, factors, pass));

  const auto width = static_cast<std::size_t>(shape().inputs);
  const auto stride = static_cast<std::size_t>(network.output_stride());
  const auto loss = [&](const std::vector<double>& parameters) {
    double sum = 0.0;
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto outputs =
          plain_outputs(shape(), parameters, std::span(x).subspan(r * width, width));
      for (std::size_t i = 0; i < outputs.size(); ++i)
        sum += outputs[i] * static_cast<double>(factors[r * stride + i]);
    }
    return sum;
  };
  const auto parameters = packed_doubles(network);
  ASSERT_EQ(found.size(), parameters.size());
  const auto step = std::max<std::size_t>(1, parameters.size() / 400);
  for (std::size_t i = 0; i < parameters.size(); i += step)
    ASSERT_NEAR(static_cast<double>(found[i]), slope(loss, parameters, i), 1e-5) << i;
}

TEST_P(MlpOf, BackwardAddsToTheGradientOrSetsItAndLeavesThePaddingAlone) {
  constexpr std::int64_t kRows = 5;
  const auto network = random_network(shape());
  const auto x = rows(kRows);
  const auto factors = random_factors(network, kRows);
  Mlp::Pass pass;
  const auto once = gradient_of(network, kRows, x, factors, pass);
  auto twice = once;
  network.backward(kRows, x.data(), factors, pass, twice);
  for (std::size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(twice[i], 2.0F * once[i], 1e-4F);
  network.backward(kRows, x.data(), factors, pass, twice, /*add=*/false);
  EXPECT_EQ(twice, once);

  const auto set = [](const auto& values) {
    return std::ranges::count_if(values, [](float value) { return value != 0.0F; });
  };
  EXPECT_EQ(set(once), set(without_padding(shape(), once)));
}

/// What a rollout relies on: how many episodes still run must not change what one of them does.
TEST_P(MlpOf, ARowAloneIsARowOfABatchBitForBit) {
  const auto network = random_network(shape());
  const auto x = rows(40);
  Mlp::Pass together, apart;
  const auto stride = network.output_stride();
  const auto first = network.forward(40, x.data(), together);
  const std::vector<float> expected(first.begin(), first.end());
  for (const std::int64_t batch : {1, 2, 3, 4, 5, 6, 7, 13, 16})
    for (std::int64_t begin = 0; begin + batch <= 40; begin += batch) {
      const auto found = network.forward(batch, x.data() + begin * shape().inputs, apart);
      ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin() + begin * stride))
          << batch << " rows from " << begin;
    }
}

TEST_P(MlpOf, UnpackReversesPacked) {
  const auto network = random_network(shape());
  Mlp other(shape());
  other.unpack(network.packed());
  EXPECT_TRUE(std::ranges::equal(other.parameters(), network.parameters()));
  EXPECT_EQ(static_cast<std::int64_t>(network.packed().size()), shape().parameters());

  // Whatever depends on the parameters follows them: backwards too.
  const auto x = rows(4);
  const auto factors = random_factors(network, 4);
  Mlp::Pass pass;
  EXPECT_EQ(gradient_of(other, 4, x, factors, pass), gradient_of(network, 4, x, factors, pass));
}

TEST(Mlp, SparseInputsGiveTheSameAsDense) {
  auto shape = kSparse;
  shape.sparse = false;
  const auto sparse = random_network(kSparse);
  Mlp dense(shape);
  dense.set_parameters(sparse.parameters());
  const auto x = random_rows(19, shape.inputs, 12);
  const auto factors = random_factors(sparse, 19);
  Mlp::Pass sparse_pass, dense_pass;
  const auto a = sparse.forward(19, x.data(), sparse_pass);
  const auto b = dense.forward(19, x.data(), dense_pass);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6F);
  const auto da = gradient_of(sparse, 19, x, factors, sparse_pass);
  const auto db = gradient_of(dense, 19, x, factors, dense_pass);
  for (std::size_t i = 0; i < da.size(); ++i) ASSERT_NEAR(da[i], db[i], 1e-5F);
}

TEST(Mlp, OneRoomServesBatchesOfAnySize) {
  const auto network = random_network(kDense);
  const auto x = random_rows(30, kDense.inputs);
  const auto factors = random_factors(network, 30);
  Mlp::Pass used, fresh;
  gradient_of(network, 30, x, factors, used);
  const std::vector<float> few(factors.begin(), factors.begin() + 3 * network.output_stride());
  EXPECT_EQ(gradient_of(network, 3, x, few, used), gradient_of(network, 3, x, few, fresh));
}

TEST(Mlp, StartsWithTheDeviationsItsInputsAskFor) {
  Mlp network({.inputs = 100, .hidden = {256, 64}, .outputs = 8});
  network.initialise(Random(3), 0.01);
  const auto values = network.packed();
  const auto deviation = [&](std::size_t begin, std::size_t count) {
    double squares = 0.0;
    for (std::size_t i = begin; i < begin + count; ++i)
      squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return std::sqrt(squares / static_cast<double>(count));
  };
  const std::size_t first = 25600, second = 16384, last = 512;  // 100 × 256, 256 × 64, 64 × 8
  EXPECT_NEAR(deviation(0, first), 0.1, 0.002);
  EXPECT_EQ(deviation(first, 256), 0.0);  // biases
  EXPECT_NEAR(deviation(first + 256, second), 1.0 / 16.0, 0.002);
  EXPECT_NEAR(deviation(first + 256 + second + 64, last), 0.01 / 8.0, 0.0002);

  Mlp same({.inputs = 100, .hidden = {256, 64}, .outputs = 8});
  same.initialise(Random(3), 0.01);
  EXPECT_EQ(same.packed(), values);
}

TEST(Mlp, RefusesImpossibleShapesAndSizes) {
  EXPECT_THROW(Mlp({.inputs = 0, .outputs = 1}), InvalidArgument);
  EXPECT_THROW(Mlp({.inputs = 1, .outputs = 0}), InvalidArgument);
  EXPECT_THROW(Mlp({.inputs = 1, .outputs = 1, .heads = 0}), InvalidArgument);
  EXPECT_THROW(Mlp({.inputs = 1, .hidden = {0}, .outputs = 1}), InvalidArgument);
  EXPECT_THROW(Mlp({.inputs = 1, .hidden = {-16}, .outputs = 1}), InvalidArgument);
  Mlp network(kDense);
  const std::vector<float> many(static_cast<std::size_t>(kDense.parameters() + 1));
  EXPECT_THROW(network.unpack(many), InvalidArgument);
  EXPECT_THROW(network.unpack(std::span(many).first(3)), InvalidArgument);
  EXPECT_THROW(network.set_parameters(many), InvalidArgument);
}

}  // namespace
}  // namespace kindred
