#include "kindred/data/fingerprint.h"

#include "kindred/core/thread_pool.h"
#include "test_files.h"

namespace kindred {
namespace {

using testing::make_trajectories;
using testing::Sample;

template <class T>
Column<T> changed(const Column<T>& column, std::size_t at, T value) {
  std::vector<T> values(column.begin(), column.end());
  values.at(at) = value;
  return values;
}

std::string difference_after(const std::function<void(Trajectories&)>& change,
                             const Sample& sample = {}) {
  auto data = make_trajectories(sample);
  const auto before = fingerprint_of(data);
  change(data);
  return difference(before, fingerprint_of(data));
}

TEST(Fingerprint, IsTheSameForTheSameData) {
  for (const bool discrete : {false, true})
    for (const bool interned : {false, true}) {
      const Sample sample{.discrete = discrete, .interned = interned};
      EXPECT_EQ(difference_after([](Trajectories&) {}, sample), "");
    }
}

TEST(Fingerprint, DoesNotDependOnHowObservationsAreStored) {
  auto data = make_trajectories({.interned = true});
  const auto interned = fingerprint_of(data);
  std::vector<float> rows(static_cast<std::size_t>(data.steps() * data.observations.dim()));
  data.observations.copy(0, data.steps(), rows.data());
  data.observations = Observations::dense(rows, data.observations.dim());
  EXPECT_EQ(fingerprint_of(data), interned);
}

TEST(Fingerprint, DoesNotDependOnThreads) {
  ThreadPool pool(3);
  for (const bool discrete : {false, true})
    for (const bool interned : {false, true}) {
      const auto data =
          make_trajectories({.discrete = discrete, .interned = interned, .episodes = 3000});
      EXPECT_EQ(fingerprint_of(data, &pool), fingerprint_of(data));
    }
}

TEST(Fingerprint, NoticesOneChangedNumber) {
  EXPECT_EQ(difference_after([](Trajectories& data) {
              data.actions =
                  Actions::continuous(changed(data.actions.floats(), 1, 9.0F), data.actions.dim());
            }),
            "its actions are others");
  EXPECT_EQ(difference_after(
                [](Trajectories& data) {
                  const auto action = data.actions.ints()[4];
                  data.actions = Actions::discrete(
                      changed(data.actions.ints(), 4, action == 0 ? 1 : 0), data.actions.count());
                },
                {.discrete = true}),
            "its actions are others");
  EXPECT_EQ(difference_after([](Trajectories& data) {
              data.observations = Observations::dense(changed(data.observations.floats(), 2, 9.0F),
                                                      data.observations.dim());
            }),
            "its observations are others");
  EXPECT_EQ(difference_after([](Trajectories& data) { data.ids[1] = "another"; }),
            "its episodes have other names or lengths");
  EXPECT_EQ(difference_after([](Trajectories& data) {
              data.offsets = changed<std::int64_t>(data.offsets, 1, data.offsets[1] + 1);
            }),
            "its episodes have other names or lengths");
}

TEST(Fingerprint, NoticesTwoStepsThatChangedPlaces) {
  EXPECT_EQ(difference_after([](Trajectories& data) {
              const auto dim = data.actions.dim();
              auto values = changed(data.actions.floats(), 0, data.actions.floats()[0]);
              std::vector<float> swapped(values.begin(), values.end());
              std::swap_ranges(swapped.begin(), swapped.begin() + dim, swapped.begin() + dim);
              data.actions = Actions::continuous(swapped, dim);
            }),
            "its actions are others");
}

TEST(Fingerprint, SaysWhatIsDifferentInNumbers) {
  const auto five = fingerprint_of(make_trajectories());
  EXPECT_EQ(difference(five, fingerprint_of(make_trajectories({.episodes = 6}))),
            "it has 6 episodes, the run had 5");
  EXPECT_EQ(difference(five, fingerprint_of(make_trajectories({.dim = 4}))),
            "it has 4 observation numbers, the run had 3");
  EXPECT_THAT(difference(five, fingerprint_of(make_trajectories({.discrete = true}))),
              ::testing::HasSubstr("actions a step"));
}

TEST(Fingerprint, ComesBackFromJson) {
  const auto made = fingerprint_of(make_trajectories());
  EXPECT_EQ(fingerprint_from_json(to_json(made)), made);
  auto damaged = to_json(made);
  damaged["action_hash"] = "not hexadecimal";
  EXPECT_THROW(fingerprint_from_json(damaged), DataFormatError);
}

TEST(Fingerprint, IgnoresWhatNoAnswerDependsOn) {
  EXPECT_EQ(difference_after([](Trajectories& data) {
              data.rewards = {};
              data.labels = {};
            }),
            "");
}

TEST(Fingerprint, RefusesOtherDataInOneSentence) {
  const auto expected = fingerprint_of(make_trajectories());
  EXPECT_NO_THROW(require_same_data(expected, expected, "here.hdf5"));
  try {
    require_same_data(expected, fingerprint_of(make_trajectories({.episodes = 6})), "here.hdf5");
    FAIL() << "other data was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        error.what(),
        "'here.hdf5' is not the dataset this run was made from: it has 6 episodes, the run "
        "had 5; give the file the run was made from, read with the same options");
  }
}

}  // namespace
}  // namespace kindred
