// Every way a file can be wrong that we could think of ends in one sentence that says which.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::AllOf;
using ::testing::HasSubstr;

class BadInput : public ::testing::Test {
 protected:
  std::string io(const std::filesystem::path& path) {
    return error_of<IoError>([&] { read_trajectories(path); });
  }
  std::string format(const std::filesystem::path& path, ReadOptions options = {}) {
    return error_of<DataFormatError>([&] { read_trajectories(path, options); });
  }
  /// The sentence about a D4RL file in which one part is replaced.
  std::string with(const std::string& name, Part part, ReadOptions options = {}) {
    auto parts = d4rl_parts();
    parts[name] = std::move(part);
    return format(write_parts(folder_ / "file", parts), options);
  }
  /// The sentence about a D4RL file whose `name` is made by HDF5's own functions.
  std::string with_raw(const std::string& name, const std::function<void(hid_t)>& make) {
    auto parts = d4rl_parts();
    parts.erase(name);
    const auto path = write_parts(folder_ / "raw", parts);
    modify(path, make);
    return format(path);
  }
  static void create(hid_t file, const char* name, hid_t type, std::vector<hsize_t> shape,
                     hid_t creation = H5P_DEFAULT) {
    const hdf5::Handle space(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    const hdf5::Handle dataset(
        H5Dcreate2(file, name, type, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT));
    ASSERT_TRUE(dataset);
  }
  TempDir folder_;
};

TEST_F(BadInput, NoFile) {
  EXPECT_THAT(io(folder_ / "none"), AllOf(HasSubstr("/none'"), HasSubstr("No such file")));
  EXPECT_THAT(io(folder_ / "none" / "none"), HasSubstr("No such file"));
}

TEST_F(BadInput, LinksThatLeadNowhere) {
  std::filesystem::create_symlink("b", folder_ / "a");
  std::filesystem::create_symlink("a", folder_ / "b");
  EXPECT_THAT(io(folder_ / "a"), HasSubstr("Too many levels of symbolic links"));
}

TEST_F(BadInput, Directory) {
  EXPECT_THAT(io(folder_.path()), HasSubstr("is a directory, expected a file or the folder of a "
                                            "Minari dataset"));
  ReadOptions options;
  for (const auto format : {Format::kD4rl, Format::kMinari, Format::kRobomimic, Format::kKindred}) {
    options.format = format;
    EXPECT_THROW(read_trajectories(folder_.path(), options), IoError);
  }
}

TEST_F(BadInput, PipeIsNotWaitedFor) {
  const auto path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(io(path), HasSubstr("not a regular file"));
}

TEST_F(BadInput, NoPermission) {
  const auto path = write_parts(folder_ / "file", d4rl_parts());
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  const bool administrator = ::geteuid() == 0;  // who may read everything: be nobody for a moment
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(administrator ? ::seteuid(kNobody) : 0, 0);
  const auto sentence = io(path);
  ASSERT_EQ(administrator ? ::seteuid(0) : 0, 0);
  EXPECT_THAT(sentence, HasSubstr("/file'"));
  EXPECT_THAT(sentence, HasSubstr("Permission denied"));
}

TEST_F(BadInput, EmptyFile) {
  write_bytes(folder_ / "file", "");
  EXPECT_THAT(format(folder_ / "file"), HasSubstr("is empty (0 bytes)"));
}

TEST_F(BadInput, AnotherKindOfFile) {
  write_bytes(folder_ / "file.hdf5", "step,reward\n1,2\n");
  EXPECT_THAT(format(folder_ / "file.hdf5"), HasSubstr("is not an HDF5 file"));
  write_bytes(folder_ / "p", "P");
  EXPECT_THAT(format(folder_ / "p"), HasSubstr("is not an HDF5 file"));
}

TEST_F(BadInput, TruncatedAtEveryLength) {
  const auto bytes = read_bytes(write_parts(folder_ / "whole", d4rl_parts()));
  for (std::size_t size = 1; size < bytes.size(); size += 37) {
    write_bytes(folder_ / "part", bytes.substr(0, size));
    EXPECT_THAT(format(folder_ / "part"),
                ::testing::AnyOf(HasSubstr("truncated or corrupt"), HasSubstr("not an HDF5 file")));
  }
}

TEST_F(BadInput, UnknownLayout) {
  const auto path = write_parts(folder_ / "file", {{"states", array<float>({3})}});
  EXPECT_THAT(format(path), AllOf(HasSubstr("not of a format Kindred knows"),
                                  HasSubstr("it holds states [3] of floats"),
                                  HasSubstr("such as --obs-key states")));
  ReadOptions options;
  options.format = Format::kKindred;
  EXPECT_THAT(format(path, options), HasSubstr("expected a Kindred dataset"));
  options.format = Format::kMinari;
  EXPECT_THAT(format(path, options), HasSubstr("no groups 'episode_0'"));
}

TEST_F(BadInput, MissingDatasets) {
  for (const std::string name : {"observations", "actions"}) {
    auto parts = d4rl_parts();
    parts.erase(name);
    EXPECT_THAT(format(write_parts(folder_ / "file", parts)),
                AllOf(HasSubstr("dataset '" + name + "' is missing"), HasSubstr("rewards")));
  }
  auto parts = d4rl_parts();
  parts.erase("terminals");
  parts.erase("timeouts");
  EXPECT_THAT(format(write_parts(folder_ / "file", parts)),
              HasSubstr("neither dataset 'terminals' nor 'timeouts'"));
}

TEST_F(BadInput, WrongRank) {
  EXPECT_THAT(with("rewards", array<float>({6, 2})),
              HasSubstr("'rewards' has shape [6, 2], expected one number per row"));
  EXPECT_THAT(with("terminals", array<float>({6, 2})), HasSubstr("'terminals' has shape [6, 2]"));
  EXPECT_THAT(with("observations", array<float>({})), HasSubstr("is a single number"));
  EXPECT_THAT(with("actions", array<float>({})), HasSubstr("of shape []"));
  EXPECT_THAT(
      with("actions", array<std::int32_t>({6, 3})),
      AllOf(HasSubstr("expected one whole number per step"), HasSubstr("actions = continuous")));
}

TEST_F(BadInput, WrongRowCount) {
  EXPECT_THAT(with("observations", array<float>({7, 2})),
              HasSubstr("'observations' has 7 rows, expected 6 (as many as there are actions)"));
  EXPECT_THAT(with("rewards", array<float>({5})), HasSubstr("'rewards' has 5 rows, expected 6"));
  EXPECT_THAT(with("timeouts", array<std::uint8_t>({1})), HasSubstr("has 1 rows, expected 6"));
  EXPECT_THAT(with("infos/policy_id", array<std::int32_t>({5})), HasSubstr("'infos/policy_id'"));
  EXPECT_THAT(with("infos/policy_id", array<float>({6})), HasSubstr("as integers"));
}

TEST_F(BadInput, NothingInIt) {
  EXPECT_THAT(with("actions", array<float>({0, 2})), HasSubstr("has 0 rows"));
  EXPECT_THAT(with("actions", array<float>({6, 0})), HasSubstr("at least one number per row"));
  EXPECT_THAT(with("observations", array<float>({6, 0})),
              HasSubstr("shape [6, 0], expected at least one number per row"));
}

TEST_F(BadInput, WrongType) {
  EXPECT_THAT(with("observations", strings(std::vector<std::string>(6, "x"))),
              HasSubstr("holds text, expected numbers"));
  EXPECT_THAT(with("actions", strings(std::vector<std::string>(6, "x"))), HasSubstr("holds text"));
  const auto message = with_raw("rewards", [](hid_t file) {
    const hdf5::Handle type(H5Tcreate(H5T_COMPOUND, 8));
    H5Tinsert(type.get(), "re", 0, H5T_IEEE_F32LE);
    H5Tinsert(type.get(), "im", 4, H5T_IEEE_F32LE);
    create(file, "rewards", type.get(), {6});
  });
  EXPECT_THAT(message, AllOf(HasSubstr("'rewards' holds compound records"), HasSubstr("expected")));
  EXPECT_THAT(with_raw("rewards",
                       [](hid_t file) {
                         const hdf5::Handle type(H5Tvlen_create(H5T_IEEE_F32LE));
                         create(file, "rewards", type.get(), {6});
                       }),
              HasSubstr("variable-length lists"));
  EXPECT_THAT(with_raw("rewards",
                       [](hid_t file) {
                         const hdf5::Handle half(H5Tcopy(H5T_IEEE_F32LE));
                         H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
                         H5Tset_size(half.get(), 2);
                         create(file, "rewards", half.get(), {6});
                       }),
              HasSubstr("16-bit floats"));
  EXPECT_THAT(
      with_raw("rewards",
               [](hid_t file) {
                 const hdf5::Handle space(H5Screate(H5S_NULL));
                 const hdf5::Handle dataset(H5Dcreate2(file, "rewards", H5T_IEEE_F32LE, space.get(),
                                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
               }),
      HasSubstr("expected an array"));
}

TEST_F(BadInput, ChunksThatUnpackToTooLittle) {
  // A chunk of six floats whose stored bytes are fewer, and whose first filter may be skipped.
  const auto with_chunk = [&](const auto& add_filter, std::uint32_t skipped, std::size_t stored) {
    return with_raw("rewards", [&](hid_t file) {
      const hsize_t size = 6, begin = 0;
      const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_chunk(creation.get(), 1, &size);
      add_filter(creation.get());
      create(file, "rewards", H5T_IEEE_F32LE, {size}, creation.get());
      const hdf5::Handle dataset(H5Dopen2(file, "rewards", H5P_DEFAULT));
      const std::vector<char> bytes(stored, 0);
      ASSERT_GE(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, skipped, &begin, stored, bytes.data()),
                0);
    });
  };
  const auto deflate = [](hid_t creation) { H5Pset_deflate(creation, 4); };
  const auto checksum = [](hid_t creation) { H5Pset_fletcher32(creation); };
  EXPECT_THAT(with_chunk(deflate, 1, 8),
              HasSubstr("'rewards' has a chunk of 8 bytes, expected 24"));
  EXPECT_THAT(with_chunk(checksum, 0, 2), HasSubstr("has a chunk of 0 bytes, expected 24"));
  EXPECT_THAT(with_chunk(checksum, 0, 27), HasSubstr("has a chunk of 23 bytes, expected 24"));
}

TEST_F(BadInput, NotFinite) {
  EXPECT_THAT(with("observations", array<float>({6, 2}, {0, 0, 0, 0, 0, NAN})),
              AllOf(HasSubstr("'observations' has nan in row 2, column 1"), HasSubstr("repair")));
  EXPECT_THAT(with("actions", array<float>({6, 2}, {0, INFINITY})),
              HasSubstr("'actions' has inf in row 0, column 1"));
}

TEST_F(BadInput, ActionsThatAreNotDiscrete) {
  EXPECT_THAT(with("actions", array<std::int64_t>({6}, {0, 1, -1})),
              HasSubstr("has action -1 in row 2, expected whole numbers from 0 to 65535"));
  EXPECT_THAT(with("actions", array<std::int64_t>({6}, {0, std::int64_t{1} << 40})),
              HasSubstr("has action 1099511627776 in row 1"));
  ReadOptions options;
  options.actions = ReadActionsAs::kDiscrete;
  EXPECT_THAT(with("actions", array<float>({6}, {0, 1, 2, 0.5f}), options),
              AllOf(HasSubstr("has action 0.5 in row 3"), HasSubstr("actions = continuous")));
  EXPECT_THAT(with("actions", array<float>({6}, {NAN}), options), HasSubstr("has action nan"));
}

TEST_F(BadInput, FlagsThatAreNeitherNorOne) {
  EXPECT_THAT(with("terminals", array<std::uint8_t>({6}, {0, 2})),
              HasSubstr("'terminals' has 2 in row 1, expected flags of 0 or 1"));
  EXPECT_THAT(with("timeouts", array<float>({6}, {0, 0, 0.5f})), HasSubstr("has 0.5 in row 2"));
  EXPECT_THAT(with("timeouts", array<double>({6}, {NAN})), HasSubstr("has nan in row 0"));
}

TEST_F(BadInput, UnknownObservationKeys) {
  ReadOptions options;
  options.obs_keys = {"goal"};
  const auto path = write_parts(folder_ / "file", d4rl_parts());
  EXPECT_THAT(error_of<InvalidArgument>([&] { read_trajectories(path, options); }),
              AllOf(HasSubstr("'goal'"), HasSubstr("observations [6, 2] of floats")));
}

TEST_F(BadInput, MoreThanTheFileCanHold) {
  // Chunked and never written: the header claims a petabyte, the file has a few kilobytes.
  const auto huge = [](hid_t file) {
    const hsize_t chunk[] = {1024, 2};
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation.get(), 2, chunk);
    create(file, "observations", H5T_IEEE_F32LE, {hsize_t{1} << 47, 2}, creation.get());
  };
  EXPECT_THAT(with_raw("observations", huge),
              AllOf(HasSubstr("claims shape [140737488355328, 2]"), HasSubstr("can hold")));
  const auto contiguous = [](hid_t file) {
    create(file, "rewards", H5T_IEEE_F32LE, {hsize_t{1} << 40});
  };
  EXPECT_THAT(with_raw("rewards", contiguous), HasSubstr("can hold"));
  const auto zero_and_huge = [](hid_t file) {
    create(file, "actions", H5T_IEEE_F32LE, {0, hsize_t{1} << 60});
  };
  EXPECT_THAT(with_raw("actions", zero_and_huge), HasSubstr("can hold"));
}

TEST_F(BadInput, ValuesInOtherFiles) {
  const auto external = [](hid_t file) {
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_external(creation.get(), "/dev/zero", 0, H5F_UNLIMITED);
    create(file, "rewards", H5T_IEEE_F32LE, {6}, creation.get());
  };
  EXPECT_THAT(with_raw("rewards", external), HasSubstr("keeps its values in other files"));
  const auto other = write_parts(folder_ / "other", d4rl_parts());
  const auto link = [&](hid_t file) {
    H5Lcreate_external(other.c_str(), "actions", file, "actions", H5P_DEFAULT, H5P_DEFAULT);
  };
  EXPECT_THAT(with_raw("actions", link), HasSubstr("dataset 'actions' is missing or damaged"));
}

TEST_F(BadInput, CompressionThatIsNotThere) {
  const auto message = with_raw("rewards", [](hid_t file) {
    H5Z_class2_t filter{};
    filter.version = H5Z_CLASS_T_VERS;
    filter.id = 399;
    filter.encoder_present = filter.decoder_present = 1;
    filter.name = "exotic";
    filter.filter = [](unsigned, std::size_t, const unsigned*, std::size_t size, std::size_t*,
                       void**) { return size; };
    H5Zregister(&filter);
    const hsize_t chunk = 6;
    {
      const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_chunk(creation.get(), 1, &chunk);
      H5Pset_filter(creation.get(), 399, 0, 0, nullptr);
      create(file, "rewards", H5T_IEEE_F32LE, {6}, creation.get());
    }
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    H5Zunregister(399);
  });
  EXPECT_THAT(message, AllOf(HasSubstr("filter 399"), HasSubstr("gzip")));
}

/// Replaces the one place where `bytes` begins with `from`.
void patch(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  auto bytes = read_bytes(path);
  const auto at = bytes.find(from);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.find(from, at + 1), std::string::npos);
  write_bytes(path, bytes.replace(at, to.size(), to));
}

