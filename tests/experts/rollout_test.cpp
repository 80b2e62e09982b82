#include "kindred/experts/rollout.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <set>
#include <thread>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/envs/extra.h"
#include "kindred/envs/path_following.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/oracle.h"
#include "tests/core/stopping.h"
#include "tests/envs/drift.h"
#include "tests/experts/push.h"

namespace kindred {
namespace {

template <class T>
std::vector<T> values(const Column<T>& column) {
  return {column.begin(), column.end()};
}

void expect_identical(const Trajectories& a, const Trajectories& b) {
  EXPECT_EQ(values(a.offsets), values(b.offsets));
  EXPECT_EQ(values(a.observations.index()), values(b.observations.index()));
  EXPECT_EQ(values(a.observations.floats()), values(b.observations.floats()));
  EXPECT_EQ(values(a.observations.bytes()), values(b.observations.bytes()));
  EXPECT_EQ(values(a.actions.ints()), values(b.actions.ints()));
  EXPECT_EQ(values(a.actions.floats()), values(b.actions.floats()));
  EXPECT_EQ(values(a.rewards), values(b.rewards));
  EXPECT_EQ(values(a.terminals), values(b.terminals));
  EXPECT_EQ(values(a.timeouts), values(b.timeouts));
  EXPECT_EQ(values(a.labels), values(b.labels));
  EXPECT_EQ(values(a.oracle), values(b.oracle));
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.label_names, b.label_names);
  EXPECT_EQ(a.provenance, b.provenance);
}

/// Everything about one episode, in a form that can be compared and sorted.
std::vector<float> episode(const Trajectories& data, std::int64_t i) {
  const auto begin = data.offsets[i], end = data.offsets[i + 1];
  const auto dim = data.observations.dim();
  std::vector<float> all(static_cast<std::size_t>((end - begin) * dim));
  data.observations.copy(begin, end, all.data());
  const auto width = data.actions.dim();
  for (auto t = begin; t < end; ++t)
    for (std::int64_t d = 0; d < width; ++d)
      all.push_back(data.actions.is_discrete() ? static_cast<float>(data.actions.ints()[t])
                                               : data.actions.floats()[t * width + d]);
  all.push_back(static_cast<float>(data.labels[i]));
  return all;
}

class Rollout : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Environment> environment_ = make_environment(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Environments, Rollout,
                         ::testing::Values("diagonal", "takeball", "takeball-permuted", "bandit"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Rollout, IsAValidLabelledDataset) {
  const auto experts = make_experts(*environment_);
  const auto data = generate(*environment_, {.per_expert = 600, .seed = 1});
  data.validate("generated");
  EXPECT_EQ(data.episodes(), 600 * static_cast<std::int64_t>(experts.size()));
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    EXPECT_EQ(data.labels[i], i / 600);
    EXPECT_EQ(data.ids[static_cast<std::size_t>(i)], std::to_string(i));
  }
  EXPECT_EQ(data.label_names.size(), experts.size());
  EXPECT_EQ(data.oracle.size(), data.episodes());
  EXPECT_THAT(values(data.rewards), ::testing::Each(0.0f));
}

TEST_P(Rollout, EpisodesEndWithTheirLastStepOnly) {
  const auto data = generate(*environment_, {.per_expert = 600, .seed = 2});
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto last = data.offsets[i + 1] - 1;
    for (auto t = data.offsets[i]; t < last; ++t)
      ASSERT_TRUE(!data.terminals[t] && !data.timeouts[t]);
    ASSERT_NE(data.terminals[last] != 0, data.timeouts[last] != 0);
    ASSERT_LE(data.length(i), environment_->spec().horizon);
    if (data.timeouts[last]) {
      ASSERT_EQ(data.length(i), environment_->spec().horizon);
    }
  }
}

