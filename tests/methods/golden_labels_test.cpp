// Golden labels: what methods say of small datasets, by seed, as text. Faster code must not change
// them. Each method gets data it tells apart clearly, since processors differ in the last digits.
// After an intended change, run with KINDRED_REGENERATE=1 and read the difference.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "kindred/core/files.h"
#include "tests/clustering/synthetic.h"
#include "tests/methods/quick_method.h"

namespace kindred {
namespace {

/// Where a method's labels are clear.
std::map<std::string, Trajectories> data_for(const std::string& method) {
  const auto is_any_of = [&](auto... names) { return ((method == names) || ...); };
  if (is_any_of("caae", "dec", "vae-kmeans", "vq-vae", "sorl"))
    return {{"two", testing::linear_control({.episodes = 40, .length = 40, .noise = 0.1})}};
  std::map<std::string, Trajectories> data = {
      {"three", testing::linear_control({.episodes = 45, .length = 60, .policies = 3})}};
  if (is_any_of(testing::kSearched)) data.emplace("diagonal", testing::gridworld("diagonal", 100));
  return data;
}

/// One line for each dataset and seed; numbers of clusters are those the method gave.
std::string labels_of(const std::string& method) {
  std::string text;
  for (const auto& [name, data] : data_for(method))
    for (const int seed : {1, 2, 3}) {
      const auto k = std::ranges::max(data.labels) + 1;
      const auto found = testing::quick_method(method, k,
                                               {{"seed", std::to_string(seed)},
                                                {"restarts", "4"},
                                                {"posterior", "product"},
                                                {"max-steps", "300"},
                                                {"max-rounds", "20"}})
                             ->fit(data, {});
      text += fmt::format("{} {}: {}\n", name, seed, fmt::join(found.labels, ""));
    }
  return text;
}

class GoldenLabels : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Golden, GoldenLabels, ::testing::ValuesIn(testing::method_names()),
                         [](const auto& tested) { return testing::without_dashes(tested.param); });

TEST_P(GoldenLabels, AreUnchanged) {
  const auto path = std::filesystem::path(KINDRED_GOLDEN_LABELS) / (GetParam() + ".txt");
  const auto found = labels_of(GetParam());
  if (std::getenv("KINDRED_REGENERATE")) write_text(path, found);
  ASSERT_TRUE(std::filesystem::exists(path)) << "run once with KINDRED_REGENERATE=1";
  EXPECT_EQ(read_text(path), found);
}

}  // namespace
}  // namespace kindred
