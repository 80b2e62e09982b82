// Chunks that we unpack ourselves hold what HDF5 says they hold.
#include "kindred/data/hdf5_chunks.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "kindred/core/thread_pool.h"
#include "kindred/data/hdf5_input.h"
#include "test_files.h"

// HDF5's own, not in its headers.
extern "C" std::uint32_t H5_checksum_fletcher32(const void* data, std::size_t size);

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::HasSubstr;
using Extents = std::vector<hsize_t>;

std::string random_bytes(std::size_t count, std::uint64_t bound = 256) {
  Random random(count, "bytes");
  std::string bytes(count, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random.below(bound));
  return bytes;
}

TEST(Filters, ChecksumIsHdf5s) {
  for (const std::size_t size : {0u, 1u, 2u, 3u, 719u, 720u, 721u, 1441u, 100'000u}) {
    const auto bytes = random_bytes(size), most = std::string(size, '\xff');
    EXPECT_EQ(hdf5::fletcher32(bytes), H5_checksum_fletcher32(bytes.data(), size)) << size;
    EXPECT_EQ(hdf5::fletcher32(most), H5_checksum_fletcher32(most.data(), size)) << size;
  }
}

TEST(Filters, UnshufflePutsValuesBackTogether) {
  for (const std::size_t element : {1u, 2u, 3u, 4u, 7u, 8u, 100u}) {
    const auto bytes = random_bytes(45);  // no multiple of most: what is left over stays behind
    const std::size_t count = element > 1 ? bytes.size() / element : 0;
    std::string shuffled;
    for (std::size_t b = 0; b < element; ++b)
      for (std::size_t i = 0; i < count; ++i) shuffled += bytes[i * element + b];
    shuffled += bytes.substr(shuffled.size());
    std::string found(bytes.size(), '?');
    hdf5::unshuffle(shuffled, element, found);
    EXPECT_EQ(found, bytes) << element;
  }
}

/// What LZF expands to; "damaged" when it does not.
std::string expanded_lzf(const std::string& packed, std::size_t room) {
  std::string out(room, '?');
  const auto size = hdf5::expand_lzf(packed, out);
  return size ? out.substr(0, *size) : "damaged";
}

TEST(Filters, LzfCopiesLiteralsAndRepeats) {
  using namespace std::string_literals;
  EXPECT_EQ(expanded_lzf("", 9), "");
  EXPECT_EQ(expanded_lzf("\2abc", 9), "abc");
  EXPECT_EQ(expanded_lzf("\2abc\x20\2"s, 9), "abcabc");  // three bytes from three before
  EXPECT_EQ(expanded_lzf("\0a\x60\0"s, 9), "aaaaaa");    // from what it has just written
  EXPECT_EQ(expanded_lzf("\0a\xe0\3\0"s, 99), "a" + std::string(12, 'a'));  // 7 and 3 and 2
  const auto far = "\x1f"s + random_bytes(32);
  std::string all;
  for (int i = 0; i < 200; ++i) all += far;
  EXPECT_EQ(expanded_lzf(all + "\x38\x0f"s, 9999).substr(6400),  // 0x180f + 1 bytes before
            expanded_lzf(all, 9999).substr(6400 - 0x1810, 3));
}

TEST(Filters, LzfThatIsDamagedIsNotExpanded) {
  using namespace std::string_literals;
  for (const auto& packed :
       {"\2ab"s, "\x20"s, "\0a\xe0"s, "\0a\xe0\1"s, "\0a\x20\1"s, "\x20\0"s, "\0a\xff\xff\xff"s})
    EXPECT_EQ(expanded_lzf(packed, 999), "damaged");
  EXPECT_EQ(expanded_lzf("\2abc", 2), "damaged");
  EXPECT_EQ(expanded_lzf("\0a\x20\0"s, 3), "damaged");
  for (std::size_t size = 1; size < 200; ++size)  // nothing but what the sanitizers find
    expanded_lzf(random_bytes(size), size);
}

/// Adds filters to the description of a dataset.
using Filters = std::function<void(hid_t creation)>;

Filters no_filters() {
  return [](hid_t) {};
}

const std::map<std::string, Filters> kPipelines{
    {"deflate", [](hid_t creation) { H5Pset_deflate(creation, 4); }},
    {"shuffle", [](hid_t creation) { H5Pset_shuffle(creation); }},
    {"checksum", [](hid_t creation) { H5Pset_fletcher32(creation); }},
    {"shuffle, deflate",
     [](hid_t creation) {
       H5Pset_shuffle(creation);
       H5Pset_deflate(creation, 1);
     }},
    {"shuffle, deflate, checksum",
     [](hid_t creation) {
       H5Pset_shuffle(creation);
       H5Pset_deflate(creation, 9);
       H5Pset_fletcher32(creation);
     }},
    {"checksum, shuffle, deflate",
     [](hid_t creation) {
       H5Pset_fletcher32(creation);
       H5Pset_shuffle(creation);
       H5Pset_deflate(creation, 4);
     }},
    {"deflate, deflate",
     [](hid_t creation) {
       H5Pset_deflate(creation, 1);
       const unsigned level = 9;
       H5Pset_filter(creation, H5Z_FILTER_DEFLATE, H5Z_FLAG_OPTIONAL, 1, &level);
     }},
    {"scale and offset, which HDF5 undoes",
     [](hid_t creation) { H5Pset_scaleoffset(creation, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT); }},
};

/// Chunks beside shapes that they cover, cut, or reach over.
struct Layout {
  Extents shape, chunk;
};
const std::vector<Layout> kLayouts{{{37}, {8}},
                                   {{37}, {37}},
                                   {{8}, {1}},
                                   {{5, 3}, {2, 3}},
                                   {{40, 11}, {7, 1}},
                                   {{40, 11}, {7, 4}},
                                   {{40, 11}, {40, 2}},
                                   {{9, 4, 5}, {2, 4, 5}},
                                   {{9, 4, 5}, {4, 3, 2}},
                                   {{6, 2, 3, 4}, {5, 2, 1, 3}},
                                   {{100, 40}, {64, 40}}};

std::size_t count_of(const Extents& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

class PackedChunks : public ::testing::Test {
 protected:
  /// Writes bytes that are values of `type` as they are.
  void put(hid_t file, const char* name, hid_t type, const Extents& shape, const void* bytes,
           const Extents& chunk = {}, const Filters& filters = no_filters(),
           const Extents& most = {}) const {
    const hdf5::Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(),
                                              most.empty() ? nullptr : most.data()));
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    if (!chunk.empty()) {
      ASSERT_GE(H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()), 0);
      filters(creation.get());
    }
    const hdf5::Handle dataset(
        H5Dcreate2(file, name, type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
    ASSERT_TRUE(dataset);
    if (bytes) {
      ASSERT_GE(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes), 0);
    }
  }

  std::filesystem::path make(const std::function<void(hid_t)>& fill, bool latest = false) const {
    auto path = folder_ / "file";
    const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS));
    if (latest) H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    fill(file.get());
    return path;
  }

  template <class T>
  static std::vector<T> read(const hdf5::Dataset& dataset, std::int64_t begin, std::int64_t end) {
    std::vector<T> values(static_cast<std::size_t>((end - begin) * dataset.row_size()), T{77});
    dataset.read(begin, end, values.data());
    return values;
  }

  /// Bit by bit, but for the bits of what is not a number.
  template <class T>
  static bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a) && std::isnan(b)) return true;
    return std::memcmp(&a, &b, sizeof a) == 0;
  }

  template <class T>
  static void expect_same(const hdf5::Dataset& found, const hdf5::Dataset& expected,
                          const std::string& what) {
    const auto rows = expected.rows();
    for (const auto& [begin, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, rows}, {rows / 3, rows - rows / 4}, {rows - 1, rows}, {0, 1}}) {
      const auto a = read<T>(found, begin, end), b = read<T>(expected, begin, end);
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_PRED2(same<T>, a[i], b[i]) << what << ", rows " << begin << " to " << end << ", as "
                                          << sizeof(T) << " bytes, value " << i;
    }
  }

  static void expect_same(const hdf5::Dataset& found, const hdf5::Dataset& expected,
                          const std::string& what) {
    ASSERT_EQ(found.shape(), expected.shape());
    expect_same<float>(found, expected, what);
    expect_same<double>(found, expected, what);
    expect_same<std::uint8_t>(found, expected, what);
    expect_same<std::int32_t>(found, expected, what);
    expect_same<std::int64_t>(found, expected, what);
  }

  TempDir folder_;
  std::vector<std::shared_ptr<ThreadPool>> pools_{nullptr, std::make_shared<ThreadPool>(1),
                                                  std::make_shared<ThreadPool>(4)};
};

