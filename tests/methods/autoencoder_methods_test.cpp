// CAAE, DEC, VAE+KMeans and VQ-VAE: what they find, and what they share.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "kindred/core/error.h"
#include "kindred/methods/caae/caae.h"
#include "kindred/methods/dec/dec.h"
#include "kindred/methods/vae_kmeans/vae_kmeans.h"
#include "kindred/methods/vq_vae/vq_vae.h"
#include "kindred/metrics/clustering_scores.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

using testing::gridworld;
using testing::linear_control;

/// Small networks and few steps.
template <class Options>
Options quick(std::int64_t k, std::int64_t steps = 200) {
  Options options;
  options.k = k;
  options.hidden = 32;
  options.gru_width = 16;
  options.max_steps = steps;
  return options;
}

double nmi(const Clustering& result, const Trajectories& data) {
  return normalized_mutual_information(result.labels, data.labels.span());
}

TEST(Caae, TellsTwoControllersApart) {
  const auto data = linear_control({});
  EXPECT_GT(nmi(caae::fit(data, quick<caae::Options>(2), {}), data), 0.95);
}

TEST(Caae, TellsGridworldExpertsApart) {
  const auto data = gridworld("takeball", 300);
  caae::Options options;  // the small network would need more steps than this takes seconds
  options.k = 4;
  options.max_steps = 1500;
  EXPECT_GT(nmi(caae::fit(data, options, {}), data), 0.85);
}

TEST(Dec, TellsTwoControllersApartInBothVariants) {
  const auto data = linear_control({});
  auto options = quick<dec::Options>(2);
  EXPECT_GT(nmi(dec::fit(data, options, {}), data), 0.95);
  options.variant = dec::Variant::kJoint;
  EXPECT_GT(nmi(dec::fit(data, options, {}), data), 0.5);
}

TEST(Dec, StopsWhenLabelsHaveSettled) {
  auto options = quick<dec::Options>(2, 2000);
  options.pretrain = 0.1;
  options.refresh_steps = 50;
  const auto result = dec::fit(linear_control({}), options, {});
  EXPECT_LT(result.iterations, 40);
  EXPECT_GE(result.iterations, 5);
}

TEST(Dec, SaysFromWhichRoundItsObjectiveCounts) {
  const auto data = linear_control({});
  auto options = quick<dec::Options>(2, 200);
  options.pretrain = 0.5;
  EXPECT_EQ(dec::fit(data, options, {}).restarts.at(0).objective_since,
            3);  // after two of 50 steps
  options.variant = dec::Variant::kJoint;
  EXPECT_EQ(dec::fit(data, options, {}).restarts.at(0).objective_since, 1);
}

TEST(VaeKmeans, TellsTwoControllersApart) {
  const auto data = linear_control({});
  EXPECT_GT(nmi(vae_kmeans::fit(data, quick<vae_kmeans::Options>(2), {}), data), 0.95);
}

TEST(VqVae, TellsTwoControllersApart) {
  const auto data = linear_control({});
  EXPECT_GT(nmi(vq_vae::fit(data, quick<vq_vae::Options>(2), {}), data), 0.95);
}

TEST(Caae, CodesThatStartFarAwayAreUsedOnlyWithRefitting) {
  const auto data = linear_control({});
  auto options = quick<caae::Options>(2);
  options.refit = false;
  EXPECT_EQ(caae::fit(data, options, {}).k(), 1);
  options.refit = true;
  EXPECT_EQ(caae::fit(data, options, {}).k(), 2);
}

/// Hardly trained, two codes are where they were drawn: far apart, so that their spread is
/// (1/2²) Σ_ij min{1, ‖μ_i − μ_j‖²} = 2/4.
TEST(Caae, WithoutTheRegulariserTheObjectiveLosesItsSpread) {
  const auto data = linear_control({});
  auto options = quick<caae::Options>(2, 5);
  options.learning_rate = 1e-9;
  options.refit = false;
  const double with = caae::fit(data, options, {}).objective;
  options.regulariser = 0.0;
  const double without = caae::fit(data, options, {}).objective;
  EXPECT_NEAR(with - without, 0.5, 1e-3);
}

TEST(Caae, MergesDownByCentroid) {
  const auto data = linear_control({});
  auto options = quick<caae::Options>(8);
  options.merge_to = 2;
  const auto result = caae::fit(data, options, {});
  EXPECT_EQ(result.k(), 2);
  EXPECT_GT(nmi(result, data), 0.9);
  const auto& restart = result.restarts.front();
  ASSERT_FALSE(restart.merges.empty());
  EXPECT_EQ(restart.objective, restart.merges.back().objective);
  EXPECT_LT(restart.objective, restart.objective_before_merge);
  EXPECT_EQ(best_columns(result.centres->score(data, {})), result.labels);
}

