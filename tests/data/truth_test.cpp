#include "kindred/data/truth.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/random.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One episode of `length` steps for each return.
Trajectories with_returns(const std::vector<float>& returns, std::int64_t length = 2) {
  Trajectories data;
  std::vector<std::int64_t> offsets = {0};
  std::vector<float> rewards;
  for (std::size_t i = 0; i < returns.size(); ++i) {
    offsets.push_back(offsets.back() + length);
    rewards.resize(static_cast<std::size_t>(offsets.back()), 0.0f);
    rewards.back() = returns[i];
    data.ids.push_back(std::to_string(i));
  }
  const auto steps = static_cast<std::size_t>(offsets.back());
  data.offsets = std::move(offsets);
  data.observations = Observations::dense(std::vector<float>(steps, 0.0f), 1);
  data.actions = Actions::discrete(std::vector<std::int32_t>(steps, 0), 1);
  data.rewards = std::move(rewards);
  return data;
}

class Truth : public ::testing::Test {
 protected:
  ~Truth() override { fs::remove(path_); }

  Trajectories label(const Trajectories& data, const std::string& csv) const {
    write_text(path_, csv);
    return label_from_csv(data, path_);
  }
  std::string complaint(const Trajectories& data, const std::string& csv) const {
    try {
      label(data, csv);
      return "";
    } catch (const DataFormatError& error) {
      return error.what();
    }
  }