TEST_F(PackedChunks, EveryPipelineInEveryLayout) {
  const std::vector<hid_t> types{H5T_STD_I32LE, H5T_STD_I16BE, H5T_STD_U8LE};
  std::size_t turn = 0;
  for (const auto& [name, filters] : kPipelines)
    for (const auto& [shape, chunk] : kLayouts) {
      const hid_t type = types[turn++ % types.size()];  // 3 and 11: each meets each
      const auto bytes = random_bytes(count_of(shape) * H5Tget_size(type), 3);
      const auto path = make([&, &add = filters, &extents = shape, &cut = chunk](hid_t file) {
        put(file, "plain", type, extents, bytes.data());
        put(file, "packed", type, extents, bytes.data(), cut, add);
      });
      for (const auto& pool : pools_) {
        const hdf5::InputFile file(path, pool);
        expect_same(file.dataset("packed"), file.dataset("plain"), name);
      }
    }
}

/// Numbers of every size and sign, with the least, the largest and the infinite; none that is not a
/// number, which HDF5 makes any integer of.
std::string telling_numbers(hid_t type, std::size_t count) {
  const std::size_t size = H5Tget_size(type);
  auto bytes = random_bytes(count * size);
  if (H5Tget_class(type) != H5T_FLOAT) {  // all zeros, all ones, and the two in the middle
    std::fill_n(bytes.begin(), size, '\0');
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(size), 3 * size, '\xff');
    bytes[2 * size] = bytes[4 * size - 1] = '\x7f';
    return bytes;
  }
  constexpr double kLargest = std::numeric_limits<float>::max(), kBeyond = HUGE_VAL;
  constexpr double kAbove = kLargest * (1 + 1e-8);  // rounds to the largest
  const std::vector<double> special{
      0.0,    -0.0,  1.0,   -1.0, kLargest,     -kLargest, kAbove,  -kAbove,    1e300,   1e-46,
      -1e-40, 255.5, 256.0, -0.5, 2147483647.5, 9.3e18,    -9.3e18, 16777217.0, kBeyond, -kBeyond};
  const auto write = [&](std::size_t at, double value) {
    H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, &value, nullptr, H5P_DEFAULT);
    std::memcpy(bytes.data() + at * size, &value, size);
  };
  for (std::size_t i = 0; i < count; ++i) {
    double value = 0.0;
    std::memcpy(&value, bytes.data() + i * size, size);
    H5Tconvert(type, H5T_NATIVE_DOUBLE, 1, &value, nullptr, H5P_DEFAULT);
    if (i < special.size())
      write(i, special[i]);
    else if (std::isnan(value))
      write(i, 0.0);
  }
  return bytes;
}

