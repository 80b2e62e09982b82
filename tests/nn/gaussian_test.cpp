// Log-densities and their gradients against their definitions in double precision.
#include "kindred/nn/gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kindred/core/random.h"

namespace kindred {
namespace {

struct Heads {
  Heads(std::int64_t n_rows, std::int64_t n_width)
      : rows(n_rows), width(n_width), stride(n_width + 3) {
    Random random(static_cast<std::uint64_t>(100 * rows + width), "gaussian");
    const auto fill = [&](std::int64_t n, double scale) {
      std::vector<float> values(static_cast<std::size_t>(n));
      for (auto& x : values) x = static_cast<float>(scale * random.normal());
      return values;
    };
    means = fill(rows * stride, 1.0);
    raws = fill(rows * stride, 4.0);
    actions = fill(rows * width, 1.0);
    factors = fill(rows, 1.0);
  }

  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * stride + column);
  }

  std::int64_t rows, width, stride;
  std::vector<float> means, raws, actions, factors;
};

/// One number of an action.
struct Term {
  Term(const Heads& heads, std::int64_t row, std::int64_t column)
      : raw(heads.raws[heads.at(row, column)]),
        deviation(std::log1p(std::exp(raw)) + 1e-5),
        z((static_cast<double>(
               heads.actions[static_cast<std::size_t>(row * heads.width + column)]) -
           static_cast<double>(heads.means[heads.at(row, column)])) /
          deviation) {}

  double log_density() const { return -0.5 * z * z - std::log(deviation) - kHalfLogTwoPi; }

  double raw, deviation, z;
};

/// One row and several blocks of them; fewer and more numbers than a vector holds.
TEST(Gaussian, MatchesTheDefinition) {
  for (const std::int64_t rows : {1, 2, 256, 300})
    for (const std::int64_t width : {1, 3, 6, 17}) {
      const Heads heads(rows, width);
      std::vector<float> log_densities(static_cast<std::size_t>(rows));
      gaussian_log_densities(rows, width, heads.stride, heads.means.data(), heads.raws.data(),
                             heads.actions.data(), log_densities.data());
      constexpr float kUntouched = 42.0F;
      std::vector<float> d_means(heads.means.size(), kUntouched), d_raws = d_means;
      const double sum = gaussian_gradient(rows, width, heads.stride, heads.means.data(),
                                           heads.raws.data(), heads.actions.data(),
                                           heads.factors.data(), d_means.data(), d_raws.data());
      double expected_sum = 0.0, size = 1.0;
      for (std::int64_t r = 0; r < rows; ++r) {
        const double factor = heads.factors[static_cast<std::size_t>(r)];
        double expected = 0.0, row_size = 1.0;
        for (std::int64_t c = 0; c < width; ++c) {
          const Term term(heads, r, c);
          expected += term.log_density();
          row_size += std::abs(term.log_density());
          const double by_mean = factor * term.z / term.deviation;
          const double by_raw =
              factor * (term.z * term.z - 1.0) / term.deviation / (1.0 + std::exp(-term.raw));
          const double scale = std::abs(factor) * (1.0 + term.z * term.z) / term.deviation;
          ASSERT_NEAR(static_cast<double>(d_means[heads.at(r, c)]), by_mean, 2e-6 * scale);
          ASSERT_NEAR(static_cast<double>(d_raws[heads.at(r, c)]), by_raw, 2e-6 * scale);
        }
        for (auto c = width; c < heads.stride; ++c) {
          ASSERT_EQ(d_means[heads.at(r, c)], kUntouched);
          ASSERT_EQ(d_raws[heads.at(r, c)], kUntouched);
        }
        ASSERT_NEAR(static_cast<double>(log_densities[static_cast<std::size_t>(r)]), expected,
                    2e-6 * row_size);
        expected_sum += factor * expected;
        size += std::abs(factor) * row_size;
      }
      ASSERT_NEAR(sum, expected_sum, 2e-6 * size);
    }
}

/// A loss that is not a number must be seen as such: it says that training diverged.
TEST(Gaussian, PassesOnWhatIsNotANumber) {
  const float bad = std::nanf("");
  for (const bool mean : {true, false}) {
    Heads heads(3, 2);
    (mean ? heads.means : heads.raws)[heads.at(1, 1)] = bad;
    std::vector<float> out(3), d_means(heads.means.size()), d_raws(heads.means.size());
    gaussian_log_densities(3, 2, heads.stride, heads.means.data(), heads.raws.data(),
                           heads.actions.data(), out.data());
    EXPECT_FALSE(std::isnan(out[0]));
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_TRUE(std::isnan(gaussian_gradient(3, 2, heads.stride, heads.means.data(),
                                             heads.raws.data(), heads.actions.data(),
                                             heads.factors.data(), d_means.data(), d_raws.data())));
  }
}

TEST(Gaussian, SaysTheSameOfStepsSideBySide) {
  for (const std::int64_t width : {1, 4, 6, 17}) {
    const Heads heads(kSideBySide, width);
    std::vector<float> expected(kSideBySide), found(kSideBySide);
    gaussian_log_densities(kSideBySide, width, heads.stride, heads.means.data(), heads.raws.data(),
                           heads.actions.data(), expected.data());
    const auto side_by_side = [&](const std::vector<float>& rows, std::int64_t stride) {
      std::vector<float> columns;
      for (std::int64_t c = 0; c < width; ++c)
        for (std::int64_t s = 0; s < kSideBySide; ++s)
          columns.push_back(rows[static_cast<std::size_t>(s * stride + c)]);
      return columns;
    };
    gaussian_log_densities_of_columns(width, side_by_side(heads.means, heads.stride).data(),
                                      side_by_side(heads.raws, heads.stride).data(),
                                      side_by_side(heads.actions, width).data(), found.data());
    for (std::size_t s = 0; s < expected.size(); ++s)
      EXPECT_NEAR(found[s], expected[s], 1e-5F * (1.0F + std::abs(expected[s]))) << width;
  }
}

}  // namespace
}  // namespace kindred
