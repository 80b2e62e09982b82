#include "kindred/methods/policy_search/evidence/exact_fits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/data/select.h"
#include "kindred/methods/policy_search/evidence/feature_evidence.h"
#include "kindred/methods/policy_search/evidence/held_out_score.h"
#include "kindred/policies/device_steps.h"
#include "kindred/policies/error_forms.h"
#include "kindred/policies/exact_centres.h"
#include "kindred/policies/piece_cost.h"
#include "tests/clustering/synthetic.h"

namespace kindred::policy_search {
namespace {

constexpr double kRidge = 10.0;

/// A dataset with the statistics of some features.
struct Exact {
  Trajectories data;
  FeatureMap map;
  ActionTargets targets;
  KeptSums statistics;

  explicit Exact(Trajectories of, std::int64_t cosines = 0, int threads = 1)
      : data(std::move(of)),
        map(data.observations, cosines),
        targets(data.actions),
        statistics(data, map, targets, Workers(threads)) {}

  /// Features [steps, features] and targets [steps, targets] of one episode.
  std::pair<std::vector<double>, std::vector<double>> rows(std::int64_t episode) const {
    const auto begin = data.offsets[episode], end = data.offsets[episode + 1];
    const auto n = static_cast<std::size_t>(end - begin);
    std::vector<float> seen(n * static_cast<std::size_t>(data.observations.dim()));
    data.observations.copy(begin, end, seen.data());
    std::vector<double> phi(n * static_cast<std::size_t>(map.count()));
    map.apply(seen, phi);
    std::vector<double> actions(n * static_cast<std::size_t>(targets.count()));
    targets.copy(data.actions, begin, end, actions);
    return {phi, actions};
  }

