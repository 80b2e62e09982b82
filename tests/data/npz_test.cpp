#include "kindred/data/npz.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/random.h"
#include "kindred/data/interning.h"
#include "kindred/data/npy.h"
#include "kindred/data/zip.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

fs::path fixture(const std::string& name) { return fs::path(KINDRED_FIXTURES) / "npz" / name; }

/// The default options but for one.
template <class T>
ReadOptions with(T ReadOptions::*option, T value) {
  ReadOptions options;
  options.*option = std::move(value);
  return options;
}

/// What an entry of an .npz holds: NumPy's header and the values.
std::string npy_bytes(const std::string& dtype, const std::string& shape, std::string values,
                      bool fortran = false) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", dtype,
                                   fortran ? "True" : "False", shape);
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size() & 255) +
         static_cast<char>(header.size() >> 8) + header + values;
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T));
}

/// Entries by name, without ".npy".
using Contents = std::map<std::string, std::string>;

/// Four steps in two episodes, which every test may spoil in its own way.
Contents sound_contents() {
  return {{"observations", npy_bytes("<f4", "(4, 1)", raw<float>({1, 2, 3, 4}))},
          {"actions", npy_bytes("<i8", "(4,)", raw<std::int64_t>({0, 1, 1, 0}))},
          {"rewards", npy_bytes("<f8", "(4,)", raw<double>({0.5, 0, 0, 1}))},
          {"offsets", npy_bytes("<i8", "(3,)", raw<std::int64_t>({0, 3, 4}))},
          {"policy_id", npy_bytes("<i4", "(2,)", raw<std::int32_t>({1, 0}))}};
}

class Npz : public testing::Test {
 protected:
  ~Npz() override { fs::remove(path_); }

  void save(const Contents& contents) const {
    fs::remove(path_);  // Some disks wait for the data when a file is replaced.
    zip::Writer archive(path_);
    for (const auto& [name, bytes] : contents) {
      archive.begin(name + ".npy", bytes.size());
      archive.write(std::as_bytes(std::span(bytes)));
    }
    archive.close();
  }

  Trajectories read(const ReadOptions& options = {}) const { return read_npz(path_, options); }

  /// The sentence in which reading `contents` ends; "" when it succeeds.
  std::string complaint(const Contents& contents, const ReadOptions& options = {}) const {
    save(contents);
    return complaint(options);
  }
  std::string complaint(const ReadOptions& options = {}) const {
    try {
      read(options);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::string complaint_with(const std::string& name, const std::string& bytes) const {
    auto contents = sound_contents();
    contents[name] = bytes;
    return complaint(contents);
  }

  const fs::path path_ =
      fs::path(testing::TempDir()) /
      fmt::format("kindred_{}.npz", testing::UnitTest::GetInstance()->current_test_info()->name());
};

Trajectories example(Observations observations, Actions actions) {
  Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 2, 3};
  data.observations = std::move(observations);
  data.actions = std::move(actions);
  data.rewards = std::vector<float>{0.5f, -1.0f, 2.0f};
  data.terminals = std::vector<std::uint8_t>{0, 1, 0};
  data.timeouts = std::vector<std::uint8_t>{0, 0, 1};
  data.ids = {"demo_7", "größte"};
  data.labels = std::vector<std::int32_t>{1, 0};
  data.oracle = std::vector<std::int32_t>{0, 0};
  data.label_names = {"medium", "expert"};
  return data;
}

void expect_equal(const Trajectories& found, const Trajectories& expected) {
  EXPECT_THAT(found.offsets.span(), testing::ElementsAreArray(expected.offsets.span()));
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
              testing::ElementsAreArray(expected.actions.ints().span()));
  EXPECT_THAT(found.actions.floats().span(),
              testing::ElementsAreArray(expected.actions.floats().span()));
  EXPECT_THAT(found.rewards.span(), testing::ElementsAreArray(expected.rewards.span()));
  EXPECT_THAT(found.terminals.span(), testing::ElementsAreArray(expected.terminals.span()));
  EXPECT_THAT(found.timeouts.span(), testing::ElementsAreArray(expected.timeouts.span()));
  EXPECT_THAT(found.labels.span(), testing::ElementsAreArray(expected.labels.span()));
  EXPECT_THAT(found.oracle.span(), testing::ElementsAreArray(expected.oracle.span()));
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
  EXPECT_TRUE(read().labels.empty());
  EXPECT_THAT(read().provenance["labels"], HasSubstr("change within an episode"));
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
              HasSubstr("array 'policy_id' has 3 numbers, expected one for each of 2 episodes"));
  contents["policy_id"] = npy_bytes("<f4", "(2,)", raw<float>({1, 0}));
  EXPECT_THAT(complaint(contents), HasSubstr("has type <f4 and shape [2], expected integers"));
}

