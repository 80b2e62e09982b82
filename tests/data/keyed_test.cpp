#include "kindred/data/keyed.h"

#include "kindred/data/label_writer.h"
#include "kindred/data/npy.h"
#include "kindred/data/zip.h"
#include "test_files.h"

namespace kindred::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Keyed : public ::testing::Test {
 protected:
  Trajectories read(const Parts& parts) const {
    return read_trajectories(write_parts(folder_ / "file.hdf5", parts), options_);
  }
  std::string complaint(const Parts& parts) const {
    return error_of<Error>([&] { read(parts); });
  }

  /// Six steps under names of somebody's own.
  static Parts flat() {
    return {{"states",
             array<float>({6, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})},
            {"goal", array<double>({6}, {-1, -2, -3, -4, -5, -6})},
            {"controls",
             array<float>({6, 2}, {.0f, .1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f, .9f, 1, 1.1f})},
            {"ends", array<float>({6}, {0, 0, 0, 1, 0, 1})},
            {"run", array<std::int32_t>({6}, {7, 7, 7, 7, 3, 3})},
            {"gain", array<float>({6}, {1, 2, 3, 4, 5, 6})},
            {"who", strings({"tim", "tim", "tim", "tim", "ann", "ann"})}};
  }

  TempDir folder_;
  ReadOptions options_;
};

TEST_F(Keyed, FlagsOfAnyKindCutFlatArrays) {
  options_.obs_keys = {"states"};
  options_.action_keys = {"controls"};
  options_.done_keys = {"ends"};
  options_.reward_key = "gain";
  for (const auto& ends :
       {array<float>({6}, {0, 0, 0, 1, 0, 1}), array<std::int64_t>({6}, {0, 0, 0, 1, 0, 1}),
        flags({0, 0, 0, 1, 0, 1}), array<float>({6, 1}, {0, 0, 0, 1, 0, 1})}) {
    auto parts = flat();
    parts["ends"] = ends;
    const auto data = read(parts);
    EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 4, 6));
    EXPECT_EQ(data.observations.dim(), 3);
    EXPECT_EQ(expanded(data.observations)[17], 17);
    EXPECT_EQ(data.actions.floats()[11], 1.1f);
    EXPECT_EQ(data.rewards[5], 6);
    EXPECT_EQ(data.provenance["format"], "hdf5");
    EXPECT_THAT(data.observation_names, IsEmpty());
  }
}

TEST_F(Keyed, PartsOfArraysAreJoinedUnderTheirNames) {
  options_.obs_keys = {"states[1:]", "goal", "states[0]"};
  options_.action_keys = {"controls[1]"};
  options_.episode_key = "run";
  const auto data = read(flat());
  EXPECT_THAT(data.observation_names, ElementsAre("states[1]", "states[2]", "goal", "states[0]"));
  EXPECT_THAT(data.action_names, ElementsAre("controls[1]"));
  EXPECT_THAT(std::vector<float>(data.observations.floats().begin() + 4,
                                 data.observations.floats().begin() + 8),
              ElementsAre(4, 5, -2, 3));
  EXPECT_EQ(data.actions.floats()[1], .3f);
}

TEST_F(Keyed, AnEpisodeBeginsWhereItsIdChanges) {
  options_.obs_keys = {"states"};
  options_.action_keys = {"controls"};
  options_.episode_key = "run";
  options_.label_key = "who";
  auto data = read(flat());
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 4, 6));
  EXPECT_THAT(data.ids, ElementsAre("7", "3"));
  EXPECT_THAT(to_vector(data.labels), ElementsAre(1, 0));
  EXPECT_THAT(data.label_names, ElementsAre("ann", "tim"));

  options_.episode_key = "who";
  EXPECT_THAT(read(flat()).ids, ElementsAre("tim", "ann"));

  auto parts = flat();
  parts["run"] = array<std::int32_t>({6}, {7, 7, 3, 3, 7, 7});
  options_.episode_key = "run";
  EXPECT_THAT(complaint(parts), AllOf(HasSubstr("array 'run'"), HasSubstr("back to episode '7'"),
                                      HasSubstr("row 4"), HasSubstr("sort the rows")));
  parts["run"] = array<std::int64_t>({2}, {4, 6});  // where they end
  EXPECT_THAT(to_vector(read(parts).offsets), ElementsAre(0, 4, 6));
  parts["run"] = array<std::int64_t>({2}, {4, 7});
  EXPECT_THAT(complaint(parts), HasSubstr("an id for each of 6 steps"));
}

