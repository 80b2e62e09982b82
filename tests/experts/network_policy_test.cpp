// What networks are shown, what they answer, and the file they are kept in.
#include "kindred/experts/network_policy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/error.h"
#include "kindred/envs/extra.h"
#include "kindred/envs/registry.h"
#include "tests/envs/drift.h"
#include "tests/nn/plain_mlp.h"

namespace kindred {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<float> random_numbers(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(n);
  for (auto& value : values) value = static_cast<float>(random.normal());
  return values;
}

NetworkPolicy make_policy(const EnvironmentSpec& spec, std::uint64_t seed = 1) {
  auto view = InputView::of(spec);
  const auto numbers = random_numbers(2 * view.mean.size(), seed);
  std::copy_n(numbers.begin(), view.mean.size(), view.mean.begin());
  for (std::size_t i = 0; i < view.scale.size(); ++i)
    view.scale[i] = 0.5f + std::abs(numbers[view.mean.size() + i]);
  Mlp network({.inputs = view.inputs(),
               .hidden = {16, 32},
               .outputs = spec.action_width,
               .sparse = view.is_sparse()});
  network.initialise(Random(seed, "policy"), 1.0);
  std::vector<float> log_deviation;
  if (!spec.is_discrete()) log_deviation.assign(static_cast<std::size_t>(spec.action_width), -0.5f);
  return {"tester", "Acts \"somehow\"…", view, network, log_deviation};
}

/// Observations of Extra at the start of `count` episodes.
std::vector<float> extra_observations(const Environment& environment, std::int32_t count) {
  const auto dim = static_cast<std::size_t>(environment.spec().observation_dim());
  const auto lanes = environment.make_lanes(count);
  std::vector<float> all;
  for (std::int32_t lane = 0; lane < count; ++lane) {
    lanes->reset(lane, Random(6, "maps", static_cast<std::uint64_t>(lane)));
    all.resize(all.size() + dim);
    lanes->observe(std::span(&lane, 1), std::span(all).last(dim));
  }
  return all;
}

TEST(InputView, IsCentredWhereEveryEpisodeHasItsOwnMap) {
  const auto extra = InputView::of(make_environment("extra")->spec());
  EXPECT_EQ(extra.kind, InputView::Kind::kCentred);
  EXPECT_TRUE(extra.is_sparse());
  EXPECT_EQ(extra.inputs(), 13 * 13 * 4);  // from -6 to 6 of a picture of 9, less the agent's plane
  const auto small = InputView::of(Extra({.size = 7, .one_plane = true}).spec());
  EXPECT_EQ(small.inputs(), 9 * 9 * 3);
  for (const char* name : {"diagonal", "takeball", "bandit", "path-following"}) {
    const auto environment = make_environment(name);
    const auto view = InputView::of(environment->spec());
    EXPECT_EQ(view.kind, InputView::Kind::kStandardised) << name;
    EXPECT_EQ(view.inputs(), environment->spec().observation_dim()) << name;
  }
}

TEST(InputView, StandardisesAndLimits) {
  InputView view;
  view.mean = {1.0f, -2.0f};
  view.scale = {2.0f, 0.5f};
  const std::vector<float> observations = {1.5f, 0.0f, 1e9f, -1e9f};
  std::vector<float> out(4);
  view.apply(2, observations.data(), out.data());
  EXPECT_THAT(out, ::testing::ElementsAre(1.0f, 1.0f, 10.0f, -10.0f));
}

/// Everything on the map appears where it lies as seen from the agent, and nothing else does.
TEST(InputView, CentredMovesTheAgentToTheMiddle) {
  for (const auto& options : {ExtraOptions{}, ExtraOptions{.size = 12}}) {
    const Extra environment(options);
    const auto view = InputView::of(environment.spec());
    const auto dim = static_cast<std::size_t>(environment.spec().observation_dim());
    const int reach = static_cast<int>(options.size) - 3, window = 2 * reach + 1;
    const auto observations = extra_observations(environment, 50);
    std::vector<float> all(50 * static_cast<std::size_t>(view.inputs()),
                           7.0f);  // to be overwritten
    view.apply(50, observations.data(), all.data());

    for (std::size_t i = 0; i < 50; ++i) {
      const auto map = decode_extra(std::span(observations).subspan(i * dim, dim));
      auto left = std::vector(all.begin() + static_cast<std::ptrdiff_t>(i) * view.inputs(),
                              all.begin() + static_cast<std::ptrdiff_t>(i + 1) * view.inputs());
      const auto take = [&](Cell cell, int plane) {
        const int row = cell.row - map.agent.row + reach;
        const int column = cell.column - map.agent.column + reach;
        if (row < 0 || row >= window || column < 0 || column >= window) return false;
        auto& number =
            left[static_cast<std::size_t>((std::int64_t{row} * window + column) * 4 + plane)];
        EXPECT_EQ(number, 1.0f) << "plane " << plane;
        number = 0.0f;
        return true;
      };
      EXPECT_TRUE(take(map.goal, 1));
      EXPECT_TRUE(take(*map.special[0], 2));
      EXPECT_TRUE(take(*map.special[1], 3));
      for (int row = 0; row < map.size; ++row)
        for (int column = 0; column < map.size; ++column)
          if (map.is_wall({row, column})) {
            const bool inside =
                row > 0 && column > 0 && row + 1 < map.size && column + 1 < map.size;
            EXPECT_TRUE(take({row, column}, 0) || !inside);  // of the ring, what is near enough
          }
      EXPECT_THAT(left, ::testing::Each(0.0f));
    }
  }
}

TEST(NetworkPolicy, DiscreteIsTheSoftmaxOfItsNetwork) {
  const auto environment = make_environment("extra");
  const auto policy = make_policy(environment->spec());
  const auto observations = extra_observations(*environment, 30);
  std::vector<float> probabilities(std::size_t{30} * 5);
  policy.distribution({30, {}, observations}, probabilities);

  const auto inputs = static_cast<std::size_t>(policy.view().inputs());
  std::vector<float> seen(30 * inputs);
  policy.view().apply(30, observations.data(), seen.data());
  const auto parameters = packed_doubles(policy.network());
  for (std::size_t i = 0; i < 30; ++i) {
    const auto logits = plain_outputs(policy.network().shape(), parameters,
                                      std::span(seen).subspan(i * inputs, inputs));
    double sum = 0.0;
    for (const double logit : logits) sum += std::exp(logit);
    for (std::size_t a = 0; a < 5; ++a)
      ASSERT_NEAR(static_cast<double>(probabilities[5 * i + a]), std::exp(logits[a]) / sum, 1e-6);
  }
}

TEST(NetworkPolicy, ContinuousIsAGaussianAboutItsNetwork) {
  const auto policy = make_policy(Drift().spec());
  const std::vector<float> observation = {0.3f, -0.7f};
  std::vector<float> gaussian(4), seen(2);
  policy.distribution({1, {}, observation}, gaussian);
  policy.view().apply(1, observation.data(), seen.data());
  const auto means =
      plain_outputs(policy.network().shape(), packed_doubles(policy.network()), seen);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(static_cast<double>(gaussian[i]), means[i], 1e-6);
    EXPECT_FLOAT_EQ(gaussian[2 + i], std::exp(-0.5f));
  }
}

