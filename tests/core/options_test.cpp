#include "kindred/core/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

enum class Rule { kLeastLoss, kPrinted };

struct Options {
  std::int64_t k = 5;
  double rate = 1e-3;
  double floor = -std::numeric_limits<double>::infinity();
  bool standardise = true;
  std::string name = "run";
  Rule rule = Rule::kLeastLoss;

  OptionTable describe() {
    return {integer("k", k, 1, 1000, "How many clusters to fit."),
            real("learning-rate", rate, 0.0, 1.0, "Step size of Adam."),
            real_or_off("floor", floor, -100.0, 0.0, -std::numeric_limits<double>::infinity(),
                        "Lowest log-probability of a step."),
            flag("standardise", standardise, "Scale observations."),
            text("name", name, "What to call the run."),
            choice("merge-rule", rule, {"least-loss", "printed"}, "Which pair to merge.")};
  }
};

/// The sentence that setting `name` to `value` as typed ends in; "" when it is accepted.
std::string complaint(const std::string& name, const std::string& value) {
  Options options;
  const auto table = options.describe();
  try {
    set_from_text(*find_option(table, name), value);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(Options, AnIntegerCanBeLeftOpen) {
  std::int64_t k = 3;
  const OptionTable table = {integer_or_auto("k", k, 100, "How many clusters to fit.")};
  EXPECT_EQ(to_json(table)["k"], 3);
  set_from_text(table[0], "auto");
  EXPECT_EQ(k, 0);
  EXPECT_EQ(to_json(table)["k"], "auto");
  from_json(table, {{"k", 0}}, "an old config file");
  EXPECT_EQ(to_json(table)["k"], "auto");
  set_from_text(table[0], "7");
  EXPECT_EQ(k, 7);
  for (const char* value : {"many", "-1", "101", "2.5", ""}) {
    try {
      set_from_text(table[0], value);
      ADD_FAILURE() << value;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(std::string(error.what()),
                "option 'k' takes 'auto' or a whole number from 1 to 100, not '" +
                    std::string(value) + "'");
    }
  }
  EXPECT_EQ(k, 7);
}

TEST(Options, AreSetFromTextAsTyped) {
  Options options;
  const auto table = options.describe();
  set_from_text(*find_option(table, "k"), "12");
  set_from_text(*find_option(table, "learning-rate"), "5e-2");
  set_from_text(*find_option(table, "floor"), "-3");
  set_from_text(*find_option(table, "standardise"), "false");
  set_from_text(*find_option(table, "name"), "12");
  set_from_text(*find_option(table, "merge-rule"), "printed");
  EXPECT_EQ(options.k, 12);
  EXPECT_EQ(options.rate, 5e-2);
  EXPECT_EQ(options.floor, -3.0);
  EXPECT_FALSE(options.standardise);
  EXPECT_EQ(options.name, "12");
  EXPECT_EQ(options.rule, Rule::kPrinted);

  set_from_text(*find_option(table, "floor"), "off");
  EXPECT_EQ(options.floor, -std::numeric_limits<double>::infinity());
}

TEST(Options, RefuseBadValuesInOneSentence) {
  EXPECT_EQ(complaint("k", "0"), "option 'k' takes a whole number from 1 to 1000, not '0'");
  EXPECT_EQ(complaint("k", "1001"), "option 'k' takes a whole number from 1 to 1000, not '1001'");
  EXPECT_EQ(complaint("k", "2.5"), "option 'k' takes a whole number from 1 to 1000, not '2.5'");
  EXPECT_EQ(complaint("k", "5 "), "option 'k' takes a whole number from 1 to 1000, not '5 '");
  EXPECT_THAT(complaint("k", ""), HasSubstr("not ''"));
  EXPECT_THAT(complaint("k", "99999999999999999999"), HasSubstr("not '99999999999999999999'"));
  EXPECT_EQ(complaint("learning-rate", "1.5"),
            "option 'learning-rate' takes a number from 0 to 1, not '1.5'");
  EXPECT_THAT(complaint("learning-rate", "nan"), HasSubstr("takes a number from 0 to 1"));
  EXPECT_THAT(complaint("learning-rate", "fast"), HasSubstr("not 'fast'"));
  EXPECT_EQ(complaint("floor", "none"),
            "option 'floor' takes 'off' or a number from -100 to 0, not 'none'");
  EXPECT_EQ(complaint("standardise", "yes"), "option 'standardise' takes true or false, not 'yes'");
  EXPECT_EQ(complaint("merge-rule", "best"),
            "option 'merge-rule' takes one of least-loss, printed, not 'best'");
}

TEST(Options, WordsStandForSomeNumbers) {
  double share = -1.0;
  const auto option = real_or("share", share, 0.0, 0.5, {{"auto", -1.0}, {"off", 0.0}}, "A share.");
  EXPECT_EQ(option.get(), "auto");
  set_from_text(option, "0.25");
  EXPECT_EQ(option.get(), 0.25);
  set_from_text(option, "0");
  EXPECT_EQ(option.get(), "off");
  set_from_text(option, "auto");
  EXPECT_EQ(share, -1.0);
  try {
    set_from_text(option, "-0.5");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "option 'share' takes 'auto' or 'off' or a number from 0 to 0.5, not '-0.5'");
  }
}

TEST(Options, ABadValueChangesNothing) {
  Options options;
  const auto table = options.describe();
  EXPECT_THROW(find_option(table, "k")->set(json(-1)), InvalidArgument);
  EXPECT_THROW(find_option(table, "k")->set(json("7")), InvalidArgument);
  EXPECT_THROW(find_option(table, "standardise")->set(json(0)), InvalidArgument);
  EXPECT_THROW(find_option(table, "merge-rule")->set(json(1)), InvalidArgument);
  Options untouched;
  EXPECT_EQ(to_json(table), to_json(untouched.describe()));
}

TEST(Options, OpenRangesAreSaidInWords) {
  std::int64_t count = 1;
  double ratio = 0.0;
  const auto at_least =
      integer("count", count, 1, std::numeric_limits<std::int64_t>::max(), "A count.");
  const auto at_most = real("ratio", ratio, -std::numeric_limits<double>::infinity(), 2.0, "");
  try {
    at_least.set(json(0));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "option 'count' takes a whole number of at least 1, not '0'");
  }
  try {
    at_most.set(json(3));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "option 'ratio' takes a number of at most 2, not '3'");
  }
}