/// Three padded episodes, of two, none and three steps.
Parts padded() {
  std::vector<float> seen(3 * 3 * 2);
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = static_cast<float>(i);
  seen[4] = NAN;  // padding may hold anything
  return {{"obs_array", array<float>({3, 3, 2}, seen)},
          {"act_array", array<float>({3, 3, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8})},
          {"mask_array", array<float>({3, 3}, {1, 1, 0, 0, 0, 0, 1, 1, 1})},
          {"who", strings({"a", "b", "c"})}};
}

TEST_F(Keyed, MasksTakeTheRealStepsOfPaddedArrays) {
  options_.obs_keys = {"obs_array"};
  options_.action_keys = {"act_array"};
  options_.mask_key = "mask_array";
  options_.label_key = "who";
  const auto data = read(padded());
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 2, 5));
  EXPECT_THAT(data.ids, ElementsAre("0", "2"));
  EXPECT_THAT(to_vector(data.actions.floats()), ElementsAre(0, 1, 6, 7, 8));
  EXPECT_THAT(expanded(data.observations), ElementsAre(0, 1, 2, 3, 12, 13, 14, 15, 16, 17));
  EXPECT_THAT(data.label_names, ElementsAre("a", "c"));
}

TEST_F(Keyed, PaddedEpisodesMayEndAtFlagsOrNowhere) {
  options_.obs_keys = {"obs_array[0]"};
  options_.action_keys = {"act_array"};
  options_.done_keys = {"done"};
  auto parts = padded();
  parts["obs_array"] = array<float>({3, 4, 2});  // one more than there are actions
  parts["done"] = array<std::uint8_t>({3, 3}, {0, 1, 1, 0, 0, 0, 1, 0, 0});
  EXPECT_THAT(to_vector(read(parts).offsets), ElementsAre(0, 2, 5, 6));
  options_.done_keys.clear();
  EXPECT_THAT(to_vector(read(parts).offsets), ElementsAre(0, 3, 6, 9));
  parts["obs_array"] = array<float>({3, 6, 2});
  options_.done_keys = {"done"};
  EXPECT_THAT(complaint(parts), AllOf(HasSubstr("array 'obs_array' is [3, 6, 2] of floats"),
                                      HasSubstr("expected [3, 3, …]")));
}

TEST_F(Keyed, GroupsThatHoldTheKeysAreEpisodes) {
  Parts parts;
  for (const std::string group : {"runs/take_1", "runs/take_2", "runs/take_10"}) {
    const std::int64_t steps = group == "runs/take_10" ? 1 : 2;
    parts[group + "/sensors/arm"] = array<float>({steps + 1, 2}, {1, 2, 3, 4, 5, 6});
    parts[group + "/motors"] = array<std::int64_t>({steps}, {1, 0});
  }
  options_.obs_keys = {"sensors"};
  options_.action_keys = {"motors"};
  const auto data = read(parts);
  EXPECT_THAT(data.ids, ElementsAre("take_1", "take_2", "take_10"));
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 2, 4, 5));
  EXPECT_TRUE(data.actions.is_discrete());
  EXPECT_THAT(data.observation_names, ElementsAre("arm[0]", "arm[1]"));
  options_.episode_key = "sensors";
  EXPECT_THAT(complaint(parts), HasSubstr("each is a group of its own, such as 'runs/take_1'"));
}

TEST_F(Keyed, KnownFormatsGiveOtherArraysToo) {
  auto parts = d4rl_parts();
  parts["infos/qpos"] = array<float>({6, 1}, {5, 4, 3, 2, 1, 0});
  parts["infos/policy_id"] = array<std::int32_t>({6}, {2, 2, 2, 2, 1, 1});
  options_.obs_keys = {"infos/qpos", "observations[1]"};
  const auto data = read(parts);
  EXPECT_EQ(data.provenance["format"], "d4rl");
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 4, 6));
  EXPECT_THAT(data.observation_names, ElementsAre("infos/qpos", "observations[1]"));
  EXPECT_THAT(to_vector(data.labels), ElementsAre(2, 1));
}

