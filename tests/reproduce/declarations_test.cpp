// What is declared can be done: names lead somewhere, and methods take the options.
#include "kindred/reproduce/declarations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kindred/core/error.h"
#include "kindred/findings/evaluate.h"
#include "kindred/methods/method.h"
#include "kindred/reproduce/jobs.h"

namespace kindred::reproduce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AtBothScales : public ::testing::TestWithParam<Scale> {};
INSTANTIATE_TEST_SUITE_P(Declarations, AtBothScales,
                         ::testing::Values(Scale::kSmall, Scale::kPaper),
                         [](const auto& scale) { return std::string(name_of(scale.param)); });

TEST_P(AtBothScales, NamesAreUnique) {
  const auto declared = load_declarations(GetParam());
  std::set<std::string> tasks, configurations, items;
  for (const auto& task : declared.tasks) EXPECT_TRUE(tasks.insert(task.name).second) << task.name;
  for (const auto& one : declared.configurations)
    EXPECT_TRUE(configurations.insert(one.name).second) << one.name;
  for (const auto& item : declared.items) EXPECT_TRUE(items.insert(item.name).second) << item.name;
  EXPECT_GE(items.size(), 14U);
}

TEST_P(AtBothScales, MethodsTakeTheirOptions) {
  const auto declared = load_declarations(GetParam());
  for (const auto& configuration : declared.configurations) {
    const auto method = find_method(configuration.method).make();
    if (!configuration.preset.empty()) method->use_preset(configuration.preset);
    auto options = configuration.options;
    for (auto& value : options)
      if (value == "k*" || value == "k*+1" || value == "start") value = 3;
    EXPECT_NO_THROW(from_json(method->describe(), options, configuration.name));
  }
  for (const auto& variant : declared.evaluations) {
    EvaluateOptions options;
    EXPECT_NO_THROW(from_json(options.describe(), variant.options, variant.name));
  }
}

TEST(Declarations, GpusAreForNetworksAndAutoencoders) {
  // Searches by exact policies would search by networks instead, or refuse.
  for (const auto& one : load_declarations(Scale::kPaper).configurations)
    EXPECT_EQ(one.gpu,
              one.preset == "paper" || (one.method != "pg-kmeans" && one.method != "return-kmeans"))
        << one.name;
}

TEST(Declarations, ReadsDurations) {
  EXPECT_EQ(parse_duration("90s"), 90.0);
  EXPECT_EQ(parse_duration("9m"), 540.0);
  EXPECT_EQ(parse_duration("2h"), 7200.0);
  for (const char* wrong : {"", "m", "9", "9 m", "-3m", "0s", "1.5h", "m9"})
    EXPECT_THROW(parse_duration(wrong), InvalidArgument) << wrong;
}

TEST_P(AtBothScales, EveryItemHasSomethingToDo) {
  const auto declared = load_declarations(GetParam());
  for (const auto& item : declared.items)
    EXPECT_THAT(jobs_of(declared, {item.name}), ::testing::Not(IsEmpty())) << item.name;
}

TEST(Declarations, SeedsAreEnoughForThePaper) {
  const auto declared = load_declarations(Scale::kPaper);
  const auto jobs = jobs_of(declared, {"main"});
  const auto seeds = [&](const std::string& task, const std::string& configuration) {
    return std::ranges::count_if(jobs, [&](const Job& job) {
      return job.task == task && job.configuration == configuration;
    });
  };
  for (const auto& task : declared.groups.at("paper")) {
    for (const char* one : {"pg-kmeans", "caae", "exact"}) EXPECT_GE(seeds(task, one), 10) << task;
    for (const char* one : {"dec", "vae-kmeans", "sorl"}) EXPECT_GE(seeds(task, one), 5) << task;
  }
}

TEST(Declarations, ReasonsAreForNumbersOfThePaper) {
  for (const auto& item : load_declarations(Scale::kPaper).items)
    for (const auto& [place, reason] : item.why) {
      const auto row = place.substr(0, place.find('/'));
      ASSERT_TRUE(item.paper.contains(row)) << item.name << ": " << place;
      if (row == place || !item.paper[row].is_object()) continue;
      EXPECT_TRUE(item.paper[row].contains(place.substr(row.size() + 1))) << place;
    }
}

TEST(Declarations, SmallOnesNeedNoFiles) {
  for (const auto& task : load_declarations(Scale::kSmall).tasks) EXPECT_EQ(task.file, "");
}

TEST(Declarations, SayWhatThereIs) {
  const auto declared = load_declarations(Scale::kSmall);
  try {
    declared.item("mian");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no item 'mian'; there are main, full"));
  }
}

TEST(Seeds, AreNumbersAndRanges) {
  EXPECT_THAT(parse_seeds("1-3,7"), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(parse_seeds(""), IsEmpty());
  for (const char* wrong : {"x", "3-1", "1-", "-1", "1,,x", "1-99999999"})
    EXPECT_THROW(parse_seeds(wrong), InvalidArgument) << wrong;
}

}  // namespace
}  // namespace kindred::reproduce
