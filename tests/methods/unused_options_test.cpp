// Options that a fit would not read are refused where the user set them.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kindred/core/error.h"
#include "kindred/methods/method.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/policy_search/options.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

using testing::gridworld;
using testing::linear_control;
using Set = std::vector<std::pair<std::string, std::string>>;

/// What is said of these options, all set by the user; "" where they are accepted.
std::string complaint(const std::string& name, const Set& set, const Trajectories& data) {
  const auto method = find_method(name).make();
  const auto table = method->describe();
  std::vector<std::string> names;
  for (const auto& [option, value] : set) {
    set_from_text(*find_option(table, option), value);
    names.push_back(option);
  }
  try {
    method->check(data, {}, names);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

Trajectories continuous() { return linear_control({.episodes = 12, .length = 20}); }
Trajectories tables() { return gridworld("diagonal", 3); }
Trajectories planes() { return gridworld("extra", 3); }

TEST(UnusedOptions, OfPgKmeansOnFeatures) {
  const auto data = continuous();
  EXPECT_EQ(complaint("pg-kmeans", {{"k", "2"}, {"hidden", "64"}}, data),
            "'--hidden' is for policies that are networks; add '--policy mlp'");
  EXPECT_EQ(complaint("pg-kmeans", {{"hidden", "128"}}, data),  // as by default
            "'--hidden' is for policies that are networks; add '--policy mlp' and '-k'");
  EXPECT_EQ(complaint("pg-kmeans", {{"k", "2"}, {"max-rounds", "4"}}, data),
            "'--max-rounds' is for answers that the objective chooses; add '--choose objective'");
  EXPECT_EQ(complaint("pg-kmeans", {{"k", "2"}, {"k-max", "4"}}, data),
            "'--k-max' is for '-k auto'; leave it out");
  EXPECT_EQ(complaint("pg-kmeans", {{"smoothing", "1"}}, data),
            "'--smoothing' is for tables that the objective chooses; add '--policy tabular' and "
            "'--choose objective'");
  EXPECT_EQ(complaint("pg-kmeans", {{"k-max", "4"}, {"cosines", "9"}, {"ridge", "1"}}, data), "");
  EXPECT_EQ(complaint("pg-kmeans", {{"k", "3"}, {"merge-to", "2"}, {"restarts", "4"}}, data), "");
}

TEST(UnusedOptions, OfPgKmeansWithNetworks) {
  const Set networks{{"k", "2"}, {"policy", "mlp"}};
  const auto with = [&](Set more, const Trajectories& data) {
    more.insert(more.begin(), networks.begin(), networks.end());
    return complaint("pg-kmeans", more, data);
  };
  EXPECT_EQ(with({{"hidden", "64"},
                  {"init", "random"},
                  {"max-steps", "9"},
                  {"batch-steps", "8"},
                  {"common-share", "off"},
                  {"log-prob-floor", "-3"},
                  {"standardize-actions", "true"}},
                 continuous()),
            "");
  EXPECT_EQ(with({{"cosines", "9"}}, continuous()),
            "'--cosines' is for policies on features; add '--policy features'");
  EXPECT_EQ(with({{"refine", "false"}}, continuous()),
            "'--refine' is for merging; add a '--merge-to' below '-k'");
  EXPECT_EQ(with({{"merge-to", "1"}, {"merge-rule", "printed"}, {"refine", "false"}}, continuous()),
            "");
  EXPECT_EQ(with({{"batch-steps", "8"}, {"batch-trajectories", "4"}}, continuous()),
            "'--batch-steps' is for minibatches of single steps; leave out '--batch-trajectories'");
  EXPECT_EQ(with({{"batch-steps", "8"}}, tables()),
            "'--batch-steps' is for minibatches, which this data does not need; leave it out");
  EXPECT_EQ(with({{"standardize-actions", "false"}}, tables()),
            "'--standardize-actions' is for continuous actions; leave it out");
  EXPECT_EQ(with({{"hidden", "64"}, {"max-steps", "9"}}, tables()), "");
  EXPECT_EQ(with({{"hidden", "64"}}, testing::without_interning(planes())),
            "'--hidden' is for answers that the objective chooses; add '--choose objective'");
  EXPECT_EQ(with({{"hidden", "64"}, {"choose", "objective"}, {"batch-steps", "8"}},
                 testing::without_interning(planes())),
            "");
}

TEST(UnusedOptions, OfPgKmeansInTables) {
  const auto data = tables();
  const Set by_objective{{"k", "2"}, {"policy", "tabular"}, {"choose", "objective"}};
  const auto with = [&](Set more) {
    more.insert(more.begin(), by_objective.begin(), by_objective.end());
    return complaint("pg-kmeans", more, data);
  };
  EXPECT_EQ(with({{"smoothing", "1"}, {"max-rounds", "4"}, {"log-prob-floor", "-3"}}), "");
  EXPECT_EQ(with({{"max-steps", "9"}}),
            "'--max-steps' is for policies that are networks; add '--policy mlp'");
  EXPECT_EQ(complaint("pg-kmeans", {{"cosines", "9"}}, data),
            "'--cosines' is for policies on features; add '--policy features'");
  EXPECT_EQ(complaint("pg-kmeans", {{"k-max", "4"}}, data), "");
}

TEST(UnusedOptions, OnAGpuAreThoseOfNetworksThatNeedNoSearch) {
  const auto data = testing::without_interning(planes());
  pg_kmeans::Options options;
  options.k = 2;
  const auto is_unused = [&](const std::string& device) {
    RunContext run;
    run.device = device;
    const auto unused = pg_kmeans::unused_options(options, data, run);
    return std::ranges::any_of(unused, [](const UnusedOptions& group) {
      return std::ranges::count(group.names, "hidden") > 0;
    });
  };
  EXPECT_TRUE(is_unused("cpu"));
  EXPECT_FALSE(is_unused("cuda"));
}

TEST(UnusedOptions, OfPolicySearch) {
  EXPECT_EQ(complaint("policy-search",
                      {{"k-max", "4"}, {"restarts", "2"}, {"random-features", "9"}, {"l2", "1"}},
                      continuous()),
            "");
  EXPECT_EQ(complaint("policy-search", {{"k", "2"}, {"k-max", "4"}}, continuous()),
            "'--k-max' is for '-k auto'; leave it out");
  const auto narrow = gridworld("bandit", 10);
  ASSERT_EQ(policy_search::policy_class_for(narrow), policy_search::PolicyClass::kTables);
  EXPECT_EQ(complaint("policy-search", {{"l2", "10"}}, narrow),
            "'--l2' is for policies on features, and this data gets tables; leave it out");
  EXPECT_EQ(complaint("policy-search", {{"restarts", "2"}}, narrow), "");
  const auto seen = testing::without_interning(planes());
  ASSERT_EQ(policy_search::policy_class_for(seen), policy_search::PolicyClass::kPlanes);
  EXPECT_EQ(
      complaint("policy-search", {{"random-features", "9"}}, seen),
      "'--random-features' is for policies on features, and this data gets networks; leave it out");
  EXPECT_EQ(complaint("policy-search", {{"restarts", "2"}}, seen),
            "'--restarts' is for policies on features or in tables, and this data gets networks; "
            "leave it out");
  EXPECT_EQ(complaint("policy-search", {{"l2", "1"}}, seen), "");
}

TEST(UnusedOptions, OfTheOtherMethods) {
  const auto data = continuous();
  EXPECT_EQ(complaint("sorl", {{"k", "2"}, {"merge-rule", "printed"}}, data),
            "'--merge-rule' is for merging; add a '--merge-to' below '-k'");
  EXPECT_EQ(complaint("sorl", {{"k", "3"}, {"merge-to", "2"}, {"merge-rule", "printed"}}, data),
            "");
  EXPECT_EQ(complaint("dec", {{"kl-weight", "1"}}, data),
            "'--kl-weight' is for '--variant joint'; add it");
  EXPECT_EQ(complaint("dec", {{"variant", "joint"}, {"pretrain", "0.5"}}, data),
            "'--pretrain' is for '--variant pretrained'; leave it out");
  EXPECT_EQ(complaint("dec", {{"pretrain", "0.5"}, {"kmeans-starts", "2"}}, data), "");
  EXPECT_EQ(complaint("dec", {{"variant", "joint"}, {"kl-weight", "1"}}, data), "");
  EXPECT_EQ(complaint("caae", {{"alpha", "0"}, {"warmup", "0.5"}}, data),
            "'--warmup' is for an '--alpha' above 0; leave it out");
  EXPECT_EQ(complaint("caae", {{"alpha", "2"}, {"warmup", "0.5"}}, data), "");
  for (const char* method : {"caae", "dec", "vae-kmeans", "vq-vae", "sorl", "return-kmeans"}) {
    EXPECT_EQ(complaint(method, {{"k", "2"}, {"k-max", "4"}}, data),
              "'--k-max' is for '-k auto'; leave it out");
    EXPECT_EQ(complaint(method, {{"k", "auto"}, {"k-max", "4"}}, data), "");
    EXPECT_EQ(complaint(method, {{"k", "3"}, {"merge-to", "2"}}, data), "");
  }
}

TEST(UnusedOptions, OfPresetsAreNotTheUsers) {
  const auto method = find_method("pg-kmeans").make();
  method->use_preset("paper");
  find_option(method->describe(), "k")->set(2);
  EXPECT_NO_THROW(method->check(tables(), {}, {"k"}));
}

/// Every option of PG-Kmeans, however it is set up, is named once at most, by the name it has.
TEST(UnusedOptions, AreNamedOnce) {
  const auto all = pg_kmeans::Options().describe();
  for (const auto& data : {continuous(), tables(), testing::without_interning(planes())})
    for (const auto policy : {pg_kmeans::PolicyKind::kAuto, pg_kmeans::PolicyKind::kFeatures,
                              pg_kmeans::PolicyKind::kMlp, pg_kmeans::PolicyKind::kTabular})
      for (const auto choose : {pg_kmeans::Choose::kAuto, pg_kmeans::Choose::kObjective})
        for (const std::int64_t k : {0, 2}) {
          pg_kmeans::Options options;
          options.k = k;
          options.policy = policy;
          options.choose = choose;
          std::vector<UnusedOptions> unused;
          try {
            unused = pg_kmeans::unused_options(options, data, {});
          } catch (const InvalidArgument&) {  // of what does not fit the data
          }
          std::set<std::string> names;
          for (const auto& group : unused)
            for (const auto& name : group.names) {
              EXPECT_TRUE(names.insert(name).second) << name;
              const auto* option = find_option(all, name);
              ASSERT_TRUE(option) << name;
              EXPECT_EQ(option->name, name);
            }
        }
}

/// Another value than the default for each option that some fit of PG-Kmeans does not read.
const std::map<std::string, std::string> kOthers = {{"init", "fingerprint"},
                                                    {"max-rounds", "3"},
                                                    {"change-tolerance", "0.5"},
                                                    {"log-prob-floor", "-1"},
                                                    {"empty-cluster", "reseed"},
                                                    {"merge-rule", "printed"},
                                                    {"refine", "false"},
                                                    {"common-share", "off"},
                                                    {"standardize", "off"},
                                                    {"standardize-actions", "false"},
                                                    {"hidden", "8"},
                                                    {"hidden-layers", "1"},
                                                    {"learning-rate", "0.1"},
                                                    {"max-gradient-norm", "0.01"},
                                                    {"max-steps", "3"},
                                                    {"plateau-steps", "2"},
                                                    {"plateau-tolerance", "1"},
                                                    {"batch-steps", "3"},
                                                    {"batch-trajectories", "2"},
                                                    {"buffer-steps", "40"},
                                                    {"smoothing", "5"},
                                                    {"cosines", "3"},
                                                    {"ridge", "1000"},
                                                    {"separation", "3"},
                                                    {"restarts", "2"},
                                                    {"k-max", "2"}};

TEST(UnusedOptions, OfPgKmeansChangeNothing) {
  struct Case {
    Trajectories data;
    Set set;
  };
  const Set search{{"choose", "held-out"}, {"restarts", "3"}};
  const Set rounds{{"choose", "objective"}, {"restarts", "1"}, {"k", "2"}};
  const auto with = [](Set some, const Set& more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
  };
  const Set networks{{"hidden", "16"}, {"max-steps", "20"}, {"max-rounds", "2"}};
  const auto seen = testing::without_interning(planes());
  for (const auto& [data, set] :
       {Case{continuous(), search}, Case{continuous(), with(search, {{"k", "2"}})},
        Case{tables(), with(search, {{"policy", "tabular"}})},
        Case{gridworld("bandit", 10), with(search, {{"policy", "tabular"}})},
        Case{seen, with(search, {{"policy", "mlp"}})}, Case{continuous(), with(rounds, networks)},
        Case{tables(), with(rounds, networks)},
        Case{continuous(), with(with(rounds, networks), {{"batch-trajectories", "3"}})},
        Case{tables(), with(rounds, {{"policy", "tabular"}})}}) {
    pg_kmeans::Options options;
    const auto table = options.describe();
    for (const auto& [name, value] : set) set_from_text(*find_option(table, name), value);
    const auto usual = pg_kmeans::fit(data, options);
    for (const auto& group : pg_kmeans::unused_options(options, data, {}))
      for (const auto& name : group.names) {
        if (name == "k-max" && options.searches()) continue;  // it starts from as many clusters
        auto other = options;
        set_from_text(*find_option(other.describe(), name), kOthers.at(name));
        const auto found = pg_kmeans::fit(data, other);
        EXPECT_EQ(found.labels, usual.labels) << name;
        EXPECT_EQ(found.scores.values, usual.scores.values) << name;
        EXPECT_EQ(found.objective, usual.objective) << name;
      }
  }
}

}  // namespace
}  // namespace kindred
