// Good data with one fault in it: the doctor names that fault, where it is, and nothing else.
#include "kindred/data/doctor.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kindred/data/interning.h"
#include "test_files.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A dataset whose columns can still be changed.
struct Draft {
  std::vector<std::vector<float>> seen, done;  // [steps][numbers]
  std::vector<float> rewards;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint8_t> terminals, timeouts;
  std::vector<std::int32_t> labels;
  std::vector<std::string> observation_names, action_names;
  bool discrete = false;

  std::size_t first(std::size_t episode) const {
    return static_cast<std::size_t>(offsets[episode]);
  }
  std::size_t length(std::size_t episode) const { return first(episode + 1) - first(episode); }

  void add_step(std::vector<float> observation, std::vector<float> action, float reward) {
    seen.push_back(std::move(observation));
    done.push_back(std::move(action));
    rewards.push_back(reward);
    terminals.push_back(0);
    timeouts.push_back(0);
  }
  void end_episode(std::int32_t label) {
    timeouts.back() = 1;
    offsets.push_back(std::ssize(seen));
    labels.push_back(label);
  }
  /// Appends an observation column: value(step).
  template <class Value>
  void append(Value value) {
    for (std::size_t t = 0; t < seen.size(); ++t) seen[t].push_back(static_cast<float>(value(t)));
  }
  void copy_episode(std::size_t episode, float noise) {
    Random random(3, "copy");
    const auto begin = first(episode), end = first(episode + 1);
    const auto blur = [&](std::vector<float> row) {
      for (auto& value : row) value += noise * static_cast<float>(random.normal());
      return row;
    };
    for (auto t = begin; t < end; ++t) add_step(blur(seen[t]), blur(done[t]), rewards[t]);
    end_episode(labels[episode]);
  }

  Trajectories data() const {
    Trajectories result;
    std::vector<float> rows, actions;
    std::vector<std::int32_t> choices;
    for (const auto& row : seen) rows.insert(rows.end(), row.begin(), row.end());
    for (const auto& row : done) actions.insert(actions.end(), row.begin(), row.end());
    for (const auto& row : done) choices.push_back(static_cast<std::int32_t>(row[0]));
    const auto dim = std::ssize(seen[0]);
    result.observations = intern(Observations::dense(std::move(rows), dim));
    result.actions = discrete ? Actions::discrete(std::move(choices), 2)
                              : Actions::continuous(std::move(actions), std::ssize(done[0]));
    result.rewards = rewards;
    result.terminals = terminals;
    result.timeouts = timeouts;
    result.offsets = offsets;
    result.labels = labels;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) result.ids.push_back(std::to_string(i));
    result.observation_names = observation_names;
    result.action_names = action_names;
    result.validate("the draft");
    return result;
  }
};

/// Two pushed pendulums let go from the side, by two policies in turn: position and speed of each,
/// and a column of noise.
Draft pendulums() {
  Random random(1, "pendulums");
  Draft draft;
  for (std::int32_t episode = 0; episode < 60; ++episode) {
    double x[2] = {random.uniform(1.9, 2.1), random.uniform(1.9, 2.1)}, v[2] = {0.0, 0.0};
    const int length = 150 + static_cast<int>(random.below(100));
    for (int t = 0; t < length; ++t) {
      double a[2];
      for (int i = 0; i < 2; ++i)
        a[i] = std::clamp((episode % 2 ? -0.1 : -0.6) * v[i] + 0.4 * random.normal(), -1.0, 1.0);
      const auto number = [](double value) { return static_cast<float>(value); };
      draft.add_step(
          {number(x[0]), number(x[1]), number(v[0]), number(v[1]), number(random.normal())},
          {number(a[0]), number(a[1])}, number(x[0] * x[0]));
      for (int i = 0; i < 2; ++i) {
        v[i] += 0.1 * (4.0 * a[i] - 3.0 * std::sin(x[i]));
        x[i] += 0.1 * v[i];
      }
    }
    draft.end_episode(episode % 2);
  }
  return draft;
}