  /// The squared errors of one episode under a policy, step by step.
  std::vector<double> errors_by_steps(std::int64_t episode, std::span<const double> weights) const {
    const auto [phi, actions] = rows(episode);
    const auto features = static_cast<std::size_t>(map.count());
    const auto width = static_cast<std::size_t>(targets.count());
    std::vector<double> errors(width, 0.0);
    for (std::size_t t = 0; t < actions.size() / width; ++t)
      for (std::size_t d = 0; d < width; ++d) {
        double missed = actions[t * width + d];
        for (std::size_t m = 0; m < features; ++m)
          missed -= phi[t * features + m] * weights[m * width + d];
        errors[d] += missed * missed;
      }
    return errors;
  }
};

std::vector<std::int32_t> random_labels(std::int64_t episodes, std::int64_t k, std::uint64_t seed) {
  Random random(seed, "labels");
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < episodes; ++i) labels.push_back(static_cast<std::int32_t>(i % k));
  random.shuffle(std::span(labels));
  return labels;
}

TEST(EpisodeStatistics, AreTheSumsOverSteps) {
  const Exact exact(testing::linear_control({.episodes = 4, .length = 71}), 5);
  const auto& layout = exact.statistics.layout();
  ASSERT_EQ(layout.features, 1 + 3 + 5);
  const auto [phi, actions] = exact.rows(2);
  const auto features = static_cast<std::size_t>(layout.features);
  const auto width = static_cast<std::size_t>(layout.targets);
  const auto n = actions.size() / width;
  const auto sums = exact.statistics.of(2);
  std::size_t at = 0;
  for (std::size_t m = 0; m < features; ++m)
    for (std::size_t l = 0; l <= m; ++l, ++at) {
      double sum = 0.0;
      for (std::size_t t = 0; t < n; ++t) sum += phi[t * features + m] * phi[t * features + l];
      EXPECT_NEAR(sums[at], sum, 1e-9 * static_cast<double>(n));
    }
  for (std::size_t m = 0; m < features; ++m)
    for (std::size_t d = 0; d < width; ++d, ++at) {
      double sum = 0.0;
      for (std::size_t t = 0; t < n; ++t) sum += phi[t * features + m] * actions[t * width + d];
      EXPECT_NEAR(sums[at], sum, 1e-9 * static_cast<double>(n));
    }
  EXPECT_EQ(sums.back(), static_cast<double>(n));
}

TEST(EpisodeStatistics, DoNotDependOnTheNumberOfThreads) {
  const auto data = testing::linear_control({.episodes = 9});
  const Exact one(data, 7, 1), three(data, 7, 3);
  for (std::int64_t i = 0; i < 9; ++i)
    EXPECT_THAT(three.statistics.of(i), ::testing::ElementsAreArray(one.statistics.of(i)));
}

/// Every device LibTorch has here; the CPU is one, so that the code is tested everywhere.
TEST(DeviceSteps, AreTheSumsAndErrorsOfTheSteps) {
  const Exact exact(testing::linear_control({.episodes = 6, .length = 330}), 5);
  const auto& layout = exact.statistics.layout();
  const std::vector<std::int32_t> labels = {0, 1, 1, 0, 1, 0};
  const auto weights = solve_policies(exact.statistics, labels, 2, kRidge).weights;
  std::vector<std::string> devices = {"cpu"};
  if (torch::cuda::is_available()) devices.emplace_back("cuda");
  for (const auto& device : devices) {
    const auto steps = make_device_steps(exact.data, exact.map, exact.targets, device, Workers());
    std::vector<double> of_episode(static_cast<std::size_t>(layout.size()), 0.0);
    std::int64_t pieces = 0;
    steps->sums([&](std::int64_t piece, std::int64_t episode, std::span<const double> sums) {
      EXPECT_EQ(piece, pieces++);
      if (episode == 3)
        for (std::size_t n = 0; n < sums.size(); ++n) of_episode[n] += sums[n];
    });
    EXPECT_EQ(pieces, exact.statistics.pieces());
    for (std::size_t n = 0; n < of_episode.size(); ++n)
      EXPECT_NEAR(of_episode[n], exact.statistics.of(3)[n], 1e-6) << device << " " << n;
    const auto errors = steps->errors(weights);
    const auto first = exact.statistics.first_piece(3), last = exact.statistics.last_piece(3);
    ASSERT_EQ(last - first, 2);
    const auto columns = 2 * layout.targets;
    std::vector<double> second(static_cast<std::size_t>(layout.features * layout.targets));
    for (std::int64_t m = 0; m < layout.features; ++m)
      for (std::int64_t d = 0; d < layout.targets; ++d)
        second[static_cast<std::size_t>(m * layout.targets + d)] =
            weights[static_cast<std::size_t>(m * columns + layout.targets + d)];
    const auto expected = exact.errors_by_steps(3, second);
    for (std::int64_t d = 0; d < layout.targets; ++d)
      EXPECT_NEAR(errors(first, layout.targets + d) + errors(first + 1, layout.targets + d),
                  expected[static_cast<std::size_t>(d)], 1e-6)
          << device;
  }
}

TEST(ExactPolicies, ErrorsFromStatisticsAreThoseOfTheSteps) {
  const Exact exact(testing::linear_control({.episodes = 6}), 4);
  const auto& layout = exact.statistics.layout();
  const auto sums = exact.statistics.cluster_sums(std::vector<std::int32_t>(6, 0), 1);
  const auto weights = solve_policy(layout, sums, kRidge);
  const auto forms = ErrorForms::of_targets(layout, weights);
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto errors = forms.errors(std::vector{exact.statistics.of(i).data()});
    const auto expected = exact.errors_by_steps(i, weights);
    for (std::size_t d = 0; d < expected.size(); ++d)
      EXPECT_NEAR(errors(0, static_cast<std::int64_t>(d)), expected[d], 1e-9);
  }
}

TEST(ExactPolicies, ASolvedPolicyIsTheBest) {
  const Exact exact(testing::linear_control({.episodes = 6}), 4);
  const auto& layout = exact.statistics.layout();
  const auto sums = exact.statistics.cluster_sums(std::vector<std::int32_t>(6, 0), 1);
  const auto best = solve_policy(layout, sums, kRidge);
  const auto loss = [&](std::span<const double> weights) {
    double total = 0.0;
    for (const double error :
         ErrorForms::of_targets(layout, weights).errors(std::vector{sums.data()}).values)
      total += error;
    for (const double weight : weights) total += kRidge * weight * weight;
    return total;
  };
  double claimed = 0.0;
  for (const double error : fitted_error(layout, sums, best)) claimed += error;
  EXPECT_NEAR(claimed, loss(best), 1e-8);
  for (std::size_t i = 0; i < best.size(); ++i)
    for (const double step : {-1e-3, 1e-3}) {
      auto other = best;
      other[i] += step;
      EXPECT_GT(loss(other), loss(best));
    }
}

