// NPZ files that are wrong: each ends in one sentence that says how.
#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <vector>

#include "kindred/core/files.h"
#include "kindred/core/random.h"
#include "kindred/data/npy.h"
#include "npz_files.h"

namespace kindred {
namespace {

using namespace npz_files;  // NOLINT: the helpers of this file's kind
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Npz, MissingArraysAreNamed) {
  auto contents = sound_contents();
  contents.erase("actions");
  EXPECT_THAT(complaint(contents),
              AllOf(HasSubstr("'" + path_.string() + "' has no array 'actions'"),
                    HasSubstr("it holds observations [4, 1] of floats, offsets [3] of integers"),
                    HasSubstr("such as --obs-key observations")));
  contents = sound_contents();
  contents.erase("offsets");
  EXPECT_THAT(complaint(contents), HasSubstr("none of the arrays offsets, terminals and timeouts"));
  EXPECT_THAT(complaint(Contents{}), HasSubstr("it holds no arrays"));
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
  EXPECT_THROW(read_npz(fs::path(::testing::TempDir()), {}), IoError);
}

TEST_F(Npz, DeflatedEntriesThatEndEarlyAreNamed) {
  auto bytes = read_text(fixture("compressed.npz"));
  const auto entry = bytes.find("PK\1\2");
  bytes[entry + 20] = 10;  // Fewer packed bytes than there are.
  bytes[entry + 21] = 0;
  write_text(path_, bytes);
  EXPECT_THAT(complaint(), HasSubstr("cannot be unpacked"));
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
