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

TEST(Plateau, WaitsForAPassThroughAllData) {
  const auto options = short_windows();
  // Three kinds of data in turns, of which the last has a higher loss.
  const auto in_turns = [](int step) { return step % 12 < 8 ? 1.0 : 9.0; };
  EXPECT_EQ(steps_taken(options, [&](int step, Plateau&) { return in_turns(step); }), 6);
  EXPECT_EQ(steps_taken(options,
                        [&](int step, Plateau& plateau) {
                          plateau.wait_for_pass(step / 12);
                          return in_turns(step) - (step < 24 ? step : 0.0);
                        }),
            37);  // the first step after the third pass
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
    options = short_windows();
    options.k = 2;
    options.batch_steps = 20;
  }

  /// Where training ends with losses by the number of the minibatch.
  template <class Loss>
  int steps(const Loss& loss) {
    BatchSampler sampler(data, options, 0, labels, 0);
    return steps_taken(options, [&](int step, Plateau& plateau) {
      sampler.next();
      sampler.tell(plateau);
      return loss(step);
    });
  }

  Trajectories data;
  std::vector<std::int32_t> labels;
  Options options;
};

TEST(BatchSampler, ShortFillingsAreComparedByWholePasses) {
  Alternating of;
  of.options.buffer_steps = 80;  // 41 steps for each of two: five of twenty trajectories at a time
  // A filling is three minibatches and four of them a pass, of which the last is harder.
  EXPECT_EQ(of.steps([](int step) { return step % 12 < 9 ? 1.0 : 9.0; }), 25);
}

TEST(BatchSampler, LongFillingsAreComparedEachForItself) {
  Alternating of;
  of.options.buffer_steps = 80;
  of.options.batch_steps = 5;  // ten minibatches a filling
  // The loss falls within the first filling, and stays where it is in the second, which is harder.
  EXPECT_EQ(of.steps([](int step) { return step < 10 ? -step : 9.0; }), 16);
}

TEST(BatchSampler, WithoutABufferItIsComparedAsEver) {
  Alternating of;
  const auto harder = [](int step) { return step < 10 ? -step : 9.0; };
  EXPECT_EQ(of.steps(harder), 12);
  of.options.buffer_steps = 399;  // as many as the policy has
  EXPECT_EQ(of.steps(harder), 12);
}

}  // namespace
}  // namespace kindred::pg_kmeans
