// Which episodes' evidence is kept beside segments, and that it is read back as it was.
#include "kindred/runs/segment_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/fingerprint.h"
#include "kindred/data/formats.h"
#include "kindred/runs/segments.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class SegmentEvidenceTest : public ::testing::Test {
 protected:
  SegmentEvidenceTest() { fs::create_directories(home_); }
  ~SegmentEvidenceTest() override { remove_tree(home_); }

  fs::path home_ =
      fs::temp_directory_path() / ("kindred-segment-evidence-" + std::to_string(::getpid()));
};

/// Five episodes of ten steps: the third switches twice, the fourth once, the last is unsure.
Segmentation five_episodes() {
  Segmentation found;
  found.policies = 2;
  const auto add = [&](std::int64_t episode, std::int64_t begin, std::int64_t end,
                       std::int32_t policy, double chance) {
    found.segments.push_back(
        {.episode = episode, .begin = begin, .end = end, .policy = policy, .chance = chance});
  };
  add(0, 0, 10, 0, 0.99);
  add(1, 0, 10, 1, 0.98);
  add(2, 0, 3, 0, 0.97), add(2, 3, 6, 1, 0.97), add(2, 6, 10, 0, 0.97);
  add(3, 0, 5, 1, 0.96), add(3, 5, 10, 0, 0.96);
  add(4, 0, 10, 1, 0.60);
  found.nats = Matrix(50, 2);
  for (std::size_t i = 0; i < found.nats.values.size(); ++i)
    found.nats.values[i] = -0.5 * static_cast<double>(i);
  return found;
}

const std::vector<std::int64_t> kOffsets = {0, 10, 20, 30, 40, 50};

TEST_F(SegmentEvidenceTest, KeepsMostSwitchesLeastSureAndSomeWithoutASwitch) {
  const auto evidence = notable_evidence(five_episodes(), kOffsets, 1);
  EXPECT_THAT(evidence.episodes, ElementsAre(0, 2, 4));
  EXPECT_THAT(evidence.offsets, ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(evidence.at(1, 3), ElementsAre(-23.0F, -23.5F));
  EXPECT_EQ(notable_evidence(five_episodes(), kOffsets, 20).count(), 5);
}

TEST_F(SegmentEvidenceTest, KeepsNoMoreStepsThanThereIsRoomFor) {
  const auto evidence = notable_evidence(five_episodes(), kOffsets, 20, 25);
  EXPECT_THAT(evidence.episodes, ElementsAre(2, 3));
  EXPECT_EQ(notable_evidence(five_episodes(), kOffsets, 20, 5).count(), 0);
}

TEST_F(SegmentEvidenceTest, IsReadBackAsItWas) {
  for (const std::int64_t room : {0, 30}) {
    const auto evidence = notable_evidence(five_episodes(), kOffsets, 1, room);
    save_evidence(evidence, home_ / "evidence.h5");
    const auto read = load_evidence(home_ / "evidence.h5", 2, 5);
    EXPECT_EQ(read.episodes, evidence.episodes);
    EXPECT_EQ(read.offsets, evidence.offsets);
    EXPECT_EQ(read.nats, evidence.nats);
  }
  EXPECT_THROW(load_evidence(home_ / "evidence.h5", 3, 5), DataFormatError);
  EXPECT_THROW(load_evidence(home_ / "evidence.h5", 2, 3), DataFormatError);
}

TEST_F(SegmentEvidenceTest, SegmentsAndTheirDataAreFoundAgain) {
  const auto data = testing::linear_control({.episodes = 20, .length = 40});
  write_trajectories(data, home_ / "data.h5", Format::kKindred);
  SegmentRequest request;
  request.dataset.files = {(home_ / "data.h5").string()};
  request.options.k = 2;
  request.folder = SegmentFolder(home_ / "segments");
  RunContext context;
  context.pool = std::make_shared<ThreadPool>(1);
  const auto made = segment_dataset(request, context);
  const auto loaded = load_segments(request.folder);
  ASSERT_EQ(loaded.segments.size(), made.found.segments.size());
  for (std::size_t i = 0; i < loaded.segments.size(); ++i) {
    EXPECT_NEAR(loaded.segments[i].chance, made.found.segments[i].chance, 1e-4);
    EXPECT_EQ(loaded.segments[i].earliest, made.found.segments[i].earliest);
    EXPECT_EQ(loaded.segments[i].latest, made.found.segments[i].latest);
  }
  EXPECT_EQ(load_evidence(request.folder.evidence(), made.found.policies, 20).count(), 20);
  EXPECT_EQ(fingerprint_of(load_segmented_data(loaded, "")), fingerprint_of(data));
  fs::rename(home_ / "data.h5", home_ / "moved.h5");
  EXPECT_THROW(load_segmented_data(loaded, ""), InvalidArgument);
  EXPECT_EQ(load_segmented_data(loaded, (home_ / "moved.h5").string()).episodes(), 20);
}

TEST_F(SegmentEvidenceTest, ARecordWithoutADatasetIsRefused) {
  LoadedSegments loaded;
  loaded.record = {{"kindred_segments", 1}};
  EXPECT_THROW(load_segmented_data(loaded, ""), DataFormatError);
}

}  // namespace
}  // namespace kindred