TEST(ExactPolicies, TheObjectiveRisesInEveryRound) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Exact exact(testing::linear_control({.episodes = 40, .policies = 3, .noise = 1.0}, seed),
                      seed % 2 == 0 ? 0 : 6);
    const auto fit = fit_exact(exact.statistics, random_labels(40, 5, seed), kRidge);
    EXPECT_TRUE(fit.converged);
    ASSERT_GE(fit.rounds.size(), 2u);
    for (std::size_t r = 1; r < fit.rounds.size(); ++r) {
      EXPECT_GT(fit.rounds[r - 1].changed, 0);
      EXPECT_GT(fit.rounds[r].objective, fit.rounds[r - 1].objective) << "round " << r;
    }
    EXPECT_EQ(fit.rounds.back().changed, 0);
  }
}

TEST(ExactPolicies, TheClosestPairIsTheCheapestToJoin) {
  const Exact exact(testing::linear_control({.episodes = 40, .policies = 4, .noise = 1.0}));
  const auto labels = random_labels(40, 4, 1);
  const auto pairs = closest_pairs(exact.statistics, labels, 4, kRidge, 100);
  ASSERT_EQ(pairs.size(), 6u);
  double before = std::numeric_limits<double>::infinity();
  for (const auto& [a, b] : pairs) {
    auto joined = labels;
    for (auto& label : joined)
      if (label == b) label = a;
    const double objective =
        solve_policies(exact.statistics, consecutive_labels(joined), 3, kRidge).objective;
    EXPECT_LE(objective, before + 1e-9);
    before = objective;
  }
}

TEST(HeldOut, LeavingAFoldOutIsRefittingWithoutIt) {
  const Exact exact(testing::linear_control({.episodes = 23, .policies = 2}), 3);
  const auto labels = random_labels(23, 2, 4);
  const HeldOut held_out(exact.statistics, exact.data.ids, kRidge, {.folds = 4, .draws = 1});
  const auto score = held_out.score(labels, 2);
  const auto folds = held_out.folds(0);
  const auto width = static_cast<std::size_t>(exact.targets.count());
  for (std::size_t i = 0; i < 23; ++i) {
    auto others = labels;  // what is in the fold of this episode belongs to no cluster
    for (std::size_t j = 0; j < 23; ++j)
      if (folds[j] == folds[i]) others[j] = -1;
    const auto sums = exact.statistics.cluster_sums(others, 2);
    const auto size = static_cast<std::size_t>(exact.statistics.layout().size());
    const auto weights = solve_policy(
        exact.statistics.layout(),
        std::span(sums).subspan(static_cast<std::size_t>(labels[i]) * size, size), kRidge);
    const auto expected = exact.errors_by_steps(static_cast<std::int64_t>(i), weights);
    for (std::size_t d = 0; d < width; ++d)
      EXPECT_NEAR(score.errors[i * width + d], expected[d], 1e-8);
  }
}

TEST(HeldOut, NamesOfClustersAndOrderOfEpisodesDoNotMatter) {
  const auto data = testing::linear_control({.episodes = 30, .policies = 3});
  const Exact exact(data);
  const auto labels = random_labels(30, 3, 2);
  const double v = HeldOut(exact.statistics, data.ids, kRidge).score(labels, 3).v;

  auto renamed = labels;
  for (auto& label : renamed) label = (label + 1) % 3;
  EXPECT_NEAR(HeldOut(exact.statistics, data.ids, kRidge).score(renamed, 3).v, v, 1e-12);

  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < 30; ++i) order.push_back(29 - i);
  const auto reversed = select_episodes(data, order);
  const Exact again(reversed);
  const std::vector<std::int32_t> moved(labels.rbegin(), labels.rend());
  EXPECT_NEAR(HeldOut(again.statistics, reversed.ids, kRidge).score(moved, 3).v, v, 1e-9);
}

TEST(HeldOut, JoiningIsScoringTheJoinedPartition) {
  const Exact exact(testing::linear_control({.episodes = 70, .policies = 3}), 4);
  const HeldOut held_out(exact.statistics, exact.data.ids, kRidge);
  const auto labels = random_labels(70, 3, 2);
  auto joined = labels;
  for (auto& label : joined)
    if (label == 2) label = 0;
  EXPECT_NEAR(held_out.score_joined(held_out.score(labels, 3), labels, {0, 2}).v,
              held_out.score(joined, 2).v, 1e-12);
}