/// A policy as SAC trains them: two outputs for each number of an action.
NetworkPolicy make_squashed(std::int64_t outputs = 4) {
  auto view = InputView::of(Drift().spec());
  view.limit = 1000.0f;
  Mlp network({.inputs = 2, .hidden = {16}, .outputs = outputs, .activation = Activation::kRelu});
  network.initialise(Random(3, "policy"), 1.0);
  return {"tester", "Acts.", view, network};
}

/// Mean and deviation of tanh(m + σ ε), of which two points are a good guess.
TEST(NetworkPolicy, SquashedIsTheGaussianNextToATanh) {
  const auto policy = make_squashed();
  EXPECT_EQ(policy.action_width(), 2);
  EXPECT_FALSE(policy.is_discrete());
  const std::vector<float> observation = {0.3f, -0.7f};
  std::vector<float> gaussian(4);
  policy.distribution({1, {}, observation}, gaussian);
  const auto outputs =
      plain_outputs(policy.network().shape(), packed_doubles(policy.network()), observation);
  for (std::size_t i = 0; i < 2; ++i) {
    const double sigma = std::exp(-1.5 + 3.5 * std::tanh(outputs[2 + i]));
    const double above = std::tanh(outputs[i] + sigma), below = std::tanh(outputs[i] - sigma);
    EXPECT_NEAR(static_cast<double>(gaussian[i]), (above + below) / 2.0, 1e-6);
    EXPECT_NEAR(static_cast<double>(gaussian[2 + i]), (above - below) / 2.0, 1e-6);
    Random random(4);
    double sum = 0.0, squares = 0.0;
    for (int draw = 0; draw < 20'000; ++draw) {
      const double action = std::tanh(outputs[i] + sigma * random.normal());
      sum += action;
      squares += action * action;
    }
    const double mean = sum / 20'000, deviation = std::sqrt(squares / 20'000 - mean * mean);
    EXPECT_NEAR(static_cast<double>(gaussian[i]), mean, 0.1);
    EXPECT_NEAR(static_cast<double>(gaussian[2 + i]), deviation, 0.15);
  }
}

