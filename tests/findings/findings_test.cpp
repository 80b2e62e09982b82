// What a run's record for a page holds: the right numbers in the right places.
#include "kindred/findings/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/select.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/rollout.h"
#include "kindred/findings/column.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/return_kmeans/return_kmeans.h"
#include "mirror.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// The bytes behind base64, by a table of our own.
std::string decoded(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    if ((held += 6) >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 255u);
  }
  return bytes;
}

template <class T>
std::vector<T> values_of(const ordered_json& column) {
  const auto bytes = decoded(column.at("data").get<std::string>());
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class Findings : public ::testing::Test {
 protected:
  void TearDown() override { remove_tree(folder_); }

  static Trajectories generated(const std::string& environment, std::int64_t per_expert) {
    GenerateOptions options;
    options.per_expert = per_expert;
    options.seed = 1;
    return generate(*make_environment(environment), options);
  }

  /// The record of a run on disk.
  ordered_json record_of(const Clustering& clustering, const Trajectories& data) {
    fs::create_directories(folder_);
    RunRecord record;
    record.dataset = {{"path", "somewhere.h5"}, {"episodes", data.episodes()}};
    describe_clustering(clustering, record);
    save_run(RunFolder(folder_), data, clustering, record);
    return report_record(RunFolder(folder_), data);
  }

  static Clustering tables(const Trajectories& data, std::int64_t k) {
    pg_kmeans::Options options;
    options.k = k;
    options.restarts = 3;
    options.policy = pg_kmeans::PolicyKind::kTabular;
    return pg_kmeans::fit(data, options);
  }

  fs::path folder_ = fs::temp_directory_path() / ("kindred-findings-" + std::to_string(::getpid()));
};

TEST(Base64, IsWhatEverybodyCallsIt) {
  const auto text = [](std::string_view bytes) {
    return findings::base64(std::as_bytes(std::span(bytes)));
  };
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("f"), "Zg==");
  EXPECT_EQ(text("fo"), "Zm8=");
  EXPECT_EQ(text("foo"), "Zm9v");
  EXPECT_EQ(text("foobar"), "Zm9vYmFy");
  EXPECT_EQ(text("\xff\xfe"), "//4=");
}

TEST(Brief, KeepsFourDigits) {
  EXPECT_EQ(findings::brief(0.123456), 0.1235);
  EXPECT_EQ(findings::brief(-98765.4), -98770.0);
  EXPECT_EQ(findings::brief(0.0), 0.0);
  EXPECT_TRUE(std::isnan(findings::brief(std::nan(""))));
}

TEST(Conclusion, SaysHowManyAndHowSure) {
  RunRecord record;
  record.dataset = {{"episodes", 12345}};
  record.restarts = ordered_json::array({1, 2, 3});
  record.result = {{"k", 2}, {"agreement", {{"verdict", "unique"}, {"good_restarts", 3}}}};
  EXPECT_EQ(conclusion(record),
            "Two policies explain these 12,345 trajectories, and all three restarts agree.");
  record.result["agreement"] = {{"verdict", "unique"}, {"good_restarts", 1}, {"same_restarts", 2}};
  record.result["nmi"] = 0.5;
  record.result["ceiling"] = 0.75;
  EXPECT_THAT(conclusion(record),
              HasSubstr("two of three restarts agree; measured against the true policies, NMI is "
                        "0.50, and at best it could be 0.75."));
  record.result["agreement"]["verdict"] = "unstable";
  EXPECT_THAT(conclusion(record), HasSubstr("but only two of three restarts found this"));
  record.result["agreement"]["same_restarts"] = 1;
  EXPECT_THAT(conclusion(record), HasSubstr("but no other of the three restarts came near it"));
  record.restarts.erase(2);
  EXPECT_THAT(conclusion(record), HasSubstr("but the other restart did not come near it"));
  record.result["agreement"]["verdict"] = "several";
  EXPECT_THAT(conclusion(record), HasSubstr("one of several answers"));
  record.result["agreement"]["verdict"] = "single";
  record.result["nmi"] = 1.0;
  EXPECT_THAT(conclusion(record), HasSubstr("a single restart"));
  EXPECT_THAT(conclusion(record), HasSubstr("exactly the true policies'"));
  record.result["nmi"] = 0.9997;  // of many trajectories, a few are wrong
  EXPECT_THAT(conclusion(record), HasSubstr("NMI is above 0.99, and at best it could be 0.75"));
}