TEST_F(PackedChunks, EveryTypeIsConvertedAsHdf5Does) {
  const auto half = [](hid_t like, std::size_t exponent_bits) {
    hdf5::Handle type(H5Tcopy(like));
    H5Tset_fields(type.get(), 15, 15 - exponent_bits, exponent_bits, 0, 15 - exponent_bits);
    H5Tset_size(type.get(), 2);
    H5Tset_ebias(type.get(), (1u << (exponent_bits - 1)) - 1);
    return type;
  };
  std::vector<hdf5::Handle> types;
  for (const hid_t type :
       {H5T_STD_I8LE,  H5T_STD_I16LE,  H5T_STD_I32LE,  H5T_STD_I64LE,  H5T_STD_U8LE,
        H5T_STD_U16LE, H5T_STD_U32LE,  H5T_STD_U64LE,  H5T_STD_I8BE,   H5T_STD_I16BE,
        H5T_STD_I32BE, H5T_STD_I64BE,  H5T_STD_U8BE,   H5T_STD_U16BE,  H5T_STD_U32BE,
        H5T_STD_U64BE, H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE})
    types.emplace_back(H5Tcopy(type));
  for (const hid_t order : {H5T_IEEE_F32LE, H5T_IEEE_F32BE})
    for (const std::size_t exponent_bits : {5u, 8u}) types.push_back(half(order, exponent_bits));
  for (const hid_t base : {H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I32BE}) {
    types.emplace_back(H5Tenum_create(base));
    const std::int64_t no = 0, yes = H5Tequal(base, H5T_STD_I32BE) > 0 ? 1 << 24 : 1;
    H5Tenum_insert(types.back().get(), "FALSE", &no);
    H5Tenum_insert(types.back().get(), "TRUE", &yes);
  }
  for (const auto& type : types) {
    const Extents shape{60, 3}, chunk{16, 2};
    const auto bytes = telling_numbers(type.get(), count_of(shape));
    const auto path = make([&](hid_t file) {
      // HDF5 1.10.8 halves 2147483647.5 and the like when it makes floats of swapped doubles.
      const bool swapped = H5Tequal(type.get(), H5T_IEEE_F64BE) > 0;
      std::string native = bytes;
      for (std::size_t i = 0; swapped && i < native.size(); i += 8)
        std::reverse(native.begin() + static_cast<std::ptrdiff_t>(i),
                     native.begin() + static_cast<std::ptrdiff_t>(i + 8));
      put(file, "plain", swapped ? H5T_IEEE_F64LE : type.get(), shape, native.data());
      put(file, "packed", type.get(), shape, bytes.data(), chunk,
          kPipelines.at("shuffle, deflate"));
    });
    const hdf5::InputFile file(path, pools_.back());
    expect_same(file.dataset("packed"), file.dataset("plain"),
                fmt::format("type {} of {} bytes", &type - types.data(), H5Tget_size(type.get())));
  }
}