// HDF5 1.10 itself dies of the next two; its older layout, h5py's default, has no checksums.

TEST_F(BadInput, HeaderWithChunksOfAnotherRank) {
  const auto path = folder_ / "old";
  {
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const hsize_t chunk[] = {6, 2};
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation.get(), 2, chunk);
    create(file.get(), "actions", H5T_IEEE_F32LE, {6, 2}, creation.get());
    create(file.get(), "terminals", H5T_STD_U8LE, {6});
  }
  patch(path, {"\x03\x02\x03", 3}, {"\x03\x02\x02", 3});  // version, chunked, extents
  EXPECT_THAT(format(path), HasSubstr("dataset 'actions' has a damaged header"));
}

TEST_F(BadInput, HeaderWithAnEndlessEnumeration) {
  const auto path = folder_ / "old";
  {
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const hdf5::Handle flag(H5Tenum_create(H5T_STD_I8LE));
    const std::int8_t no = 0, yes = 1;
    H5Tenum_insert(flag.get(), "FALSE", &no);
    H5Tenum_insert(flag.get(), "TRUE", &yes);
    create(file.get(), "actions", flag.get(), {6});
    create(file.get(), "terminals", H5T_STD_U8LE, {6});
  }
  const std::string version_1_enum = "\x18";
  patch(path, version_1_enum + std::string("\x02\0\0\x01\0\0\0", 7), version_1_enum + "\xff\xff");
  EXPECT_THAT(format(path), HasSubstr("dataset 'actions' has a damaged header"));
}

TEST_F(BadInput, GroupsThatContainThemselves) {
  Parts parts{{"episode_0/actions", array<std::int32_t>({2})},
              {"episode_0/observations/a", array<float>({3})}};
  const auto path = write_parts(folder_ / "file", parts);
  modify(path, [](hid_t file) {
    H5Lcreate_hard(file, "episode_0/observations", file, "episode_0/observations/b", H5P_DEFAULT,
                   H5P_DEFAULT);
  });
  EXPECT_THAT(format(path), HasSubstr("nested more than"));
}

}  // namespace
}  // namespace kindred
