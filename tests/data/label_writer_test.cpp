#include "kindred/data/label_writer.h"

#include <sys/wait.h>
#include <unistd.h>

#include "kindred/core/files.h"
#include "kindred/data/csv.h"
#include "kindred/data/hdf5_input.h"
#include "kindred/data/undo.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Labels : public ::testing::Test {
 protected:
  /// A dataset of five episodes without labels.
  fs::path make(Format format, const std::string& name, bool truth = false) {
    write_trajectories(make_trajectories({.labels = truth}), folder_ / name, format);
    return folder_ / name;
  }

  /// Episodes 0 to 3 labelled 1, 0, 1, 1; the last was left out.
  static EpisodeLabels labels_for(const Trajectories& data) {
    return match_labels(data, {.episodes = {data.ids[3], data.ids[1], data.ids[0], data.ids[2]},
                               .labels = {1, 0, 1, 1},
                               .label_names = {},
                               .margins = {.5, 2, 3, 4}});
  }

  std::vector<LabelledFile> label(const fs::path& path, Format format, LabelOptions options = {}) {
    const auto data = read_trajectories(path);
    return write_labels(path, format, data, labels_for(data), options);
  }

  void expect_undone(const fs::path& path, Format format,
                     const std::map<std::string, std::string>& before) {
    undo_labels(path, format);
    EXPECT_TRUE(contents(folder_.path()) == before) << "a byte or a file differs";
    EXPECT_THAT(error_of<InvalidArgument>([&] { undo_labels(path, format); }),
                HasSubstr("nothing to undo"));
  }

  static std::vector<std::int32_t> integers(const fs::path& path, const std::string& name) {
    const hdf5::InputFile file(path);
    const auto dataset = file.dataset(name);
    std::vector<std::int32_t> values(static_cast<std::size_t>(dataset.rows()));
    dataset.read(0, dataset.rows(), values.data());
    return values;
  }

  TempDir folder_;
};

TEST_F(Labels, AreMatchedById) {
  const auto data = make_trajectories();
  const auto matched = labels_for(data);
  EXPECT_THAT(matched.labels, ElementsAre(1, 0, 1, 1, kNoLabel));
  EXPECT_THAT(matched.margins, ElementsAre(3, 2, 4, .5, 0));
  LabelsFile file{.episodes = {"nobody"}, .labels = {0}, .label_names = {}, .margins = {}};
  EXPECT_THAT(error_of<InvalidArgument>([&] { match_labels(data, file); }),
              HasSubstr("episode 'nobody', which the dataset does not have"));
  file.episodes = {data.ids[0], data.ids[0]};
  file.labels = {0, 0};
  EXPECT_THAT(error_of<InvalidArgument>([&] { match_labels(data, file); }), HasSubstr("twice"));
}

TEST_F(Labels, InD4rlAreStepsAndATableByEpisode) {
  const auto path = make(Format::kD4rl, "walks.v2.hdf5");
  const auto before = contents(folder_.path());
  const auto written = label(path, Format::kD4rl);
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written[0].what, "'infos/policy_id'");
  EXPECT_EQ(written[1].file, folder_ / "walks.v2.policy.csv");
  EXPECT_THAT(integers(path, "infos/policy_id"),
              ElementsAre(1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1));
  EXPECT_EQ(read_text(folder_ / "walks.v2.policy.csv"),
            "episode,label,margin\n0,1,3\n1,0,2\n2,1,4\n3,1,0.5\n");
  expect_same_steps(read_trajectories(path), make_trajectories({.labels = false}));
  expect_undone(path, Format::kD4rl, before);
}

TEST_F(Labels, InD4rlCoverStepsOfNoEpisode) {
  auto parts = d4rl_parts();
  parts["timeouts"] = flags({0, 0, 0, 0, 0, 0});  // the last two steps are left over
  const auto path = write_parts(folder_ / "x.hdf5", parts);
  ReadOptions options;
  options.keep_partial = false;
  const auto data = read_trajectories(path, options);
  ASSERT_EQ(data.episodes(), 1);
  write_labels(path, Format::kD4rl, data, {.labels = {4}, .margins = {}});
  EXPECT_THAT(integers(path, "infos/policy_id"), ElementsAre(4, 4, 4, 4, -1, -1));
}

TEST_F(Labels, InMinariAreAttributesOfEpisodes) {
  const auto folder = make(Format::kMinari, "walks-v0");
  const auto main_file = folder / "data/main_data.hdf5";
  const auto before = contents(folder_.path());
  label(folder, Format::kMinari);
  {
    const hdf5::InputFile file(main_file);
    EXPECT_EQ(file.integer_attribute("episode_1", "policy_id"), 0);
    EXPECT_EQ(file.integer_attribute("episode_3", "policy_id"), 1);
    EXPECT_FALSE(file.has_attribute("episode_4", "policy_id"));
  }
  expect_undone(folder, Format::kMinari, before);
  label(main_file, Format::kMinari);  // the file itself names the dataset too
  EXPECT_EQ(hdf5::InputFile(main_file).integer_attribute("episode_1", "policy_id"), 0);
  expect_undone(folder, Format::kMinari, before);
}

