// When the training of one policy ends, and what a buffer has to do with it.
#include "kindred/methods/pg_kmeans/plateau.h"

#include <gmock/gmock.h>

#include "kindred/methods/pg_kmeans/batch_sampler.h"

namespace kindred::pg_kmeans {
namespace {

Options short_windows() {
  Options options;
  options.plateau_steps = 3;
  options.plateau_tolerance = 0.1;
  options.max_steps = 100;
  return options;
}

/// How many steps are taken with the given losses.
template <class Loss>
int steps_taken(const Options& options, const Loss& loss) {
  Plateau plateau(options);
  for (int step = 0;; ++step)
    if (plateau.reached(loss(step, plateau))) return step + 1;
}

TEST(Plateau, EndsWhereTheMeanLossStopsFalling) {
  const auto options = short_windows();
  EXPECT_EQ(steps_taken(options, [](int, Plateau&) { return 1.0; }), 6);
  EXPECT_EQ(steps_taken(options, [](int step, Plateau&) { return step < 6 ? -step : 0.0; }), 9);
  EXPECT_EQ(steps_taken(options, [](int step, Plateau&) { return -step; }), 100);
}

TEST(Plateau, DoesNotCompareOneDataWithAnother) {
  const auto options = short_windows();
  const auto rises_at_eight = [](int step) { return step < 8 ? -step : 50.0 - step; };
  EXPECT_EQ(steps_taken(options, [&](int step, Plateau&) { return rises_at_eight(step); }), 9);
  EXPECT_EQ(steps_taken(options,
                        [&](int step, Plateau& plateau) {
                          if (step == 8) plateau.begin_anew();
                          return rises_at_eight(step);
                        }),
            100);
  // Within the same data it ends as ever.
  EXPECT_EQ(steps_taken(options,
                        [](int step, Plateau& plateau) {
                          if (step == 8) plateau.begin_anew();
                          return step < 8 ? -step : 50.0;
                        }),
            14);
}

/// 40 episodes of ten steps, of which every other one is the policy's.
struct Alternating {
  Alternating() {
    std::vector<std::int64_t> offsets{0};
    for (int i = 0; i < 40; ++i) {
      offsets.push_back(offsets.back() + 10);
      data.ids.push_back("e" + std::to_string(i));
      labels.push_back(i % 2);
    }
    data.offsets = offsets;
    data.observations = Observations::dense(std::vector<float>(400, 0.5F), 1);
    data.actions = Actions::continuous(std::vector<float>(400, 0.5F), 1);
    options.k = 2;
    options.batch_steps = 20;
  }

  /// Which of 40 minibatches are from other trajectories than the one before.
  std::vector<int> changes() {
    BatchSampler sampler(data, options, 0, labels, 0);
    std::vector<int> changed;
    for (int n = 0; n < 40; ++n) {
      sampler.next();
      if (sampler.is_from_others()) changed.push_back(n);
    }
    return changed;
  }

  Trajectories data;
  std::vector<std::int32_t> labels;
  Options options;
};

TEST(BatchSampler, TellsWhenItsBufferHoldsOtherTrajectories) {
  Alternating of;
  of.options.buffer_steps = 80;  // 41 steps for each of two: five of its twenty trajectories
  const auto changed = of.changes();
  ASSERT_FALSE(changed.empty());
  EXPECT_EQ(changed.front(), 3);  // it has drawn sixty of fifty steps by then
  for (std::size_t i = 1; i < changed.size(); ++i) EXPECT_EQ(changed[i] - changed[i - 1], 3);
}

TEST(BatchSampler, WithoutABufferItAlwaysHasAll) {
  Alternating of;
  EXPECT_TRUE(of.changes().empty());
  of.options.buffer_steps = 399;  // as many as the policy has
  EXPECT_TRUE(of.changes().empty());
}

}  // namespace
}  // namespace kindred::pg_kmeans
