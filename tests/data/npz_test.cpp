// What NPZ files hold, in every way NumPy may write it.
#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "kindred/core/files.h"
#include "kindred/data/interning.h"
#include "kindred/data/npy.h"
#include "npz_files.h"

namespace kindred {
namespace {

using namespace npz_files;  // NOLINT: the helpers of this file's kind
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_equal(const Trajectories& found, const Trajectories& expected) {
  EXPECT_THAT(found.offsets.span(), ::testing::ElementsAreArray(expected.offsets.span()));
  ASSERT_EQ(found.observations.steps(), expected.observations.steps());
  ASSERT_EQ(found.observations.dim(), expected.observations.dim());
  EXPECT_EQ(found.observations.is_bytes(), expected.observations.is_bytes());
  const auto rows = [](const Observations& observations) {
    std::vector<float> values(static_cast<std::size_t>(observations.steps() * observations.dim()));
    observations.copy(0, observations.steps(), values.data());
    return values;
  };
  EXPECT_EQ(rows(found.observations), rows(expected.observations));
  EXPECT_EQ(found.actions.is_discrete(), expected.actions.is_discrete());
  EXPECT_EQ(found.actions.dim(), expected.actions.dim());
  if (expected.actions.is_discrete()) {
    EXPECT_EQ(found.actions.count(), expected.actions.count());
  }
  EXPECT_THAT(found.actions.ints().span(),
              ::testing::ElementsAreArray(expected.actions.ints().span()));
  EXPECT_THAT(found.actions.floats().span(),
              ::testing::ElementsAreArray(expected.actions.floats().span()));
  EXPECT_THAT(found.rewards.span(), ::testing::ElementsAreArray(expected.rewards.span()));
  EXPECT_THAT(found.terminals.span(), ::testing::ElementsAreArray(expected.terminals.span()));
  EXPECT_THAT(found.timeouts.span(), ::testing::ElementsAreArray(expected.timeouts.span()));
  EXPECT_THAT(found.labels.span(), ::testing::ElementsAreArray(expected.labels.span()));
  EXPECT_THAT(found.oracle.span(), ::testing::ElementsAreArray(expected.oracle.span()));
  EXPECT_EQ(found.ids, expected.ids);
  EXPECT_EQ(found.label_names, expected.label_names);
}

TEST_F(Npz, WhatIsWrittenComesBack) {
  const std::vector<float> floats = {0, 1, 2, 3, -4, 1e-30f};
  const std::vector<std::uint8_t> bytes = {0, 255, 1, 2, 3, 4};
  const auto discrete = Actions::discrete(std::vector<std::int32_t>{0, 2, 1}, 5);
  const auto continuous = Actions::continuous(std::vector<float>{1, 2, 3, 4, 5, 6}, 2);
  const auto interned =
      Observations::interned(std::vector<float>{1, 2, 3, 4}, 2, std::vector<std::int32_t>{1, 0, 1});
  for (const auto& data :
       {example(Observations::dense(floats, 2), discrete),
        example(Observations::dense(bytes, 2), continuous), example(interned, continuous)}) {
    write_npz(data, path_);
    expect_equal(read(), data);
  }
}

TEST_F(Npz, OptionalColumnsMayBeAbsent) {
  Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 1, 2};
  data.observations = Observations::dense(std::vector<float>{1, 2}, 1);
  data.actions = Actions::continuous(std::vector<float>{0, 1}, 1);
  data.ids = {"0", "1"};
  write_npz(data, path_);
  expect_equal(read(), data);
}

TEST_F(Npz, ManyRowsAreWrittenBlockByBlock) {
  constexpr std::int64_t kSteps = 10'001;
  std::vector<std::int32_t> index(kSteps);
  for (std::int64_t i = 0; i < kSteps; ++i)
    index[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * 7 % 3);
  Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 5, kSteps};
  data.observations =
      Observations::interned(std::vector<float>{1, 2, 3, 4, 5, 6}, 2, std::move(index));
  data.actions = Actions::discrete(std::vector<std::int32_t>(kSteps, 1), 2);
  data.ids = {"0", "1"};
  write_npz(data, path_);
  auto found = read();
  expect_equal(found, data);
  found.observations = intern(std::move(found.observations));
  EXPECT_EQ(found.observations.distinct(), 3);
}

