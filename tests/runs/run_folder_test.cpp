#include "kindred/runs/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/return_kmeans/return_kmeans.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() { fs::create_directories(folder_.path()); }
  ~RunFolderTest() override {
    for (const auto& file : {folder_.record(), folder_.labels(), folder_.trace(), folder_.scores(),
                             folder_.centres(), folder_.state()})
      fs::remove(file);
    fs::remove(folder_.path());
  }

  void save(const Trajectories& data, const Clustering& clustering) {
    RunRecord record;
    record.dataset = {{"episodes", data.episodes()}};
    describe_clustering(clustering, record);
    save_run(folder_, data, clustering, record);
  }

  RunFolder folder_{fs::temp_directory_path() / ("kindred-run-" + std::to_string(::getpid()))};
};

pg_kmeans::Options quick() {
  pg_kmeans::Options options;
  options.k = 3;
  options.restarts = 2;
  options.hidden = 16;
  options.max_rounds = 3;
  options.max_steps = 30;
  return options;
}

TEST_F(RunFolderTest, CentresComeBackAsTheyWere) {
  const auto grid = testing::gridworld("diagonal", 40);
  const auto control = testing::linear_control({});
  auto tabular = quick();
  tabular.policy = pg_kmeans::PolicyKind::kTabular;
  const std::vector<std::pair<Trajectories, Clustering>> cases = {
      {grid, pg_kmeans::fit(grid, quick())},
      {grid, pg_kmeans::fit(grid, tabular)},
      {control, pg_kmeans::fit(control, quick())},
      {control, return_kmeans::fit(control, {})}};
  for (const auto& [data, clustering] : cases) {
    save(data, clustering);
    const auto run = load_run(folder_);
    EXPECT_EQ(run.record.method, clustering.method);
    EXPECT_EQ(run.labels, clustering.labels);
    EXPECT_EQ(run.episodes, data.ids);
    const auto scores = run.centres->score(data, {});
    for (std::size_t i = 0; i < scores.values.size(); ++i)
      ASSERT_NEAR(scores.values[i], clustering.scores.values[i],
                  1e-4 * (1.0 + std::abs(scores.values[i])));
  }
}

TEST_F(RunFolderTest, RecordHoldsTheWholeConfiguration) {
  const auto data = testing::linear_control({});
  save(data, pg_kmeans::fit(data, quick()));
  const auto record = RunRecord::read(folder_.record());
  pg_kmeans::Options options;
  for (const auto& option : options.describe())
    EXPECT_TRUE(record.options.contains(option.name)) << option.name;
  EXPECT_EQ(record.options["k"], 3);
  EXPECT_EQ(record.options["standardize"], "on");  // resolved, not "auto"
}

TEST_F(RunFolderTest, FoldersThatAreNoRunsAreExplained) {
  const auto message = [&] {
    try {
      load_run(folder_);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message().find("is not a run folder"), std::string::npos);
  write_text(folder_.state(), "");
  EXPECT_NE(message().find("--resume"), std::string::npos);
  write_text(folder_.record(), "{\"kindred_run\": 1}");
  EXPECT_NE(message().find("is not a run record"), std::string::npos);
  write_text(folder_.record(), "{\"kindred_run\": 99}");
  EXPECT_NE(message().find("newer"), std::string::npos);
}

}  // namespace
}  // namespace kindred