TEST(HeldOut, WhatWasAskedBeforeChangesNothing) {
  const Exact exact(testing::linear_control({.episodes = 70, .policies = 3}), 4);
  const auto labels = random_labels(70, 3, 2);
  auto joined = labels;
  for (auto& label : joined)
    if (label == 2) label = 0;
  const HeldOut asked(exact.statistics, exact.data.ids, kRidge);
  asked.quick_score(joined, 2);  // which knows a cluster of `labels` by one draw
  asked.score(random_labels(70, 3, 5), 3);
  for (int time = 0; time < 2; ++time) {
    const HeldOut fresh(exact.statistics, exact.data.ids, kRidge);
    EXPECT_EQ(asked.score(labels, 3).errors, fresh.score(labels, 3).errors);
    EXPECT_EQ(asked.quick_score(labels, 3), fresh.quick_score(labels, 3));
  }
}

TEST(HeldOut, WhatGoesAstrayCountsAtMostThreeTimesTheUsual) {
  // The last piece of one episode follows no policy at all.
  auto data = testing::linear_control({.episodes = 30, .length = 800, .policies = 2});
  std::vector<float> actions(data.actions.floats().span().begin(),
                             data.actions.floats().span().end());
  for (auto t = data.offsets[7] + 600; t < data.offsets[8]; ++t)
    actions[static_cast<std::size_t>(2 * t)] = 50.0f;
  data.actions = Actions::continuous(std::move(actions), 2);
  const Exact exact(data);
  ASSERT_EQ(exact.statistics.last_piece(7) - exact.statistics.first_piece(7), 4);
  const HeldOut held_out(exact.statistics, data.ids, kRidge);
  const std::vector<std::int32_t> truth(data.labels.span().begin(), data.labels.span().end());
  const auto score = held_out.score(truth, 2);
  const auto costs = held_out.costs(score, score.noise);
  EXPECT_LE(costs[7], 0.5 * 2.0 * static_cast<double>(data.length(7)) * kMostUnusual);
  // It moves neither its own label nor what is usual.
  auto moved = truth;
  moved[7] = 1 - moved[7];
  EXPECT_GT(score.v, held_out.score(moved, 2).v);
}

TEST(HeldOut, PrefersTheTruthToWhatOnlyMemorises) {
  const auto data = testing::linear_control({.episodes = 40, .length = 20, .policies = 2});
  const Exact exact(data);
  const HeldOut held_out(exact.statistics, data.ids, kRidge);
  const std::vector<std::int32_t> truth(data.labels.span().begin(), data.labels.span().end());
  const auto right = held_out.score(truth, 2);
  const auto one = held_out.score(std::vector<std::int32_t>(40, 0), 1);
  EXPECT_GT(right.v, one.v);
  const auto gain =
      paired_gain(held_out.costs(one, right.noise), held_out.costs(right, right.noise), 800.0);
  EXPECT_GT(gain.mean, 5.0 * gain.error);
  // Twice as many clusters have a higher J, and predict no better.
  auto halves = truth;
  for (std::size_t i = 0; i < 40; ++i)
    halves[i] = 2 * truth[i] + static_cast<std::int32_t>(i / 2 % 2);
  EXPECT_GT(solve_policies(exact.statistics, halves, 4, 1e-6).objective,
            solve_policies(exact.statistics, truth, 2, 1e-6).objective);
  EXPECT_LT(held_out.score(halves, 4).v, right.v);
}

/// Few episodes, each held out alone, and more of them in folds: what sums of all pieces say.
TEST(EpisodeStatistics, OfTheFirstFeaturesAreThoseMadeOfThemAlone) {
  for (const std::int64_t length : {70, 450}) {  // one piece, and several
    const auto data = testing::linear_control({.episodes = 5, .length = length});
    const Exact all(data, 9), few(data, 2);
    const auto first = all.statistics.of_first(few.map.count());
    ASSERT_EQ(first->pieces(), few.statistics.pieces());
    for (std::int64_t i = 0; i < 5; ++i)
      EXPECT_THAT(first->of(i), ::testing::ElementsAreArray(few.statistics.of(i)));
    for (std::int64_t p = 0; p < first->pieces(); ++p) {
      EXPECT_EQ(first->piece_steps(p), few.statistics.piece_steps(p));
      EXPECT_EQ(first->piece_sums(p), few.statistics.piece_sums(p));
    }
  }
}