TEST_P(Rollout, TableHoldsEachObservationThatOccursOnce) {
  const auto data = generate(*environment_, {.per_expert = 300, .seed = 3});
  ASSERT_TRUE(data.observations.is_interned());
  std::set<std::int32_t> used(data.observations.index().begin(), data.observations.index().end());
  EXPECT_EQ(static_cast<std::int64_t>(used.size()), data.observations.distinct());
  std::set<std::vector<float>> rows;
  const auto dim = data.observations.dim();
  for (std::int64_t row = 0; row < data.observations.distinct(); ++row)
    rows.emplace(data.observations.table().begin() + row * dim,
                 data.observations.table().begin() + (row + 1) * dim);
  EXPECT_EQ(static_cast<std::int64_t>(rows.size()), data.observations.distinct());
}

TEST_P(Rollout, ActionsAreTheExpertsOwn) {
  const auto experts = make_experts(*environment_);
  const auto data = rollout(*environment_, experts, {.per_expert = 300, .seed = 4});
  const auto scores = log_likelihoods(data, *environment_, experts);
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    ASSERT_EQ(scores[static_cast<std::size_t>(i * static_cast<std::int64_t>(experts.size()) +
                                              data.labels[i])],
              0.0);
}

TEST_P(Rollout, SameSeedSameBytesWhateverTheThreads) {
  for (const bool shuffle : {false, true}) {
    const GenerateOptions one = {
        .per_expert = 1300, .seed = 5, .shuffle = shuffle, .workers = Workers(1)};
    const auto data = generate(*environment_, one);
    expect_identical(data, generate(*environment_, one));
    for (const int threads : {2, 5}) {
      auto many = one;
      many.workers = Workers(threads);
      expect_identical(data, generate(*environment_, many));
    }
  }
}

TEST_P(Rollout, OtherSeedOtherEpisodes) {
  const auto a = generate(*environment_, {.per_expert = 50, .seed = 6});
  const auto b = generate(*environment_, {.per_expert = 50, .seed = 7});
  EXPECT_NE(values(a.observations.index()), values(b.observations.index()));
}

TEST_P(Rollout, ShufflingOnlyReorders) {
  const auto sorted = generate(*environment_, {.per_expert = 700, .seed = 8});
  const auto mixed = generate(*environment_, {.per_expert = 700, .seed = 8, .shuffle = true});
  mixed.validate("shuffled");
  EXPECT_NE(values(sorted.labels), values(mixed.labels));
  EXPECT_EQ(mixed.ids, sorted.ids);
  std::multiset<std::vector<float>> before, after;
  for (std::int64_t i = 0; i < sorted.episodes(); ++i) {
    before.insert(episode(sorted, i));
    after.insert(episode(mixed, i));
  }
  EXPECT_EQ(before, after);
}

TEST_P(Rollout, ProvenanceRemakesTheDataset) {
  const auto data = generate(*environment_, {.per_expert = 20, .seed = 9, .shuffle = true});
  const auto& made = data.provenance;
  const auto environment =
      make_environment(made["environment"].get<std::string>(), made["options"]);
  const GenerateOptions options = {.per_expert = made["per-expert"].get<std::int64_t>(),
                                   .seed = made["seed"].get<std::int64_t>(),
                                   .shuffle = made["shuffle"].get<bool>()};
  expect_identical(data, generate(*environment, options));
}

/// One line per episode: who acted, each chosen action's initial, and how it ended.
TEST_P(Rollout, ExpertsPlayAsRecorded) {
  const auto& names = environment_->spec().action_names;
  const auto data = generate(*environment_, {.per_expert = 4, .seed = 2506});
  std::string found;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    found += data.label_names[static_cast<std::size_t>(data.labels[i])] + " ";
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      found += names[static_cast<std::size_t>(data.actions.ints()[t])][0];
    found += data.terminals[data.offsets[i + 1] - 1] ? " terminal\n" : " timeout\n";
  }
  const auto path =
      std::filesystem::path(KINDRED_PLAYTHROUGHS) / fmt::format("{}-experts.txt", GetParam());
  if (std::getenv("KINDRED_REGENERATE")) write_text(path, found);
  ASSERT_TRUE(std::filesystem::exists(path)) << "run once with KINDRED_REGENERATE=1";
  EXPECT_EQ(read_text(path), found);
}

