// Damaged files: whatever is in them, reading succeeds or ends in a kindred::Error. A crash, a
// hang, another exception or a huge allocation fails, and the message names the input, which is
// kept as kindred-fuzz-<number> in the folder for temporary files.
//
// The number of inputs can be raised with the environment variable KINDRED_FUZZ_INPUTS.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder

constexpr std::uint64_t kSeed = 20240607;
constexpr int kDefaultInputs = 1500;
constexpr unsigned kSecondsPerInput = 10;
constexpr rlim_t kMemory = rlim_t{2} << 30;

int inputs() {
  const char* asked = std::getenv("KINDRED_FUZZ_INPUTS");
  return asked ? std::atoi(asked) : kDefaultInputs;
}

// --- The sound files --------------------------------------------------------------------------

/// A file as h5py writes it by default: HDF5's oldest layout, whose metadata have no checksums.
class OldFile {
 public:
  explicit OldFile(const std::filesystem::path& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)),
        links_(H5Pcreate(H5P_LINK_CREATE)) {
    H5Pset_create_intermediate_group(links_.get(), 1);
  }

  /// Random numbers below `bound`; in chunks and compressed when `chunk` is not 0.
  void put(const std::string& name, hid_t type, std::vector<hsize_t> shape, std::uint64_t bound,
           hsize_t chunk = 0) {
    std::size_t count = 1;
    for (const auto extent : shape) count *= extent;
    std::vector<int> values(count);
    for (auto& value : values) value = static_cast<int>(random_.below(bound));
    const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    if (chunk) {
      auto chunks = shape;
      chunks[0] = chunk;
      H5Pset_chunk(creation.get(), static_cast<int>(chunks.size()), chunks.data());
      H5Pset_shuffle(creation.get());
      H5Pset_deflate(creation.get(), 4);
      H5Pset_fletcher32(creation.get());
    }
    const auto dataset = create(name, type, shape, creation.get());
    const std::vector<std::int8_t> flags(values.begin(), values.end());
    const bool is_flag = H5Tget_class(type) == H5T_ENUM;
    H5Dwrite(dataset.get(), is_flag ? type : H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
             is_flag ? static_cast<const void*>(flags.data()) : values.data());
  }

  void put_strings(const std::string& name, std::vector<const char*> strings) {
    const hdf5::Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const auto dataset = create(name, type.get(), {strings.size()}, H5P_DEFAULT);
    H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, strings.data());
  }

  void put_attribute(const std::string& object, const char* name, std::int64_t value) {
    const hdf5::Handle space(H5Screate(H5S_SCALAR));
    const hdf5::Handle attribute(H5Acreate_by_name(file_.get(), object.c_str(), name, H5T_STD_I64LE,
                                                   space.get(), H5P_DEFAULT, H5P_DEFAULT,
                                                   H5P_DEFAULT));
    H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value);
  }

 private:
  hdf5::Handle create(const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
                      hid_t creation) {
    const hdf5::Handle space(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    return hdf5::Handle(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), links_.get(),
                                   creation, H5P_DEFAULT));
  }

  hdf5::Handle file_;
  hdf5::Handle links_;
  Random random_{kSeed, "values"};
};

