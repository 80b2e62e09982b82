// A dataset by name is the one that its parts would make.
#include "kindred/experts/named_dataset.h"

#include <gtest/gtest.h>

#include "kindred/core/error.h"
#include "kindred/data/fingerprint.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/rollout.h"

namespace kindred {
namespace {

TEST(NamedDataset, IsWhatGenerateMakes) {
  const auto environment = make_environment("diagonal", {{"slip", 0.1}});
  GenerateOptions options;
  options.per_expert = 5;
  options.seed = 3;
  const auto expected = generate(*environment, options);
  const auto named = generate_named("diagonal", {{"per-expert", 5}, {"slip", 0.1}}, 3, {});
  EXPECT_EQ(fingerprint_of(named), fingerprint_of(expected));
  EXPECT_EQ(named.provenance, expected.provenance);
}

TEST(NamedDataset, IsOfChosenExperts) {
  const auto data = generate_named(
      "bandit", {{"per-expert", 10}, {"experts", "first-first,second-second"}}, 1, {});
  EXPECT_EQ(data.episodes(), 20);
}

TEST(NamedDataset, TakesNoOptionThereIsNot) {
  EXPECT_THROW(generate_named("diagonal", {{"per-exprt", 5}}, 1, {}), InvalidArgument);
  EXPECT_THROW(generate_named("diagnal", nlohmann::json::object(), 1, {}), InvalidArgument);
}

}  // namespace
}  // namespace kindred