  const fs::path path_ =
      fs::path(::testing::TempDir()) /
      fmt::format("kindred_{}.csv",
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Truth, CsvRowsAndColumnsComeInAnyOrder) {
  const auto data = with_returns({1, 2, 3});
  const auto labelled = label(data, "label,return,episode\n7,0.5,2\n4,x,0\n4,,1\n");
  EXPECT_THAT(labelled.labels.span(), ElementsAre(4, 4, 7));
  EXPECT_TRUE(labelled.label_names.empty());
  EXPECT_EQ(labelled.provenance["truth"], path_.string());
  EXPECT_TRUE(data.labels.empty());
}

TEST_F(Truth, WhatWasKnownOfOtherLabelsGoes) {
  auto data = with_returns({1, 2});
  data.labels = data.oracle = std::vector<std::int32_t>{1, 1};
  data.actors = std::vector<std::int32_t>{1, 1, 0, 1};
  const auto labelled = label(data, "episode,label\n0,0\n1,1\n");
  EXPECT_TRUE(labelled.oracle.empty());
  EXPECT_TRUE(labelled.actors.empty());
}

TEST_F(Truth, CsvLabelsMayBeNames) {
  const auto labelled =
      label(with_returns({1, 2, 3}), "episode,label\n1,expert\n0,medium\n2,\"expert\"\n");
  EXPECT_THAT(labelled.label_names, ElementsAre("expert", "medium"));
  EXPECT_THAT(labelled.labels.span(), ElementsAre(1, 0, 0));
  EXPECT_THAT(label(with_returns({1, 2}), "episode,label\n0,1\n1,one\n").label_names,
              ElementsAre("1", "one"));
}

TEST_F(Truth, CsvEpisodesAreIdsOrNumbers) {
  auto data = with_returns({1, 2, 3});
  data.ids = {"demo, 0", "demo_1", "demo_2"};
  EXPECT_THAT(label(data, "episode,label\ndemo_2,2\ndemo_1,1\n\"demo, 0\",0\n").labels.span(),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(label(data, "episode,label\n0,5\n1,6\n2,7\n").labels.span(), ElementsAre(5, 6, 7));

  // Ids that look like numbers win, if every row has one.
  data.ids = {"2", "1", "3"};
  EXPECT_THAT(label(data, "episode,label\n1,5\n2,6\n3,7\n").labels.span(), ElementsAre(6, 5, 7));
  EXPECT_THAT(label(data, "episode,label\n0,5\n1,6\n2,7\n").labels.span(), ElementsAre(5, 6, 7));
  data.ids = {"same", "same", "same"};
  EXPECT_THAT(label(data, "episode,label\n0,5\n1,6\n2,7\n").labels.span(), ElementsAre(5, 6, 7));
}

TEST_F(Truth, CsvColumnsMayHaveOtherNames) {
  auto data = with_returns({1, 2});
  data.ids = {"a", "b"};
  write_text(path_, "label,take,operator\n9,a,tim\n9,b,ann\n");
  const auto labelled = label_from_csv(data, path_, {.episode = "take", .label = "operator"});
  EXPECT_THAT(labelled.labels.span(), ElementsAre(1, 0));
  EXPECT_THAT(labelled.label_names, ElementsAre("ann", "tim"));
  EXPECT_THAT(complaint(data, "episode,operator\na,0\nb,1\n"), HasSubstr("--truth-column"));
}

TEST_F(Truth, CsvMayCoverSomeEpisodesOnce) {
  auto data = with_returns({1, 2, 3});
  data.ids = {"a", "b", "c"};
  EXPECT_THAT(label(data, "episode,label\na,0\nc,1\n").labels.span(), ElementsAre(0, -1, 1));
  EXPECT_THAT(count_labels(std::vector<std::int32_t>{-1, 1, 0, -1}).sizes, ElementsAre(1, 1));
  EXPECT_EQ(complaint(data, "episode,label\na,0\nb,1\n\na,1\nc,0\n"),
            fmt::format("'{}' line 5: episode 'a' was already labelled in line 2; keep one of the "
                        "two",
                        path_.string()));
  EXPECT_THAT(complaint(data, "episode,label\n0,0\n1,0\n3,0\n"),
              AllOf(HasSubstr("line 4: there is no episode '3'"), HasSubstr("from 0 to 2")));
  EXPECT_THAT(complaint(data, "episode,label\n-1,0\n1,0\n2,0\n"),
              HasSubstr("line 2: there is no episode '-1'"));
  EXPECT_THAT(complaint(data, "episode,label\na,0\nb,0\nd,0\n"),
              HasSubstr("line 2: there is no episode 'a'; expected an episode's id"));
}

TEST_F(Truth, CsvProblemsAreNamed) {
  const auto data = with_returns({1, 2});
  EXPECT_THAT(complaint(data, "episode,return\n0,1\n"),
              HasSubstr("has no column 'label', only episode, return"));
  EXPECT_THAT(complaint(data, "label\n0\n"), HasSubstr("has no column 'episode'"));
  EXPECT_THAT(complaint(data, "episode,label\n"), HasSubstr("has a header but no rows"));
  EXPECT_THAT(complaint(data, "episode,label\n0,1\n1,\n"),
              HasSubstr("line 3: the label of episode '1' is empty"));
  EXPECT_THAT(complaint(data, "episode,label\n0,1\n1,-1\n"),
              HasSubstr("line 3: the label of episode '1' is -1"));
  EXPECT_THAT(complaint(data, "episode,label\n0,1,2\n"), HasSubstr("line 2: found 3 fields"));
  EXPECT_THROW(label_from_csv(data, path_ / "none.csv"), IoError);
}

TEST_F(Truth, BoundariesSplitTheFileIntoParts) {
  const auto data = with_returns({1, 2, 3, 4}, 10);  // Episodes begin at 0, 10, 20, 30.
  const auto labels = [&](const std::vector<std::int64_t>& boundaries) {
    const auto labelled = label_by_boundaries(data, boundaries);
    return std::vector<std::int32_t>(labelled.labels.begin(), labelled.labels.end());
  };
  EXPECT_THAT(labels({20}), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(labels({21}), ElementsAre(0, 0, 0, 1));  // The third began before it.
  EXPECT_THAT(labels({1}), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(labels({10, 25}), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(label_by_boundaries(data, std::vector<std::int64_t>{10, 25}).label_names,
              ElementsAre("steps 0 to 9", "steps 10 to 24", "steps 25 to 39"));
  for (const auto& boundaries : std::vector<std::vector<std::int64_t>>{
           {}, {0}, {-5}, {31}, {40}, {1000}, {20, 10}, {20, 20}, {11, 12}})
    EXPECT_THROW(label_by_boundaries(data, boundaries), InvalidArgument);
}

/// The change point by trying every split.
std::int64_t best_split(const std::vector<float>& returns, std::size_t smallest) {
  double best = -1.0;
  std::size_t split = 0;
  for (std::size_t i = smallest; i <= returns.size() - smallest; ++i) {
    double before = 0.0, after = 0.0;
    for (std::size_t j = 0; j < returns.size(); ++j) (j < i ? before : after) += returns[j];
    const double change =
        std::abs(after / static_cast<double>(returns.size() - i) - before / static_cast<double>(i));
    if (change > best + 1e-9) {
      best = change;
      split = i;
    }
  }
  return static_cast<std::int64_t>(split);
}

TEST_F(Truth, ReturnChangeFindsTheSplitWithTheLargestDifference) {
  const auto labelled = label_by_return_change(with_returns({1, 2, 1, 9, 8}));
  EXPECT_THAT(labelled.labels.span(), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(labelled.label_names, ElementsAre("episodes 0 to 2", "episodes 3 to 4"));
  EXPECT_THAT(label_by_return_change(with_returns({9, 8, 1})).labels.span(), ElementsAre(0, 0, 1));

  Random random(1, "truth");
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<float> returns(2 + random.below(40));
    for (auto& value : returns) value = static_cast<float>(random.below(100));
    const auto smallest =
        static_cast<std::size_t>(std::ceil(0.2 * static_cast<double>(returns.size())));
    const auto found = label_by_return_change(with_returns(returns), 0.2);
    EXPECT_EQ(std::ranges::count(found.labels.span(), 0), best_split(returns, smallest));
  }
}

TEST_F(Truth, ASingleOutlierIsNoPart) {
  const std::vector<float> returns = {-5, 10, 11, 9,  10, 10, 11, 9,  10, 10, 10,
                                      20, 21, 19, 20, 20, 21, 20, 19, 20, 20};
  EXPECT_EQ(std::ranges::count(label_by_return_change(with_returns(returns)).labels.span(), 0), 11);
  EXPECT_EQ(std::ranges::count(label_by_return_change(with_returns(returns), 0).labels.span(), 0),
            1);
}

TEST_F(Truth, ReturnChangeNeedsRewardsAndTwoEpisodes) {
  EXPECT_THROW(label_by_return_change(with_returns({1})), InvalidArgument);
  auto data = with_returns({1, 2});
  EXPECT_THAT(label_by_return_change(data, 0.5).labels.span(), ElementsAre(0, 1));
  EXPECT_THROW(label_by_return_change(data, 0.6), InvalidArgument);
  EXPECT_THROW(label_by_return_change(data, -1), InvalidArgument);
  data.rewards = {};
  EXPECT_THROW(label_by_return_change(data), InvalidArgument);
  try {
    label_by_return_change(with_returns({1, 2, NAN, 4}));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "the return of episode 2 ('2') is nan, so a change of return cannot be found; "
                 "repair its rewards");
  }
}

TEST_F(Truth, LabelsAreCountedHoweverFarApart) {
  const auto found = count_labels(std::vector<std::int32_t>{2147483647, 0, 0});
  EXPECT_THAT(found.values, ElementsAre(0, 2147483647));
  EXPECT_THAT(found.sizes, ElementsAre(2, 1));
  EXPECT_FALSE(found.consecutive());
  EXPECT_TRUE(count_labels(std::vector<std::int32_t>{1, 0, 2}).consecutive());
  EXPECT_FALSE(count_labels(std::vector<std::int32_t>{1, 2}).consecutive());
  EXPECT_TRUE(count_labels({}).consecutive());
}

TEST_F(Truth, LabelsFilesRoundTrip) {
  const std::vector<std::string> ids = {"plain", "a, \"b\"", "two\nlines", ""};
  const std::vector<std::int32_t> labels = {3, 0, 1, 0};
  const std::vector<double> margins = {0.1, 1e300, std::numeric_limits<double>::infinity(), -2};
  write_labels_csv(path_, ids, labels, margins);
  EXPECT_EQ(read_text(path_),
            "episode,label,margin\nplain,3,0.1\n\"a, \"\"b\"\"\",0,1e+300\n\"two\nlines\",1,inf\n"
            "\"\",0,-2\n");
  const auto file = read_labels_csv(path_);
  EXPECT_EQ(file.episodes, ids);
  EXPECT_EQ(file.labels, labels);
  EXPECT_EQ(file.margins, margins);
  EXPECT_TRUE(file.label_names.empty());

  write_labels_csv(path_, ids, labels);
  EXPECT_EQ(read_labels_csv(path_).labels, labels);
  EXPECT_TRUE(read_labels_csv(path_).margins.empty());
  EXPECT_THROW(write_labels_csv(path_, ids, std::vector<std::int32_t>{1}), InvalidArgument);
  EXPECT_THROW(write_labels_csv(path_, ids, labels, std::vector<double>{1}), InvalidArgument);
}

TEST_F(Truth, ABadMarginMattersOnlyToWhoAsks) {
  const auto data = with_returns({1, 2});
  const std::string csv = "episode,label,margin\n0,1,0.5\n1,0,high\n";
  EXPECT_THAT(label(data, csv).labels.span(), ElementsAre(1, 0));
  try {
    read_labels_csv(path_);
    FAIL();
  } catch (const DataFormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 3: the margin is 'high', expected a number"));
  }
}

}  // namespace
}  // namespace kindred