TEST_F(Findings, HoldEveryEpisode) {
  const auto data = generated("diagonal", 40);
  const auto clustering = tables(data, 5);
  const auto record = record_of(clustering, data);

  const auto& episodes = record.at("episodes");
  EXPECT_EQ(episodes.at("count"), 200);
  EXPECT_TRUE(episodes.at("ids").is_null());
  const auto labels = values_of<std::uint16_t>(episodes.at("label"));
  EXPECT_TRUE(
      std::equal(labels.begin(), labels.end(), clustering.labels.begin(), clustering.labels.end()));
  const auto truth = values_of<std::int32_t>(episodes.at("truth"));
  EXPECT_TRUE(std::equal(truth.begin(), truth.end(), data.labels.begin(), data.labels.end()));
  const auto scores = values_of<float>(episodes.at("scores"));
  ASSERT_EQ(scores.size(), 1000u);
  EXPECT_FLOAT_EQ(scores[7], static_cast<float>(clustering.scores(1, 2)));
  const auto lengths = values_of<std::uint32_t>(episodes.at("length"));
  EXPECT_EQ(lengths[3], data.length(3));
  const auto fit = values_of<float>(episodes.at("fit"));
  EXPECT_FLOAT_EQ(fit[3], static_cast<float>(clustering.scores(3, clustering.labels[3]) /
                                             static_cast<double>(data.length(3))));

  for (const auto& view : record.at("maps"))
    EXPECT_THAT(values_of<std::uint16_t>(view.at("points")), SizeIs(400));
  EXPECT_THAT(record.at("maps").at(0).at("corners"), SizeIs(5));
  EXPECT_THAT(record.at("restart_nmi"), SizeIs(3));
  EXPECT_EQ(record.at("restart_nmi").at(1).at(1), 1.0);
  EXPECT_EQ(record.dump(), report_record(RunFolder(folder_), data).dump());
}

TEST_F(Findings, CountWhatEachClusterDoesInEachCell) {
  const auto data = generated("diagonal", 40);
  const auto clustering = tables(data, 5);
  const auto behaviour = record_of(clustering, data).at("behaviour");
  EXPECT_EQ(behaviour.at("kind"), "grid");
  EXPECT_EQ(behaviour.at("frame"), "map");
  EXPECT_EQ(behaviour.at("size"), 9);
  EXPECT_EQ(behaviour.at("goal"), 7 * 9 + 7);
  EXPECT_THAT(behaviour.at("walls"), SizeIs(32));
  ASSERT_THAT(behaviour.at("contexts"), SizeIs(1));
  std::int64_t steps = 0;
  for (const auto& cluster : behaviour.at("contexts").at(0).at("clusters")) {
    const auto visits = cluster.at("visits").get<std::vector<std::int64_t>>();
    const auto actions = cluster.at("actions").get<std::vector<std::int64_t>>();
    for (std::size_t cell = 0; cell < visits.size(); ++cell) {
      std::int64_t taken = 0;
      for (std::size_t a = 0; a < 5; ++a) taken += actions[5 * cell + a];
      EXPECT_EQ(taken, visits[cell]);
      steps += visits[cell];
    }
  }
  EXPECT_EQ(steps, data.steps());
}

TEST_F(Findings, ShowTakenBallsApart) {
  const auto data = generated("takeball", 20);
  const auto behaviour = record_of(tables(data, 4), data).at("behaviour");
  EXPECT_EQ(behaviour.at("object_name"), "ball");
  std::vector<std::size_t> lying;
  double shares = 0.0;
  for (const auto& context : behaviour.at("contexts")) {
    lying.push_back(context.at("objects").size());
    shares += context.at("share").get<double>();
  }
  EXPECT_THAT(lying, ::testing::UnorderedElementsAre(4, 0));
  EXPECT_NEAR(shares, 1.0, 1e-3);
}

TEST_F(Findings, MapsThatDifferAreShownFromTheGoal) {
  const auto data = generated("extra", 10);
  return_kmeans::Options options;
  options.k = 3;
  const auto record = record_of(return_kmeans::fit(data, options), data);
  const auto& behaviour = record.at("behaviour");
  EXPECT_EQ(behaviour.at("frame"), "goal");
  EXPECT_EQ(behaviour.at("goal"), 8 * 17 + 8);
  const auto& trajectory = record.at("trajectories").at(0);
  EXPECT_FALSE(trajectory.at("grid").at("walls").is_null());  // its own map
  EXPECT_TRUE(trajectory.at("policies").is_null());           // these centres cannot act
  EXPECT_TRUE(trajectory.at("evidence").is_null());
}

TEST_F(Findings, FollowATrajectoryStepByStep) {
  const auto data = generated("diagonal", 40);
  const auto clustering = tables(data, 5);
  const auto record = record_of(clustering, data);
  for (const auto& trajectory : record.at("trajectories")) {
    const auto episode = trajectory.at("episode").get<std::int64_t>();
    const auto length = static_cast<std::size_t>(data.length(episode));
    ASSERT_THAT(trajectory.at("actions"), SizeIs(length));
    ASSERT_THAT(trajectory.at("grid").at("agent"), SizeIs(length));
    ASSERT_THAT(trajectory.at("policies"), SizeIs(length * 5 * 5));
    ASSERT_THAT(trajectory.at("evidence"), SizeIs(length * 5));
    for (std::size_t c = 0; c < 5; ++c)  // all evidence together is the score
      EXPECT_NEAR(trajectory.at("evidence").at((length - 1) * 5 + c).get<double>(),
                  clustering.scores(episode, static_cast<std::int64_t>(c)), 0.006);
  }
}