/// Files that were made before there were shares must stay the same bytes.
TEST(Generate, SaysNothingOfSharesUnlessThereAreAny) {
  auto data = generate(Diagonal(), {.per_expert = 2});
  EXPECT_EQ(data.provenance.dump(),
            R"({"environment":"diagonal","generator":"kindred","options":{"horizon":40,"size":9,)"
            R"("slip":0.3,"start-size":4},"per-expert":2,"seed":0,"shuffle":false,"steps":0})");
  data = generate(Diagonal(), {.per_expert = 2, .shares = "0.3"});
  EXPECT_EQ(data.provenance["shares"], "0.3");
}

TEST(GenerateOptions, AreDescribedAndChecked) {
  GenerateOptions options;
  EXPECT_EQ(to_json(options.describe()), (nlohmann::ordered_json{{"per-expert", 20000},
                                                                 {"steps", 0},
                                                                 {"seed", 0},
                                                                 {"shuffle", false},
                                                                 {"shares", ""},
                                                                 {"switch", "never"},
                                                                 {"switch-rate", 0.01},
                                                                 {"switch-by", 0},
                                                                 {"switch-share", 1.0},
                                                                 {"hand-over", 0}}));
  EXPECT_THROW(generate(Diagonal(), {.per_expert = 0}), InvalidArgument);
  EXPECT_THROW(generate(Diagonal(), {.seed = -1}), InvalidArgument);
  EXPECT_THROW(rollout(Diagonal(), {}, {}), InvalidArgument);
}

TEST(ContinuousRollout, StoresDenseRowsAndIsScoredByDensity) {
  const Drift environment;
  const Policies policies = {std::make_shared<Push>(1.0f), std::make_shared<Push>(-1.0f)};
  GenerateOptions options = {.per_expert = 600, .seed = 10, .workers = Workers(1)};
  auto data = rollout(environment, policies, options);
  data.validate("drift");
  EXPECT_FALSE(data.observations.is_interned());
  EXPECT_FALSE(data.actions.is_discrete());
  options.workers = Workers(3);
  expect_identical(data, rollout(environment, policies, options));

  std::int64_t terminals = 0;
  for (const auto flag : data.terminals) terminals += flag;
  EXPECT_GT(terminals, 0);
  EXPECT_NE(values(data.rewards), std::vector<float>(static_cast<std::size_t>(data.steps())));
  EXPECT_EQ(oracle_labels(data, environment, policies), values(data.labels));
}

TEST(Generate, TellsItsProgressOnTheCallersThread) {
  const auto environment = make_environment("diagonal");
  const auto caller = std::this_thread::get_id();
  for (const std::int64_t steps : {0, 50'000}) {
    std::vector<double> told;
    GenerateOptions options = {.per_expert = 2000, .steps = steps, .workers = Workers(3)};
    options.progress = [&](double share) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      told.push_back(share);
    };
    generate(*environment, options);
    EXPECT_EQ(told.back(), 1.0);
    EXPECT_TRUE(std::ranges::is_sorted(told));
  }
}

TEST(Generate, StopsWithinASecond) {
  for (const char* name : {"diagonal", "path-following"}) {
    const auto environment = make_environment(name);
    const double seconds = stopping::seconds_until_end(0.2, [&](const auto& stop_requested) {
      GenerateOptions options = {.per_expert = 1'000'000};
      options.workers.stop_requested = stop_requested;
      EXPECT_THROW(generate(*environment, options), Interrupted);
    });
    EXPECT_LT(seconds, 1.0) << name;
  }
}

