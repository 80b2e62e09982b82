#include "kindred/runs/export.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/version.h"
#include "kindred/data/npy.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/return_kmeans/return_kmeans.h"
#include "tests/clustering/synthetic.h"
#include "tests/runs/finished_run.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::UnorderedElementsAre;

/// Two policies that see columns 2 and 0 of three, scaled. Their actions have four numbers, which
/// may have units of their own.
NetworkCentres networks(bool discrete, std::vector<std::int64_t> hidden = {7, 5},
                        NetworkActions units = {}) {
  PolicyStack stack({.inputs = 2,
                     .discrete = discrete,
                     .actions = units.predicted(4),
                     .hidden = std::move(hidden)},
                    2);
  for (std::int64_t i = 0; i < 2; ++i)
    stack.initialise(i, Random(3, "export", static_cast<std::uint64_t>(i)));
  return {
      {.inputs = {.obs_dim = 3, .columns = {2, 0}, .mean = {10.0F, -1.0F}, .scale = {0.3F, 2.0F}},
       .actions = std::move(units)},
      std::move(stack)};
}

/// Two policies over the observations (0, 1), (1, 0) and (1, 1), with three actions.
TabularCentres tables() {
  std::vector<double> log_probs;
  for (int i = 0; i < 18; ++i) log_probs.push_back(-0.1 * (i % 7) - 0.5);
  return {std::vector<float>{0, 1, 1, 0, 1, 1}, 2, 3, log_probs, 2};
}

std::vector<float> random_rows(std::int64_t n, std::int64_t dim) {
  Random random(5, "observations");
  std::vector<float> rows;
  for (std::int64_t i = 0; i < n * dim; ++i)
    rows.push_back(static_cast<float>(10.0 * random.normal()));
  return rows;
}

at::Tensor as_tensor(std::vector<float>& rows, std::int64_t width) {
  return at::from_blob(rows.data(), {static_cast<std::int64_t>(rows.size()) / width, width});
}

class Export : public ::testing::Test {
 protected:
  Export() { fs::create_directories(home_); }
  ~Export() override { remove_tree(home_); }

  void write(const PolicyCentres& policies, std::span<const float> observations = {}) const {
    export_policies(policies, {"some/run", "pg-kmeans", PolicySource::kCentres, {30, 12}},
                    observations, folder_);
  }

  torch::jit::Module load(std::int64_t cluster) const {
    return torch::jit::load((folder_ / fmt::format("policy_{}.pt", cluster)).string());
  }

  template <class T>
  std::vector<T> read(const std::string& file, const std::string& array,
                      const std::vector<std::int64_t>& shape) const {
    const zip::Archive archive(folder_ / file);
    const auto* entry = archive.find(array + ".npy");
    if (!entry) return {};
    npy::ArrayReader reader(archive, *entry, array);
    EXPECT_EQ(reader.shape(), shape) << array;
    const auto values = reader.read<T>();
    return {values.begin(), values.end()};
  }

  /// What every module of `policies` gives for `rows` is what they themselves give.
  void expect_same(const PolicyCentres& policies, std::vector<float> rows) const {
    const auto observations = as_tensor(rows, policies.obs_dim());
    const std::int64_t parts = policies.discrete() ? 1 : 2;
    for (std::int64_t c = 0; c < policies.count(); ++c) {
      std::vector<float> own(
          static_cast<std::size_t>(observations.size(0) * parts * policies.actions()));
      policies.distribution(c, rows, own);
      const auto expected =
          as_tensor(own, policies.actions()).view({-1, parts, policies.actions()});
      auto module = load(c);
      const auto result = module.forward({observations});
      const auto found = policies.discrete()
                             ? result.toTensor().unsqueeze(1)
                             : at::stack({result.toTuple()->elements()[0].toTensor(),
                                          result.toTuple()->elements()[1].toTensor()},
                                         1);
      ASSERT_EQ(found.sizes(), expected.sizes());
      EXPECT_TRUE(at::allclose(found, expected, 1e-6, 1e-6))
          << (found - expected).abs().max().item<float>();
      const auto most =
          policies.discrete() ? expected.select(1, 0).argmax(1) : expected.select(1, 0);
      EXPECT_TRUE(
          at::allclose(module.get_method("act")({observations}).toTensor(), most, 1e-6, 1e-6));
    }
  }

  const fs::path home_ =
      fs::temp_directory_path() /
      fmt::format("kindred-export-{}-{}",
                  ::testing::UnitTest::GetInstance()->current_test_info()->name(), ::getpid());
  const fs::path folder_ = home_ / "policies";
};

