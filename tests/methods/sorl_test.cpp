#include "kindred/methods/sorl/sorl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/methods/sorl/mixture.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/architecture.h"
#include "kindred/policies/centres.h"
#include "tests/clustering/synthetic.h"

namespace kindred::sorl {
namespace {

using kindred::testing::gridworld;
using kindred::testing::linear_control;
using kindred::testing::without_interning;

double nmi(const Clustering& clustering, const Trajectories& data) {
  return normalized_mutual_information(clustering.labels, data.labels.span());
}

Options quick(std::int64_t k) {
  Options options;
  options.k = k;
  options.hidden = 16;
  options.max_rounds = 5;
  return options;
}

double score(const std::vector<double>& probabilities, OverSteps over) {
  double result = score_of_no_steps(over);
  for (const double p : probabilities) result = with_step(result, std::log(p), over);
  return result;
}

/// One certain step outweighs an almost impossible one in a sum, and is outweighed in a product.
TEST(Sorl, SumAndProductDisagree) {
  const std::vector<double> erratic = {0.9, 0.01};
  const std::vector<double> steady = {0.4, 0.4};
  Matrix scores(2, 2);
  scores.values = {score(erratic, OverSteps::kLogOfSum), score(steady, OverSteps::kLogOfSum),
                   score(erratic, OverSteps::kSumOfLogs), score(steady, OverSteps::kSumOfLogs)};
  const Matrix shares = posteriors(scores, 2);
  EXPECT_NEAR(shares(0, 0), 0.91 / (0.91 + 0.80), 1e-12);
  EXPECT_NEAR(shares(0, 1), 0.80 / (0.91 + 0.80), 1e-12);
  EXPECT_NEAR(shares(1, 0), 0.009 / (0.009 + 0.16), 1e-12);
  EXPECT_NEAR(shares(1, 1), 0.16 / (0.009 + 0.16), 1e-12);
  EXPECT_EQ(best_columns(scores), (std::vector<std::int32_t>{0, 1}));
}

TEST(Sorl, PosteriorsSurviveWhatExponentialsDoNot) {
  Matrix scores(1, 4);  // two mixtures of two
  scores.values = {-1e5, -1e5 - std::log(3.0), -2000.0, -2100.0};
  const Matrix shares = posteriors(scores, 2);
  EXPECT_NEAR(shares(0, 0), 0.75, 1e-9);
  EXPECT_NEAR(shares(0, 1), 0.25, 1e-9);
  EXPECT_EQ(shares(0, 2), 1.0);
  EXPECT_EQ(shares(0, 3), 0.0);
  const std::vector<double> hardly(3, std::exp(-700.0));
  EXPECT_NEAR(score(hardly, OverSteps::kLogOfSum), -700.0 + std::log(3.0), 1e-9);
}

/// The same data with every step an episode of its own.
Trajectories single_steps(Trajectories data) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(data.steps() + 1));
  std::iota(offsets.begin(), offsets.end(), 0);
  data.ids.assign(static_cast<std::size_t>(data.steps()), "step");
  data.labels = {};
  data.oracle = {};
  data.offsets = offsets;
  return data;
}

/// The same networks on the CPU by kernels of our own, and through LibTorch as on a GPU.
std::unique_ptr<Mixture> make(bool by_torch, const Trajectories& data, const Options& options) {
  return by_torch ? make_tensor_mixture(data, options, {}) : make_cpu_mixture(data, options, {});
}

class SorlMixture : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Sorl, SorlMixture, ::testing::Bool(),
                         [](const auto& by_torch) { return by_torch.param ? "torch" : "cpu"; });

TEST_P(SorlMixture, ScoresAreWhatTheStepsSay) {
  for (const auto& data : {gridworld("diagonal", 4), linear_control({.episodes = 6})}) {
    const auto options = resolve(quick(2), data);
    const std::vector<std::int64_t> slots = {0, 1};
    const auto mixture = make(GetParam(), data, options);
    const auto steps = mixture->centres(slots)->score(single_steps(data), {});
    const auto sums = mixture->score(slots, OverSteps::kLogOfSum);
    const auto products = mixture->score(slots, OverSteps::kSumOfLogs);
    for (std::int64_t i = 0; i < data.episodes(); ++i)
      for (std::int64_t z = 0; z < 2; ++z) {
        double sum = 0.0;
        double product = 0.0;
        for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
          sum += std::exp(steps(t, z)), product += steps(t, z);
        EXPECT_NEAR(sums(i, z), std::log(sum), 1e-6);
        EXPECT_NEAR(products(i, z), product, 1e-4);
      }
  }
}