/// A rollout by steps must be a beginning of the rollout with more of them.
void check_steps(const Environment& environment, const Policies& policies, std::int64_t steps) {
  const GenerateOptions options = {.steps = steps, .seed = 11, .workers = Workers(1)};
  const auto data = rollout(environment, policies, options);
  data.validate("by steps");
  const auto experts = static_cast<std::int64_t>(policies.size());
  EXPECT_EQ(data.steps(), steps);
  std::vector<std::int64_t> per_expert(policies.size()), episodes(policies.size());
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    per_expert[static_cast<std::size_t>(data.labels[i])] += data.length(i);
    ++episodes[static_cast<std::size_t>(data.labels[i])];
    const auto last = data.offsets[i + 1] - 1;
    EXPECT_NE(data.terminals[last] != 0, data.timeouts[last] != 0);
  }
  for (std::int64_t e = 0; e < experts; ++e)
    EXPECT_EQ(per_expert[static_cast<std::size_t>(e)],
              steps * (e + 1) / experts - steps * e / experts);

  auto many = options;
  many.workers = Workers(3);
  expect_identical(data, rollout(environment, policies, many));

  auto larger = options;
  larger.steps = 3 * steps + 1;
  const auto more = rollout(environment, policies, larger);
  std::int64_t i = 0, first_of_expert = 0;
  for (std::size_t e = 0; e < policies.size(); ++e) {
    for (std::int64_t n = 0; n + 1 < episodes[e]; ++n, ++i)  // the last one is cut here
      ASSERT_EQ(episode(data, i), episode(more, first_of_expert + n));
    ++i;
    first_of_expert += std::ranges::count(more.labels, static_cast<std::int32_t>(e));
  }
}