TEST_F(Export, DiscreteNetworksComputeTheSame) {
  const auto policies = networks(true);
  write(policies);
  expect_same(policies, random_rows(50, 3));
}

TEST_F(Export, ContinuousNetworksComputeTheSame) {
  const auto policies = networks(false);
  write(policies);
  expect_same(policies, random_rows(50, 3));
}

/// Actions were scaled for the networks, and one number of them never varied.
TEST_F(Export, NetworksActInTheUnitsOfTheData) {
  const NetworkActions units{.mean = {0.5F, -300.0F, 7.0F, 0.0F},
                             .deviation = {0.01F, 200.0F, 0.0F, 1.0F}};
  const auto policies = networks(false, {7, 5}, units);
  const auto rows = random_rows(20, 3);
  write(policies, rows);
  ASSERT_EQ(policies.actions(), 4);
  expect_same(policies, rows);
  std::vector<float> scaled(20 * 2 * 4), plain(20 * 2 * 3);
  policies.distribution(0, rows, scaled);
  NetworkCentres({policies.view().inputs, {}},
                 policies.policies().select(std::vector<std::int64_t>{0}))
      .distribution(0, rows, plain);
  for (std::size_t row = 0; row < 20; ++row) {
    const float* mean = scaled.data() + row * 8;
    const float* predicted = plain.data() + row * 6;
    EXPECT_FLOAT_EQ(mean[1], -300.0F + 200.0F * predicted[1]);
    EXPECT_FLOAT_EQ(mean[3], predicted[2]);
    EXPECT_FLOAT_EQ(mean[4], 0.01F * predicted[3]);
    EXPECT_EQ(mean[2], 7.0F);
    EXPECT_EQ(mean[6], 0.0F);
  }
}

TEST_F(Export, NetworksWithoutHiddenLayersComputeTheSame) {
  const auto policies = networks(false, {});
  write(policies);
  expect_same(policies, random_rows(5, 3));
}

TEST_F(Export, TablesComputeTheSame) {
  const auto policies = tables();
  write(policies);
  expect_same(policies, {1, 0, 1, 1, 0, 1, 1, 0, -0.0F, 1, 7, 7});  // the last two are not in it
  std::vector<float> unseen = {7, 7};
  const auto chances = load(0).forward({as_tensor(unseen, 2)}).toTensor();
  EXPECT_EQ(chances.min().item<float>(), 1.0F / 3.0F);
}

/// Policies in closed form for data whose actions have units of their own, one of them constant.
TEST_F(Export, PoliciesInClosedFormComputeTheSame) {
  auto data = testing::linear_control({.episodes = 20, .act_dim = 3});
  std::vector<float> actions(data.actions.floats().begin(), data.actions.floats().end());
  for (std::size_t i = 0; i < actions.size(); ++i)
    actions[i] = i % 3 == 1 ? 7.0F : 100.0F * actions[i] - 30.0F;
  data.actions = Actions::continuous(Column<float>(std::move(actions)), 3);
  const auto run = pg_kmeans::fit(data, {});
  const auto& policies = dynamic_cast<const PolicyCentres&>(*run.centres);
  ASSERT_EQ(policies.count(), 2);
  write(policies, check_observations(policies, data));
  expect_same(policies, random_rows(50, policies.obs_dim()));

  // They do what the data's own do: their errors are the noise of the controllers.
  std::vector<float> would(6);
  double squares = 0.0;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
      std::vector<float> seen(static_cast<std::size_t>(policies.obs_dim()));
      data.observations.copy(t, t + 1, seen.data());
      policies.distribution(run.labels[static_cast<std::size_t>(i)], seen, would);
      squares += std::pow(would[0] - data.actions.floats()[t * 3], 2);
      EXPECT_EQ(would[1], 7.0F);
      EXPECT_EQ(would[4], 0.0F);
    }
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(data.steps())), 30.0, 3.0);
  EXPECT_NEAR(would[3], 30.0F, 3.0F);
}

TEST_F(Export, ChancesInClosedFormComputeTheSame) {
  const auto data = testing::without_interning(testing::gridworld("diagonal", 10));
  pg_kmeans::Options options;
  options.policy = pg_kmeans::PolicyKind::kFeatures;
  options.k = 2;
  const auto run = pg_kmeans::fit(data, options);
  const auto& policies = dynamic_cast<const PolicyCentres&>(*run.centres);
  ASSERT_TRUE(policies.discrete());
  const auto rows = check_observations(policies, data);
  write(policies, rows);
  expect_same(policies, rows);
  std::vector<float> chances(rows.size() / static_cast<std::size_t>(policies.obs_dim()) * 5);
  policies.distribution(0, rows, chances);
  for (std::size_t r = 0; r < chances.size(); r += 5)
    EXPECT_NEAR(std::accumulate(chances.begin() + static_cast<std::ptrdiff_t>(r),
                                chances.begin() + static_cast<std::ptrdiff_t>(r + 5), 0.0),
                1.0, 1e-5);
}

