// The page says what the records say, the same each time, and what is missing.
#include "kindred/reproduce/page.h"

#include <gmock/gmock.h>

#include "kindred/core/error.h"
#include "kindred/reproduce/jobs.h"
#include "temporary_store.h"

namespace kindred::reproduce {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PageTest : public testing::WithStore {
 protected:
  PageTest() : store_(folder_ / "results", Scale::kPaper), lock_(store_.begin_work()) {}

  void add(const std::string& task, const std::string& configuration, std::int64_t seed,
           double nmi) {
    store_.write(record_name(task, configuration, seed), testing::clustering(nmi, seed));
  }

  RenderedFiles render() const { return render_results(declared_, store_, ""); }
  std::string page() const { return render().at(folder_ / "results.md"); }

  Declarations declared_ = load_declarations(Scale::kPaper);
  Store store_;
  std::unique_ptr<RunLock> lock_;
};

TEST_F(PageTest, ShowsOursBesideThePapers) {
  add("hopper", "pg-kmeans", 1, 0.90);
  add("hopper", "pg-kmeans", 2, 0.96);
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("| Hopper m-e | 2 | 0.95 | 0.93 (0.99) |")) << "mean, the paper's";
  EXPECT_THAT(text, HasSubstr("0.93 ± 0.04 (2)")) << "deviation and number of seeds";
  EXPECT_THAT(text, HasSubstr("made by Kindred 9.9 from 2030-01-02 to 2030-01-02"));
  EXPECT_THAT(text, HasSubstr("- 2 on An Example (2 cores)\n"));
}

TEST_F(PageTest, SaysWhatFallsShortAndWhy) {
  add("hopper", "pg-kmeans", 1, 0.93);
  add("extra", "caae", 1, 0.2);
  add("ant", "caae", 1, 0.97);
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("- PG-Kmeans on Hopper m-e: 0.93 instead of 0.99. We do not know"));
  EXPECT_THAT(text, HasSubstr("- CAAE on Extra: 0.20 instead of 0.43. No setting that was tried"));
  EXPECT_THAT(text, Not(HasSubstr("- CAAE on Ant"))) << "is above the paper's";
  EXPECT_THAT(text, Not(HasSubstr("- SORL on"))) << "a reason, but no record";
}

TEST_F(PageTest, TellsGpusFromCpus) {
  add("hopper", "caae", 1, 1.0);
  auto record = testing::clustering(1.0, 2);
  record["machine"].update(
      {{"device", "cuda"}, {"gpu", "A GPU"}, {"jobs_at_once", 16}, {"jobs_on_device", 8}});
  record["timings"]["fit"] = 960.0;
  store_.write("hopper-caae-2", record);
  record["machine"]["jobs_at_once"] = 1;
  record["timings"]["fit"] = 6.0;
  store_.write("hopper-caae-1-cuda", record);
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("- 2 on A GPU beside An Example (2 cores)\n"));
  EXPECT_THAT(text, HasSubstr("GPU: 1 of these 2 clusterings were made on one, in 2 minutes of "
                              "its time: 16 minutes\nof clustering"));
  EXPECT_THAT(text, HasSubstr("| 60.0 (60.0); GPU 960.0 (960.0) |")) << "not their mean";
  EXPECT_THAT(text, HasSubstr("|  | ours, GPU |  |  |  | 0.10 |"))
      << "of the one that had the machine to itself";
  EXPECT_THAT(text, HasSubstr("| Hopper m-e | CAAE | 1 | 6.0 | 1.0000 | 1.0000 | 60.0 (2) |"));
}

TEST_F(PageTest, SaysWhatIsMissing) {
  EXPECT_THAT(page(), HasSubstr("Not run yet: `kindred reproduce main --scale paper`."));
  add("hopper", "pg-kmeans", 1, 0.9);
  EXPECT_THAT(page(), HasSubstr("the others: `kindred reproduce main --scale paper`."));
}

TEST_F(PageTest, IsTheSameFromTheSameRecords) {
  for (std::int64_t seed = 1; seed <= 4; ++seed) {
    add("extra", "caae", seed, 0.1 * static_cast<double>(seed));
    add("hopper", "pg-kmeans-k4", seed, 0.2 * static_cast<double>(seed));
    add("hopper", "pg-kmeans-k2", seed, 0.2 * static_cast<double>(seed));
  }
  EXPECT_EQ(render(), render());
}

TEST_F(PageTest, DrawsFigures) {
  for (std::int64_t seed = 1; seed <= 4; ++seed) {
    add("extra", "caae", seed, 0.1 * static_cast<double>(seed));
    add("hopper", fmt::format("pg-kmeans-k{}", 2 * seed), 1, 0.9);
  }
  store_.write("ant-pg-kmeans-k10-1-returns",
               {{"least", 0.0}, {"most", 10.0}, {"clusters", {{1, 2, 0}, {0, 0, 4}}}});
  const auto files = render();
  for (const char* name : {"nmi-loss.svg", "nmi-k.svg", "returns.svg"}) {
    ASSERT_TRUE(files.contains(folder_ / "results" / "figures" / name)) << name;
    EXPECT_THAT(files.at(folder_ / "results.md"),
                HasSubstr(fmt::format("(results/figures/{})", name)));
  }
  const auto& loss = files.at(folder_ / "results" / "figures" / "nmi-loss.svg");
  std::size_t points = 0;
  for (auto at = loss.find("<circle"); at != loss.npos; at = loss.find("<circle", at + 1)) ++points;
  EXPECT_EQ(points, 5U) << "one per seed, and the legend's";
}

TEST_F(PageTest, CountsSingleRunsThatSucceed) {
  add("hopper", "pg-kmeans-single", 1, 0.95);  // its other restart has 0.5
  EXPECT_THAT(page(), HasSubstr("50 % succeed (2) [0.258 (25 %)]"));
}

TEST_F(PageTest, FillsInReadme) {
  const auto readme = folder_ / "README.md";
  write_text(readme, "before\n<!-- results: begin -->\nold\n<!-- results: end -->\nafter\n");
  add("hopper", "pg-kmeans", 1, 0.9);
  const auto text = render_results(declared_, store_, readme).at(readme);
  EXPECT_THAT(text, ::testing::StartsWith("before\n<!-- results: begin -->\n| task |"));
  EXPECT_THAT(text, ::testing::EndsWith("|\n<!-- results: end -->\nafter\n"));
  EXPECT_THAT(text, Not(HasSubstr("old")));
  write_text(readme, "no marks\n");
  EXPECT_THROW(render_results(declared_, store_, readme), InvalidArgument);
}

TEST_F(PageTest, RefusesARecordThatIsNone) {
  store_.write("hopper-pg-kmeans-1", {{"started", "2030"}});
  EXPECT_THROW(page(), DataFormatError);
}

}  // namespace
}  // namespace kindred::reproduce