/// Walks over a map of 6 by 6 cells from the corner to the opposite one: right or down, with a
/// preference for the one or the other.
Draft walks() {
  constexpr int kSize = 6;
  Random random(1, "walks");
  Draft draft;
  draft.discrete = true;
  for (std::int32_t episode = 0; episode < 300; ++episode) {
    for (int row = 0, column = 0; row + column < 2 * kSize - 2;) {
      std::vector<float> map(kSize * kSize, 0.0f);
      map[static_cast<std::size_t>(row * kSize + column)] = 1.0f;
      const bool down = random.uniform() < (episode % 2 ? 0.8 : 0.2);
      draft.add_step(map, {down ? 1.0f : 0.0f}, static_cast<float>(random.normal()));
      int& moved = down ? row : column;
      moved = std::min(moved + 1, kSize - 1);
    }
    draft.end_episode(episode % 2);
  }
  return draft;
}

double angle(std::size_t step) {
  const double turned = 0.11 * static_cast<double>(step);
  return std::remainder(turned, 2.0 * std::numbers::pi);
}

struct Fault {
  std::string name;
  Draft (*good)();
  std::function<void(Draft&)> spoil;
  std::string key;
  std::string words;  ///< What the evidence must say.
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

void cut(Draft& draft, std::size_t episode, std::int64_t step, bool terminal) {
  const auto row = draft.offsets[episode] + step;
  (terminal ? draft.terminals : draft.timeouts)[static_cast<std::size_t>(row - 1)] = 1;
  draft.offsets.insert(draft.offsets.begin() + static_cast<std::ptrdiff_t>(episode) + 1, row);
  draft.labels.insert(draft.labels.begin() + static_cast<std::ptrdiff_t>(episode),
                      draft.labels[episode]);
}

void glue(Draft& draft, std::size_t episode) {
  draft.timeouts[draft.first(episode + 1) - 1] = 0;
  draft.offsets.erase(draft.offsets.begin() + static_cast<std::ptrdiff_t>(episode) + 1);
  draft.labels.erase(draft.labels.begin() + static_cast<std::ptrdiff_t>(episode));
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"NanInObservation", pendulums, [](Draft& d) { d.seen[d.first(7) + 20][2] = kNaN; },
       "not-finite", "nan in observation 2 at step 20 (row "},
      {"InfiniteAction", pendulums,
       [](Draft& d) {
         d.action_names = {"left", "right"};
         d.done[d.first(3)][1] = -std::numeric_limits<float>::infinity();
       },
       "not-finite", "-inf in action 'right' at step 0 (row "},
      {"NanInReward", pendulums, [](Draft& d) { d.rewards[0] = kNaN; }, "not-finite",
       "nan in the reward at step 0 (row 0) of episode 0"},
      {"ActionInSameObservation", pendulums,
       [](Draft& d) { d.append([&](auto t) { return d.done[t][0]; }); }, "action-is-observation",
       "the observation of the same step: action 0 is observation 5"},
      {"ActionInNextObservation", pendulums,
       [](Draft& d) { d.append([&](auto t) { return t > 0 ? d.done[t - 1][1] : 0.0f; }); },
       "action-is-observation", "the next observation: action 1 is observation 5"},
      {"ActionsBeforeObservations", pendulums,
       [](Draft& d) {
         for (std::size_t t = d.seen.size(); t-- > 1;) d.done[t][0] = d.seen[t - 1][4];
       },
       "action-is-observation", "the observation before: action 0 is observation 4"},
      {"ActionIsChange", pendulums,
       [](Draft& d) {
         for (std::size_t t = 0; t + 1 < d.seen.size(); ++t)
           d.done[t][1] = d.seen[t + 1][1] - d.seen[t][1];
       },
       "action-is-change", "action 1 is observation 1"},
      {"AngleInRadians", pendulums,
       [](Draft& d) {
         d.observation_names = {"x", "y", "u", "v", "w", "heading"};
         d.append(angle);
       },
       "angle-wraps", "observation 'heading' leaps by 2π"},
      {"AngleInDegrees", pendulums,
       [](Draft& d) {
         d.append([](auto t) { return 180.0 + 180.0 / std::numbers::pi * angle(t); });
       },
       "angle-wraps", "observation 5 leaps by 360"},
      {"Scale", pendulums,
       [](Draft& d) {
         for (auto& row : d.seen) row[3] *= 1e6f;
       },
       "scales-differ", "observation 3 varies by"},
      {"Timestamp", pendulums,
       [](Draft& d) { d.append([](auto t) { return 1.6e9 + 0.1 * static_cast<double>(t); }); },
       "precision-lost", "observation 5 is near 1.6e+09"},
      {"ConstantObservation", pendulums, [](Draft& d) { d.append([](auto) { return 0.5; }); },
       "constant-column", "1 column never changes: observation 5 (0.5)"},
      {"ConstantAction", pendulums,
       [](Draft& d) {
         for (auto& row : d.done) row[1] = 0.25f;
       },
       "constant-column", "action 1 (0.25)"},
      {"CopiedColumn", pendulums,
       [](Draft& d) { d.append([&](auto t) { return 3.0f - 2.0f * d.seen[t][1]; }); },
       "copied-column", "observation 5 of observation 1"},
      {"TinyEpisode", pendulums,
       [](Draft& d) {
         d.add_step(d.seen[0], d.done[0], 0.0f);
         d.end_episode(0);
       },
       "tiny-episode", "1 episode has no more than 1 step"},
      {"RepeatedEpisode", pendulums, [](Draft& d) { d.copy_episode(8, 0.0f); }, "repeated-episode",
       "episode 60 of episode 8"},
      {"NearlyRepeatedEpisode", pendulums, [](Draft& d) { d.copy_episode(8, 1e-4f); },
       "nearly-repeated-episode", "episode 60 of episode 8"},
      {"CutEpisode", pendulums, [](Draft& d) { cut(d, 5, 60, false); }, "cut-episode",
       "1 episode goes on in the next: episode 5 in episode 6 (row "},
      {"TerminalEndsNothing", pendulums, [](Draft& d) { cut(d, 5, 60, true); },
       "terminal-ends-nothing", "though a terminal flag is set: episode 5 in episode 6 (row "},
      {"GluedEpisodes", pendulums, [](Draft& d) { glue(d, 5); }, "glued-episodes",
       "leaps as between two episodes once: episode 5 before its step "},
      {"TerminalInside", pendulums, [](Draft& d) { d.terminals[d.first(4) + 10] = 1; },
       "flag-inside", "1 terminal flag is set before the last step of its episode: episode 4"},
      {"UnfinishedEpisode", pendulums, [](Draft& d) { d.timeouts.back() = 0; },
       "unfinished-episode", "The last one, episode 59 with"},
      {"ConstantRewards", pendulums, [](Draft& d) { std::ranges::fill(d.rewards, 2.0f); },
       "constant-rewards", "Every reward is 2"},
      {"NoRewards", pendulums, [](Draft& d) { d.rewards.clear(); }, "no-rewards",
       "There are no rewards"},
      {"LabelsBySession", pendulums,
       [](Draft& d) {
         for (std::size_t i = 0; i < d.labels.size(); ++i) d.labels[i] = i < 30 ? 4 : 9;
       },
       "order-explains-labels", "The true labels come in 2 blocks of the file (31 by chance)"},
      {"CutWalk", walks, [](Draft& d) { cut(d, 5, 4, false); }, "cut-episode",
       "episode 5 in episode 6 (row "},
      {"GluedWalks", walks, [](Draft& d) { glue(d, 5); }, "glued-episodes",
       "episode 5 before its step "},
      {"WalkTimeoutInside", walks, [](Draft& d) { d.timeouts[d.first(2) + 3] = 1; }, "flag-inside",
       "1 timeout flag is set before the last step of its episode: episode 2"},
      {"WalkLabelsBySession", walks,
       [](Draft& d) {
         for (std::size_t i = 0; i < d.labels.size(); ++i) d.labels[i] = i >= 100;
       },
       "order-explains-labels", "The true labels come in 2 blocks"},
  };
  return all;
}