TEST_F(Export, LargeTablesAreSearchedInBlocks) {
  constexpr std::int64_t kRows = 3000, kDim = 40;  // ten observations are more than one block
  auto rows = random_rows(kRows, kDim);
  std::vector<double> log_probs;
  for (std::int64_t i = 0; i < kRows * 2; ++i) log_probs.push_back(-0.01 * static_cast<double>(i));
  const TabularCentres policies(rows, kDim, 2, log_probs, 1);
  export_policies(policies, {"run", "pg-kmeans", PolicySource::kCentres, {1}}, {}, folder_);
  rows.resize(50 * kDim);
  rows[3 * kDim] += 1.0F;  // one of them unseen
  expect_same(policies, rows);
}

TEST_F(Export, ModulesDescribeThemselves) {
  write(networks(false));
  auto module = load(1);
  EXPECT_EQ(module.attr("obs_dim").toInt(), 3);
  EXPECT_EQ(module.attr("discrete").toBool(), false);
  EXPECT_EQ(module.attr("actions").toInt(), 4);
  EXPECT_EQ(module.attr("method").toStringRef(), "pg-kmeans");
  EXPECT_EQ(module.attr("cluster").toInt(), 1);
  EXPECT_EQ(module.attr("version").toStringRef(), kVersion);
  EXPECT_THROW(module.forward({at::zeros({2, 4})}), std::exception);
  EXPECT_THROW(module.forward({at::zeros({3})}), std::exception);
}

