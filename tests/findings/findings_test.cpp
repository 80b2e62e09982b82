// What a run's record for a page holds: the right numbers in the right places.
#include "kindred/findings/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/select.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/rollout.h"
#include "kindred/findings/column.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/return_kmeans/return_kmeans.h"
#include "kindred/metrics/clustering_scores.h"
#include "mirror.h"
#include "tests/runs/records.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using ::testing::Each;
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
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 255u);
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

/// 0, 2, 4, …, 1, 3, 5, …: two halves with as much of every policy.
std::vector<std::int64_t> every_other_first(std::int64_t count) {
  std::vector<std::int64_t> order;
  for (const std::int64_t first : {0, 1})
    for (std::int64_t i = first; i < count; i += 2) order.push_back(i);
  return order;
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

  void save(const Clustering& clustering, const Trajectories& data, const std::string& name = "") {
    fs::create_directories(folder_ / name);
    save_run(RunFolder(folder_ / name), data, clustering, testing::record_of(clustering, data), "");
  }

  /// The record of a run on disk.
  ordered_json record_of(const Clustering& clustering, const Trajectories& data) {
    save(clustering, data);
    return report_record(RunFolder(folder_), data);
  }

  static Clustering tables(const Trajectories& data, std::int64_t k) {
    pg_kmeans::Options options;
    options.k = k;
    options.restarts = 3;
    options.policy = pg_kmeans::PolicyKind::kTabular;
    options.choose = pg_kmeans::Choose::kObjective;
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

TEST(Columns, OfManyNumbersAreNarrow) {
  using findings::narrow_column;
  EXPECT_EQ(narrow_column({0, 255}).at("type"), "u8");
  EXPECT_EQ(narrow_column({0, 256}).at("type"), "u16");
  EXPECT_EQ(narrow_column({-1, 256}).at("type"), "i16");
  EXPECT_EQ(narrow_column({-1, 65536}).at("type"), "i32");
  EXPECT_EQ(values_of<std::int16_t>(narrow_column({-1, 256}))[0], -1);

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto rough = findings::rough_column({-2.0, 1.0, 4.0, kInfinity, -kInfinity, std::nan("")});
  EXPECT_EQ(rough.at("type"), "q16");
  EXPECT_EQ(rough.at("low"), -2.0);
  EXPECT_EQ(rough.at("high"), 4.0);
  EXPECT_THAT(values_of<std::uint16_t>(rough),
              ::testing::ElementsAre(0, 32766, 65532, 65534, 65533, 65535));
  EXPECT_EQ(findings::rough_column({3.5, 3.5}),
            (ordered_json{{"type", "same"}, {"value", 3.5}, {"count", 2}}));
}

TEST(Brief, KeepsFourDigits) {
  EXPECT_EQ(findings::brief(0.123456), 0.1235);
  EXPECT_EQ(findings::brief(-98765.4), -98770.0);
  EXPECT_EQ(findings::brief(0.0), 0.0);
  EXPECT_TRUE(std::isnan(findings::brief(std::nan(""))));
}

TEST(Conclusion, SaysWhatWasAskedAndWhatWasChecked) {
  RunRecord record;
  record.dataset = {{"episodes", 12345}};
  record.restarts = ordered_json::array({1, 2, 3});
  record.result = {{"k", 2}, {"agreement", {{"verdict", "unique"}, {"good_restarts", 3}}}};
  EXPECT_EQ(conclusion(record),
            "12,345 trajectories were divided into two clusters, and all three restarts agree on "
            "them.");
  record.options = {{"k", 2}};
  EXPECT_THAT(conclusion(record), HasSubstr("into two clusters, as asked, and all three"));
  record.options = {{"k", 7}, {"merge-to", 2}};
  EXPECT_THAT(conclusion(record), HasSubstr("into two clusters, as asked, and all three"));
  record.options = {{"k", 7}, {"merge-to", 3}};
  EXPECT_THAT(conclusion(record),
              HasSubstr("into two clusters (3 were asked for, 2 are left), and all three"));
  record.result["agreement"]["least_nmi"] = 0.917;
  EXPECT_THAT(conclusion(record),
              HasSubstr("all three restarts agree on them with an NMI of at least 0.91."));
  record.result["agreement"] = {{"verdict", "unique"}, {"good_restarts", 1}, {"same_restarts", 2}};
  record.result["nmi"] = 0.5;
  record.result["ceiling"] = 0.75;
  EXPECT_THAT(conclusion(record),
              HasSubstr("two of three restarts agree on them; NMI with the true policies is 0.50, "
                        "where somebody who knows them and assigns each trajectory to its most "
                        "likely one reaches 0.75."));
  record.result["agreement"]["verdict"] = "unstable";
  EXPECT_THAT(conclusion(record), HasSubstr("but only two of three restarts found them"));
  record.result["agreement"]["same_restarts"] = 1;
  EXPECT_THAT(conclusion(record), HasSubstr("but the other two restarts divided them differently"));
  record.restarts.erase(2);
  EXPECT_THAT(conclusion(record), HasSubstr("but the other restart divided them differently"));
  record.result["agreement"]["verdict"] = "several";
  EXPECT_THAT(conclusion(record), HasSubstr("one of several answers"));
  record.result["agreement"]["verdict"] = "single";
  record.options.erase("merge-to");
  EXPECT_THAT(conclusion(record), HasSubstr("into two clusters (7 were asked for, 2 are left);"));
  record.options["restarts"] = 1;
  record.result["nmi"] = 1.0;
  EXPECT_THAT(conclusion(record),
              HasSubstr("by one restart, so there is nothing to compare them with"));
  EXPECT_THAT(conclusion(record), HasSubstr("the clusters are exactly the true policies (NMI 1)"));
  record.result["nmi"] = 0.9997;  // of many trajectories, a few are wrong
  EXPECT_THAT(conclusion(record),
              HasSubstr("NMI with the true policies is above 0.99, where somebody"));
}

TEST(Conclusion, SaysWhichNumbersFitAlmostAsWellAndWhatChanceWouldGive) {
  RunRecord record;
  record.dataset = {{"episodes", 37}};
  record.restarts = ordered_json::array({1, 2, 3});
  record.options = {{"k", "auto"}};
  record.result = {
      {"k", 5}, {"k_found", true}, {"agreement", {{"verdict", "unique"}, {"good_restarts", 3}}}};
  EXPECT_THAT(conclusion(record), HasSubstr("into five clusters (found), and all"));
  record.result["almost_as_good"] = {4};
  EXPECT_THAT(conclusion(record), HasSubstr("five clusters (found; 4 fit almost as well), and"));
  record.result["almost_as_good"] = {3, 4};
  EXPECT_THAT(conclusion(record), HasSubstr("(found; 3 or 4 fit almost as well)"));
  record.result["nmi"] = 0.4;
  record.result["chance_nmi"] = 0.36;
  EXPECT_THAT(conclusion(record), HasSubstr("NMI with the true policies is 0.40 (chance: 0.36)."));
  record.result["chance_nmi"] = 0.0001;
  EXPECT_THAT(conclusion(record), HasSubstr("NMI with the true policies is 0.40."));
}

TEST_F(Findings, NumberTheTruthWithoutGaps) {
  auto data = generated("diagonal", 5);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(data.episodes()), 1);
  labels[3] = std::numeric_limits<std::int32_t>::max();
  data.labels = labels;
  data.label_names = {"none", "most"};
  const auto episodes = record_of(tables(data, 2), data).at("episodes");
  const auto truth = values_of<std::int32_t>(episodes.at("truth"));
  EXPECT_EQ(truth[0], 0);
  EXPECT_EQ(truth[3], 1);
  EXPECT_EQ(episodes.at("truth_names"), ordered_json({"most", "true policy 2147483647"}));
}

TEST_F(Findings, HoldEveryEpisode) {
  const auto data = generated("diagonal", 40);
  const auto clustering = tables(data, 5);
  const auto record = record_of(clustering, data);

  const auto& episodes = record.at("episodes");
  EXPECT_EQ(episodes.at("count"), 200);
  EXPECT_TRUE(episodes.at("ids").is_null());
  const auto labels = values_of<std::uint8_t>(episodes.at("label"));
  EXPECT_TRUE(
      std::equal(labels.begin(), labels.end(), clustering.labels.begin(), clustering.labels.end()));
  const auto truth = values_of<std::int32_t>(episodes.at("truth"));
  EXPECT_TRUE(std::equal(truth.begin(), truth.end(), data.labels.begin(), data.labels.end()));
  const auto scores = values_of<float>(episodes.at("scores"));
  ASSERT_EQ(scores.size(), 1000u);
  EXPECT_FLOAT_EQ(scores[7], static_cast<float>(clustering.scores(1, 2)));
  const auto lengths = values_of<std::int32_t>(episodes.at("length"));
  EXPECT_EQ(lengths[3], data.length(3));

  for (const auto& view : record.at("maps"))
    EXPECT_THAT(values_of<std::uint16_t>(view.at("points")), SizeIs(400));
  EXPECT_THAT(record.at("maps").at(0).at("corners"), SizeIs(5));
  EXPECT_THAT(record.at("restart_nmi"), SizeIs(3));
  EXPECT_EQ(record.at("restart_nmi").at(1).at(1), 1.0);
  EXPECT_EQ(record.dump(), report_record(RunFolder(folder_), data).dump());
}

/// Of its data, whether or not the run says so itself, and of its labels.
TEST_F(Findings, SayWhatLooksOdd) {
  const auto data = generated("diagonal", 40);
  auto clustering = tables(data, 2);
  std::ranges::fill(clustering.labels, 0);
  for (std::size_t i = 0; i < clustering.labels.size(); i += 5) clustering.labels[i] = 1;
  const auto of_data = record_of(clustering, data).at("run").at("dataset").at("doctor");
  ASSERT_THAT(of_data, SizeIs(1));
  EXPECT_EQ(of_data[0].at("key"), "constant-rewards");

  Trajectories shuffled = select_episodes(data, every_other_first(data.episodes()));
  for (std::size_t i = 0; i < clustering.labels.size(); ++i) clustering.labels[i] = i >= 100;
  const auto of_labels = record_of(clustering, shuffled).at("run").at("dataset").at("doctor");
  ASSERT_THAT(of_labels, SizeIs(2));
  EXPECT_EQ(of_labels[1].at("key"), "order-explains-labels");
  EXPECT_THAT(of_labels[1].at("evidence"), HasSubstr("The found labels come in 2 blocks"));
}

/// A run with one alternative: a division of its own, into three.
Clustering with_alternative(Clustering clustering) {
  Alternative other{.labels = clustering.labels, .v = -0.5, .nmi = 0.25};
  for (std::size_t i = 0; i < other.labels.size(); ++i)
    other.labels[i] = static_cast<std::int32_t>(i % 3);
  clustering.alternatives = {other};
  clustering.searched = std::ssize(clustering.labels);
  return clustering;
}

TEST_F(Findings, HoldWhatFollowsFromTheLabelsOfAnAlternative) {
  const auto data = generated("diagonal", 40);
  const auto clustering = with_alternative(tables(data, 5));
  const auto record = record_of(clustering, data);
  ASSERT_THAT(record.at("alternatives"), SizeIs(1));
  const auto& other = record.at("alternatives").at(0);
  EXPECT_EQ(other.at("v"), -0.5);
  EXPECT_EQ(other.at("nmi"), 0.25);
  EXPECT_EQ(other.at("sizes"), ordered_json({67, 67, 66}));
  const auto& expected = clustering.alternatives[0].labels;
  const auto labels = values_of<std::uint8_t>(other.at("label"));
  EXPECT_TRUE(std::equal(labels.begin(), labels.end(), expected.begin(), expected.end()));
  EXPECT_EQ(other.at("scores").at("nmi"),
            normalized_mutual_information(expected, data.labels.span()));
  const auto& clusters = other.at("behaviour").at("contexts").at(0).at("clusters");
  ASSERT_THAT(clusters, SizeIs(3));
  std::vector<std::int64_t> steps(3, 0), visits(3, 0);
  for (std::size_t i = 0; i < expected.size(); ++i)
    steps[i % 3] += data.length(static_cast<std::int64_t>(i));
  for (std::size_t c = 0; c < 3; ++c)
    for (const auto& there : clusters.at(c).at("visits")) visits[c] += there.get<std::int64_t>();
  EXPECT_EQ(visits, steps);
  EXPECT_THAT(record_of(tables(data, 5), data).at("alternatives"), SizeIs(0));
}

TEST_F(Findings, AnAlternativeThatLeavesOutAClusterIsDamaged) {
  const auto data = generated("diagonal", 4);
  auto clustering = with_alternative(tables(data, 2));
  clustering.alternatives[0].labels[0] = 1000000000;
  EXPECT_THROW(record_of(clustering, data), DataFormatError);
}

TEST_F(Findings, TakeReturnsThatAreNotNumbersForUnknown) {
  auto data = generated("diagonal", 20);
  const auto clustering = tables(data, 5);
  std::vector<float> rewards(static_cast<std::size_t>(data.steps()), 1.0f);
  rewards[0] = std::nanf("");
  rewards[static_cast<std::size_t>(data.offsets[1])] = std::numeric_limits<float>::infinity();
  data.rewards = rewards;
  const auto record = record_of(clustering, data);
  const auto returns = values_of<float>(record.at("episodes").at("return"));
  EXPECT_TRUE(std::isnan(returns[0]));
  EXPECT_TRUE(std::isnan(returns[1]));
  EXPECT_EQ(returns[2], static_cast<float>(data.length(2)));
  EXPECT_EQ(ordered_json::parse(record.dump()).at("episodes"), record.at("episodes"));

  data.rewards = std::vector<float>(rewards.size(), std::nanf(""));
  const auto unknown = record_of(clustering, data);
  EXPECT_TRUE(unknown.at("episodes").at("return").is_null());
  const auto read_back = ordered_json::parse(unknown.dump());
  EXPECT_THAT(read_back.at("trajectories").at(0).at("rewards"), Each(ordered_json()));
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

/// Where the grid did not make the chosen move, by the cells alone.
TEST_F(Findings, SayWhereAMoveWasNotTheChosenOne) {
  const auto record = record_of(tables(generated("diagonal", 40), 5), generated("diagonal", 40));
  const int size = record.at("behaviour").at("size");
  const auto walls = record.at("behaviour").at("walls").get<std::set<int>>();
  const std::map<std::string, int> moves = {
      {"up", -size}, {"down", size}, {"left", -1}, {"right", 1}, {"stay", 0}};
  const auto names = record.at("behaviour").at("action_names").get<std::vector<std::string>>();
  int slips = 0;
  for (const auto& trajectory : record.at("trajectories")) {
    const auto& grid = trajectory.at("grid");
    const auto cells = grid.at("agent").get<std::vector<int>>();
    for (std::size_t t = 0; t + 1 < cells.size(); ++t) {
      const auto& chosen = names[trajectory.at("actions").at(t).get<std::size_t>()];
      const int target = cells[t] + moves.at(chosen);
      const bool as_chosen = cells[t + 1] == (walls.contains(target) ? cells[t] : target);
      ASSERT_EQ(grid.at("slips").at(t).is_null(), as_chosen);
      if (as_chosen) continue;
      EXPECT_EQ(cells[t] + moves.at(grid.at("slips").at(t)), cells[t + 1]);
      ++slips;
    }
  }
  EXPECT_GT(slips, 100);
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
  EXPECT_THAT(record.at("conclusion").get<std::string>(),
              HasSubstr("25 trajectories were kept together in one cluster"));
}

TEST_F(Findings, CompareRunsEpisodeByEpisode) {
  const auto data = generated("diagonal", 20);
  const auto five = tables(data, 5), two = tables(data, 2);
  save(five, data, "five");
  save(two, data, "two");
  const std::vector<RunFolder> runs = {RunFolder(folder_ / "five"), RunFolder(folder_ / "two")};
  const auto record = comparison_record(runs);
  ASSERT_THAT(record.at("runs"), SizeIs(2));
  EXPECT_EQ(record.at("runs").at(1).at("name"), "two");
  EXPECT_THAT(values_of<std::uint8_t>(record.at("runs").at(1).at("label")),
              ::testing::ElementsAreArray(two.labels));
  const double nmi = normalized_mutual_information(five.labels, two.labels);
  EXPECT_LT(nmi, 0.9) << "these runs agree, so they show nothing";
  EXPECT_EQ(record.at("nmi"), ordered_json({{1.0, nmi}, {nmi, 1.0}}));
}

TEST_F(Findings, HoldMarginsThatWereHeldOut) {
  const auto data = generated("diagonal", 20);
  pg_kmeans::Options options;
  options.k = 5;
  options.restarts = 4;
  const auto searched = pg_kmeans::fit(data, options);
  const auto episodes = record_of(searched, data).at("episodes");
  EXPECT_EQ(episodes.at("margin_held_out"), 100);
  double held_out = 0.0, seen = 0.0;
  for (const auto margin : values_of<float>(episodes.at("margin"))) held_out += margin;
  for (const auto margin : margins(searched.scores, searched.labels)) seen += margin;
  EXPECT_GT(held_out, 0.0);
  EXPECT_LT(held_out, seen) << "policies are surer of what they have seen";
  EXPECT_EQ(record_of(tables(data, 5), data).at("episodes").at("margin_held_out"), 0);
}

TEST_F(Findings, GiveComparedRunsNamesOfTheirOwn) {
  const auto data = generated("diagonal", 5);
  const auto found = tables(data, 5);
  for (const auto* name : {"one/run", "two/run"}) save(found, data, name);
  const RunFolder one(folder_ / "one/run"), two(folder_ / "two/run/");
  const auto names = [](const std::vector<RunFolder>& runs) {
    std::vector<std::string> all;
    const auto record = comparison_record(runs);
    for (const auto& run : record.at("runs")) all.push_back(run.at("name"));
    return all;
  };
  EXPECT_THAT(names({one, two}), ::testing::ElementsAre("one/run", "two/run"));
  EXPECT_THAT(names({one, one}), ::testing::ElementsAre("run (1)", "run (2)"));
}

TEST_F(Findings, CompareNoLabelsOfDifferentEpisodes) {
  const auto data = generated("diagonal", 20);
  const auto half = take_first(data, 50);
  save(tables(data, 5), data, "all");
  save(tables(half, 5), half, "half");
  const std::vector<RunFolder> runs = {RunFolder(folder_ / "all"), RunFolder(folder_ / "half")};
  const auto record = comparison_record(runs);
  EXPECT_TRUE(record.at("nmi").is_null());
  EXPECT_TRUE(record.at("runs").at(0).at("label").is_null());
}

}  // namespace
}  // namespace kindred
