#include "kindred/cuda/policy_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace kindred::cuda {
namespace {

TEST(PolicyImage, TakesTheSmallestShapeThatFits) {
  const auto sizes = [](const PolicyArchitecture& architecture) {
    const auto shape = padded_shape(architecture);
    return shape ? std::vector<int>{shape->input_tiles, shape->hidden, shape->outputs}
                 : std::vector<int>();
  };
  const auto gaussian = [](std::int64_t inputs, std::int64_t actions, std::int64_t width) {
    return PolicyArchitecture{inputs, false, actions, {width, width}};
  };
  EXPECT_EQ(sizes(gaussian(11, 3, 128)), (std::vector{1, 128, 16}));
  EXPECT_EQ(sizes(gaussian(17, 6, 128)), (std::vector{2, 128, 16}));
  EXPECT_EQ(sizes(gaussian(31, 8, 100)), (std::vector{2, 128, 16}));
  EXPECT_EQ(sizes(gaussian(32, 8, 128)), (std::vector{3, 128, 16}));
  EXPECT_EQ(sizes(gaussian(17, 9, 128)), (std::vector{2, 128, 32}));
  EXPECT_EQ(sizes(gaussian(17, 6, 64)), (std::vector{2, 64, 16}));
  EXPECT_EQ(sizes(gaussian(60, 16, 10)), (std::vector{4, 64, 32}));
  EXPECT_EQ(sizes({17, true, 16, {128, 128}}), (std::vector{2, 128, 16}));
  EXPECT_EQ(sizes({17, true, 17, {128, 128}}), (std::vector{2, 128, 32}));
  EXPECT_EQ(sizes({17, false, 6, {30, 128}}), (std::vector{2, 128, 16}));
  EXPECT_EQ(sizes(gaussian(60, 12, 128)), (std::vector{6, 128, 32}));
  EXPECT_EQ(sizes(gaussian(111, 8, 128)), (std::vector{7, 128, 16}));
  EXPECT_EQ(sizes(gaussian(112, 8, 128)), std::vector<int>());
  EXPECT_EQ(sizes(gaussian(111, 9, 128)), std::vector<int>());
  EXPECT_EQ(sizes(gaussian(17, 6, 256)), std::vector<int>());
  EXPECT_EQ(sizes({17, false, 6, {128}}), std::vector<int>());
  EXPECT_EQ(sizes({17, false, 6, {128, 128, 128}}), std::vector<int>());
}

TEST(PolicyImage, HasAPlaceOfItsOwnForEveryNumber) {
  for (const auto& architecture :
       {PolicyArchitecture{17, false, 6, {128, 128}}, PolicyArchitecture{5, true, 3, {7, 40}},
        PolicyArchitecture{40, false, 8, {128, 90}}}) {
    const auto shape = padded_shape(architecture).value();
    const auto places = image_places(architecture, shape);
    const PolicyStack policy(architecture, 1);
    std::int64_t numbers = 0;
    for (const auto& parameter : policy.parameters()) numbers += parameter.count();
    EXPECT_EQ(std::ssize(places), numbers);
    EXPECT_EQ(std::set(places.begin(), places.end()).size(), places.size());
    EXPECT_GE(std::ranges::min(places), 0);
    EXPECT_LT(static_cast<std::size_t>(std::ranges::max(places)), image_size(shape));
  }
}

TEST(PolicyImage, DrawsEveryStepAboutEquallyOften) {
  constexpr std::uint32_t kCount = 10;
  std::array<int, kCount> times{};
  for (std::uint32_t step = 0; step < 100; ++step)
    for (std::uint32_t row = 0; row < 100; ++row) ++times.at(drawn(7, step, row, kCount));
  for (const int n : times) EXPECT_NEAR(n, 1000, 120);  // four standard deviations
  std::set<std::uint32_t> distinct;
  for (std::uint32_t row = 0; row < 1000; ++row) distinct.insert(drawn(7, 3, row, 4000000000U));
  EXPECT_EQ(distinct.size(), 1000U);
  EXPECT_NE(drawn(7, 3, 5, 4000000000U), drawn(8, 3, 5, 4000000000U));
  EXPECT_NE(drawn(7, 3, 5, 4000000000U), drawn(7, 4, 5, 4000000000U));
}

}  // namespace
}  // namespace kindred::cuda