TEST(Caae, KeepsLatentVectors) {
  const auto data = linear_control({});
  const auto result = caae::fit(data, quick<caae::Options>(2, 60), {});
  EXPECT_EQ(result.latents.rows, data.episodes());
  EXPECT_EQ(result.latents.columns, 16);
  EXPECT_EQ(result.score_meaning, "negative squared distance");
}

TEST(Caae, SumAndMeanReconstructionDiffer) {
  const auto data = linear_control({});
  auto options = quick<caae::Options>(2, 60);
  const double sum = caae::fit(data, options, {}).objective;
  options.reconstruction = latent::Reconstruction::kMean;
  const double mean = caae::fit(data, options, {}).objective;
  EXPECT_GT(std::abs(sum), 5.0 * std::abs(mean));  // some fifty steps each
}

TEST(Caae, ResultDoesNotDependOnTheNumberOfThreads) {
  const auto data = gridworld("takeball", 30);
  const auto options = quick<caae::Options>(3, 60);
  RunContext one, three;
  one.pool = std::make_shared<ThreadPool>(1);
  three.pool = std::make_shared<ThreadPool>(3);
  const auto a = caae::fit(data, options, one);
  const auto b = caae::fit(data, options, three);
  EXPECT_EQ(a.scores.values, b.scores.values);
  EXPECT_EQ(a.objective, b.objective);
}

TEST(Caae, SaysHowLongItWillTakeBeforeTheFirstRound) {
  std::vector<std::string> stages;
  double estimate = 0.0;
  RunContext run;
  run.progress = [&](const Progress& progress) {
    stages.push_back(progress.stage);
    if (progress.stage == "estimate") estimate = progress.seconds;
  };
  caae::fit(linear_control({}), quick<caae::Options>(2, 60), run);
  EXPECT_EQ(stages.front(), "estimate");
  EXPECT_GT(estimate, 0.0);
}

/// Interrupted after every round, in the middle of training and between restarts.
template <class Options, class Fit>
void expect_resumable(Options options, const Fit& fit) {
  const auto data = linear_control({});
  options.restarts = 2;
  const auto state = std::filesystem::temp_directory_path() /
                     ("kindred-autoencoder-" + std::to_string(::getpid()) + ".h5");
  std::filesystem::remove(state);
  const auto straight = fit(data, options, RunContext{});
  RunContext run;
  run.checkpoint = state;
  std::atomic<bool> stop;
  run.stop_requested = [&] { return stop.load(); };
  run.progress = [&](const Progress& progress) { stop = progress.stage == "round"; };
  Clustering result;
  result.stopped = true;
  int pieces = 0;
  for (; result.stopped && pieces < 20; ++pieces, run.resume = true) {
    stop = false;
    result = fit(data, options, run);
  }
  std::filesystem::remove(state);
  EXPECT_GT(pieces, 2);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.labels, straight.labels);
  EXPECT_EQ(result.objective, straight.objective);
  EXPECT_EQ(result.scores.values, straight.scores.values);
  EXPECT_EQ(result.trace.size(), straight.trace.size());
}

TEST(AutoencoderMethods, ResumeWithinARestart) {
  expect_resumable(quick<caae::Options>(2, 120), caae::fit);
  expect_resumable(quick<vae_kmeans::Options>(2, 120), vae_kmeans::fit);
  expect_resumable(quick<vq_vae::Options>(2, 120), vq_vae::fit);
  expect_resumable(quick<dec::Options>(2, 160), dec::fit);
}

TEST(AutoencoderMethods, LibTorchKeepsItsThreads) {
  const auto before = at::get_num_threads();
  at::set_num_threads(3);
  const auto data = linear_control({});
  const auto result = caae::fit(data, quick<caae::Options>(2, 60), {});
  EXPECT_EQ(at::get_num_threads(), 3);
  result.centres->score(data, {});
  EXPECT_EQ(at::get_num_threads(), 3);
  at::set_num_threads(before);
}

TEST(AutoencoderMethods, WidthsMustFitTheKernels) {
  auto options = quick<caae::Options>(2);
  options.hidden = 20;
  EXPECT_THROW(caae::fit(linear_control({}), options, {}), InvalidArgument);
  options = quick<caae::Options>(2);
  options.heads = 3;
  options.head_size = 3;
  EXPECT_THROW(caae::fit(linear_control({}), options, {}), InvalidArgument);
}

TEST(AutoencoderMethods, DefaultStepsDependOnTheExperienceThereIs) {
  caae::Options options;
  options.k = 2;
  EXPECT_EQ(caae::resolve(options, linear_control({})).max_steps, 300);
  EXPECT_EQ(caae::resolve(options, linear_control({})).batch_trajectories, 7);
  options.max_steps = 7;
  EXPECT_EQ(caae::resolve(options, linear_control({})).max_steps, 7);
}

}  // namespace
}  // namespace kindred