TEST_F(PackedChunks, WhatIsNotANumberStaysSo) {
  const std::vector<double> values(12, std::nan(""));
  const auto path = make([&](hid_t file) {
    put(file, "packed", H5T_IEEE_F64LE, {12}, values.data(), {5}, kPipelines.at("deflate"));
  });
  const auto dataset = hdf5::InputFile(path, pools_.back()).dataset("packed");
  for (const float value : read<float>(dataset, 0, 12)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(PackedChunks, EveryIndexOfTheLatestLayout) {
  const Extents shape{40, 11}, chunk{7, 4};
  const auto bytes = random_bytes(count_of(shape) * 4, 5);
  const hsize_t any = H5S_UNLIMITED;
  for (const auto& most : {Extents{40, 11}, Extents{any, 11}, Extents{any, any}, Extents{64, 64}})
    for (const auto& cut : {chunk, shape, Extents{40, 1}})
      for (const bool partial_as_they_are : {false, true}) {
        const Filters filters = [&](hid_t creation) {
          kPipelines.at("shuffle, deflate, checksum")(creation);
          if (partial_as_they_are)
            H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        };
        const auto path = make(
            [&](hid_t file) {
              put(file, "plain", H5T_IEEE_F32LE, shape, bytes.data());
              put(file, "packed", H5T_IEEE_F32LE, shape, bytes.data(), cut, filters, most);
            },
            true);
        const hdf5::InputFile file(path, pools_.back());
        expect_same(file.dataset("packed"), file.dataset("plain"), "the latest layout");
      }
}

TEST_F(PackedChunks, ChunksThatReachOverADatasetThatMayGrow) {
  const Extents shape{5, 3}, chunk{64, 8};
  const auto bytes = random_bytes(count_of(shape) * 8, 9);
  const auto path = make([&](hid_t file) {
    put(file, "plain", H5T_STD_I64LE, shape, bytes.data());
    put(file, "packed", H5T_STD_I64LE, shape, bytes.data(), chunk, kPipelines.at("deflate"),
        {H5S_UNLIMITED, H5S_UNLIMITED});
  });
  const hdf5::InputFile file(path, pools_.back());
  expect_same(file.dataset("packed"), file.dataset("plain"), "larger chunks than rows");
}

TEST_F(PackedChunks, WhatWasNeverWrittenIsFilled) {
  const Extents shape{20, 3}, chunk{4, 2};
  const double fill = 2.5;
  const auto path = make([&](hid_t file) {
    const auto filled = [&](hid_t creation) {
      kPipelines.at("shuffle, deflate")(creation);
      H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
    };
    const auto undefined = [&](hid_t creation) {
      kPipelines.at("shuffle, deflate")(creation);
      H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, nullptr);
    };
    put(file, "none", H5T_IEEE_F64BE, shape, nullptr, chunk, filled);
    put(file, "zero", H5T_IEEE_F64BE, shape, nullptr, chunk, kPipelines.at("deflate"));
    put(file, "undefined", H5T_IEEE_F64BE, shape, nullptr, chunk, undefined);
    put(file, "some", H5T_IEEE_F64BE, shape, nullptr, chunk, filled);
    const hdf5::Handle some(H5Dopen2(file, "some", H5P_DEFAULT)), space(H5Dget_space(some.get()));
    const hsize_t begin[] = {9, 1}, count[] = {1, 1};
    const double value = 7.0;
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, begin, nullptr, count, nullptr);
    const hdf5::Handle one(H5Screate(H5S_SCALAR));
    ASSERT_GE(H5Dwrite(some.get(), H5T_NATIVE_DOUBLE, one.get(), space.get(), H5P_DEFAULT, &value),
              0);
  });
  for (const auto& pool : pools_) {
    const hdf5::InputFile file(path, pool);
    std::vector<float> expected(60, 2.5f);
    EXPECT_EQ(read<float>(file.dataset("none"), 0, 20), expected);
    EXPECT_EQ(read<float>(file.dataset("zero"), 0, 20), std::vector<float>(60, 0.0f));
    EXPECT_EQ(read<float>(file.dataset("undefined"), 0, 20), std::vector<float>(60, 0.0f));
    expected[9 * 3 + 1] = 7.0f;
    EXPECT_EQ(read<float>(file.dataset("some"), 0, 20), expected);
  }
}

