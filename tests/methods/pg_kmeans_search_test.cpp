// The search by the held-out score, and what is known beforehand.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "tests/methods/pg_kmeans_helpers.h"

namespace kindred::pg_kmeans {
namespace {

/// A file of what is known, gone with the test.
class SeedsFile {
 public:
  explicit SeedsFile(const std::string& text)
      : path_(std::filesystem::path(::testing::TempDir()) /
              fmt::format("kindred-seeds-{}.csv", ::getpid())) {
    write_text(path_, text);
  }
  ~SeedsFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(PgKmeans, FindsTheExpertsOfGridworldsUnaided) {
  for (const auto& [name, experts] : {std::pair{"diagonal", 5}, std::pair{"takeball", 4}}) {
    const auto data = gridworld(name, 1200);  // of which a sample is searched
    const auto result = fit(data, {});
    EXPECT_EQ(result.k(), experts) << name;
    EXPECT_LT(result.searched, data.episodes());
    EXPECT_GE(normalized_mutual_information(result.labels, data.labels.span()),
              0.98 * ceiling(data))
        << name;
    EXPECT_EQ(restart_agreement(result).verdict, "unique") << name;
  }
}

/// Has the policies of two episodes change places for the last `steps`.
void swap_ends(std::int64_t first, std::int64_t second, std::int64_t steps, Trajectories& data) {
  const auto swapped = [&](const Column<float>& column, std::int64_t width) {
    std::vector<float> values(column.begin(), column.end());
    const auto end_of = [&](std::int64_t i) {
      return values.begin() + data.offsets[i + 1] * width;
    };
    std::swap_ranges(end_of(first) - steps * width, end_of(first), end_of(second) - steps * width);
    return values;
  };
  const auto inputs = data.observations.dim(), outputs = data.actions.dim();
  data.observations = Observations::dense(swapped(data.observations.floats(), inputs), inputs);
  data.actions = Actions::continuous(swapped(data.actions.floats(), outputs), outputs);
}

TEST(PgKmeans, EpisodesOfSeveralPoliciesDoNotBlurTheOthers) {
  auto data = linear_control({.episodes = 60, .length = 400, .policies = 3});
  std::vector<std::int32_t> truth, found;
  for (std::int64_t i = 0; i < data.episodes(); i += 10) swap_ends(i, i + 1, 200, data);
  const auto result = fit(data, {});
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    if (i % 10 > 1) {
      truth.push_back(data.labels[i]);
      found.push_back(result.labels[static_cast<std::size_t>(i)]);
    }
  EXPECT_EQ(result.k(), 3);
  EXPECT_EQ(result.mixed_episodes, 12);
  EXPECT_EQ(result.searched, 48);
  EXPECT_DOUBLE_EQ(normalized_mutual_information(found, truth), 1.0);
}

TEST(PgKmeans, SaysThatSeveralAnswersAreAsGood) {
  const auto data = gridworld("bandit", 50);
  const auto result = fit(data, {});
  // An episode is one step: two policies predict no better than one that does either.
  EXPECT_EQ(result.k(), 1);
  EXPECT_EQ(restart_agreement(result).verdict, "several");
  ASSERT_EQ(result.alternatives.size(), 2u);  // by either pairing of the two states
  for (const auto& other : result.alternatives)
    EXPECT_EQ(std::ssize(other.labels), data.episodes());
  EXPECT_LT(
      normalized_mutual_information(result.alternatives[0].labels, result.alternatives[1].labels),
      0.1);
}

/// Which ball an expert wants can be told by its number or by its place: two families, as the paper
/// found, of which the truth is one.
TEST(PgKmeans, ShowsBothFamiliesOfTakeballPermuted) {
  const auto data = gridworld("takeball-permuted", 400);
  constexpr std::int64_t kPlanes = 7, kFirstBall = 3;  // walls, agent, goal, balls
  std::vector<std::int32_t> by_number(data.labels.begin(), data.labels.end()), by_place;
  std::vector<float> seen(static_cast<std::size_t>(data.observations.dim()));
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    data.observations.copy(data.offsets[i], data.offsets[i] + 1, seen.data());
    const auto plane = kFirstBall + by_number[static_cast<std::size_t>(i)];
    std::int32_t cell = 0;
    while (seen[static_cast<std::size_t>(cell * kPlanes + plane)] == 0.0F) ++cell;
    by_place.push_back(cell);
  }
  const auto result = fit(data, {});
  EXPECT_EQ(restart_agreement(result).verdict, "several");
  double best_by_number = 0.0, best_by_place = 0.0;
  const auto look = [&](const std::vector<std::int32_t>& labels) {
    best_by_number = std::max(best_by_number, normalized_mutual_information(labels, by_number));
    best_by_place = std::max(best_by_place, normalized_mutual_information(labels, by_place));
  };
  look(result.labels);
  for (const auto& other : result.alternatives) look(other.labels);
  EXPECT_GT(best_by_number, 0.95);
  EXPECT_GT(best_by_place, 0.95);