TEST_F(Labels, InMinariUpdateTheStatedSize) {
  const auto folder = make(Format::kMinari, "walks-v0");
  const auto metadata = folder / "data/metadata.json";
  write_text(metadata, R"({"dataset_size": 7.5, "author": ["A"], "total_steps": 21})");
  const auto before = contents(folder_.path());
  label(folder, Format::kMinari);
  const auto changed = nlohmann::json::parse(read_text(metadata));
  EXPECT_EQ(changed["dataset_size"], 0.0);
  EXPECT_EQ(changed["author"][0], "A");
  expect_undone(folder, Format::kMinari, before);
}

TEST_F(Labels, InRobomimicAreMasks) {
  const auto path = make(Format::kRobomimic, "demos.hdf5");
  const auto before = contents(folder_.path());
  label(path, Format::kRobomimic);
  {
    const hdf5::InputFile file(path);
    EXPECT_THAT(file.children("mask"), ElementsAre("policy_0", "policy_1"));
    EXPECT_THAT(file.dataset("mask/policy_0").read_strings(), ElementsAre("demo_1"));
    EXPECT_THAT(file.dataset("mask/policy_1").read_strings(),
                ElementsAre("demo_0", "demo_2", "demo_3"));
  }
  expect_undone(path, Format::kRobomimic, before);
}

TEST_F(Labels, InKindredStandBesideTheTruth) {
  const auto path = make(Format::kKindred, "walks.h5", true);
  const auto before = contents(folder_.path());
  label(path, Format::kKindred);
  EXPECT_THAT(integers(path, "found/policy_id"), ElementsAre(1, 0, 1, 1, -1));
  expect_same_steps(read_trajectories(path), make_trajectories());
  expect_undone(path, Format::kKindred, before);
}

TEST_F(Labels, OfNpzAreATable) {
  const auto path = make(Format::kNpz, "walks.npz");
  const auto before = contents(folder_.path());
  label(path, Format::kNpz);
  EXPECT_EQ(read_bytes(path), before.at("walks.npz"));
  EXPECT_THAT(read_labels_csv(folder_ / "walks.policy.csv").labels, ElementsAre(1, 0, 1, 1));
  expect_undone(path, Format::kNpz, before);
}

TEST_F(Labels, OfStepsAreInTheirPlaceInEveryFormat) {
  std::vector<std::int32_t> steps(21, 1);  // lengths 3 4 5 6 3
  std::fill(steps.begin() + 4, steps.begin() + 7, 0);
  std::fill(steps.begin() + 18, steps.end(), kNoLabel);
  const auto labels = labels_of_steps(steps, make_trajectories().offsets.span());
  EXPECT_THAT(labels.labels, ElementsAre(1, kNoLabel, 1, 1, kNoLabel));
  for (const auto& [format, name] : std::map<Format, std::string>{{Format::kD4rl, "a.hdf5"},
                                                                  {Format::kMinari, "b-v0"},
                                                                  {Format::kRobomimic, "c.hdf5"},
                                                                  {Format::kNpz, "d.npz"},
                                                                  {Format::kKindred, "e.h5"}}) {
    SCOPED_TRACE(name);
    const auto path = make(format, name);
    const auto before = contents(folder_.path());
    const auto data = read_trajectories(path);
    const LabelOptions options{.key = "operator_id"};
    write_labels(path, format, data, labels, options);
    write_labels(path, format, data, labels, options);  // Kindred's own may be replaced
    if (format == Format::kD4rl) {
      EXPECT_EQ(integers(path, "infos/operator_id"), steps);
    }
    if (format == Format::kKindred) {
      EXPECT_EQ(integers(path, "found/operator_id_steps"), steps);
    }
    if (format == Format::kRobomimic) {
      EXPECT_THAT(integers(path, "data/demo_1/operator_id"), ElementsAre(1, 0, 0, 0));
    }
    if (format == Format::kMinari) {
      EXPECT_THAT(integers(path / "data/main_data.hdf5", "episode_1/infos/operator_id"),
                  ElementsAre(1, 0, 0, 0));
    }
    if (format == Format::kD4rl || format == Format::kNpz) {
      const auto id = format == Format::kD4rl ? "1" : csv_field(data.ids[1]);
      EXPECT_THAT(read_text(path.parent_path() / (path.stem().string() + ".operator.csv")),
                  AllOf(HasSubstr("episode,start,end,policy\n"), HasSubstr(id + ",0,1,1\n"),
                        HasSubstr(id + ",1,4,0\n")));
    }
    ReadOptions asked;
    asked.label_key = "operator_id";
    const auto again = read_trajectories(path, asked);
    EXPECT_TRUE(again.labels.empty() && again.actors.empty()) << "found labels are no truth";
    expect_undone(path, format, before);
  }
}