TEST_F(PackedChunks, TextIsUnpackedToo) {
  const hdf5::Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), 5);
  const auto path = make([&](hid_t file) {
    put(file, "packed", type.get(), {3, 2}, "a\0\0\0\0bb\0\0\0ccc\0\0dddd\0eeeeef\0\0\0\0", {2, 1},
        kPipelines.at("shuffle, deflate"));
  });
  EXPECT_EQ(hdf5::InputFile(path, pools_.back()).dataset("packed").read_strings(),
            (std::vector<std::string>{"a", "bb", "ccc", "dddd", "eeeee", "f"}));
}

/// A pipeline that HDF5 here does not have, once the file is made.
class Unregistered {
 public:
  Unregistered() {
    H5Z_class2_t filter{};
    filter.version = H5Z_CLASS_T_VERS;
    filter.id = hdf5::kLzfFilter;
    filter.encoder_present = filter.decoder_present = 1;
    filter.name = "lzf";
    filter.filter = [](unsigned, std::size_t, const unsigned*, std::size_t size, std::size_t*,
                       void**) { return size; };
    H5Zregister(&filter);
  }
  ~Unregistered() { H5Zunregister(hdf5::kLzfFilter); }
};

class StoredChunks : public PackedChunks {
 protected:
  /// Chunks of four bytes, stored as given; bit i of `skipped` leaves out filter i of some.
  std::filesystem::path store(const Filters& filters, const std::vector<std::string>& chunks,
                              const std::vector<std::uint32_t>& skipped = {}) const {
    const Unregistered lzf;
    return make([&](hid_t file) {
      put(file, "values", H5T_STD_U8LE, {4 * chunks.size()}, nullptr, {4}, filters);
      const hdf5::Handle dataset(H5Dopen2(file, "values", H5P_DEFAULT));
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        const hsize_t at = 4 * i;
        ASSERT_GE(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, i < skipped.size() ? skipped[i] : 0,
                                 &at, chunks[i].size(), chunks[i].data()),
                  0);
      }
    });
  }

  std::string read_all(const std::filesystem::path& path) const {
    const hdf5::InputFile file(path, pools_.back());
    const auto dataset = file.dataset("values");
    const auto values = read<std::uint8_t>(dataset, 0, dataset.rows());
    return {values.begin(), values.end()};
  }

  static void add_lzf(hid_t creation) {
    H5Pset_filter(creation, hdf5::kLzfFilter, H5Z_FLAG_OPTIONAL, 0, nullptr);
  }
};

