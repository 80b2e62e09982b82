#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Robomimic : public ::testing::Test {
 protected:
  void add_demo(int number, std::int64_t steps) {
    const auto name = fmt::format("data/demo_{}/", number);
    const auto n = static_cast<std::size_t>(steps);
    parts_[name + "actions"] = array<double>({steps, 2}, std::vector<double>(2 * n, number));
    parts_[name + "obs/object"] = array<double>({steps, 1}, std::vector<double>(n, number));
    parts_[name + "obs/eef"] = array<double>({steps, 2}, std::vector<double>(2 * n, .5));
    parts_[name + "obs/image"] = array<std::uint8_t>({steps, 2, 2, 3});
    parts_[name + "rewards"] = array<double>({steps});
    parts_[name + "dones"] = array<std::int64_t>({steps}, std::vector<std::int64_t>(n, 1));
    parts_[name + "states"] = array<double>({steps, 9});
  }
  Trajectories read(ReadOptions options = {}) {
    return read_trajectories(write_parts(folder_ / "file", parts_), options);
  }
  TempDir folder_;
  Parts parts_;
};

TEST_F(Robomimic, JoinsObservationsInNumericOrderOfDemos) {
  for (int i = 0; i < 11; ++i) add_demo(i, 1 + i % 2);
  const auto data = read();
  EXPECT_EQ(data.episodes(), 11);
  EXPECT_EQ(data.ids[2], "demo_2");
  EXPECT_EQ(data.ids[10], "demo_10");
  EXPECT_EQ(data.observations.dim(), 3);
  const auto rows = expanded(data.observations);
  EXPECT_THAT(std::vector(rows.end() - 3, rows.end()), ElementsAre(.5, .5, 10));
  EXPECT_EQ(data.actions.dim(), 2);
  EXPECT_EQ(data.terminals[0], 1);  // dones may be set at every step
  EXPECT_TRUE(data.timeouts.empty());
  EXPECT_EQ(data.provenance["format"], "robomimic");
}

TEST_F(Robomimic, JoinsTheNamedKeys) {
  add_demo(0, 2);
  ReadOptions options;
  options.obs_keys = {"object", "image"};
  EXPECT_EQ(read(options).observations.dim(), 13);
  options.obs_keys = {"wrist"};
  EXPECT_THAT(error_of<InvalidArgument>([&] { read(options); }),
              AllOf(HasSubstr("unknown observation key 'wrist'"), HasSubstr("eef, image, object")));
}

TEST_F(Robomimic, TakesLabelsFromMasks) {
  for (int i = 0; i < 3; ++i) add_demo(i, 2);
  parts_["mask/train"] = strings({"demo_0", "demo_1"});
  EXPECT_TRUE(read().labels.empty());
  parts_["mask/policy_0"] = strings({"demo_2", "demo_0"});
  EXPECT_THAT(to_vector(read().labels), ElementsAre(0, -1, 0));
  parts_["mask/policy_1"] = strings({"demo_1"});
  EXPECT_THAT(to_vector(read().labels), ElementsAre(0, 1, 0));
  parts_["mask/policy_2"] = strings({"demo_9"});  // of a larger dataset
  EXPECT_THAT(to_vector(read().labels), ElementsAre(0, 1, 0));
  parts_["mask/policy_2"] = strings({"demo_1"});
  const auto twice = read();
  EXPECT_TRUE(twice.labels.empty());
  EXPECT_THAT(twice.provenance["labels"].get<std::string>(),
              AllOf(HasSubstr("mask/policy_2"), HasSubstr("'demo_1'")));
  parts_.erase("mask/policy_2");
  parts_.erase("mask/policy_1");
  parts_["mask/policy_99999999999999999999"] = strings({"demo_1"});
  EXPECT_TRUE(read().labels.empty());
  parts_.erase("mask/policy_99999999999999999999");
  parts_["mask/policy_0"] = strings({"demo_9"});
  EXPECT_TRUE(read().labels.empty());
}

TEST_F(Robomimic, SaysWhyItIgnoresMasksOfVariableLengthText) {
  add_demo(0, 1);
  const auto path = write_parts(folder_ / "file", parts_);
  modify(path, [](hid_t file) {
    const hdf5::Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const hsize_t size = 1;
    const hdf5::Handle space(H5Screate_simple(1, &size, nullptr));
    const hdf5::Handle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links.get(), 1);
    const hdf5::Handle mask(H5Dcreate2(file, "mask/policy_4", type.get(), space.get(), links.get(),
                                       H5P_DEFAULT, H5P_DEFAULT));
    const char* demo = "demo_0";
    H5Dwrite(mask.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &demo);
  });
  const auto data = read_trajectories(path);
  EXPECT_TRUE(data.labels.empty());
  EXPECT_THAT(data.provenance["labels"].get<std::string>(),
              AllOf(HasSubstr("ignored"), HasSubstr("variable-length text")));
}

TEST_F(Robomimic, SaysWhatIsMissing) {
  add_demo(0, 2);
  auto whole = parts_;
  std::erase_if(parts_,
                [](const auto& part) { return part.first.find("/obs/") != std::string::npos; });
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              AllOf(HasSubstr("'data/demo_0' has no group 'obs'"), HasSubstr("states")));
  parts_ = whole;
  parts_.erase("data/demo_0/actions");
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }),
              HasSubstr("dataset 'data/demo_0/actions' is missing"));
  parts_ = whole;
  parts_["z"] = [](hdf5::OutputFile& file, const std::string&) {
    file.write_attribute("data/demo_0", "num_samples", 7);
  };
  EXPECT_THAT(error_of<DataFormatError>([&] { read(); }), HasSubstr("expected 7"));
  ReadOptions options;
  options.format = Format::kRobomimic;
  const auto flat = write_parts(folder_ / "flat", d4rl_parts());
  EXPECT_THAT(error_of<DataFormatError>([&] { read_trajectories(flat, options); }),
              HasSubstr("group 'data'"));
}

}  // namespace
}  // namespace kindred