TEST_F(Labels, ThatWereThereAreKeptUnlessAsked) {
  for (const auto& [format, name] : std::map<Format, std::string>{
           {Format::kD4rl, "a.hdf5"}, {Format::kMinari, "b-v0"}, {Format::kRobomimic, "c.hdf5"}}) {
    SCOPED_TRACE(name);
    const auto path = make(format, name, true);
    const auto before = contents(folder_.path());
    EXPECT_THAT(
        error_of<InvalidArgument>([&] { label(path, format); }),
        AllOf(HasSubstr("Kindred did not write"), HasSubstr("--key"), HasSubstr("--replace")));
    EXPECT_TRUE(contents(folder_.path()) == before);

    label(path, format, {.key = "operator_id"});
    EXPECT_EQ(to_vector(read_trajectories(path).labels), to_vector(make_trajectories().labels))
        << "the truth is still read";
    label(path, format, {.replace = true});
    EXPECT_TRUE(read_trajectories(path).labels.empty()) << "found labels are no truth";
    expect_undone(path, format, before);
  }
}

TEST_F(Labels, OfKindredAreReplacedByNewOnes) {
  for (const auto& [format, name] : std::map<Format, std::string>{{Format::kD4rl, "a.hdf5"},
                                                                  {Format::kMinari, "b-v0"},
                                                                  {Format::kRobomimic, "c.hdf5"},
                                                                  {Format::kKindred, "d.h5"}}) {
    SCOPED_TRACE(name);
    const auto path = make(format, name);
    const auto before = contents(folder_.path());
    label(path, format);
    const auto data = read_trajectories(path);
    EXPECT_TRUE(data.labels.empty()) << "found labels are no truth";
    write_labels(path, format, data, {.labels = {-1, 5, -1, 5, 5}, .margins = {}});
    if (format == Format::kRobomimic) {
      EXPECT_THAT(hdf5::InputFile(path).children("mask"), ElementsAre("policy_5"));
    }
    if (format == Format::kMinari) {
      const hdf5::InputFile file(path / "data/main_data.hdf5");
      EXPECT_FALSE(file.has_attribute("episode_0", "policy_id"));
      EXPECT_EQ(file.integer_attribute("episode_4", "policy_id"), 5);
    }
    expect_undone(path, format, before);
  }
}

TEST_F(Labels, NeverReplaceATableOfOthers) {
  const auto path = make(Format::kNpz, "walks.npz");
  write_text(folder_ / "walks.policy.csv", "my,own,table\n");
  const auto before = contents(folder_.path());
  EXPECT_THAT(error_of<InvalidArgument>([&] { label(path, Format::kNpz); }),
              HasSubstr("walks.policy.csv' is there"));
  EXPECT_TRUE(contents(folder_.path()) == before);
  label(path, Format::kNpz, {.replace = true});
  label(path, Format::kNpz);
  label(path, Format::kNpz, {.key = "b"});
  EXPECT_TRUE(fs::exists(folder_ / "walks.b.csv"));
  expect_undone(path, Format::kNpz, before);
}

TEST_F(Labels, OfOneFileDoNotTouchItsNeighbour) {
  const auto one = make(Format::kNpz, "walks.npz"), other = make(Format::kNpz, "walks.two.npz");
  label(other, Format::kNpz);
  const auto before = contents(folder_.path());
  label(one, Format::kNpz);
  expect_undone(one, Format::kNpz, before);
}

TEST_F(Labels, WrittenByTwoAtOnceAreBothThereAndCanBeUndone) {
  const auto path = make(Format::kD4rl, "walks.hdf5");
  const auto before = contents(folder_.path());
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    try {
      label(path, Format::kD4rl, {.key = fmt::format("run{}", i)});
    } catch (const Error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (const auto child : children) ::waitpid(child, nullptr, 0);
  {
    const hdf5::InputFile file(path);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(file.has_dataset(fmt::format("infos/run{}", i)));
  }
  expect_undone(path, Format::kD4rl, before);
}

TEST_F(Labels, ThatCannotBeWrittenLeaveEverything) {
  const auto path = make(Format::kD4rl, "a.hdf5");
  modify(path, [](hid_t file) {  // a dataset where the group of the labels would be
    const hdf5::Handle space(H5Screate(H5S_SCALAR));
    const hdf5::Handle infos(H5Dcreate2(file, "infos", H5T_NATIVE_INT, space.get(), H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT));
  });
  const auto before = contents(folder_.path());
  EXPECT_THAT(error_of<IoError>([&] { label(path, Format::kD4rl); }),
              AllOf(HasSubstr("infos/policy_id"), HasSubstr("a.hdf5'")));
  for (const auto* key : {"", "a/b", "_id", "ü"})
    EXPECT_THAT(error_of<InvalidArgument>([&] { label(path, Format::kD4rl, {.key = key}); }),
                HasSubstr("cannot name labels"));
  const std::string long_key(300, 'k');
  EXPECT_THAT(error_of<InvalidArgument>([&] { label(path, Format::kD4rl, {.key = long_key}); }),
              HasSubstr("the key has 300 characters"));
  EXPECT_TRUE(contents(folder_.path()) == before);
}

}  // namespace
}  // namespace kindred
