// What the tests of this room share: a folder that removes itself, small datasets, comparison, and
// the sentence an error ends in.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/data/formats.h"
#include "kindred/data/hdf5_output.h"
#include "kindred/data/trajectories.h"

namespace kindred::testing {

class TempDir {
 public:
  TempDir() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("kindred-data-{}-{}", ::getpid(), made++);
    std::filesystem::create_directories(path_);
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr Format kFormats[] = {Format::kD4rl, Format::kMinari, Format::kRobomimic,
                                      Format::kNpz, Format::kKindred};

/// How to make a small dataset.
struct Sample {
  bool discrete = false;
  bool interned = false;  ///< Few distinct observations, in that representation.
  bool bytes = false;
  bool labels = true;
  std::int64_t episodes = 5;
  std::int64_t dim = 3;
};

inline Trajectories make_trajectories(const Sample& sample = {}) {
  Random random(7, "sample");
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint8_t> terminals, timeouts;
  std::vector<std::int32_t> labels, oracle;
  Trajectories data;
  for (std::int64_t i = 0; i < sample.episodes; ++i) {
    const std::int64_t length = 3 + i % 4;
    offsets.push_back(offsets.back() + length);
    terminals.resize(static_cast<std::size_t>(offsets.back()), 0);
    timeouts.resize(terminals.size(), 0);
    (i % 2 ? terminals : timeouts).back() = 1;
    labels.push_back(static_cast<std::int32_t>(i % 3));
    oracle.push_back(static_cast<std::int32_t>(i % 2));
    data.ids.push_back(fmt::format("run \"{}\"", i));
  }
  const std::int64_t steps = offsets.back();
  const auto count = static_cast<std::size_t>(steps);
  const auto floats = [&](std::int64_t rows, std::int64_t dim) {
    std::vector<float> values(static_cast<std::size_t>(rows * dim));
    for (auto& value : values) value = static_cast<float>(random.normal());
    return values;
  };
  if (sample.interned) {
    std::vector<std::int32_t> index(count);
    for (auto& row : index) row = static_cast<std::int32_t>(random.below(2));
    data.observations = Observations::interned(floats(2, sample.dim), sample.dim, std::move(index));
  } else if (sample.bytes) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(steps * sample.dim));
    for (auto& value : values) value = static_cast<std::uint8_t>(random.below(256));
    data.observations = Observations::dense(std::move(values), sample.dim);
  } else {
    data.observations = Observations::dense(floats(steps, sample.dim), sample.dim);
  }
  if (sample.discrete) {
    std::vector<std::int32_t> values(count);
    for (auto& value : values) value = static_cast<std::int32_t>(random.below(3));
    data.actions = Actions::discrete(std::move(values), 5);  // more than are ever taken
  } else {
    data.actions = Actions::continuous(floats(steps, 2), 2);
  }
  data.rewards = floats(steps, 1);
  data.offsets = std::move(offsets);
  data.terminals = std::move(terminals);
  data.timeouts = std::move(timeouts);
  if (sample.labels) {
    data.labels = std::move(labels);
    data.oracle = std::move(oracle);
    data.label_names = {"left", "right", "ü"};
  }
  return data;
}

inline std::vector<float> expanded(const Observations& rows) {
  std::vector<float> values(static_cast<std::size_t>(rows.steps() * rows.dim()));
  rows.copy(0, rows.steps(), values.data());
  return values;
}

template <class T>
std::vector<T> to_vector(const Column<T>& column) {
  return {column.begin(), column.end()};
}

/// Everything every format keeps; ids, oracle and names are Kindred's alone.
inline void expect_same_steps(const Trajectories& found, const Trajectories& expected) {
  EXPECT_EQ(to_vector(found.offsets), to_vector(expected.offsets));
  EXPECT_EQ(found.observations.dim(), expected.observations.dim());
  EXPECT_EQ(expanded(found.observations), expanded(expected.observations));
  EXPECT_EQ(found.actions.is_discrete(), expected.actions.is_discrete());
  EXPECT_EQ(found.actions.dim(), expected.actions.dim());
  EXPECT_EQ(to_vector(found.actions.ints()), to_vector(expected.actions.ints()));
  EXPECT_EQ(to_vector(found.actions.floats()), to_vector(expected.actions.floats()));
  if (expected.actions.is_discrete()) {
    EXPECT_EQ(found.actions.count(), expected.actions.count());
  }
  EXPECT_EQ(to_vector(found.rewards), to_vector(expected.rewards));
  EXPECT_EQ(to_vector(found.terminals), to_vector(expected.terminals));
  EXPECT_EQ(to_vector(found.timeouts), to_vector(expected.timeouts));
  EXPECT_EQ(to_vector(found.labels), to_vector(expected.labels));
}

/// Runs `action`, which must throw ErrorType with one sentence on one line, and returns it.
template <class ErrorType>
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ErrorType& error) {
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n")));
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error than expected: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// The parts of an HDF5 file by path; each writes itself.
using Part = std::function<void(hdf5::OutputFile&, const std::string& name)>;
using Parts = std::map<std::string, Part>;

template <class T>
Part array(std::vector<std::int64_t> shape, std::vector<T> values = {}) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  values.resize(static_cast<std::size_t>(count));  // the rest is 0
  return [shape, values](hdf5::OutputFile& file, const std::string& name) {
    file.write<T>(name, values, shape);
  };
}

inline Part flags(std::vector<std::uint8_t> values) {
  return
      [values](hdf5::OutputFile& file, const std::string& name) { file.write_flags(name, values); };
}

inline Part strings(std::vector<std::string> values) {
  return [values](hdf5::OutputFile& file, const std::string& name) {
    file.write_strings(name, values);
  };
}

inline std::filesystem::path write_parts(const std::filesystem::path& path, const Parts& parts) {
  hdf5::OutputFile file(path);
  for (const auto& [name, part] : parts) part(file, name);
  file.commit();
  return path;
}

/// Six steps in two episodes, of four and two.
inline Parts d4rl_parts() {
  return {{"observations", array<float>({6, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})},
          {"actions", array<float>({6, 1}, {.0f, .1f, .2f, .3f, .4f, .5f})},
          {"rewards", array<float>({6}, {1, 2, 3, 4, 5, 6})},
          {"terminals", flags({0, 0, 0, 1, 0, 0})},
          {"timeouts", flags({0, 0, 0, 0, 0, 1})}};
}

/// Changes a file with HDF5's own functions.
inline void modify(const std::filesystem::path& path, const std::function<void(hid_t)>& change) {
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  ASSERT_TRUE(file);
  change(file.get());
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Files and folders below `folder`, with the bytes of each file.
inline std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    found[entry.path().lexically_relative(folder).string()] =
        entry.is_regular_file() ? read_bytes(entry.path()) : "a folder";
  return found;
}

}  // namespace kindred::testing