/// Two policies trained by hand: shares from plain exponentials, every step a row, Adam on the
/// shares. Returns log-likelihoods [episodes, 2].
Matrix trained_by_hand(const Trajectories& data, const Options& options, int rounds) {
  const auto inputs =
      NetworkInputs::from(data.observations, options.standardize == Standardize::kOn);
  const auto shape = architecture_for(data, {inputs, {}}, options.hidden, options.hidden_layers);
  std::vector<std::int64_t> steps(static_cast<std::size_t>(data.steps()));
  std::iota(steps.begin(), steps.end(), 0);
  std::vector<float> seen(steps.size() * inputs.columns.size());
  inputs.gather(data.observations, steps, seen);
  const auto n = steps.size();
  const auto actions = static_cast<std::size_t>(shape.actions);
  const auto log_probs = [&](CpuPolicy& policy) {
    std::vector<float> result(n), all(n * actions);
    if (!shape.discrete) {
      policy.log_densities(seen, data.actions.floats().span(), result);
      return result;
    }
    policy.all_log_probs(seen, all);
    for (std::size_t t = 0; t < n; ++t)
      result[t] = all[t * actions + static_cast<std::size_t>(data.actions.ints()[steps[t]])];
    return result;
  };

  CpuPolicy first(shape), second(shape);
  CpuPolicy* policies[] = {&first, &second};
  PolicyStack stack(shape, 2);
  for (std::int64_t z = 0; z < 2; ++z) {
    stack.initialise(z, Random(static_cast<std::uint64_t>(options.seed), "policy",
                               static_cast<std::uint64_t>(z)));
    policies[z]->load(stack, z);
  }
  Matrix likelihoods(data.episodes(), 2);
  for (int round = 0; round <= rounds; ++round) {
    Matrix numerators(data.episodes(), 2);
    for (std::int64_t z = 0; z < 2; ++z) {
      const auto steps_log_probs = log_probs(*policies[z]);
      for (std::int64_t i = 0; i < data.episodes(); ++i) {
        double sum = 0.0;
        double product = 0.0;
        for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
          const double log_prob = steps_log_probs[static_cast<std::size_t>(t)];
          sum += std::exp(log_prob), product += log_prob;
        }
        likelihoods(i, z) = product;
        numerators(i, z) = options.posterior == Posterior::kSum ? sum : std::exp(product);
      }
    }
    for (std::int64_t z = 0; round < rounds && z < 2; ++z) {
      std::vector<float> weights(n), spread(n * actions, 0.0F);
      for (std::int64_t i = 0; i < data.episodes(); ++i)
        for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
          const auto at = static_cast<std::size_t>(t);
          const double share = numerators(i, z) / (numerators(i, 0) + numerators(i, 1));
          weights[at] = static_cast<float>(share / static_cast<double>(n));
          if (shape.discrete)
            spread[at * actions + static_cast<std::size_t>(data.actions.ints()[t])] = weights[at];
        }
      if (shape.discrete)
        policies[z]->gradient_on_weights(seen, spread);
      else
        policies[z]->gradient_on_actions(seen, data.actions.floats().span(), weights);
      policies[z]->update({});
    }
  }
  return likelihoods;
}

TEST_P(SorlMixture, TrainsAsByHand) {
  const auto grid = gridworld("diagonal", 3);
  const auto control = linear_control({.episodes = 5, .length = 8});
  for (const auto* data : {&grid, &control})
    for (const auto posterior : {Posterior::kSum, Posterior::kProduct}) {
      auto options = quick(2);
      options.posterior = posterior;
      options.batch_steps = 0;
      options = resolve(options, *data);
      const auto mixture = make(GetParam(), *data, options);
      const std::vector<std::int64_t> restarts = {0};
      for (std::int64_t round = 1; round <= 8; ++round) mixture->train(restarts, round);
      const std::vector<std::int64_t> slots = {0, 1};
      const auto ours = mixture->score(slots, OverSteps::kSumOfLogs);
      const auto by_hand = trained_by_hand(*data, options, 8);
      const auto untrained = trained_by_hand(*data, options, 0);
      for (std::size_t i = 0; i < ours.values.size(); ++i) {
        EXPECT_NEAR(ours.values[i], by_hand.values[i], 2e-3 * std::abs(by_hand.values[i]));
        EXPECT_GT(std::abs(by_hand.values[i] - untrained.values[i]),
                  10.0 * std::abs(by_hand.values[i] - ours.values[i]));
      }
    }
}

