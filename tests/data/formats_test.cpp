#include "kindred/data/formats.h"

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::HasSubstr;

class EveryFormat : public ::testing::TestWithParam<std::tuple<Format, bool, bool, bool>> {};

TEST_P(EveryFormat, GivesBackWhatWasWritten) {
  const auto [format, discrete, interned, bytes] = GetParam();
  const TempDir folder;
  const auto data = make_trajectories(
      {.discrete = discrete, .interned = interned, .bytes = bytes, .episodes = 12});
  const auto path = folder / "a.dat";  // the name says nothing
  write_trajectories(data, path, format);
  EXPECT_EQ(recognise(path), format);
  const auto found = read_trajectories(path);
  expect_same_steps(found, data);
  EXPECT_EQ(found.observations.is_interned(), interned);
  EXPECT_EQ(found.observations.is_bytes(), bytes && !interned);
}

TEST_P(EveryFormat, KeepsEpisodesWithoutOptionalColumns) {
  const auto [format, discrete, interned, bytes] = GetParam();
  const TempDir folder;
  auto data = make_trajectories({.discrete = discrete, .interned = interned, .bytes = bytes});
  data.rewards = {};
  data.terminals = {};
  data.timeouts = {};
  data.labels = {};
  write_trajectories(data, folder / "a", format);
  const auto found = read_trajectories(folder / "a");
  EXPECT_EQ(to_vector(found.offsets), to_vector(data.offsets));
  EXPECT_EQ(expanded(found.observations), expanded(data.observations));
  EXPECT_TRUE(found.labels.empty());
}

TEST_P(EveryFormat, LeavesNothingWhenItCannotWrite) {
  const auto format = std::get<0>(GetParam());
  const TempDir folder;
  auto data = make_trajectories();
  data.ids.pop_back();
  EXPECT_THROW(write_trajectories(data, folder / "a", format), DataFormatError);
  data = make_trajectories();
  EXPECT_THROW(write_trajectories(data, folder / "none" / "a", format), IoError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

std::string parameter_name(const ::testing::TestParamInfo<EveryFormat::ParamType>& info) {
  const auto [format, discrete, interned, bytes] = info.param;
  return fmt::format("{}_{}_{}", name_of(format), discrete ? "discrete" : "continuous",
                     interned ? "interned"
                     : bytes  ? "bytes"
                              : "dense");
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat,
                         ::testing::Combine(::testing::ValuesIn(kFormats), ::testing::Bool(),
                                            ::testing::Values(false), ::testing::Bool()),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Interned, EveryFormat,
                         ::testing::Combine(::testing::ValuesIn(kFormats), ::testing::Bool(),
                                            ::testing::Values(true), ::testing::Values(false)),
                         parameter_name);

TEST(Formats, HaveNames) {
  for (const auto format : kFormats) EXPECT_EQ(format_named(name_of(format)), format);
  EXPECT_THAT(error_of<InvalidArgument>([] { format_named("csv"); }),
              HasSubstr("unknown format 'csv'; the formats are auto, d4rl, minari"));
}

TEST(Formats, MustBeNamedToWrite) {
  const TempDir folder;
  EXPECT_THROW(write_trajectories(make_trajectories(), folder / "a", Format::kAuto),
               InvalidArgument);
}

TEST(Formats, D4rlCannotHoldAnEndInsideAnEpisode) {
  const TempDir folder;
  auto data = make_trajectories();
  data.terminals = std::vector<std::uint8_t>(static_cast<std::size_t>(data.steps()), 1);
  EXPECT_THAT(
      error_of<DataFormatError>([&] { write_trajectories(data, folder / "a", Format::kD4rl); }),
      HasSubstr("end flag at its step 0"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ReadOptions, AreDescribed) {
  ReadOptions options;
  const auto table = options.describe();
  from_json(table,
            {{"format", "minari"},
             {"obs-key", "goal,position"},
             {"actions", "discrete"},
             {"interning", "never"},
             {"keep-partial", false}},
            "test");
  EXPECT_EQ(options.format, Format::kMinari);
  EXPECT_THAT(options.obs_keys, ::testing::ElementsAre("goal", "position"));
  EXPECT_EQ(options.actions, ReadActionsAs::kDiscrete);
  EXPECT_EQ(options.interning, Interning::kNever);
  EXPECT_FALSE(options.keep_partial);
  EXPECT_EQ(to_json(table)["obs-key"], "goal,position");
  EXPECT_THROW(from_json(table, {{"episode-cap", 0}}, "test"), InvalidArgument);
  EXPECT_THROW(from_json(table, {{"observation-keys", 3}}, "test"), InvalidArgument);
}

}  // namespace
}  // namespace kindred