TEST(RolloutBySteps, GivesEachExpertItsShareWhateverTheThreads) {
  const auto diagonal = make_environment("diagonal");
  for (const std::int64_t steps : {5, 6, 997, 20'000})
    check_steps(*diagonal, make_experts(*diagonal), steps);
  check_steps(Drift(), {std::make_shared<Push>(1.0f), std::make_shared<Push>(-1.0f)}, 3'333);
}

/// Of diagonal's five experts.
std::vector<std::int64_t> amounts(const GenerateOptions& options) {
  const auto data = generate(Diagonal(), options);
  std::vector<std::int64_t> result(5);
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    result[static_cast<std::size_t>(data.labels[i])] += options.steps > 0 ? data.length(i) : 1;
  return result;
}

TEST(RolloutByShares, DividesEpisodesOrSteps) {
  using ::testing::ElementsAre;
  EXPECT_THAT(amounts({.per_expert = 20}), ElementsAre(20, 20, 20, 20, 20));
  EXPECT_THAT(amounts({.per_expert = 20, .shares = "0.04"}), ElementsAre(4, 24, 24, 24, 24));
  EXPECT_THAT(amounts({.per_expert = 20, .shares = "0.1,0.6"}), ElementsAre(10, 60, 10, 10, 10));
  EXPECT_THAT(amounts({.per_expert = 20, .shares = "0.1,0.2,0.3,0.15,0.25"}),
              ElementsAre(10, 20, 30, 15, 25));
  EXPECT_THAT(amounts({.steps = 1000, .shares = "0.5,0.2"}), ElementsAre(500, 200, 100, 100, 100));
}

TEST(RolloutByShares, RefusesWhatIsNoDivision) {
  const auto expect_refused = [](const char* shares, const char* words) {
    EXPECT_THAT([&] { generate(Diagonal(), {.per_expert = 20, .shares = shares}); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr(words)))
        << shares;
  };
  for (const char* bad : {"few", "0.1,", ",0.1", "0.1, 0.2", "-0.1", "0", "1.5", "nan", "0.1;0.2"})
    expect_refused(bad, "a share is a number above 0 and up to 1");
  expect_refused("0.1,0.1,0.1,0.1,0.1,0.5", "there are 6 shares for 5 experts");
  expect_refused("0.2,0.2,0.2,0.2,0.1", "the shares sum to 0.9, not to 1");
  expect_refused("0.5,0.5", "leave nothing to the other experts");
  expect_refused("0.001", "gives an expert none of the 100 episodes");
}

TEST(RolloutBySteps, OfFewerStepsThanExpertsIsRefused) {
  const Diagonal diagonal;
  EXPECT_THROW(generate(diagonal, {.steps = 4}), InvalidArgument);
  EXPECT_THROW(generate(diagonal, {.steps = -1}), InvalidArgument);
  EXPECT_EQ(generate(diagonal, {.steps = 5}).episodes(), 5);
}

TEST(RolloutBySteps, CanBeShuffled) {
  const Diagonal diagonal;
  const auto sorted = generate(diagonal, {.steps = 2'000, .seed = 12});
  const auto mixed = generate(diagonal, {.steps = 2'000, .seed = 12, .shuffle = true});
  mixed.validate("shuffled");
  EXPECT_NE(values(sorted.labels), values(mixed.labels));
  std::multiset<std::vector<float>> before, after;
  for (std::int64_t i = 0; i < sorted.episodes(); ++i) {
    before.insert(episode(sorted, i));
    after.insert(episode(mixed, i));
  }
  EXPECT_EQ(before, after);
}

/// Pushes as far as it can, and often further.
class Wild final : public Policy {
 public:
  explicit Wild(float direction) : Policy("wild", ""), direction_(direction) {}
  bool reads_states() const override { return false; }
  void distribution(const Situations&, std::span<float> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i % 4 < 2 ? direction_ : 1.0f;
  }

 private:
  float direction_;
};

TEST(ClippedRollout, RecordsActionsWithinTheLimitsAndScoresThemSo) {
  const PathFollowing environment;
  const Policies policies = {std::make_shared<Wild>(0.3f), std::make_shared<Wild>(-0.3f)};
  const auto data = rollout(environment, policies, {.per_expert = 200, .seed = 13});
  std::int64_t at_limit = 0;
  for (const float number : data.actions.floats()) {
    ASSERT_LE(std::abs(number), 1.0f);
    at_limit += std::abs(number) == 1.0f;
  }
  // Beyond 0.7 above and 1.3 below the mean: 24.2% and 9.7% of the numbers.
  EXPECT_NEAR(static_cast<double>(at_limit) / static_cast<double>(data.actions.floats().size()),
              0.339, 0.01);
  EXPECT_EQ(oracle_labels(data, environment, policies), values(data.labels));

  // One step at the limit in both numbers, by hand.
  const auto scores = log_likelihoods(data, environment, policies);
  for (std::int64_t i = 0; i < 5; ++i) {
    double expected = 0.0;
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      for (std::int64_t d = 0; d < 2; ++d) {
        const double x = static_cast<double>(data.actions.floats()[2 * t + d]);
        const double z = x - static_cast<double>(0.3f);
        const double beyond = 0.5 * std::erfc((x > 0.0 ? z : -z) / std::sqrt(2.0));
        const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
        expected += std::log(std::abs(x) == 1.0 ? beyond : density);
      }
    EXPECT_NEAR(scores[static_cast<std::size_t>(2 * i)], expected, 1e-6);
  }
}

/// Moves at random, whatever it sees.
class Stroll final : public Policy {
 public:
  Stroll() : Policy("stroll", "") {}
  bool reads_states() const override { return false; }
  void distribution(const Situations&, std::span<float> out) const override {
    std::ranges::fill(out, 0.2f);
  }
};

TEST(ByteRollout, KeepsPicturesOfRandomMapsAsBytes) {
  const Extra environment;
  const Policies policies = {std::make_shared<Stroll>()};
  const auto data = rollout(environment, policies, {.per_expert = 60, .seed = 14});
  data.validate("extra");
  ASSERT_TRUE(data.observations.is_bytes());
  EXPECT_FALSE(data.observations.is_interned());
  EXPECT_EQ(std::ranges::max(data.observations.bytes()), 1);
  std::vector<float> row(static_cast<std::size_t>(data.observations.dim()));
  for (std::int64_t t = 0; t < data.steps(); ++t) {
    data.observations.copy(t, t + 1, row.data());
    ASSERT_NO_THROW(decode_extra(row)) << "step " << t;
  }
}

}  // namespace
}  // namespace kindred