std::vector<std::string> keys(const std::vector<Diagnosis>& found) {
  std::vector<std::string> result;
  for (const auto& one : found) result.push_back(one.key);
  return result;
}

class DoctorTest : public ::testing::TestWithParam<Fault> {};

TEST_P(DoctorTest, NamesTheFaultAndNothingElse) {
  Draft draft = GetParam().good();
  GetParam().spoil(draft);
  const auto found = examine(draft.data());
  ASSERT_THAT(keys(found), ElementsAre(GetParam().key)) << to_json(found).dump(1);
  EXPECT_THAT(found[0].evidence, HasSubstr(GetParam().words));
  EXPECT_FALSE(found[0].advice.empty());
}

INSTANTIATE_TEST_SUITE_P(Faults, DoctorTest, ::testing::ValuesIn(faults()),
                         [](const auto& fault) { return fault.param.name; });

TEST_P(DoctorTest, SaysTheSameWithAnyNumberOfThreads) {
  auto draft = GetParam().good();
  GetParam().spoil(draft);
  const auto data = draft.data();
  const auto expected = to_json(examine(data));
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(to_json(examine(data, &pool)), expected);
  }
}

TEST(Doctor, FindsNothingInGoodData) {
  EXPECT_THAT(keys(examine(pendulums().data())), IsEmpty());
  EXPECT_THAT(keys(examine(walks().data())), IsEmpty());
}