/// Several slices in a minibatch, and policies without a share in some of them.
TEST(Sorl, TorchTrainsAsTheKernelsDo) {
  for (const auto& data : {gridworld("diagonal", 8), linear_control({.episodes = 12})}) {
    auto options = quick(2);
    options.restarts = 2;
    options.posterior = Posterior::kProduct;
    options.batch_trajectories = 5;
    options.batch_steps = 20;
    options = resolve(options, data);
    const std::vector<std::int64_t> slots = {0, 1, 2, 3};
    const std::vector<std::int64_t> restarts = {0, 1};
    const auto kernels = make(false, data, options);
    const auto torch = make(true, data, options);
    const auto untrained = torch->score(slots, OverSteps::kSumOfLogs);
    for (std::int64_t round = 1; round <= 4; ++round) {
      kernels->train(restarts, round);
      torch->train(restarts, round);
    }
    const auto expected = kernels->score(slots, OverSteps::kSumOfLogs);
    const auto found = torch->score(slots, OverSteps::kSumOfLogs);
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      EXPECT_NEAR(found.values[i], expected.values[i], 2e-3 * std::abs(expected.values[i]));
      EXPECT_GT(std::abs(found.values[i] - untrained.values[i]),
                10.0 * std::abs(found.values[i] - expected.values[i]));
    }
  }
}

/// Training goes on as if nothing had happened from what was kept and what was saved, and on the
/// other kind of device nearly so.
TEST_P(SorlMixture, GoesOnFromWhatWasSaved) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("kindred-mixture-" + std::to_string(::getpid()) + ".h5");
  const auto data = linear_control({.episodes = 10});
  const auto options = resolve(quick(2), data);
  const std::vector<std::int64_t> slots = {0, 1};
  const std::vector<std::int64_t> restarts = {0};
  const auto straight = make(GetParam(), data, options);
  straight->train(restarts, 1);
  straight->keep(0);
  const auto kept = straight->score(slots, OverSteps::kSumOfLogs);
  ArrayFileWriter file(path);
  straight->save(file);
  file.close();
  straight->train(restarts, 2);
  const auto resumed = make(GetParam(), data, options);
  resumed->load(ArrayFileReader(path));
  EXPECT_EQ(resumed->score(slots, OverSteps::kSumOfLogs).values, kept.values);
  resumed->train(restarts, 2);
  EXPECT_EQ(resumed->score(slots, OverSteps::kSumOfLogs).values,
            straight->score(slots, OverSteps::kSumOfLogs).values);
  resumed->restore(0);
  EXPECT_EQ(resumed->score(slots, OverSteps::kSumOfLogs).values, kept.values);
  const auto elsewhere = make(!GetParam(), data, options);
  elsewhere->load(ArrayFileReader(path));
  elsewhere->train(restarts, 2);
  const auto expected = straight->score(slots, OverSteps::kSumOfLogs);
  const auto found = elsewhere->score(slots, OverSteps::kSumOfLogs);
  for (std::size_t i = 0; i < found.values.size(); ++i)
    EXPECT_NEAR(found.values[i], expected.values[i], 1e-3 * std::abs(expected.values[i]));
  std::filesystem::remove(path);
}

TEST(Sorl, ProductRecoversLinearControllers) {
  const auto data = linear_control({.episodes = 60, .policies = 2});
  Options options;
  options.k = 2;
  options.restarts = 3;
  options.posterior = Posterior::kProduct;
  options.hidden = 32;
  options.batch_trajectories = 16;
  options.batch_steps = 256;
  options.max_rounds = 60;
  EXPECT_GE(nmi(fit(data, options), data), 0.99);
}

TEST(Sorl, CountingIsTheSameAsReadingEveryStep) {
  const auto grid = gridworld("takeball", 20);
  auto options = quick(3);
  options.standardize = Standardize::kOff;
  const auto counted = fit(grid, options);
  const auto dense = fit(without_interning(grid), options);
  EXPECT_EQ(counted.labels, dense.labels);
  ASSERT_EQ(counted.scores.values.size(), dense.scores.values.size());
  for (std::size_t i = 0; i < counted.scores.values.size(); ++i)
    EXPECT_NEAR(counted.scores.values[i], dense.scores.values[i], 1e-3);
}

TEST(Sorl, NumberOfThreadsDoesNotChangeTheResult) {
  auto options = quick(3);
  options.restarts = 2;
  options.batch_trajectories = 7;
  options.batch_steps = 100;
  RunContext one, three;
  one.pool = std::make_shared<ThreadPool>(1);
  three.pool = std::make_shared<ThreadPool>(3);
  for (const auto& data : {linear_control({.episodes = 20}), gridworld("diagonal", 20)})
    EXPECT_EQ(fit(data, options, one).scores.values, fit(data, options, three).scores.values);
}