TEST(Options, AListOfWholeNumbersIsTypedWithCommas) {
  std::vector<std::int64_t> steps = {4};
  const auto list = integers("steps", steps, "Where to cut.");
  for (const char* bad : {"1,", ",1", "1;2", "1, 2", "-1", "1.5", "all"}) {
    try {
      set_from_text(list, bad);
      FAIL() << bad;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(),
                "option 'steps' takes whole numbers from 0 with commas between them, not '" +
                    std::string(bad) + "'");
    }
  }
  EXPECT_THROW(list.set(json(7)), InvalidArgument);
  EXPECT_THAT(steps, ::testing::ElementsAre(4));
  set_from_text(list, "0,5,12");
  EXPECT_THAT(steps, ::testing::ElementsAre(0, 5, 12));
  EXPECT_EQ(list.get(), "0,5,12");
  set_from_text(list, "");
  EXPECT_TRUE(steps.empty());
}

TEST(Options, RoundTripThroughJson) {
  Options options;
  options.k = 7;
  options.floor = -3.0;
  options.rule = Rule::kPrinted;
  const auto values = to_json(options.describe());
  EXPECT_EQ(values.dump(),
            R"({"k":7,"learning-rate":0.001,"floor":-3.0,"standardise":true,"name":"run",)"
            R"("merge-rule":"printed"})");
  Options copy;
  from_json(copy.describe(), json::parse(values.dump()), "run.json");
  EXPECT_EQ(to_json(copy.describe()), values);

  options.floor = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_json(options.describe())["floor"], "off");
}

TEST(Options, KnowWhichWereChanged) {
  Options options;
  const auto table = options.describe();
  const auto before = to_json(table);
  from_json(table, {{"k", 5}, {"floor", -3.0}, {"merge-rule", "printed"}}, "config.toml");
  EXPECT_EQ(changed_options(table, before), (std::vector<std::string>{"floor", "merge-rule"}));
}