TEST(Doctor, TellsNoteFromWarning) {
  auto draft = pendulums();
  draft.rewards.clear();
  draft.append([](auto) { return 1.0; });
  draft.seen[0][0] = kNaN;
  const auto found = examine(draft.data());
  ASSERT_THAT(keys(found), ElementsAre("not-finite", "constant-column", "no-rewards"));
  EXPECT_EQ(count_warnings(found), 1);
  const auto json = to_json(found);
  EXPECT_EQ(json[0]["severity"], "warning");
  EXPECT_EQ(json[0]["details"]["places"][0]["row"], 0);
  EXPECT_EQ(json[1]["severity"], "note");
  EXPECT_FALSE(to_json(found, false)[0].contains("details"));
}

TEST(Doctor, AcceptsSuccessMarkedUntilTheEnd) {
  auto draft = pendulums();
  for (std::size_t i = 0; i < draft.labels.size(); ++i)
    for (auto t = draft.first(i + 1) - 5; t < draft.first(i + 1); ++t) draft.terminals[t] = 1;
  const auto found = examine(draft.data());
  ASSERT_THAT(keys(found), ElementsAre("flag-inside"));
  EXPECT_EQ(found[0].severity, Severity::kNote);
}

/// Labels found by somebody are judged like true ones, whatever the file says.
TEST(Doctor, ExaminesLabelsThatWereFound) {
  const auto draft = pendulums();
  const auto data = draft.data();
  std::vector<std::int32_t> sessions(draft.labels.size(), 0);
  std::fill(sessions.begin() + 20, sessions.end(), 1);
  EXPECT_THAT(keys(examine_labels(data, draft.labels, "found")), IsEmpty());
  const auto found = examine_labels(data, sessions, "found");
  ASSERT_THAT(keys(found), ElementsAre("order-explains-labels"));
  EXPECT_THAT(found[0].evidence, HasSubstr("The found labels come in 2 blocks"));
}

/// A file put together from the parts of two policies is as it should be.
TEST(Doctor, AcceptsPoliciesOneAfterTheOther) {
  const auto all = pendulums();
  Draft sorted;
  for (const std::int32_t label : {0, 1})
    for (std::size_t i = 0; i < all.labels.size(); ++i) {
      if (all.labels[i] != label) continue;
      for (auto t = all.first(i); t < all.first(i + 1); ++t)
        sorted.add_step(all.seen[t], all.done[t], all.rewards[t]);
      sorted.end_episode(label);
    }
  EXPECT_THAT(keys(examine(sorted.data())), IsEmpty());
}

/// Whatever the kind of data, even a single step, there is an answer.
TEST(Doctor, LivesWithSmallAndOddData) {
  for (const bool discrete : {false, true})
    for (const bool bytes : {false, true})
      for (const std::int64_t episodes : {1, 2, 30})
        EXPECT_NO_THROW(examine(testing::make_trajectories(
            {.discrete = discrete, .bytes = bytes, .episodes = episodes, .dim = 300})));
  auto one = testing::make_trajectories({.episodes = 1});
  one.rewards = {};
  EXPECT_THAT(keys(examine(one)), ElementsAre("no-rewards"));
}