TEST(EpisodeStatistics, ErrorsUnderSeveralPoliciesAreThoseUnderEach) {
  // So many features that caches do not hold the sums of all pieces at once.
  const Exact exact(testing::linear_control({.episodes = 40, .length = 20}), 300, 2);
  const auto& sums = exact.statistics;
  std::vector<PiecesOfPolicy> asked(3);
  for (std::int64_t p = 0; p < sums.pieces(); ++p) {
    if (p % 2 == 0) asked[0].pieces.push_back(p);
    if (p % 3 > 0) asked[1].pieces.push_back(p);
  }
  for (std::int64_t n = 0; n < 2; ++n)
    asked[static_cast<std::size_t>(n)].policy = solve_policy(sums.layout(), sums.of(n), kRidge);
  const auto errors = sums.errors_under(asked);
  ASSERT_EQ(errors.size(), asked.size());
  for (std::size_t n = 0; n < 2; ++n)
    EXPECT_EQ(errors[n].values, sums.piece_errors(asked[n].pieces, asked[n].policy).values);
  EXPECT_EQ(errors[2].rows, 0) << "no piece was asked for";
}

TEST(EpisodeStatistics, SumsBySeveralLabellingsAreThoseByEach) {
  const Exact exact(testing::linear_control({.episodes = 6, .length = 450}), 9);
  const std::vector<Labelling> labellings{{{0, 1, 2, 0, 1, 2}, 3}, {{-1, 0, 0, -1, -1, -1}, 2}};
  const auto sums = exact.statistics.sums_by(labellings);
  ASSERT_EQ(sums.size(), 2U);
  for (std::size_t n = 0; n < 2; ++n)
    EXPECT_EQ(sums[n], exact.statistics.cluster_sums(labellings[n].labels, labellings[n].k));
}

TEST(EpisodeStatistics, SomeEpisodesReferToTheSumsOfAll) {
  const Exact exact(testing::linear_control({.episodes = 6, .length = 450}), 9);
  const auto some = exact.statistics.subset(std::vector<std::int64_t>{5, 1, 3});
  const auto fewer = some->subset(std::vector<std::int64_t>{2, 0});
  EXPECT_EQ(dynamic_cast<const KeptSums&>(*fewer).of(0).data(), exact.statistics.of(3).data());
  EXPECT_EQ(fewer->piece_sums(1), some->piece_sums(0));
  EXPECT_EQ(fewer->pieces(), 2) << "each is one piece";
}

TEST(OwnPart, IsWhatAPolicyOfTheEpisodesOwnExplains) {
  const Exact exact(testing::linear_control({.episodes = 4, .length = 60}), 3);
  const auto& layout = exact.statistics.layout();
  const auto policy = solve_policy(layout, exact.statistics.of(0), kRidge);
  constexpr double kTiny = 1e-9;  // of a ridge: the own policy is then the least-squares one
  const auto own = own_part(layout, exact.statistics.of(1), policy, kTiny);
  const auto best = solve_policy(layout, exact.statistics.of(1), kTiny);
  const auto before = exact.errors_by_steps(1, policy), after = exact.errors_by_steps(1, best);
  for (std::size_t d = 0; d < before.size(); ++d)
    EXPECT_NEAR(own.explained[d], before[d] - after[d], 1e-5 * before[d]);
  EXPECT_NEAR(own.parameters, static_cast<double>(layout.features), 1e-6);
  EXPECT_LT(own_part(layout, exact.statistics.of(1), policy, kRidge).parameters, own.parameters);
}

TEST(OwnPart, SurprisesAsNoiseAloneDoesWhereThePolicyIsRight) {
  for (const std::int64_t length : {6, 40, 200}) {
    const Exact exact(testing::linear_control({.episodes = 300, .length = length, .policies = 1}));
    const std::vector<std::int32_t> labels(300, 0);
    const HeldOut held_out(exact.statistics, exact.data.ids, kRidge);
    const auto fit = held_out.fit(labels, 1, held_out.score(labels, 1));
    ASSERT_EQ(fit.surprises.size(), 300U);
    double mean = 0.0, square = 0.0;
    for (const double surprise : fit.surprises) {
      mean += surprise / 300.0;
      square += surprise * surprise / 300.0;
    }
    EXPECT_NEAR(mean, 0.0, 0.35) << length;
    // The ridge keeps a policy of a few steps from following all of their noise.
    EXPECT_GT(std::sqrt(square - mean * mean), length < 40 ? 0.5 : 0.8) << length;
    EXPECT_LT(std::sqrt(square - mean * mean), 1.2) << length;
    EXPECT_NEAR(fit.dispersion, 1.0, 0.2) << length;
  }
}

