// NPZ files made entry by entry, for the tests of reading them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "kindred/core/error.h"
#include "kindred/core/staged_file.h"
#include "kindred/data/npz.h"
#include "kindred/data/zip.h"

namespace kindred::npz_files {

namespace fs = std::filesystem;

inline fs::path fixture(const std::string& name) {
  return fs::path(KINDRED_FIXTURES) / "npz" / name;
}

/// The default options but for one.
template <class T>
ReadOptions with(T ReadOptions::*option, T value) {
  ReadOptions options;
  options.*option = std::move(value);
  return options;
}

/// What an entry of an .npz holds: NumPy's header and the values.
inline std::string npy_bytes(const std::string& dtype, const std::string& shape, std::string values,
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
inline Contents sound_contents() {
  return {{"observations", npy_bytes("<f4", "(4, 1)", raw<float>({1, 2, 3, 4}))},
          {"actions", npy_bytes("<i8", "(4,)", raw<std::int64_t>({0, 1, 1, 0}))},
          {"rewards", npy_bytes("<f8", "(4,)", raw<double>({0.5, 0, 0, 1}))},
          {"offsets", npy_bytes("<i8", "(3,)", raw<std::int64_t>({0, 3, 4}))},
          {"policy_id", npy_bytes("<i4", "(2,)", raw<std::int32_t>({1, 0}))}};
}

/// Two episodes with everything a file can hold.
inline Trajectories example(Observations observations, Actions actions) {
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

class Npz : public ::testing::Test {
 protected:
  void save(const Contents& contents) const {
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

  // What is in a folder on its way need not wait for the disk, and thousands of files would.
  const StagedFolder folder_{
      fs::path(::testing::TempDir()) /
      fmt::format("kindred_{}", ::testing::UnitTest::GetInstance()->current_test_info()->name())};
  const fs::path path_ = folder_.path() / "file.npz";
};

}  // namespace kindred::npz_files