TEST(Options, AreRefusedWhereTheyWereSetButAreNotUsed) {
  const std::vector<UnusedOptions> unused = {
      {{"floor", "merge-rule"}, "merging; add '--merge-to'"}};
  EXPECT_NO_THROW(refuse_unused(unused, {"k", "name"}));
  try {
    refuse_unused(unused, {"k", "merge-rule"});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "'--merge-rule' is for merging; add '--merge-to'");
  }
}

TEST(Options, AnUnknownKeyNamesItsSourceAndTheKnownOnes) {
  Options options;
  try {
    from_json(options.describe(), json{{"clusters", 3}}, "config.toml");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "config.toml: unknown option 'clusters'; the options are k, learning-rate, floor, "
                 "standardise, name, merge-rule");
  }
  EXPECT_EQ(find_option(options.describe(), "clusters"), nullptr);
}

TEST(Options, BecomeTomlWithTheirHelp) {
  Options options;
  EXPECT_THAT(to_toml(options.describe()),
              ::testing::StartsWith("# How many clusters to fit.\nk = 5\n# Step size of Adam.\n"
                                    "learning-rate = 0.001\n"));
  EXPECT_THAT(to_toml(options.describe()), HasSubstr("floor = \"off\"\n"));
}

TEST(ListOptions, TakeArraysAndTextsWithCommas) {
  std::vector<std::string> field;
  const auto option = texts("obs-key", field, "What was seen.");
  option.set("a,b[0:7]");
  EXPECT_THAT(field, ::testing::ElementsAre("a", "b[0:7]"));
  option.set(json::array({"c", "d,e"}));
  EXPECT_THAT(field, ::testing::ElementsAre("c", "d", "e"));
  EXPECT_EQ(option.get(), "c,d,e");
  EXPECT_THROW(option.set(3), InvalidArgument);
}

TEST(ListOptions, FilesMayHaveCommasInTheirNames) {
  std::vector<std::string> field;
  const auto option = paths("data", field, "The dataset.");
  option.set("a,b.h5");
  EXPECT_THAT(field, ::testing::ElementsAre("a,b.h5"));
  EXPECT_EQ(option.get(), "a,b.h5");
  option.set(json::array({"a.h5", "b.h5"}));
  EXPECT_EQ(option.get(), json::array({"a.h5", "b.h5"}));
  option.set("");
  EXPECT_TRUE(field.empty());
}

TEST(Sizes, AreReadAndWrittenWithTheirUnits) {
  std::int64_t field = 0;
  const auto option = bytes("memory", field, "How much.");
  EXPECT_EQ(option.get(), "none");
  for (const auto& [text, value, shown] : {std::tuple{"2GB", 2'000'000'000LL, "2GB"},
                                           {"500 mb", 500'000'000LL, "500MB"},
                                           {"2GiB", 2LL << 30, "2GiB"},
                                           {"1.5GB", 1'500'000'000LL, "1500MB"},
                                           {"123", 123LL, "123"},
                                           {"none", 0LL, "none"}}) {
    option.set(text);
    EXPECT_EQ(field, value) << text;
    EXPECT_EQ(option.get(), shown);
  }
  option.set(1000);
  EXPECT_EQ(field, 1000);
  for (const auto& bad : {json("much"), json("-1GB"), json("2 apples"), json("0"), json("nanGB"),
                          json(-3), json(true), json("")})
    EXPECT_THROW(option.set(bad), InvalidArgument) << bad;
}

TEST(FormerNames, AreUnderstoodAndNotWritten) {
  std::vector<std::string> field;
  OptionTable table{texts("obs-key", field, "What was seen.")};
  table[0].former_name = "observation-keys";
  from_json(table, {{"observation-keys", "a,b"}}, "an old record");
  EXPECT_THAT(field, ::testing::ElementsAre("a", "b"));
  EXPECT_TRUE(to_json(table).contains("obs-key"));
  EXPECT_EQ(find_option(table, ""), nullptr);
}

}  // namespace
}  // namespace kindred