TEST_F(Export, SamplesFollowTheDistribution) {
  write(networks(true));
  auto rows = random_rows(1, 3);
  const auto observations = as_tensor(rows, 3).repeat({20'000, 1});
  at::manual_seed(1);
  auto module = load(0);
  const auto drawn = module.get_method("sample")({observations}).toTensor();
  const auto shares = at::bincount(drawn, {}, 4).to(at::kFloat) / 20'000;
  EXPECT_LT((shares - module.forward({observations}).toTensor()[0]).abs().max().item<float>(),
            0.02);
}

TEST_F(Export, ArraysAndTheirDescription) {
  write(networks(false));
  EXPECT_THAT(read<std::int64_t>("policy_0.npz", "input_columns", {2}), ElementsAre(2, 0));
  EXPECT_THAT(read<float>("policy_0.npz", "input_mean", {2}), ElementsAre(10.0F, -1.0F));
  EXPECT_THAT(read<float>("policy_0.npz", "input_scale", {2}), ElementsAre(0.3F, 2.0F));
  EXPECT_EQ(read<float>("policy_0.npz", "hidden_0_weight", {2, 7}).size(), 14U);
  EXPECT_EQ(read<float>("policy_0.npz", "hidden_1_bias", {5}).size(), 5U);
  const auto centres = networks(false);
  const auto expected = centres.policies().parameters()[6].of(1);  // std_weight
  EXPECT_THAT(read<float>("policy_1.npz", "std_weight", {5, 4}),
              ::testing::ElementsAreArray(expected));

  const auto about = nlohmann::json::parse(read_text(folder_ / "policies.json"));
  EXPECT_EQ(about["kind"], "network");
  EXPECT_EQ(about["obs_dim"], 3);
  EXPECT_EQ(about["discrete"], false);
  EXPECT_EQ(about["actions"], 4);
  EXPECT_EQ(about["policies"][1]["episodes"], 12);
  EXPECT_EQ(about["policies"][1]["arrays"], "policy_1.npz");
  std::vector<std::string> layers;
  for (const auto& layer : about["layers"]) layers.push_back(layer["name"]);
  EXPECT_THAT(layers, ElementsAre("hidden_0", "hidden_1", "mean", "std"));
  const zip::Archive archive(folder_ / "policy_0.npz");
  EXPECT_EQ(about["arrays"].size(), archive.entries().size());
}

TEST_F(Export, CheckHoldsWhatKindredComputes) {
  const auto policies = networks(true);
  const auto rows = random_rows(6, 3);
  write(policies, rows);
  EXPECT_EQ(read<float>("check.npz", "observations", {6, 3}), rows);
  const auto chances = read<float>("check.npz", "probabilities", {2, 6, 4});
  const auto actions = read<std::int64_t>("check.npz", "actions", {2, 6});
  ASSERT_EQ(chances.size(), 48U);
  std::vector<float> own(24);
  policies.distribution(1, rows, own);
  EXPECT_EQ(std::vector<float>(chances.begin() + 24, chances.end()), own);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(own[i * 4 + static_cast<std::size_t>(actions[6 + i])],
              std::ranges::max(std::span(own).subspan(i * 4, 4)));
}

TEST_F(Export, CheckHoldsMeansAndDeviations) {
  const auto policies = networks(false);
  const auto rows = random_rows(2, 3);
  write(policies, rows);
  std::vector<float> own(16);  // [2, 2, 4]
  policies.distribution(1, rows, own);
  const auto mean = read<float>("check.npz", "mean", {2, 2, 4});
  const auto std = read<float>("check.npz", "std", {2, 2, 4});
  EXPECT_EQ(std::vector<float>(mean.begin() + 8, mean.begin() + 12),
            std::vector<float>(own.begin(), own.begin() + 4));
  EXPECT_EQ(std::vector<float>(std.begin() + 12, std.end()),
            std::vector<float>(own.begin() + 12, own.end()));
  EXPECT_EQ(read<float>("check.npz", "actions", {2, 2, 4}), mean);
}

TEST_F(Export, CheckLooksAllOverTheData) {
  const auto data = testing::linear_control({});
  PolicyStack stack({.inputs = 1, .discrete = false, .actions = 2}, 1);
  const NetworkCentres policies(
      {.inputs = {.obs_dim = 3, .columns = {0}, .mean = {0}, .scale = {1}}, .actions = {}},
      std::move(stack));
  const auto rows = check_observations(policies, data);
  ASSERT_EQ(rows.size(), 256U * 3);
  std::vector<float> step(3);
  data.observations.copy(255 * data.steps() / 256, 255 * data.steps() / 256 + 1, step.data());
  EXPECT_EQ(std::vector<float>(rows.end() - 3, rows.end()), step);
  EXPECT_THROW(check_observations(tables(), data), DataFormatError);
}

TEST_F(Export, TheFolderIsWholeOrNotThere) {
  write(tables(), std::vector<float>{1, 1});
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names,
              UnorderedElementsAre("policy_0.pt", "policy_0.npz", "policy_1.pt", "policy_1.npz",
                                   "policies.json", "check.npz", "example.py"));
  EXPECT_THAT(message_of([&] { write(tables()); }), HasSubstr("holds files already"));

  remove_tree(folder_);
  fs::create_directories(folder_);  // an empty one is as good as none
  write(tables());
  EXPECT_TRUE(fs::exists(folder_ / "policies.json"));
  EXPECT_FALSE(fs::exists(folder_ / "check.npz"));

  const ExportOrigin incomplete{"run", "pg-kmeans", PolicySource::kCentres, {}};
  EXPECT_ANY_THROW(export_policies(tables(), incomplete, {}, home_ / "broken"));
  write_text(home_ / "file", "");
  EXPECT_THAT(message_of([&] { export_policies(tables(), incomplete, {}, home_ / "file"); }),
              HasSubstr("is a file"));
  EXPECT_THAT(message_of([&] { export_policies(tables(), incomplete, {}, home_ / "no/where"); }),
              HasSubstr("cannot make the folder"));
  EXPECT_THAT(message_of([&] { export_policies(tables(), incomplete, {}, ""); }),
              HasSubstr("has no name"));
  EXPECT_EQ(std::distance(fs::directory_iterator(home_), {}), 2) << "policies and file";
}

TEST_F(Export, RunsWithoutPoliciesSayWhatToDo) {
  LoadedRun run;
  run.record.method = "return-kmeans";
  run.centres = return_kmeans::fit(testing::linear_control({}), {}).centres;
  const RunFolder folder(home_);
  const auto asked = [&](PolicySource source) {
    return message_of([&] { policies_of(folder, run, source); });
  };
  EXPECT_THAT(asked(PolicySource::kCentres), HasSubstr("let 'kindred evaluate' clone one"));
  EXPECT_THAT(asked(PolicySource::kEvaluated), HasSubstr("was not evaluated yet"));

  ArrayFileWriter file(folder.policies());
  tables().save(file);
  file.close();
  EXPECT_THAT(asked(PolicySource::kCentres), HasSubstr("'--policies evaluated'"));
  EXPECT_EQ(policies_of(folder, run, PolicySource::kEvaluated)->actions(), 3);
}

}  // namespace
}  // namespace kindred