  // What is known decides between them.
  std::string known = "episode,label\n";
  for (std::int64_t i = 0; i < data.episodes(); i += 20)
    known += fmt::format("{},{}\n", i, by_number[static_cast<std::size_t>(i)]);
  const SeedsFile seeds(known);
  Options options;
  options.seeds = seeds.path();
  options.k = 4;
  const auto steered = fit(data, options);
  for (std::int64_t i = 0; i < data.episodes(); i += 20)
    EXPECT_EQ(steered.labels[static_cast<std::size_t>(i)], by_number[static_cast<std::size_t>(i)]);
}

TEST(PgKmeans, TrainsNetworksWhereObservationsAreWideAndTheNumberIsGiven) {
  Options options;
  options.k = 2;
  const auto wide = linear_control({.episodes = 10, .length = 20, .obs_dim = 300});
  EXPECT_EQ(resolve(options, wide).policy, PolicyKind::kMlp);
  EXPECT_EQ(resolve(options, linear_control({.episodes = 10})).policy, PolicyKind::kFeatures);
  EXPECT_EQ(resolve(options, gridworld("diagonal", 3)).policy, PolicyKind::kTabular);
  options.k = 0;
  EXPECT_THROW(resolve(options, wide), InvalidArgument);
  options.policy = PolicyKind::kFeatures;
  EXPECT_TRUE(resolve(options, wide).searches());
}

/// Extra's observations are too wide for statistics of features; its planes are looked at instead.
TEST(PgKmeans, FindsPoliciesOnPlanes) {
  const auto data = gridworld("extra", 400);
  Options options;
  options.k = 2;
  options.restarts = 2;
  const auto result = fit(data, options);
  EXPECT_EQ(result.options.at("policy"), "mlp");
  EXPECT_EQ(result.options.at("choose"), "held-out");
  ASSERT_TRUE(result.judgement);
  EXPECT_GE(result.judgement->v, result.judgement->v_of_one);
  EXPECT_GT(nmi(result, data), 0.2);
}

TEST(PgKmeans, SeedsKeepTheirNumbers) {
  const auto data = linear_control({.episodes = 30, .policies = 3});
  // Episodes 0, 1 and 2 are of three policies, in whatever order the search would find them.
  const SeedsFile seeds("episode,label\n0,2\n1,0\n2,1\n3,2\n");
  Options options;
  options.seeds = seeds.path();
  const auto result = fit(data, options);
  ASSERT_EQ(result.k(), 3);
  for (std::size_t i = 0; i < 30; ++i)
    EXPECT_EQ(result.labels[i], std::vector<std::int32_t>({2, 0, 1})[i % 3]) << i;
  EXPECT_EQ(best_columns(result.scores), result.labels);
}

TEST(PgKmeans, SeedsAreKeptAgainstTheEvidence) {
  const auto data = linear_control({.episodes = 30, .policies = 2});
  const SeedsFile seeds("episode,other,link\n0,2,apart\n4,1,together\n");
  Options options;
  options.seeds = seeds.path();
  const auto result = fit(data, options);
  EXPECT_NE(result.labels[0], result.labels[2]);
  EXPECT_EQ(result.labels[4], result.labels[1]);
}

TEST(PgKmeans, SeedsThatCannotBeKeptAreRefused) {
  const auto data = linear_control({.episodes = 30, .policies = 2});
  const auto refused = [&](const std::string& text, std::int64_t k = 0,
                           Choose choose = Choose::kAuto) {
    const SeedsFile seeds(text);
    Options options;
    options.k = k;
    options.choose = choose;
    options.seeds = seeds.path();
    EXPECT_THROW(fit(data, options), Error) << text;
  };
  refused("episode,label\n0,0\n1,1\n2,2\n", 2);
  refused("episode,label\n0,0\n0,1\n");
  refused("episode,label\n99,0\n");
  refused("episode,other,link\n0,1,together\n1,0,apart\n");
  refused("episode,other,link\n0,1,near\n");
  refused("episode,name\n0,1\n");
  refused("episode,label\n0,0\n", 2, Choose::kObjective);
}

}  // namespace
}  // namespace kindred::pg_kmeans