TEST_F(Npz, TheSameDataGiveTheSameBytesAndNothingElse) {
  const auto data = example(Observations::dense(std::vector<float>{1, 2, 3}, 1),
                            Actions::discrete(std::vector<std::int32_t>{0, 1, 0}, 2));
  write_npz(data, path_);
  const auto first = read_text(path_);
  write_npz(data, path_);
  EXPECT_EQ(read_text(path_), first);
  EXPECT_THROW(write_npz(data, path_ / "inside" / "a.npz"), IoError);
  EXPECT_EQ(read_text(path_), first);
}

/// The dataset of tests/fixtures/make_npz.py.
void expect_fixture(const Trajectories& data) {
  ASSERT_NO_THROW(data.validate("fixture"));
  EXPECT_THAT(data.offsets.span(), ElementsAre(0, 3, 5, 7));
  ASSERT_EQ(data.observations.dim(), 3);
  for (std::int64_t t = 0; t < 7; ++t)
    for (std::int64_t d = 0; d < 3; ++d)
      EXPECT_EQ(data.observations.floats()[3 * t + d],
                static_cast<float>(t) + static_cast<float>(d) / 4);
  EXPECT_EQ(data.actions.count(), 3);
  EXPECT_THAT(data.actions.ints().span(), ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_THAT(data.rewards.span(), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5, 3));
  EXPECT_THAT(data.terminals.span(), ElementsAre(0, 0, 1, 0, 0, 0, 1));
  EXPECT_THAT(data.timeouts.span(), ElementsAre(0, 0, 0, 0, 1, 0, 0));
  EXPECT_THAT(data.labels.span(), ElementsAre(1, 0, 1));
}

TEST_F(Npz, ReadsWhatNumpyWrites) {
  for (const char* name : {"flags.npz", "compressed.npz"}) {
    SCOPED_TRACE(name);
    const auto data = read_npz(fixture(name), {});
    expect_fixture(data);
    EXPECT_THAT(data.ids, ElementsAre("0", "1", "2"));
  }
}

TEST_F(Npz, ReadsOtherTypesByteOrdersAndArrayOrders) {
  const auto data = read_npz(fixture("unusual.npz"), {});
  expect_fixture(data);
  EXPECT_THAT(data.ids, ElementsAre("first", "second", "dritte, größte"));
  EXPECT_THAT(data.label_names, ElementsAre("médium", "expert"));
}

TEST_F(Npz, ReadsImagesAsBytes) {
  const auto data = read_npz(fixture("images.npz"), {});
  ASSERT_TRUE(data.observations.is_bytes());
  ASSERT_EQ(data.observations.dim(), 12);
  for (std::int64_t i = 0; i < 84; ++i) ASSERT_EQ(data.observations.bytes()[i], i);
  EXPECT_EQ(data.actions.dim(), 2);
  EXPECT_EQ(data.actions.floats()[13], -0.75f);
  EXPECT_TRUE(data.rewards.empty());
  EXPECT_TRUE(data.labels.empty());
}