TEST_F(StoredChunks, LzfThatHdf5DoesNotHave) {
  using namespace std::string_literals;
  const auto path = store(add_lzf, {"\3abcd"s, "\0x\x20\0"s, "wxyz"s}, {0, 0, 1});
  EXPECT_EQ(read_all(path), "abcdxxxxwxyz");
}

TEST_F(StoredChunks, LzfBesideAFilterOfHdf5sIsRefused) {
  const auto path = store(
      [](hid_t creation) {
        H5Pset_scaleoffset(creation, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
        add_lzf(creation);
      },
      {});
  EXPECT_THAT(error_of<DataFormatError>([&] { read_all(path); }), HasSubstr("filter 32000"));
}

TEST_F(StoredChunks, DamageIsToldOfInOneSentence) {
  using namespace std::string_literals;
  const auto deflate = kPipelines.at("deflate"), checksum = kPipelines.at("checksum");
  const auto damage = [&](const Filters& filters, const std::string& chunk) {
    const auto path = store(filters, {chunk});
    return error_of<DataFormatError>([&] { read_all(path); });
  };
  EXPECT_THAT(damage(deflate, "no zlib"), HasSubstr("has a chunk that cannot be inflated"));
  EXPECT_THAT(damage(add_lzf, "\3abc"), HasSubstr("has a chunk that is not in LZF"));
  EXPECT_THAT(damage(add_lzf, "\2abc"), HasSubstr("has a chunk of 3 bytes, expected 4"));
  EXPECT_THAT(damage(add_lzf, "\0a\xff\xff\0"s), HasSubstr("has a chunk that is not in LZF"));
  EXPECT_THAT(damage(checksum, "abcd1234"), HasSubstr("has a chunk whose checksum is wrong"));
}

TEST_F(StoredChunks, OfManyDamagedChunksTheFirstIsToldOf) {
  std::vector<std::string> chunks(400, "\3abcd");
  for (std::size_t i = 90; i < chunks.size(); ++i) chunks[i] = "\3abc";
  chunks[90] = "\1ab";
  const auto path = store(add_lzf, chunks);
  for (int i = 0; i < 50; ++i)
    EXPECT_THAT(error_of<DataFormatError>([&] { read_all(path); }),
                HasSubstr("a chunk of 2 bytes"));
}

}  // namespace
}  // namespace kindred
