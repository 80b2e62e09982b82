#include "kindred/data/least_squares.h"

#include <gtest/gtest.h>

#include "kindred/core/random.h"

namespace kindred {
namespace {

std::vector<double> random_numbers(std::size_t count, const char* name) {
  Random random(1, name);
  std::vector<double> numbers(count);
  for (auto& number : numbers) number = random.normal();
  return numbers;
}

/// However many rows there are and however wide: as if they were added one by one, to the bit.
TEST(ProductSums, AreThoseOfOneRowAfterTheOther) {
  for (const std::size_t rows : {1, 15, 16, 17, 100})
    for (const auto& [factors, width] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {3, 5}, {24, 41}}) {
      const auto numbers = random_numbers(rows * width, "rows");
      ProductSums sums(factors, width);
      for (std::size_t r = 0; r < rows; ++r)
        std::copy_n(&numbers[r * width], width, sums.add_row());
      for (std::size_t i = 0; i < factors; ++i)
        for (std::size_t j = i; j < width; ++j) {
          double expected = 0.0;
          for (std::size_t r = 0; r < rows; ++r)
            expected += numbers[r * width + i] * numbers[r * width + j];
          EXPECT_EQ(sums.sum(i, j), expected) << rows << " rows, " << i << ", " << j;
        }
    }
}

TEST(LeastSquares, FindsTheWeights) {
  constexpr std::size_t kInputs = 5, kOutputs = 3;
  const auto expected = random_numbers(kInputs * kOutputs, "weights");
  const auto inputs = random_numbers(200 * kInputs, "inputs");
  LeastSquares problem(kInputs, kOutputs);
  std::vector<double> out(kOutputs);
  for (std::size_t r = 0; r < 200; ++r) {
    const std::span input(&inputs[r * kInputs], kInputs);
    apply_weights(expected, input, out);
    problem.add(input, out);
  }
  const auto found = problem.weights();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4);
}

TEST(ApplyWeights, GivesTheSameForExamplesSideBySide) {
  for (const std::size_t outputs : {1, 2, 17}) {
    constexpr std::size_t kInputs = 7;
    const auto weights = random_numbers(kInputs * outputs, "weights");
    const auto inputs = random_numbers(kInputs * kExamplesAtOnce, "inputs");
    std::vector<double> all(outputs * kExamplesAtOnce), one(outputs), input(kInputs);
    apply_weights_at_once(weights, inputs, all);
    for (std::size_t e = 0; e < kExamplesAtOnce; ++e) {
      for (std::size_t i = 0; i < kInputs; ++i) input[i] = inputs[i * kExamplesAtOnce + e];
      apply_weights(weights, input, one);
      for (std::size_t o = 0; o < outputs; ++o) EXPECT_EQ(all[o * kExamplesAtOnce + e], one[o]);
    }
  }
}

}  // namespace
}  // namespace kindred
