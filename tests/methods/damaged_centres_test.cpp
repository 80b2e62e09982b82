// Centres that somebody changed on disk: loading them succeeds or ends in a sentence that names the
// file, whatever array was dropped, resized, retyped or overwritten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/methods/method.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// An array of a file, as HDF5 has it.
struct Stored {
  hid_t type;
  std::vector<hsize_t> shape;

  bool is(H5T_class_t kind) const { return H5Tget_class(type) == kind; }
};

std::vector<std::string> arrays_in(const fs::path& path) {
  std::vector<std::string> names;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const auto add = [](hid_t, const char* name, const H5O_info_t* info, void* out) -> herr_t {
    if (info->type == H5O_TYPE_DATASET)
      static_cast<std::vector<std::string>*>(out)->push_back(name);
    return 0;
  };
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, add, &names);
  H5Fclose(file);
  return names;
}

Stored stored(hid_t file, const std::string& name) {
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  Stored result{H5Dget_type(dataset), {}};
  result.shape.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, result.shape.data(), nullptr);
  H5Sclose(space);
  H5Dclose(dataset);
  return result;
}

/// Puts zeros of another type and shape in an array's place.
void replace(hid_t file, const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  H5Dclose(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
}

/// Sets every number to `value`.
void fill(hid_t file, const std::string& name, double value) {
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  const std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)),
                                   value);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(dataset);
}

struct Damage {
  std::string name;
  std::function<void(hid_t file, const std::string& array, const Stored& was)> apply;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all = {
      {"dropped",
       [](auto file, auto& array, auto&) { H5Ldelete(file, array.c_str(), H5P_DEFAULT); }},
      {"longer",
       [](auto file, auto& array, auto& was) {
         auto shape = was.shape;
         if (shape.empty()) shape.push_back(1);
         ++shape[0];
         replace(file, array, was.type, shape);
       }},
      {"emptied",
       [](auto file, auto& array, auto& was) {
         replace(file, array, was.type, std::vector<hsize_t>(was.shape.size() + 1, 0));
       }},
      {"wider",
       [](auto file, auto& array, auto& was) {
         auto shape = was.shape;
         if (shape.empty()) shape.push_back(1);
         ++shape.back();
         replace(file, array, was.type, shape);
       }},
      {"of higher rank",
       [](auto file, auto& array, auto& was) {
         auto shape = was.shape;
         shape.push_back(1);
         replace(file, array, was.type, shape);
       }},
      {"retyped",
       [](auto file, auto& array, auto& was) {
         replace(file, array, was.is(H5T_FLOAT) ? H5T_STD_I32LE : H5T_IEEE_F32LE, was.shape);
       }},
      {"filled with nan",
       [](auto file, auto& array, auto& was) {
         if (was.is(H5T_FLOAT)) fill(file, array, std::numeric_limits<double>::quiet_NaN());
       }},
      {"filled with -7", [](auto file, auto& array, auto&) { fill(file, array, -7.0); }},
      {"filled with 1e9", [](auto file, auto& array, auto&) { fill(file, array, 1e9); }},
  };
  return all;
}

class DamagedCentres : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    const bool tabular = GetParam() == "tabular";
    method_ = tabular ? "pg-kmeans" : GetParam();
    data_ = tabular ? testing::gridworld("diagonal", 5) : testing::linear_control({.episodes = 8});
    auto method = find_method(method_).make();
    const auto table = method->describe();
    for (const auto& [option, value] :
         std::vector<std::pair<const char*, const char*>>{{"k", "2"},
                                                          {"restarts", "1"},
                                                          {"hidden", "16"},
                                                          {"gru-width", "16"},
                                                          {"max-steps", "3"},
                                                          {"max-rounds", "2"},
                                                          {"batch-steps", "8"},
                                                          {"policy", tabular ? "tabular" : "mlp"}})
      if (const auto* found = find_option(table, option)) set_from_text(*found, value);
    const auto fitted = method->fit(data_, {});
    ArrayFileWriter file(folder_ / "sound.h5");
    fitted.centres->save(file);
    file.close();
  }
  void TearDown() override { kindred::remove_tree(folder_); }

  /// What loading the damaged file and scoring with it says; empty when it works.
  std::string outcome(const std::string& array, const Damage& damage) const {
    const auto path = folder_ / "damaged.h5";
    fs::copy_file(folder_ / "sound.h5", path, fs::copy_options::overwrite_existing);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    damage.apply(file, array, stored(file, array));
    H5Fclose(file);
    try {
      find_method(method_).load_centres(ArrayFileReader(path))->score(data_, {});
      return "";
    } catch (const DataFormatError& error) {
      return error.what();
    }
  }

  std::string method_;
  Trajectories data_;
  fs::path folder_ = fs::temp_directory_path() / ("kindred-centres-" + std::to_string(::getpid()));
};

TEST_P(DamagedCentres, AreRefusedByNameOrStillFit) {
  const auto arrays = arrays_in(folder_ / "sound.h5");
  ASSERT_FALSE(arrays.empty());
  for (const auto& array : arrays)
    for (const auto& damage : damages()) {
      SCOPED_TRACE(array + " " + damage.name);
      std::string said;
      ASSERT_NO_THROW(said = outcome(array, damage));
      if (!said.empty()) {  // sound in itself, it may still not fit the data
        EXPECT_THAT(said, AnyOf(HasSubstr("damaged.h5"), HasSubstr("centres were fitted on data")));
      }
      // These make one centre more, or an encoder that does without its last layer.
      const bool complete = (array == "means" && damage.name == "longer") ||
                            (array == "means" && damage.name == "wider") ||
                            (array == "log_probs" && damage.name == "wider") ||
                            (array == "encoder/weight" && damage.name == "dropped");
      if (!damage.name.starts_with("filled")) {
        EXPECT_EQ(said.empty(), complete) << said;
      }
      if (damage.name == "filled with nan" && !said.empty()) {
        EXPECT_THAT(said, HasSubstr(array));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Methods, DamagedCentres,
                         ::testing::Values("pg-kmeans", "tabular", "caae", "dec", "vae-kmeans",
                                           "vq-vae", "sorl", "return-kmeans"),
                         [](const auto& method) {
                           std::string name = method.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace kindred