TEST_F(Npz, EveryNumberTypeIsConverted) {
  const std::map<std::string, std::string> ones_and_twos = {
      {"|i1", raw<std::int8_t>({1, 2, -3, 4})},
      {"<i2", raw<std::int16_t>({1, 2, -3, 4})},
      {"<i4", raw<std::int32_t>({1, 2, -3, 4})},
      {"<i8", raw<std::int64_t>({1, 2, -3, 4})},
      {"<f4", raw<float>({1, 2, -3, 4})},
      {"<f8", raw<double>({1, 2, -3, 4})},
      {"<f2", raw<std::uint16_t>({0x3c00, 0x4000, 0xc200, 0x4400})},
      {">f2", raw<std::uint16_t>({0x003c, 0x0040, 0x00c2, 0x0044})},
      {">i2", raw<std::uint16_t>({0x0100, 0x0200, 0xfdff, 0x0400})}};
  for (const auto& [dtype, values] : ones_and_twos) {
    auto contents = sound_contents();
    contents["observations"] = npy_bytes(dtype, "(4,)", values);
    save(contents);
    EXPECT_THAT(read().observations.floats().span(), ElementsAre(1, 2, -3, 4)) << dtype;
  }
  auto contents = sound_contents();
  for (const auto& [dtype, values] :
       std::map<std::string, std::string>{{"<u2", raw<std::uint16_t>({1, 0, 1, 0})},
                                          {"<u4", raw<std::uint32_t>({1, 0, 1, 0})},
                                          {"<u8", raw<std::uint64_t>({1, 0, 1, 0})},
                                          {"|u1", raw<std::uint8_t>({1, 0, 1, 0})},
                                          {"|b1", raw<std::uint8_t>({1, 0, 1, 0})}}) {
    contents["actions"] = npy_bytes(dtype, "(4,)", values);
    save(contents);
    EXPECT_THAT(read().actions.ints().span(), ElementsAre(1, 0, 1, 0)) << dtype;
  }
}

TEST_F(Npz, HalfPrecisionIsExact) {
  auto contents = sound_contents();
  contents["observations"] =  // Smallest subnormal, largest number, smallest normal, minus zero.
      npy_bytes("<f2", "(4,)", raw<std::uint16_t>({0x0001, 0x7bff, 0x0400, 0x8000}));
  save(contents);
  EXPECT_THAT(read().observations.floats().span(),
              ElementsAre(0x1p-24f, 65504.0f, 0x1p-14f, -0.0f));
}

TEST_F(Npz, OptionsDecideWhatActionsAre) {
  auto contents = sound_contents();
  save(contents);
  EXPECT_TRUE(read().actions.is_discrete());
  EXPECT_THAT(read(with(&ReadOptions::actions, ReadActionsAs::kContinuous)).actions.floats().span(),
              ElementsAre(0, 1, 1, 0));
  contents["actions"] = npy_bytes("<f4", "(4, 1)", raw<float>({0, 2, 1, 0}));
  save(contents);
  EXPECT_FALSE(read().actions.is_discrete());
  EXPECT_EQ(read(with(&ReadOptions::actions, ReadActionsAs::kDiscrete)).actions.count(), 3);
  contents["action_count"] = npy_bytes("<i8", "()", raw<std::int64_t>({7}));
  save(contents);
  EXPECT_EQ(read(with(&ReadOptions::actions, ReadActionsAs::kDiscrete)).actions.count(), 7);
  contents["action_count"] = npy_bytes("<i8", "()", raw<std::int64_t>({2}));
  EXPECT_THAT(complaint(contents, with(&ReadOptions::actions, ReadActionsAs::kDiscrete)),
              HasSubstr("array 'action_count' holds 2, expected one number from 3 to"));
  contents["actions"] = npy_bytes("<f4", "(4, 1)", raw<float>({0, 2, 1.5, 0}));
  EXPECT_THAT(complaint(contents, with(&ReadOptions::actions, ReadActionsAs::kDiscrete)),
              HasSubstr("array 'actions' has action 1.5 in row 2"));
  contents["actions"] = npy_bytes("<i4", "(4, 2)", std::string(32, '\0'));
  EXPECT_THAT(complaint(contents), HasSubstr("use the option actions = continuous"));
}