TEST(OwnPart, AnEpisodeThatWentAstrayInPartsDoesNotSurprise) {
  std::vector<OwnPart> pieces;
  for (const double explained : {90.0, 4.0, 80.0, 5.0, 70.0}) pieces.push_back({{explained}, 4.0});
  const std::vector<double> noise{1.0};
  EXPECT_EQ(least_surprising_quarter(pieces, noise).explained.front(), 5.0);
  EXPECT_EQ(least_surprising_quarter({pieces.front()}, noise).explained.front(), 90.0);
}

TEST(ExactCentres, GiveTheLabelsTheyWereMadeOfAndComeBackFromAFile) {
  const Exact exact(testing::linear_control({.episodes = 30, .policies = 3}), 5);
  const auto fit = fit_exact(
      exact.statistics,
      std::vector<std::int32_t>(exact.data.labels.span().begin(), exact.data.labels.span().end()),
      kRidge);
  const auto solved = solve_policies(exact.statistics, fit.labels, fit.k, kRidge);
  std::vector<double> own_noise;
  for (std::int64_t j = 0; j < fit.k; ++j)
    own_noise.insert(own_noise.end(), solved.noise.begin(), solved.noise.end());
  const ExactCentres centres(exact.map, exact.targets, solved.weights, solved.noise, own_noise,
                             kRidge);
  const auto scores = centres.score(exact.data, {});
  EXPECT_EQ(best_columns(scores), fit.labels);
  const auto from_sums = centres.score(exact.statistics);
  ASSERT_EQ(from_sums.values.size(), scores.values.size());
  for (std::size_t i = 0; i < scores.values.size(); ++i)
    EXPECT_NEAR(from_sums.values[i], scores.values[i], 1e-7 * (1.0 + std::abs(scores.values[i])));

  const auto path = std::filesystem::path(::testing::TempDir()) / "exact-centres.h5";
  {
    ArrayFileWriter file(path);
    centres.save(file);
    file.close();
  }
  const auto loaded = ExactCentres::load(ArrayFileReader(path));
  EXPECT_EQ(loaded->count(), 3);
  EXPECT_EQ(loaded->score(exact.data, {}).values, scores.values);
  EXPECT_EQ(loaded->surprises(exact.data, fit.labels, {}),
            centres.surprises(exact.data, fit.labels, {}));
  EXPECT_THROW(loaded->score(testing::linear_control({.obs_dim = 4}), {}), DataFormatError);
  std::filesystem::remove(path);
}

/// Episodes that are unusual under every policy: none of them is likely, one is the likeliest.
TEST(ExactCentres, WhatNoPolicyExplainsGoesToTheOneMostLikeIt) {
  const Exact exact(testing::linear_control({.episodes = 30, .policies = 3}), 5);
  const auto& truth = exact.data.labels.span();
  const std::vector<std::int32_t> labels(truth.begin(), truth.end());
  const auto solved = solve_policies(exact.statistics, labels, 3, kRidge);
  auto noise = solved.noise;
  for (double& variance : noise) variance /= 10.0 * kMostUnusual;
  const ExactCentres centres(exact.map, exact.targets, solved.weights, noise, {}, kRidge);
  const auto scores = centres.score(exact.data, {});
  EXPECT_EQ(best_columns(scores), labels);
  for (const double margin : margins(scores, labels)) {
    EXPECT_GT(margin, 0.0);
    EXPECT_LT(margin, 1e-3);  // no reason to be sure
  }
}

TEST(ActionTargets, ConstantActionsAreNoTargets) {
  const auto actions = Actions::continuous(std::vector<float>{1, 7, 2, 7, 3, 7}, 2);
  EXPECT_EQ(ActionTargets(actions).count(), 1);
  EXPECT_EQ(ActionTargets(Actions::discrete(std::vector<std::int32_t>{0, 2, 2, 0}, 3)).count(), 2);
}

}  // namespace
}  // namespace kindred::policy_search