TEST_F(Npz, MissingArraysAreNamed) {
  auto contents = sound_contents();
  contents.erase("actions");
  EXPECT_THAT(complaint(contents),
              AllOf(HasSubstr("'" + path_.string() + "' has no array 'actions'"),
                    HasSubstr("found observations, offsets, policy_id, rewards")));
  contents = sound_contents();
  contents.erase("offsets");
  EXPECT_THAT(complaint(contents), HasSubstr("none of the arrays offsets, terminals and timeouts"));
  EXPECT_THAT(complaint(Contents{}), HasSubstr("found nothing"));
}

TEST_F(Npz, WrongShapesAreNamed) {
  EXPECT_THAT(complaint_with("actions", npy_bytes("|i1", "(3,)", "abc")),
              HasSubstr("array 'actions' has type |i1 and shape [3], expected 4 rows"));
  EXPECT_THAT(complaint_with("rewards", npy_bytes("|i1", "(4, 2)", "abcdefgh")),
              HasSubstr("array 'rewards' has type |i1 and shape [4, 2], expected one number"));
  EXPECT_THAT(complaint_with("observations", npy_bytes("<f4", "()", "abcd")),
              HasSubstr("expected numbers, at least one for each step"));
  EXPECT_THAT(complaint_with("observations", npy_bytes("<f4", "(0, 3)", "")),
              HasSubstr("expected numbers, at least one for each step"));
  EXPECT_THAT(complaint_with("observations", npy_bytes("<f4", "(4, 0)", "")),
              HasSubstr("expected numbers, at least one for each step"));
  EXPECT_THAT(complaint_with("terminals", npy_bytes("|i1", "(4,)", raw<std::int8_t>({0, 2, 0, 0}))),
              HasSubstr("array 'terminals' has 2 in row 1, expected flags of 0 or 1"));
}

TEST_F(Npz, BadOffsetsAreNamed) {
  const auto offsets = [&](std::initializer_list<std::int64_t> values) {
    return complaint_with("offsets",
                          npy_bytes("<i8", fmt::format("({},)", values.size()), raw(values)));
  };
  EXPECT_THAT(offsets({0, 3, 3, 4}), HasSubstr("goes from 3 to 3 at position 2"));
  EXPECT_THAT(offsets({0, 9, 4}), HasSubstr("goes from 9 to 4 at position 2"));
  EXPECT_THAT(offsets({0, -1, 4}), HasSubstr("goes from 0 to -1 at position 1"));
  EXPECT_THAT(offsets({0, 3}), HasSubstr("has 2 numbers from 0 to 3, expected"));
  EXPECT_THAT(offsets({1, 4}), HasSubstr("has 2 numbers from 1 to 4, expected"));
  EXPECT_THAT(offsets({}), HasSubstr("has 0 numbers, expected"));
}

TEST_F(Npz, NumbersThatAreNoneAreNamed) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(complaint_with("observations",
                             npy_bytes("<f4", "(4, 2)", raw<float>({0, 0, 0, nan, 0, 0, 0, 0}))),
              HasSubstr("array 'observations' has nan in row 1, column 1"));
  EXPECT_THAT(complaint_with("rewards", npy_bytes("<f8", "(4,)", raw<double>({0, 0, 1e300, 0}))),
              HasSubstr("array 'rewards' has inf in row 2"));
  EXPECT_THAT(
      complaint_with("actions", npy_bytes("<u8", "(4,)", raw<std::uint64_t>({0, ~0ull, 0, 0}))),
      HasSubstr("array 'actions' has action 9223372036854775807 in row 1"));
}