hdf5::Handle bool_type() {
  hdf5::Handle type(H5Tenum_create(H5T_STD_I8LE));
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

void write_old_d4rl(const std::filesystem::path& path, hsize_t chunk) {
  OldFile file(path);
  file.put("observations", H5T_IEEE_F32LE, {40, 3}, 100, chunk);
  file.put("actions", H5T_IEEE_F64LE, {40, 2}, 100, chunk);
  file.put("rewards", H5T_IEEE_F32LE, {40}, 9, chunk);
  file.put("terminals", bool_type().get(), {40}, 2, chunk);
  file.put("timeouts", bool_type().get(), {40}, 2, chunk);
  file.put("infos/policy_id", H5T_STD_I32LE, {40}, 2, chunk);
  file.put_strings("metadata/algorithm", {"SAC"});
}

void write_old_minari(const std::filesystem::path& path) {
  OldFile file(path);
  for (const std::string episode : {"episode_0/", "episode_1/"}) {
    file.put(episode + "observations/position", H5T_IEEE_F64LE, {6, 2}, 100, 6);
    file.put(episode + "observations/goal/_index_0", H5T_STD_I64LE, {6}, 100, 6);
    file.put(episode + "actions", H5T_STD_I64LE, {5}, 4, 5);
    file.put(episode + "rewards", H5T_IEEE_F64LE, {5}, 9, 5);
    file.put(episode + "terminations", bool_type().get(), {5}, 2, 5);
    file.put(episode + "truncations", bool_type().get(), {5}, 2, 5);
    file.put_attribute(episode, "total_steps", 5);
    file.put_attribute(episode, "policy_id", 1);
  }
}

void write_old_robomimic(const std::filesystem::path& path) {
  OldFile file(path);
  for (const std::string demo : {"data/demo_0/", "data/demo_1/"}) {
    file.put(demo + "obs/object", H5T_IEEE_F64LE, {5, 3}, 100);
    file.put(demo + "obs/image", H5T_STD_U8LE, {5, 2, 2, 3}, 255);
    file.put(demo + "actions", H5T_IEEE_F64LE, {5, 2}, 3);
    file.put(demo + "dones", H5T_STD_I64LE, {5}, 2);
    file.put_attribute(demo, "num_samples", 5);
  }
  file.put_strings("mask/policy_0", {"demo_0"});
  file.put_strings("mask/policy_1", {"demo_1"});
}

std::vector<std::string> sound_files(const TempDir& folder) {
  std::vector<std::string> files;
  const auto add = [&](const std::function<void(const std::filesystem::path&)>& write) {
    write(folder / "sound");
    EXPECT_NO_THROW(read_trajectories(folder / "sound"));
    files.push_back(read_bytes(folder / "sound"));
  };
  add([](const auto& path) { write_old_d4rl(path, 0); });
  add([](const auto& path) { write_old_d4rl(path, 16); });
  add(write_old_minari);
  add(write_old_robomimic);
  const auto data = make_trajectories({.discrete = true, .interned = true, .episodes = 12});
  for (const auto format : {Format::kD4rl, Format::kRobomimic, Format::kNpz, Format::kKindred})
    add([&](const auto& path) { write_trajectories(data, path, format); });
  add([&](const auto& path) {
    write_trajectories(data, folder / "set", Format::kMinari);
    std::filesystem::copy(folder / "set/data/main_data.hdf5", path,
                          std::filesystem::copy_options::overwrite_existing);
  });
  return files;
}

// --- The damage -------------------------------------------------------------------------------

std::string damage(std::string bytes, Random& random) {
  const auto at = [&] { return random.below(bytes.size()); };
  if (random.below(8) == 0) return bytes.substr(0, at());
  static constexpr unsigned char kTelling[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
  for (auto times = 1 + random.below(4); times > 0; --times) {
    switch (random.below(4)) {
      case 0:
        bytes[at()] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at()] ^= static_cast<char>(1u << random.below(8));
        break;
      case 2: {  // a length, a count or an address
        const auto value = static_cast<char>(kTelling[random.below(std::size(kTelling))]);
        const auto begin = at();
        const auto size = std::min<std::size_t>(1u << random.below(4), bytes.size() - begin);
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), size, value);
        break;
      }
      default: {  // a block from elsewhere
        const auto from = at(), to = at();
        const auto size = std::min({std::size_t{64}, bytes.size() - from, bytes.size() - to});
        const std::string block = bytes.substr(from, size);
        bytes.replace(to, size, block);
      }
    }
  }
  return bytes;
}

// --- The trial --------------------------------------------------------------------------------

enum class Outcome : int { kRunning, kRead, kRefused, kOtherException };

/// What a child tells its parent, even when it dies.
struct Report {
  int input;
  Outcome outcome;
  int read, refused;
};

Outcome try_to_read(const std::filesystem::path& path) {
  try {
    const auto data = read_trajectories(path);
    expanded(data.observations);  // touch what was mapped
    return Outcome::kRead;
  } catch (const Error&) {
    return Outcome::kRefused;
  } catch (...) {
    return Outcome::kOtherException;
  }
}

class Trial {
 public:
  explicit Trial(const TempDir& folder) : folder_(folder), sound_(sound_files(folder)) {
    report_ = static_cast<Report*>(
        ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~Trial() { ::munmap(report_, sizeof(Report)); }

  /// Runs all inputs, in a new child after each that ends one. Returns what went wrong.
  std::vector<std::string> run(int count) {
    std::vector<std::string> problems;
    for (int next = 0; next < count; next = report_->input + 1) {
      const pid_t child = ::fork();
      if (child == 0) run_child(next, count);
      int status = 0;
      ::waitpid(child, &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
      problems.push_back(describe(status));
    }
    return problems;
  }

  std::string summary() const {
    return fmt::format("{} read, {} refused", report_->read, report_->refused);
  }

 private:
  [[noreturn]] void run_child(int first, int count) {
#ifndef __SANITIZE_ADDRESS__  // which reserves terabytes for itself
    const rlimit memory{kMemory, kMemory};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    const auto path = folder_ / "damaged";
    for (int input = first; input < count; ++input) {
      report_->input = input;
      report_->outcome = Outcome::kRunning;
      Random random(kSeed, "damage", static_cast<std::uint64_t>(input));
      write_bytes(path, damage(sound_[static_cast<std::size_t>(input) % sound_.size()], random));
      ::alarm(kSecondsPerInput);
      report_->outcome = try_to_read(path);
      if (report_->outcome == Outcome::kOtherException) ::_exit(1);
      ++(report_->outcome == Outcome::kRead ? report_->read : report_->refused);
    }
    ::alarm(0);
    ::_exit(0);
  }

  std::string describe(int status) const {
    std::filesystem::copy(
        folder_ / "damaged",
        std::filesystem::temp_directory_path() / fmt::format("kindred-fuzz-{}", report_->input),
        std::filesystem::copy_options::overwrite_existing);
    return fmt::format("input {} (file {}): {}", report_->input,
                       report_->input % static_cast<int>(sound_.size()),
                       WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status)) : "another exception");
  }

  const TempDir& folder_;
  std::vector<std::string> sound_;
  Report* report_;
};

TEST(Fuzz, DamagedFilesAreReadOrRefused) {
  const TempDir folder;
  Trial trial(folder);
  const auto problems = trial.run(inputs());
  std::printf("%d damaged files: %s\n", inputs(), trial.summary().c_str());
  EXPECT_THAT(problems, ::testing::IsEmpty());
}

}  // namespace
}  // namespace kindred