TEST(Doctor, HasAllNumbersOfAFileThatReadersRefuse) {
  testing::TempDir folder;
  auto draft = pendulums();
  draft.seen[3][1] = kNaN;
  draft.done[4][0] = std::numeric_limits<float>::infinity();
  for (const auto format : testing::kFormats) {
    const auto path = folder / std::string(name_of(format));
    write_trajectories(draft.data(), path, format);
    EXPECT_THAT(testing::error_of<DataFormatError>([&] { read_trajectories(path); }),
                HasSubstr("nan in row 3, column 1"));
    ReadOptions options;
    options.lenient = true;
    const auto found = examine(read_trajectories(path, options));
    ASSERT_THAT(keys(found), ElementsAre("not-finite")) << name_of(format);
    EXPECT_EQ(found[0].details["count"], 2);
  }
}

TEST(Doctor, NamesEpisodesWithoutSteps) {
  testing::TempDir folder;
  const auto data = pendulums().data();
  for (const auto& [format, group] :
       {std::pair{Format::kRobomimic, "data/demo_60"}, std::pair{Format::kMinari, "episode_60"}}) {
    const auto path = folder / std::string(name_of(format));
    write_trajectories(data, path, format);
    const auto file = format == Format::kMinari ? path / "data/main_data.hdf5" : path;
    testing::modify(file, [&](hid_t opened) {
      const hdf5::Handle made(H5Gcreate2(opened, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      const hsize_t shape[] = {0, 2};
      const hdf5::Handle space(H5Screate_simple(2, shape, nullptr));
      const hdf5::Handle actions(H5Dcreate2(made.get(), "actions", H5T_NATIVE_FLOAT, space.get(),
                                            H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    });
    EXPECT_THAT(testing::error_of<DataFormatError>([&] { read_trajectories(path); }),
                HasSubstr("has 0 rows"));
    ReadOptions options;
    options.lenient = true;
    const auto found = examine(read_trajectories(path, options));
    ASSERT_THAT(keys(found), ElementsAre("empty-episode"));
    EXPECT_THAT(found[0].evidence, HasSubstr(fmt::format("1 episode has no steps: {}", group)));
  }
}

/// Steps are looked at some at a time, in the data or, where a column says nothing, in a copy.
TEST(Doctor, FindsGlueWhereverItIs) {
  for (const bool constant : {false, true})
    for (std::size_t episode = 0; episode < 20; ++episode) {
      auto draft = pendulums();
      if (constant) draft.append([](auto) { return 0.5; });
      const auto row = draft.offsets[episode + 1];
      glue(draft, episode);
      const auto found = examine(draft.data());
      ASSERT_EQ(found.size(), constant ? 2 : 1);
      ASSERT_EQ(found.back().key, "glued-episodes");
      ASSERT_EQ(found.back().details["leaps"].size(), 1);
      EXPECT_EQ(found.back().details["leaps"][0]["row"], row);
    }
}

/// A robot that stays where it is while nothing is recorded goes on in no episode.
TEST(Doctor, AcceptsEpisodesThatBeginWhereTheLastOneRested) {
  Random random(5, "rest");
  Draft draft;
  double place[3] = {0.0, 0.0, 0.0};
  for (int episode = 0; episode < 60; ++episode) {
    double aim[3];
    for (auto& value : aim) value = random.uniform(-1.0, 1.0);
    for (int t = 0; t < 80; ++t) {
      std::vector<float> seen, done;
      for (int i = 0; i < 3; ++i) {
        seen.push_back(static_cast<float>(place[i]));
        done.push_back(static_cast<float>(0.2 * (aim[i] - place[i])));
        place[i] += 0.2 * (aim[i] - place[i]) + 1e-4 * random.normal();
      }
      draft.add_step(seen, done, static_cast<float>(random.normal()));
    }
    draft.end_episode(0);
  }
  EXPECT_THAT(keys(examine(draft.data())), IsEmpty());
}

}  // namespace
}  // namespace kindred
