// Jobs: each clustering once, whichever items want something of it.
#include "kindred/reproduce/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace kindred::reproduce {
namespace {

TEST(Jobs, AreSharedByItems) {
  const auto declared = load_declarations(Scale::kPaper);
  const auto main = jobs_of(declared, {"main"}), both = jobs_of(declared, {"main", "times"});
  EXPECT_EQ(both.size(), main.size()) << "running times come from the records of the main table";
  std::set<std::string> names;
  for (const auto& job : both) EXPECT_TRUE(names.insert(job.name()).second) << job.name();
}

TEST(Jobs, CollectWhatIsWantedOfThem) {
  const auto declared = load_declarations(Scale::kPaper);
  const auto jobs = jobs_of(declared, {"returns", "best-centre-by-k", "histograms"});
  const auto outputs = [&](const std::string& name) {
    std::vector<std::string> records;
    for (const auto& job : jobs)
      if (job.name() == name)
        for (const auto& output : job.outputs) records.push_back(output.record);
    return records;
  };
  EXPECT_THAT(
      outputs("hopper-pg-kmeans-1"),
      ::testing::IsSupersetOf({"hopper-pg-kmeans-1", "hopper-pg-kmeans-1-evaluated-default-2",
                               "hopper-pg-kmeans-1-evaluated-drawn-0"}));
  EXPECT_THAT(outputs("hopper-pg-kmeans-k10-1"),
              ::testing::UnorderedElementsAre("hopper-pg-kmeans-k10-1",
                                              "hopper-pg-kmeans-k10-1-evaluated-as-left-0",
                                              "hopper-pg-kmeans-k10-1-returns"));
}

}  // namespace
}  // namespace kindred::reproduce
