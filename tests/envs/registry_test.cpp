#include "kindred/envs/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/core/error.h"
#include "tests/envs/playing.h"

namespace kindred {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Registry, ListsEveryEnvironmentOnce) {
  std::vector<std::string> names;
  for (const auto& info : environments()) names.push_back(info.name);
  EXPECT_THAT(names, ::testing::ElementsAre("diagonal", "takeball", "takeball-permuted", "extra",
                                            "path-following", "bandit", "hopper", "halfcheetah",
                                            "walker2d", "ant"));
}

TEST(Registry, EnvironmentsAreWhatTheirEntrySays) {
  for (const auto& info : available_environments()) {
    const auto environment = make_environment(info.name);
    EXPECT_EQ(environment->spec().name, info.name);
    EXPECT_EQ(environment->spec().summary, info.summary);
  }
}

TEST(Registry, OptionsDescribeAndRemakeAnEnvironment) {
  for (const auto& info : available_environments()) {
    const auto options = info.make_options();
    const auto table = options->describe();
    EXPECT_FALSE(table.empty());
    for (const auto& option : table) EXPECT_FALSE(option.help.empty()) << option.name;
    set_from_text(*find_option(table, "horizon"), "17");
    const auto environment = options->make();
    EXPECT_EQ(environment->spec().horizon, 17);
    EXPECT_EQ(environment->options(), nlohmann::json(to_json(table)));
    EXPECT_EQ(make_environment(info.name, environment->options())->options(),
              environment->options());
  }
}

TEST(Registry, UnknownNamesAndKeysAreErrorsThatHelp) {
  EXPECT_THAT(message_of([] { make_environment("diagnoal"); }),
              ::testing::AllOf(::testing::HasSubstr("diagnoal"), ::testing::HasSubstr("takeball")));
  EXPECT_THAT(message_of([] {
                make_environment("diagonal", {{"slpi", 0.1}});
              }),
              ::testing::AllOf(::testing::HasSubstr("slpi"), ::testing::HasSubstr("slip")));
}

TEST(Registry, ImpossibleOptionsAreErrors) {
  EXPECT_THROW(make_environment("diagonal", {{"slip", 1.5}}), InvalidArgument);
  EXPECT_THROW(make_environment("diagonal", {{"size", 3}}), InvalidArgument);
  EXPECT_THROW(make_environment("diagonal", {{"horizon", 0}}), InvalidArgument);
  EXPECT_THAT(message_of([] {
                make_environment("diagonal", {{"start-size", 7}});
              }),
              ::testing::HasSubstr("6 fit"));
  EXPECT_THAT(message_of([] {
                make_environment("takeball", {{"start-columns", 7}});
              }),
              ::testing::HasSubstr("6 fit"));
  EXPECT_THROW(make_environment("bandit", {{"first-state-share", -0.1}}), InvalidArgument);
}

}  // namespace
}  // namespace kindred