TEST_F(Npz, FlagsCutEpisodesAsInD4rl) {
  auto contents = sound_contents();
  contents.erase("offsets");
  contents.erase("policy_id");
  contents["terminals"] = npy_bytes("|b1", "(4,)", raw<std::uint8_t>({0, 1, 0, 0}));
  save(contents);
  EXPECT_THAT(read().offsets.span(), ElementsAre(0, 2, 4));
  EXPECT_THAT(read(with(&ReadOptions::episode_cap, std::int64_t{1})).offsets.span(),
              ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(read(with(&ReadOptions::keep_partial, false)).offsets.span(), ElementsAre(0, 2));

  // Labels of every step also cover the steps that are dropped.
  contents["infos/policy_id"] = npy_bytes("<i4", "(4,)", raw<std::int32_t>({3, 3, 1, 2}));
  save(contents);
  EXPECT_THAT(read(with(&ReadOptions::keep_partial, false)).labels.span(), ElementsAre(3));
  EXPECT_THAT(read().actors.span(), ElementsAre(3, 3, 1, 2));
}

TEST_F(Npz, LabelsAreFoundUnderTheirKey) {
  auto contents = sound_contents();
  contents["skill"] = npy_bytes("<i4", "(2,)", raw<std::int32_t>({5, 6}));
  save(contents);
  EXPECT_THAT(read().labels.span(), ElementsAre(1, 0));
  EXPECT_THAT(read(with(&ReadOptions::label_key, std::string("skill"))).labels.span(),
              ElementsAre(5, 6));
  contents["label_names"] = npy_bytes("|S2", "(1,)", "ab");
  EXPECT_THAT(complaint(contents), HasSubstr("'label_names' has 1 names"));
  contents["policy_id"] = npy_bytes("<i4", "(3,)", raw<std::int32_t>({1, 0, 1}));
  EXPECT_THAT(complaint(contents),
              HasSubstr("array 'policy_id' has 3 labels, expected one for each of 2 episodes"));
  contents["policy_id"] = npy_bytes("<f4", "(2,)", raw<float>({1, 0}));
  EXPECT_THAT(complaint(contents), HasSubstr("has type <f4 and shape [2], expected integers"));
}

TEST_F(Npz, NamesOfObservationsAndActionsAreKept) {
  auto contents = sound_contents();
  contents["observation_names"] = npy_bytes("|S2", "(1,)", "y1");
  save(contents);
  EXPECT_THAT(read().observation_names, ElementsAre("y1"));
  contents["action_names"] = npy_bytes("|S1", "(3,)", "abc");
  EXPECT_THAT(complaint(contents), HasSubstr("'action_names' has 3 names"));
}

TEST_F(Npz, TextLabelsAreNamed) {
  auto contents = sound_contents();
  contents["policy_id"] = npy_bytes("|S3", "(2,)", "timann");
  save(contents);
  EXPECT_THAT(read().labels.span(), ElementsAre(1, 0));
  EXPECT_THAT(read().label_names, ElementsAre("ann", "tim"));
}

TEST_F(Npz, LargeArchivesUseZip64) {
  const auto write = [&](std::uint64_t zip64_from) {
    zip::Writer archive(path_, zip64_from);
    for (const std::string text : {"first", "", "the second is longer"}) {
      archive.begin(fmt::format("{}.txt", text.size()), text.size());
      archive.write(std::as_bytes(std::span(text)));
    }
    archive.close();
  };
  for (const std::uint64_t zip64_from : {0u, 10u, 60u, 0xffffffffu}) {
    write(zip64_from);
    const zip::Archive archive(path_);
    ASSERT_EQ(archive.entries().size(), 3u);
    EXPECT_EQ(archive.find("none"), nullptr);
    const auto* entry = archive.find("20.txt");
    ASSERT_NE(entry, nullptr);
    zip::EntryReader reader(archive, *entry);
    std::string text(20, ' ');
    reader.read(std::as_writable_bytes(std::span(text)));
    EXPECT_EQ(text, "the second is longer");
    EXPECT_EQ(reader.remaining(), 0u);
  }
}

}  // namespace
}  // namespace kindred