TEST(NetworkPolicy, SquashedNeverBecomesCertain) {
  const std::vector<float> outputs = {30.0f, 0.0f, -30.0f, 50.0f};
  std::vector<float> gaussian(4);
  to_squashed_distribution(1, outputs, 4, 2, gaussian);
  EXPECT_EQ(gaussian[0], 1.0f);
  EXPECT_EQ(gaussian[2], 0.001f);
  EXPECT_LE(gaussian[3], 1.0f);
}

TEST(NetworkPolicy, SquashedIsKeptInAFileBitByBit) {
  const auto bytes = make_squashed().to_bytes();
  const auto copy = NetworkPolicy::from_bytes(bytes, "file 'x'");
  EXPECT_EQ(copy->to_bytes(), bytes);
  EXPECT_EQ(copy->actions(), NetworkPolicy::Actions::kSquashed);
  EXPECT_EQ(copy->view().limit, 1000.0f);
  EXPECT_EQ(copy->network().shape().activation, Activation::kRelu);
  EXPECT_THROW(make_squashed(3), InvalidArgument);
  for (const char* limit : {"-1000", "\"1000\"", "0", "1e300", "null"}) {
    auto odd = bytes;
    odd.replace(odd.find("1000.0"), 6, limit);
    EXPECT_THAT([&] { NetworkPolicy::from_bytes(odd, "file 'x'"); },
                ThrowsMessage<DataFormatError>(HasSubstr("limit")))
        << limit;
  }
  auto odd = bytes;
  odd.replace(odd.find("\"relu\""), 6, "\"rely\"");
  EXPECT_THAT([&] { NetworkPolicy::from_bytes(odd, "file 'x'"); },
              ThrowsMessage<DataFormatError>(HasSubstr("activation")));
}

TEST(NetworkPolicy, HowManyAreAskedAtOnceDoesNotMatter) {
  const auto environment = make_environment("extra");
  const auto policy = make_policy(environment->spec());
  const auto dim = static_cast<std::size_t>(environment->spec().observation_dim());
  const auto observations = extra_observations(*environment, 700);
  std::vector<float> together(std::size_t{700} * 5), alone(5);
  policy.distribution({700, {}, observations}, together);
  for (std::size_t i = 0; i < 700; ++i) {
    policy.distribution({1, {}, std::span(observations).subspan(i * dim, dim)}, alone);
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(),
                           together.begin() + static_cast<std::ptrdiff_t>(5 * i)));
  }
}

class PolicyFile : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Environment> environment_ = make_environment(GetParam());
  NetworkPolicy policy_ = make_policy(environment_->spec());
  std::string bytes_ = policy_.to_bytes();

  static std::shared_ptr<const NetworkPolicy> read(const std::string& bytes) {
    return NetworkPolicy::from_bytes(bytes, "file 'x'");
  }
  static void expect_refused(const std::string& bytes, const std::string& words) {
    EXPECT_THAT([&] { read(bytes); },
                ThrowsMessage<DataFormatError>(::testing::AllOf(
                    HasSubstr("file 'x'"), HasSubstr(words), ::testing::Not(HasSubstr("\n")))));
  }
  /// The file with another first line.
  std::string with(const std::string& key, const nlohmann::json& value) const {
    const auto end = bytes_.find('\n');
    auto header = nlohmann::json::parse(bytes_.substr(0, end));
    header[key] = value;
    return header.dump() + bytes_.substr(end);
  }
};
INSTANTIATE_TEST_SUITE_P(Environments, PolicyFile, ::testing::Values("extra", "path-following"),
                         [](const auto& tested) { return std::string(tested.param).substr(0, 4); });