TEST_F(Npz, WrongTypesAreNamed) {
  EXPECT_THAT(complaint_with("observations", npy_bytes("|O", "(4,)", "pickle")),
              HasSubstr("has type '|O' (Python objects), expected floats"));
  for (const char* dtype : {"<c8", "<M8[ns]", "<f16", "|V8", "<i3", "<f", "", "?4"})
    EXPECT_THAT(complaint_with("observations", npy_bytes(dtype, "(4,)", "values")),
                HasSubstr(fmt::format("array 'observations' has type '{}'", dtype)));
  EXPECT_THAT(complaint_with("observations", npy_bytes("<U1", "(4,)", std::string(16, 'a'))),
              HasSubstr("has type <U1 and shape [4], expected numbers"));
  EXPECT_THAT(complaint_with("ids", npy_bytes("<i4", "(2,)", "abcdabcd")),
              HasSubstr("array 'ids' has type <i4 and shape [2], expected text"));
  const std::string fields = "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (4,)}";
  EXPECT_THAT(complaint_with("observations", std::string("\x93NUMPY\1\0", 8) +
                                                 static_cast<char>(fields.size()) + '\0' + fields),
              HasSubstr("records of several fields"));
}

TEST_F(Npz, SizesThatCannotBeAreRefusedBeforeTheyAreAllocated) {
  for (const char* shape : {"(4, 1000000000000)", "(9223372036854775807, 9223372036854775807)",
                            "(4611686018427387904, 4)", "(5,)", "(3,)"})
    EXPECT_THAT(complaint_with("observations", npy_bytes("<f4", shape, std::string(16, '\0'))),
                HasSubstr("says it has type <f4 and shape ["));
  EXPECT_THAT(complaint_with("ids", npy_bytes("|S99999999999", "(2,)", "abcd")),
              HasSubstr("has type '|S99999999999'"));
  EXPECT_THAT(complaint_with("ids", npy_bytes("<U4611686018427387905", "(2,)", "abcd")),
              HasSubstr("has type '<U"));
  EXPECT_THAT(complaint_with("ids", npy_bytes("|S0", "(1000000000000,)", "")),
              HasSubstr("has type '|S0'"));
}

TEST_F(Npz, HeadersThatAreNoneAreNamed) {
  const std::string magic("\x93NUMPY\1\0", 8);
  for (const auto& bytes :
       {std::string(), std::string("garbage that is no array"), magic, magic + '\xff',
        std::string("\x93NUMPY\7\0", 8) + std::string(20, '\0'),
        magic + "\xff\xff{'descr': ", std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12) + "{",
        npy_bytes("<f4", "(4, -1)", ""), npy_bytes("<f4", "(4", ""), npy_bytes("<f4", "4", ""),
        npy_bytes("<f4", "(4 4)", ""), npy_bytes("<f4", "(4,), 'more': 1", "")})
    EXPECT_THAT(complaint_with("observations", bytes),
                AllOf(HasSubstr("array 'observations'"), HasSubstr("save")))
        << bytes;
}

TEST_F(Npz, HeaderVersionsAndSpellings) {
  const auto parse = [](const std::string& text) { return npy::parse_header(text, "x"); };
  const auto header = parse("{\"shape\": (3L, 4), 'descr':'>f8','fortran_order' : True}   \n");
  EXPECT_EQ(header.dtype, ">f8");
  EXPECT_TRUE(header.big_endian);
  EXPECT_TRUE(header.fortran_order);
  EXPECT_THAT(header.shape, ElementsAre(3, 4));
  EXPECT_TRUE(parse("{'descr': '<f4', 'fortran_order': False, 'shape': ()}").shape.empty());

  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n";
  for (const char version : {'\2', '\3'}) {
    auto contents = sound_contents();
    contents["observations"] = std::string("\x93NUMPY") + version + '\0' +
                               static_cast<char>(dictionary.size()) + std::string(3, '\0') +
                               dictionary + raw<float>({1, 2, 3, 4});
    save(contents);
    EXPECT_THAT(read().observations.floats().span(), ElementsAre(1, 2, 3, 4));
  }
}

