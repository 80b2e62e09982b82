#include "kindred/data/interning.h"

#include "test_files.h"

namespace kindred {
namespace {

using testing::expanded;

/// `steps` rows of `dim`, drawn from `distinct` different ones.
Observations repeated(std::int64_t steps, std::int64_t dim, std::uint64_t distinct) {
  Random random(3, "rows");
  std::vector<float> values;
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto row = random.below(distinct);
    for (std::int64_t j = 0; j < dim; ++j)
      values.push_back(j == 0 ? static_cast<float>(row) : 0.5f);
  }
  return Observations::dense(std::move(values), dim);
}

TEST(Interning, IsExact) {
  for (const std::int64_t dim : {1, 2, 5}) {
    const auto dense = repeated(4000, dim, 300);
    const auto interned = intern(dense);
    ASSERT_TRUE(interned.is_interned());
    EXPECT_EQ(interned.distinct(), 300);
    EXPECT_EQ(expanded(interned), expanded(dense));
  }
}

TEST(Interning, OrdersTheTableByFirstAppearance) {
  std::vector<float> values(80, 2.0f);
  values[3] = 1.0f;
  const auto interned = intern(Observations::dense(std::move(values), 1));
  ASSERT_EQ(interned.distinct(), 2);
  EXPECT_EQ(interned.table()[0], 2.0f);
  EXPECT_EQ(interned.index()[3], 1);
}

TEST(Interning, TellsRowsApartThatDifferInOneBit) {
  std::vector<float> values(64, 0.0f);
  values[5] = -0.0f;
  const auto interned = intern(Observations::dense(values, 1));
  ASSERT_EQ(interned.distinct(), 2);
  EXPECT_TRUE(std::signbit(expanded(interned)[5]));
}

TEST(Interning, TakesBytes) {
  std::vector<std::uint8_t> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 6);
  const auto dense = Observations::dense(values, 3);
  const auto interned = intern(dense);
  EXPECT_EQ(interned.distinct(), 2);
  EXPECT_EQ(expanded(interned), expanded(dense));
}

TEST(Interning, LeavesDataWithManyDistinctRows) {
  EXPECT_TRUE(intern(repeated(800, 2, 100)).is_interned());
  EXPECT_FALSE(intern(repeated(800, 2, 10000)).is_interned());
  EXPECT_FALSE(intern(Observations()).is_interned());
}

TEST(Interning, KeepsTheSameColumnWhenItGivesUp) {
  const auto dense = repeated(1000, 2, 100000);
  EXPECT_EQ(intern(dense).floats().data(), dense.floats().data());
}

}  // namespace
}  // namespace kindred