TEST_F(Findings, NameTheTrajectoriesToLookAt) {
  const auto data = generated("diagonal", 40);
  const auto clustering = tables(data, 5);
  const auto record = record_of(clustering, data);
  const auto margin = margins(clustering.scores, clustering.labels);
  const auto& lists = record.at("notable");
  EXPECT_EQ(lists.at(0).at("id"), "uncertain");
  EXPECT_EQ(margin[lists.at(0).at("episodes").at(0).get<std::size_t>()],
            *std::ranges::min_element(margin));
  for (const auto& list : lists)
    for (const auto& episode : list.at("episodes")) {
      if (!list.at("cluster").is_null()) {
        EXPECT_EQ(list.at("cluster"), clustering.labels[episode.get<std::size_t>()]);
      }
      EXPECT_TRUE(std::ranges::any_of(record.at("trajectories"), [&](const auto& trajectory) {
        return trajectory.at("episode") == episode;
      })) << "listed but not there to be looked at";
    }
}

TEST_F(Findings, CallNothingAMisfitWhereAllFitAlike) {
  const auto record = record_of(tables(generated("bandit", 20), 2), generated("bandit", 20));
  for (const auto& list : record.at("notable")) EXPECT_NE(list.at("id"), "misfits");
  const auto& y = record.at("maps").at(0).at("y");
  EXPECT_GT(y.at("high").get<double>() - y.at("low").get<double>(), 1.0) << "an axis of nothing";
}

TEST_F(Findings, DescribePathsByRoutesAndForces) {
  const auto data = generated("path-following", 8);
  return_kmeans::Options options;
  options.k = 2;
  const auto record = record_of(return_kmeans::fit(data, options), data);
  const auto& behaviour = record.at("behaviour");
  EXPECT_EQ(behaviour.at("kind"), "path");
  const auto bins = behaviour.at("bins").get<std::size_t>();
  std::int64_t steps = 0;
  for (const auto& cluster : behaviour.at("clusters")) {
    EXPECT_THAT(cluster.at("actions"), SizeIs(2 * bins * bins));
    for (const auto& visits : cluster.at("visits")) steps += visits.get<std::int64_t>();
  }
  EXPECT_EQ(steps, data.steps());
  EXPECT_THAT(record.at("trajectories").at(0).at("path").at("position"), SizeIs(100));
  ASSERT_THAT(record.at("maps"),
              SizeIs(1));  // two clusters: a line, and how well each is explained
  EXPECT_TRUE(record.at("maps").at(0).at("corners").is_null());
}

TEST_F(Findings, DescribeEverythingElseByNumbersOverTime) {
  const auto data = testing::mirror_data(12);
  return_kmeans::Options options;
  options.k = 2;
  const auto record = record_of(return_kmeans::fit(data, options), data);
  const auto& behaviour = record.at("behaviour");
  EXPECT_EQ(behaviour.at("kind"), "curves");
  EXPECT_EQ(behaviour.at("observation_names"), ordered_json({"observation 0"}));
  for (const auto& cluster : behaviour.at("clusters")) {
    EXPECT_THAT(cluster.at("running"), Each(1.0));
    std::int64_t counted = 0;
    for (const auto& bin : cluster.at("action_histogram").at(0)) counted += bin.get<int>();
    EXPECT_GT(counted, 0);
    const auto& quantiles = cluster.at("action").at("quantiles").at(0);
    EXPECT_TRUE(std::is_sorted(quantiles.begin(), quantiles.end()));
  }
  EXPECT_THAT(record.at("trajectories").at(0).at("curves").at(0), SizeIs(20));
}

TEST_F(Findings, AreOfTheDataTheRunSaw) {
  const auto data = generated("diagonal", 20);
  record_of(tables(data, 5), data);
  EXPECT_THROW(report_record(RunFolder(folder_), take_first(data, 50)), InvalidArgument);
}

TEST_F(Findings, OfOneClusterNeedNoSecond) {
  const auto data = generated("diagonal", 5);
  const auto record = record_of(tables(data, 1), data);
  EXPECT_EQ(record.at("notable").at(0).at("id"), "misfits");
  EXPECT_THAT(record.at("conclusion").get<std::string>(), HasSubstr("One policy explains"));
}

TEST_F(Findings, CompareRunsEpisodeByEpisode) {
  const auto data = generated("diagonal", 20);
  record_of(tables(data, 5), data);
  const std::vector<RunFolder> twice = {RunFolder(folder_), RunFolder(folder_)};
  const auto record = comparison_record(twice);
  EXPECT_THAT(record.at("runs"), SizeIs(2));
  EXPECT_EQ(record.at("nmi").at(0).at(1), 1.0);
}

}  // namespace
}  // namespace kindred