TEST(Sorl, ARestartDoesNotDependOnTheOthers) {
  const auto data = linear_control({.episodes = 20});
  auto options = quick(2);
  const auto alone = fit(data, options);
  options.restarts = 3;
  const auto together = fit(data, options);
  EXPECT_EQ(together.restarts[0].objective, alone.objective);
  EXPECT_EQ(together.restarts[0].labels, alone.labels);
}

/// Stops and saves after every round, and merges at the end.
TEST(Sorl, ResumedEqualsStraight) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("kindred-sorl-" + std::to_string(::getpid()) + ".h5");
  const auto data = gridworld("diagonal", 30);
  auto options = quick(5);
  options.posterior = Posterior::kProduct;
  options.merge_to = 2;
  options.restarts = 2;
  options.batch_trajectories = 32;
  options.batch_steps = 128;
  const auto straight = fit(data, options);
  RunContext run;
  run.checkpoint = path;
  std::atomic<bool> stop;
  run.stop_requested = [&] { return stop.load(); };
  run.progress = [&](const Progress& progress) { stop = progress.stage == "round"; };
  Clustering result;
  result.stopped = true;
  int pieces = 0;
  for (; result.stopped && pieces < 100; ++pieces, run.resume = true) {
    stop = false;
    result = fit(data, options, run);
  }
  std::filesystem::remove(path);
  EXPECT_EQ(pieces, 6);  // five rounds, and the end after the last of them
  EXPECT_EQ(result.labels, straight.labels);
  EXPECT_EQ(result.scores.values, straight.scores.values);
  EXPECT_EQ(result.objective, straight.objective);
  EXPECT_EQ(result.trace.size(), straight.trace.size());
}

TEST(Sorl, AssigningTheDataAgainGivesTheSameLabels) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("kindred-sorl-centres-" + std::to_string(::getpid()) + ".h5");
  for (const auto& data : {linear_control({}), gridworld("diagonal", 60)})
    for (const auto posterior : {Posterior::kSum, Posterior::kProduct})
      for (const std::int64_t merge_to : {0, 2}) {
        auto options = quick(4);
        options.posterior = posterior;
        options.merge_to = merge_to;
        const auto result = fit(data, options);
        EXPECT_LE(result.k(), merge_to > 0 ? merge_to : 4);
        ArrayFileWriter out(path);
        result.centres->save(out);
        out.close();
        const auto scores = load_policy_centres(ArrayFileReader(path))->score(data, {});
        EXPECT_EQ(scores.values, result.scores.values);
        EXPECT_EQ(best_columns(scores), result.labels);
        EXPECT_THROW(result.centres->score(linear_control({.obs_dim = 4}), {}), DataFormatError);
      }
  std::filesystem::remove(path);
}

TEST(Sorl, ObjectiveIsTheExpectedLogLikelihood) {
  const auto data = gridworld("diagonal", 60);
  auto options = quick(2);
  options.posterior = Posterior::kProduct;
  const auto result = fit(data, options);
  ASSERT_EQ(result.k(), 2);  // all policies are among the centres
  const auto shares = posteriors(result.scores, 2);
  double expected = 0.0;
  for (std::size_t i = 0; i < shares.values.size(); ++i)
    expected += shares.values[i] * result.scores.values[i];
  EXPECT_NEAR(result.objective, expected, 1e-9 * std::abs(expected));
}

TEST(Sorl, EndsWithItsBestRound) {
  auto options = quick(3);
  options.learning_rate = 0.05;  // unsteady on purpose
  options.batch_trajectories = 4;
  options.max_rounds = 12;
  options.restarts = 3;
  for (const auto& data : {linear_control({}), gridworld("diagonal", 20)}) {
    const auto result = fit(data, options);
    std::int64_t fell = 0;
    for (const auto& restart : result.restarts) {
      double best = -std::numeric_limits<double>::infinity();
      double last = best;
      for (const auto& entry : result.trace)
        if (entry.restart == restart.restart)
          best = std::max(best, entry.objective), last = entry.objective;
      EXPECT_EQ(restart.objective, best);
      fell += last < best;
    }
    EXPECT_GT(fell, 0) << "the case shows nothing";
  }
}

TEST(Sorl, WhatCannotBeDoneIsExplained) {
  const auto data = linear_control({.episodes = 5});
  const auto message = [&](Options options, const RunContext& run) -> std::string {
    try {
      fit(data, options, run);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(quick(6), {}), "k is 6 but there are only 5 trajectories; choose a smaller k");
  auto options = quick(2);
  options.merge_to = 3;
  EXPECT_EQ(message(options, {}), "merge-to is 3 but k is 2; merging can only lower the number");
}

}  // namespace
}  // namespace kindred::sorl