TEST_F(Npz, DamagedArchivesAreNamed) {
  save(sound_contents());
  const std::string sound = read_text(path_);
  const auto complaint_about = [&](const std::string& bytes) {
    write_text(path_, bytes);
    return complaint();
  };
  EXPECT_THAT(complaint_about(""), HasSubstr("is not a complete NPZ file"));
  EXPECT_THAT(complaint_about("PK\3\4"), HasSubstr("its table of contents is missing"));
  EXPECT_THAT(complaint_about(sound.substr(0, sound.size() / 2)),
              HasSubstr("its table of contents is missing; copy or save it again"));
  EXPECT_THAT(complaint_about(sound.substr(1)), HasSubstr("'" + path_.string() + "'"));

  auto flipped = sound;  // A value inside the first array.
  flipped[flipped.find("(4,)") + 20] ^= 1;
  EXPECT_THAT(complaint_about(flipped), HasSubstr("does not match its checksum"));

  auto packed = sound;  // Method 12 in the first entry of the table of contents.
  packed[packed.find("PK\1\2") + 10] = 12;
  EXPECT_THAT(complaint_about(packed), HasSubstr("is packed by method 12"));

  auto encrypted = sound;
  encrypted[encrypted.find("PK\1\2") + 8] |= 1;
  EXPECT_THAT(complaint_about(encrypted), HasSubstr("is encrypted"));

  auto huge = sound;  // 4 GB in one entry.
  huge.replace(huge.find("PK\1\2") + 20, 8, std::string("\xf0\xff\xff\xff\xf0\xff\xff\xff"));
  EXPECT_THAT(complaint_about(huge), HasSubstr("claims 4294967280 bytes"));

  fs::remove(path_);
  EXPECT_THROW(read(), IoError);
  EXPECT_THROW(read_npz(fs::path(testing::TempDir()), {}), IoError);
}

TEST_F(Npz, DeflatedEntriesThatEndEarlyAreNamed) {
  auto bytes = read_text(fixture("compressed.npz"));
  const auto entry = bytes.find("PK\1\2");
  bytes[entry + 20] = 10;  // Fewer packed bytes than there are.
  bytes[entry + 21] = 0;
  write_text(path_, bytes);
  EXPECT_THAT(complaint(), HasSubstr("cannot be unpacked"));
}

TEST_F(Npz, ObservationKeysCannotBeChosen) {
  save(sound_contents());
  EXPECT_THROW(read(with(&ReadOptions::observation_keys, std::vector<std::string>{"robot"})),
               InvalidArgument);
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

/// Changes a few bytes of `bytes`: flips, extremes, cuts, repeats.
std::string mutated(Random& random, std::string bytes) {
  const auto changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const auto at = random.below(bytes.size());
    switch (random.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 2:  // An extreme number of some width.
        for (auto j = at; j < std::min<std::uint64_t>(at + (1ull << random.below(4)), bytes.size());
             ++j)
          bytes[j] = random.below(2) ? '\xff' : '\0';
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(at, random.below(16));
        break;
      default:
        bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(32)));
    }
  }
  return bytes;
}

/// Only a dataset that is sound, or one sentence.
void expect_sound_or_error(const fs::path& path, int& accepted) {
  try {
    read_npz(path, {}).validate("mutated");
    ++accepted;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
  }
}

TEST_F(Npz, MutatedArchivesNeverCrash) {
  Random random(1, "npz");
  int accepted = 0;
  for (const char* name : {"flags.npz", "compressed.npz", "unusual.npz", "images.npz"}) {
    const std::string sound = read_text(fixture(name));
    for (int i = 0; i < 1000; ++i) {
      fs::remove(path_);
      write_text(path_, mutated(random, sound));
      expect_sound_or_error(path_, accepted);
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 2000);
}

// A checksum stops most damage at the door; this is for what comes with a correct one.
TEST_F(Npz, MutatedArraysNeverCrash) {
  Random random(2, "npz");
  const auto data = example(Observations::dense(std::vector<float>{1, 2, 3}, 1),
                            Actions::discrete(std::vector<std::int32_t>{0, 1, 0}, 2));
  write_npz(data, path_);
  Contents sound;
  {
    const zip::Archive archive(path_);
    for (const auto& entry : archive.entries()) {
      std::string bytes(entry.size, '\0');
      zip::EntryReader(archive, entry).read(std::as_writable_bytes(std::span(bytes)));
      sound[entry.name.substr(0, entry.name.size() - 4)] = bytes;
    }
  }
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    auto contents = sound;
    auto spoiled = contents.begin();
    std::advance(spoiled, static_cast<std::ptrdiff_t>(random.below(contents.size())));
    spoiled->second = mutated(random, spoiled->second);
    save(contents);
    expect_sound_or_error(path_, accepted);
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 3000);
}

}  // namespace
}  // namespace kindred