TEST_P(PolicyFile, HoldsAllOfThePolicyBitByBit) {
  const auto copy = read(bytes_);
  EXPECT_EQ(copy->to_bytes(), bytes_);
  EXPECT_EQ(copy->name(), policy_.name());
  EXPECT_EQ(copy->summary(), policy_.summary());
  EXPECT_EQ(copy->network().shape(), policy_.network().shape());
  EXPECT_EQ(copy->network().packed(), policy_.network().packed());
  EXPECT_EQ(copy->view().mean, policy_.view().mean);
  EXPECT_EQ(copy->view().scale, policy_.view().scale);
  EXPECT_EQ(copy->view().kind, policy_.view().kind);
  EXPECT_EQ(copy->log_deviation(), policy_.log_deviation());
  EXPECT_EQ(copy->is_discrete(), environment_->spec().is_discrete());
}

TEST_P(PolicyFile, OfAnotherLengthIsRefused) {
  const auto header = bytes_.find('\n') + 1;
  for (std::size_t size = header; size < bytes_.size(); size += 97)
    expect_refused(bytes_.substr(0, size), "ends early");
  expect_refused(bytes_.substr(0, bytes_.size() - 1), "ends early");
  expect_refused(bytes_ + "x", "1 bytes more");
  for (std::size_t size = 0; size < header - 1; size += 7)
    expect_refused(bytes_.substr(0, size), "is not a policy file");
}

TEST_P(PolicyFile, ThatIsNoneIsRefused) {
  expect_refused("", "is not a policy file");
  expect_refused("hello\nworld", "is not a policy file");
  expect_refused("[1, 2, 3]\n", "is not a policy file");
  expect_refused("{}\n", "is not a policy file");
  expect_refused(std::string(10'000, '['), "is not a policy file");
  expect_refused(with("format", "kindred-policy-9"), "kindred-policy-9");
  expect_refused(with("format", 3), "has format 3");
}

TEST_P(PolicyFile, ThatDescribesAnImpossibleNetworkIsRefused) {
  for (const char* key : {"inputs", "outputs"})
    for (const nlohmann::json& value : nlohmann::json{0, -1, 1.5, 1e300, "16", nullptr, 1LL << 62})
      expect_refused(with(key, value), key);
  for (const nlohmann::json& value :
       nlohmann::json{0, "16", {16, -16}, {1e300}, {1LL << 62}, {16, "16"}, {nullptr}})
    expect_refused(with("hidden", value), "hidden");
  expect_refused(with("hidden", nlohmann::json::array()), "hidden");
  expect_refused(with("hidden", {1 << 20, 1 << 20}), "ends early");  // 4 TB, not to be allocated
  expect_refused(with("view", "sideways"), "sideways");
  expect_refused(with("actions", "possible"), "possible");
  if (policy_.view().is_sparse()) {
    for (const char* key : {"size", "planes"})
      for (const nlohmann::json& value : nlohmann::json{-5, 0, 1, 4, 1LL << 40, "9"})
        expect_refused(with(key, value), "");
  }
}

TEST_P(PolicyFile, WithANumberThatIsNoneIsRefused) {
  auto damaged = bytes_;
  damaged.replace(damaged.size() - 4, 4, "\x00\x00\xc0\x7f", 4);  // not a number
  expect_refused(damaged, "finite");
}

/// Bytes changed, taken out, doubled: every file is read or refused with a sentence.
TEST_P(PolicyFile, DamageNeverCrashes) {
  Random random(8);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    auto damaged = bytes_;
    const auto header = damaged.find('\n');
    for (auto changes = 1 + random.below(4); changes > 0; --changes) {
      const auto at = random.below(random.below(4) == 0 ? damaged.size() : header);
      switch (random.below(3)) {
        case 0:
          damaged[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          damaged.erase(at, 1 + random.below(8));
          break;
        default:
          damaged.insert(at, damaged.substr(at, 1 + random.below(8)));
      }
    }
    try {
      read(damaged);
    } catch (const DataFormatError& error) {
      ++refused;
      EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    }
  }
  EXPECT_GT(refused, 400);
}

}  // namespace
}  // namespace kindred
