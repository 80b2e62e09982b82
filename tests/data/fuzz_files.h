// Small sound files of every format, and damage done to them.
#pragma once

#include "kindred/data/parquet_table.h"
#include "test_files.h"

namespace kindred::testing {

inline constexpr std::uint64_t kFuzzSeed = 20240607;

/// A file as h5py writes it. By default that is HDF5's oldest layout, whose metadata have no
/// checksums; with libver="latest" it is the newest.
class ForeignFile {
 public:
  explicit ForeignFile(const std::filesystem::path& path, bool latest = false)
      : links_(H5Pcreate(H5P_LINK_CREATE)) {
    const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS));
    if (latest) H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    file_ = hdf5::Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
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
  Random random_{kFuzzSeed, "values"};
};

inline hdf5::Handle bool_type() {
  hdf5::Handle type(H5Tenum_create(H5T_STD_I8LE));
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

inline void write_foreign_d4rl(const std::filesystem::path& path, hsize_t chunk, bool latest) {
  ForeignFile file(path, latest);
  file.put("observations", H5T_IEEE_F32LE, {40, 3}, 100, chunk);
  file.put("actions", H5T_IEEE_F64LE, {40, 2}, 100, chunk);
  file.put("rewards", H5T_IEEE_F32LE, {40}, 9, chunk);
  file.put("terminals", bool_type().get(), {40}, 2, chunk);
  file.put("timeouts", bool_type().get(), {40}, 2, chunk);
  file.put("infos/policy_id", H5T_STD_I32LE, {40}, 2, chunk);
  file.put_strings("metadata/algorithm", {"SAC"});
}

inline void write_old_minari(const std::filesystem::path& path) {
  ForeignFile file(path);
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

inline void write_old_robomimic(const std::filesystem::path& path) {
  ForeignFile file(path);
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

/// Small files of every format and layout, as bytes.
inline std::vector<std::string> sound_files(const TempDir& folder) {
  std::vector<std::string> files;
  const auto add = [&](const std::function<void(const std::filesystem::path&)>& write) {
    write(folder / "sound");
    EXPECT_NO_THROW(read_trajectories(folder / "sound"));
    files.push_back(read_bytes(folder / "sound"));
  };
  for (const hsize_t chunk : {0u, 16u})
    for (const bool latest : {false, true})
      add([&](const auto& path) { write_foreign_d4rl(path, chunk, latest); });
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

/// A file of no known format and what to ask of it.
struct KeyedFile {
  std::string bytes;
  ReadOptions options;
};

inline void write_padded(const std::filesystem::path& path) {
  ForeignFile file(path);
  file.put("obs_array", H5T_IEEE_F32LE, {5, 8, 3}, 100);
  file.put("act_array", H5T_IEEE_F64LE, {5, 8, 2}, 100);
  file.put("mask_array", H5T_IEEE_F32LE, {5, 8}, 2);
  file.put("who", H5T_STD_I32LE, {5}, 3);
}

inline void write_flat(const std::filesystem::path& path) {
  ForeignFile file(path, true);
  file.put("state", H5T_STD_I16LE, {12, 3}, 100, 4);
  file.put("motors/left", H5T_IEEE_F32LE, {12}, 100, 4);
  file.put("motors/right", H5T_IEEE_F32LE, {12, 2}, 100, 4);
  file.put("done", bool_type().get(), {12}, 2);
  file.put_strings("who", std::vector<const char*>(12, "ann"));
}

inline void write_takes(const std::filesystem::path& path) {
  ForeignFile file(path);
  for (const std::string take : {"takes/a/", "takes/b/"}) {
    file.put(take + "sensors/arm", H5T_IEEE_F32LE, {6, 2}, 100, 3);
    file.put(take + "sensors/eye", H5T_IEEE_F32LE, {6}, 100, 3);
    file.put(take + "motors", H5T_IEEE_F32LE, {6, 2}, 100);
    file.put_attribute(take, "who", 1);
  }
}

/// Small files that are read by the names of their arrays: padded, flat and in groups.
inline std::vector<KeyedFile> keyed_files(const TempDir& folder) {
  std::vector<KeyedFile> files;
  const auto add = [&](const ReadOptions& options, const auto& write) {
    write(folder / "sound");
    EXPECT_NO_THROW(read_trajectories(folder / "sound", options));
    files.push_back({read_bytes(folder / "sound"), options});
  };
  const auto asking = [](std::vector<std::string> seen, std::vector<std::string> done) {
    ReadOptions options;
    options.obs_keys = std::move(seen);
    options.action_keys = std::move(done);
    options.label_key = "who";
    return options;
  };
  auto padded = asking({"obs_array[0:2]"}, {"act_array"});
  padded.mask_key = "mask_array";
  add(padded, write_padded);
  auto flat = asking({"state"}, {"motors"});
  flat.done_keys = {"done"};
  add(flat, write_flat);
  add(asking({"sensors"}, {"motors[1]"}), write_takes);
  auto archived = asking({"observations[0]"}, {"actions"});
  archived.episode_key = "offsets";
  archived.label_key = "policy_id";
  add(archived, [](const auto& path) {
    write_trajectories(make_trajectories({.discrete = true, .episodes = 12}), path, Format::kNpz);
  });
  auto table = asking({"observation.state[1]", "index"}, {"action"});
  table.episode_key = "episode_index";
  table.label_key = "task_index";
  if (has_parquet())
    add(table, [](const auto& path) {
      std::filesystem::copy(
          std::filesystem::path(KINDRED_FIXTURES) / "lerobot/v3/data/chunk-000/file-000.parquet",
          path, std::filesystem::copy_options::overwrite_existing);
    });
  return files;
}

/// Places in `bytes` where a structure of HDF5, Parquet, ZIP or NumPy begins.
inline std::vector<std::size_t> structures_in(const std::string& bytes) {
  std::vector<std::size_t> places = {0};
  for (const std::string_view mark :
       {"TREE", "SNOD", "HEAP", "GCOL", "OHDR", "OCHK", "FRHP", "FHDB", "BTHD", "BTLF", "EAHD",
        "FAHD", "PAR1", "PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "\x93NUMPY"})
    for (auto at = bytes.find(mark); at != std::string::npos; at = bytes.find(mark, at + 1))
      places.push_back(at);
  return places;
}

/// Bits flipped, numbers overwritten, blocks moved, ends cut off or taken from another file. Half
/// of the damage is done to structures, which are a small part of a file but most of its logic.
inline std::string damage(std::string bytes, const std::string& other, Random& random) {
  const auto at = [&]() -> std::size_t {
    if (random.below(2) == 0) return random.below(bytes.size());
    const auto places = structures_in(bytes);
    return std::min(places[random.below(places.size())] + random.below(128), bytes.size() - 1);
  };
  if (const auto whole = random.below(16); whole < 2)
    return bytes.substr(0, at());
  else if (whole == 2)
    return bytes.substr(0, at()) + other.substr(random.below(other.size()));
  static constexpr unsigned char kTelling[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
  for (auto times = 1 + random.below(4); times > 0; --times) {
    switch (random.below(5)) {
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
      case 3: {  // a block from elsewhere
        const auto from = at(), to = at();
        const auto size = std::min({std::size_t{64}, bytes.size() - from, bytes.size() - to});
        const std::string block = bytes.substr(from, size);
        bytes.replace(to, size, block);
        break;
      }
      default: {  // a little more or less, so that everything behind is elsewhere
        const auto begin = at();
        if (random.below(2) == 0)
          bytes.insert(begin, 1 + random.below(8), '\0');
        else
          bytes.erase(begin, std::min<std::size_t>(1 + random.below(8), bytes.size() - 1));
      }
    }
  }
  return bytes;
}

}  // namespace kindred::testing