TEST_F(Keyed, UnknownFilesSayWhatTheyHoldAndWhatToType) {
  EXPECT_THAT(complaint(padded()),
              AllOf(HasSubstr("obs_array [3, 3, 2] of floats"), HasSubstr("who [3] of text"),
                    HasSubstr("--obs-key obs_array --action-key act_array --mask-key mask_array")));
  EXPECT_THAT(complaint({{"take_0/obs", array<float>({2})}, {"take_0/act", array<float>({2})}}),
              HasSubstr("such as --obs-key obs --action-key act"));
}

TEST_F(Keyed, WhatDoesNotFitIsNamed) {
  options_.obs_keys = {"states"};
  options_.action_keys = {"control"};
  EXPECT_THAT(complaint(flat()), AllOf(HasSubstr("has no array 'control'"), HasSubstr("controls")));
  options_.action_keys = {"controls"};
  EXPECT_THAT(complaint(flat()), HasSubstr("does not say where episodes end"));
  options_.done_keys = {"gain"};
  EXPECT_THAT(complaint(flat()), HasSubstr("array 'gain' has 2 in row 1, expected flags"));
  options_.done_keys = {"ends"};
  options_.obs_keys = {"states[5]"};
  EXPECT_THAT(complaint(flat()), HasSubstr("array 'states' has 3 numbers per row"));
  options_.obs_keys = {"states[2:1]"};
  EXPECT_THAT(complaint(flat()), HasSubstr("'states[2:1]' is no part of an array"));
  options_.obs_keys = {"who"};
  EXPECT_THAT(complaint(flat()), HasSubstr("of text, expected numbers"));
  options_.obs_keys = {"states"};
  auto parts = flat();
  parts["states"] = array<float>({6, 1}, {0, 1, NAN});
  EXPECT_THAT(complaint(parts), AllOf(HasSubstr("array 'states'"), HasSubstr("row 2")));
  parts["states"] = array<float>({5, 1});
  EXPECT_THAT(complaint(parts), HasSubstr("expected 6 rows, as many as there are actions"));
}

TEST_F(Keyed, NpzIsReadByNamesToo) {
  const auto path = folder_ / "file.npz";
  {
    zip::Writer archive(path);
    npy::ArrayWriter out(archive);
    out.write<double>("s", std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, {4, 2});
    out.write<std::int64_t>("a", std::vector<std::int64_t>{0, 1, 1, 0}, {4});
    out.write<std::int64_t>("offsets", std::vector<std::int64_t>{0, 3, 4}, {3});
    archive.close();
  }
  options_.obs_keys = {"s[1]"};
  options_.action_keys = {"a"};
  const auto data = read_trajectories(path, options_);
  EXPECT_THAT(to_vector(data.offsets), ElementsAre(0, 3, 4));
  EXPECT_THAT(expanded(data.observations), ElementsAre(1, 3, 5, 7));
  EXPECT_EQ(data.provenance["format"], "npz");
  options_.action_keys = {"b"};
  EXPECT_THAT(error_of<InvalidArgument>([&] { read_trajectories(path, options_); }),
              AllOf(HasSubstr("no array 'b'"), HasSubstr("s [4, 2] of floats")));
}

TEST_F(Keyed, LabelsOfAFileOfNoFormatGoBesideIt) {
  options_.obs_keys = {"obs_array"};
  options_.action_keys = {"act_array"};
  options_.mask_key = "mask_array";
  const auto path = write_parts(folder_ / "file.hdf5", padded());
  const auto before = read_bytes(path);
  const auto data = read_trajectories(path, options_);
  write_labels(path, Format::kHdf5, data, {.labels = {1, 0}, .margins = {}});
  EXPECT_EQ(read_bytes(path), before);
  EXPECT_EQ(read_bytes(folder_ / "file.policy.csv"), "episode,label\n0,1\n2,0\n");
  undo_labels(path, Format::kHdf5);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "file.policy.csv"));
}

}  // namespace
}  // namespace kindred::testing
