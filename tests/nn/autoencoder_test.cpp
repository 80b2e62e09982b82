// Both engines compute what PyTorch's own modules compute, as a whole and part by part. Errors are
// relative to the largest number of each array; gradients are compared block by block.
#include "kindred/nn/autoencoder.h"

#include <gtest/gtest.h>

#include <functional>

#include "kindred/nn/latent_losses.h"
#include "sequences.h"

namespace kindred {
namespace {

using namespace testing;

constexpr Tolerance kTorchTolerance{.outputs = 2e-6, .gradients = 2e-5};

struct NamedEngine {
  const char* name;
  std::function<std::unique_ptr<AutoencoderEngine>(const AutoencoderArchitecture&)> make;
};

std::vector<NamedEngine> engines() {
  return {{"LibTorch", make_torch_autoencoder},
          {"CPU, one thread", [](const auto& a) { return make_cpu_autoencoder(a, Workers(1)); }},
          {"CPU, two threads", [](const auto& a) { return make_cpu_autoencoder(a, Workers(2)); }}};
}

/// The network of the fixture and the sequences it saw.
struct Case {
  explicit Case(const std::string& name) : prefix(name + "/") {
    architecture.discrete = name == "discrete";
    const auto observations = fixture.floats(prefix + "observations");
    const auto actions = fixture.floats(prefix + "actions");
    const auto width = architecture.discrete ? 1 : architecture.actions;
    std::int64_t begin = 0;
    for (const auto length : fixture.integers(prefix + "lengths")) {
      const auto end = begin + length;
      sequences.push_back({{observations.begin() + begin * architecture.inputs,
                            observations.begin() + end * architecture.inputs},
                           {actions.begin() + begin * width, actions.begin() + end * width}});
      begin = end;
    }
  }

  at::Tensor operator[](const std::string& array) const { return fixture[prefix + array]; }

  Fixture fixture;
  std::string prefix;
  AutoencoderArchitecture architecture{.inputs = 5,
                                       .actions = 3,
                                       .hidden = 16,
                                       .memory = 16,
                                       .decoder1 = 16,
                                       .decoder2 = 16,
                                       .decoder3 = 16};
  std::vector<Sequence> sequences;
};

class AutoencoderParity : public ::testing::TestWithParam<const char*> {
 protected:
  /// Calls check(engine, parts) for every engine, every way to keep rows and to split the batch.
  void for_each_way(
      const std::function<void(AutoencoderEngine&, std::span<const SequenceBatch>)>& check) const {
    const std::vector<std::vector<std::size_t>> splits = {{4}, {2, 2}, {1, 1, 1, 1}, {1, 3}};
    for (const auto& [name, make] : engines()) {
      const auto engine = make(case_.architecture);
      for (const auto& split : splits)
        for (const auto rows : {Rows::kDistinct, Rows::kPerStep, Rows::kBackwards}) {
          SCOPED_TRACE(std::string(name) + ", " + std::to_string(split.size()) + " parts, rows " +
                       std::to_string(static_cast<int>(rows)));
          check(*engine, parts_of(case_.architecture, case_.sequences, split, rows));
        }
    }
  }

  const Case case_{GetParam()};
};

TEST_P(AutoencoderParity, FeaturesLikelihoodsAndGradients) {
  const Evaluation expected = {case_["features"], case_["log_likelihood"], case_["d_features"],
                               case_["d_parameters"]};
  for_each_way([&](AutoencoderEngine& engine, std::span<const SequenceBatch> parts) {
    const auto found = evaluate(engine, case_["parameters"], parts, case_["feature_weight"],
                                case_["likelihood_weight"]);
    expect_close(case_.architecture, found, expected, kTorchTolerance);
  });
}

TEST_P(AutoencoderParity, LossOfCaae) {
  const auto alpha = case_["caae/alpha"];
  for_each_way([&](AutoencoderEngine& engine, std::span<const SequenceBatch> parts) {
    const auto parameters = case_["parameters"].set_requires_grad(true);
    const auto centres = case_["caae/centres"].set_requires_grad(true);
    const auto z = engine.encode(parameters, parts);
    const auto log_likelihood = engine.log_likelihood(parameters, z, parts);
    const auto nearest = std::get<0>(squared_distances(z, centres).min(1));
    const auto loss = (alpha * nearest - log_likelihood).mean() - codebook_spread(centres);
    EXPECT_LT(error(loss, case_["caae/loss"]), kTorchTolerance.outputs);
    const auto gradients = torch::autograd::grad({loss}, {parameters, centres});
    expect_blocks_close(case_.architecture, gradients[0], case_["caae/d_parameters"],
                        kTorchTolerance.gradients);
    EXPECT_LT(error(gradients[1], case_["caae/d_centres"]), kTorchTolerance.gradients);
  });
}

/// In each block, along the gradient and along a random direction, the loss changes as the gradient
/// says: to the few digits that differences in single precision and the corners of ReLU leave.
TEST_P(AutoencoderParity, GradientsAreDifferencesOfTheLoss) {
  constexpr double kStep = 4e-3;
  const auto parts = parts_of(case_.architecture, case_.sequences, {4}, Rows::kDistinct);
  const auto parameters = case_["parameters"];
  const AutoencoderLayout layout(case_.architecture);
  Random random(11);
  for (const auto& [name, make] : engines()) {
    const auto engine = make(case_.architecture);
    const auto loss = [&](const at::Tensor& at_parameters) {
      const auto z = engine->encode(at_parameters, parts);
      const auto log_likelihood = engine->log_likelihood(at_parameters, z, parts);
      return (z.to(at::kDouble) * case_["feature_weight"]).sum().item<double>() +
             (log_likelihood.to(at::kDouble) * case_["likelihood_weight"]).sum().item<double>();
    };
    const auto gradient =
        evaluate(*engine, parameters, parts, case_["feature_weight"], case_["likelihood_weight"])
            .d_parameters;
    for (const auto* b : layout.blocks()) {
      if (b->rows * b->columns == 0) continue;
      SCOPED_TRACE(std::string(name) + ", " + b->name);
      const auto steepest = block(gradient, *b);
      auto anywhere = at::empty_like(steepest);
      for (std::int64_t i = 0; i < anywhere.numel(); ++i) anywhere.view(-1)[i] = random.normal();
      for (const auto& towards : {steepest, anywhere}) {
        const auto direction = towards / towards.norm();
        auto ahead = parameters.clone();
        auto behind = parameters.clone();
        block(ahead, *b).add_(direction, kStep);
        block(behind, *b).sub_(direction, kStep);
        const double measured = (loss(ahead) - loss(behind)) / (2.0 * kStep);
        EXPECT_NEAR(measured, (steepest * direction).sum().item<double>(),
                    1e-2 * steepest.norm().item<double>() + 1e-3);
      }
    }
  }
}

/// The fixture is what it is meant to be: in the discrete case steps share rows.
TEST_P(AutoencoderParity, RowsRepeatWhereActionsAreDiscrete) {
  const auto batch = batch_of(case_.architecture, case_.sequences, Rows::kDistinct);
  const auto rows = static_cast<std::int64_t>(batch.observations.size()) / 5;
  EXPECT_EQ(rows < batch.steps(), case_.architecture.discrete);
  EXPECT_EQ(static_cast<std::int64_t>(batch.pairs.size()) / 8 < batch.steps(),
            case_.architecture.discrete);
}

INSTANTIATE_TEST_SUITE_P(Actions, AutoencoderParity, ::testing::Values("discrete", "continuous"),
                         [](const auto& name) { return std::string(name.param); });

/// One part of the network at a time: what surrounds it is set to pass numbers through.
class AutoencoderModules : public ::testing::Test {
 protected:
  /// The step layers hand a pair of non-negative numbers on as it is.
  void pass_steps_through() {
    block(parameters_, layout_.step1).narrow(1, 0, 8).copy_(at::eye(8));
    block(parameters_, layout_.step2).copy_(at::eye(32));
  }

  /// The first `length` rows of an array [steps, 8], for pairs.
  Sequence sequence(const std::string& array, std::int64_t length) const {
    Sequence result;
    const auto values = fixture_.floats(array);
    for (auto row = values.begin(); row != values.begin() + 8 * length; row += 8) {
      result.observations.insert(result.observations.end(), row, row + 5);
      result.actions.insert(result.actions.end(), row + 5, row + 8);
    }
    return result;
  }

  const Fixture fixture_;
  const AutoencoderArchitecture architecture_{
      .inputs = 5, .discrete = false, .actions = 3, .hidden = 32, .memory = 16};
  const AutoencoderLayout layout_{architecture_};
  at::Tensor parameters_ = at::zeros({layout_.size});
};

/// Without queries features are the mean state of all prefixes; so the features of a sequence's
/// beginnings give its states.
TEST_F(AutoencoderModules, GruStates) {
  pass_steps_through();
  block(parameters_, layout_.gru_input).narrow(0, 0, 8).copy_(fixture_["gru/weight_ih"].t());
  block(parameters_, layout_.gru_recurrent).copy_(fixture_["gru/weight_hh"].t());
  block(parameters_, layout_.gru_input_bias)[0].copy_(fixture_["gru/bias_ih"]);
  block(parameters_, layout_.gru_recurrent_bias)[0].copy_(fixture_["gru/bias_hh"]);
  // A state passes the prefix layer as its positive and its negative part.
  const auto split = at::cat({at::eye(16), -at::eye(16)}, 1);
  block(parameters_, layout_.prefix).copy_(split);
  block(parameters_, layout_.keys_values).narrow(1, 16, 16).copy_(split.t());

  std::vector<Sequence> beginnings;
  for (std::int64_t length = 7; length > 0; --length)
    beginnings.push_back(sequence("gru/sequence", length));
  const auto parts = parts_of(architecture_, beginnings, {7}, Rows::kPerStep);
  for (const auto& [name, make] : engines()) {
    SCOPED_TRACE(name);
    const auto means = make(architecture_)->encode(parameters_, parts).flip(0);
    const auto sums = means * at::arange(1, 8).unsqueeze(1);
    const auto states = at::cat({sums.slice(0, 0, 1), sums.slice(0, 1) - sums.slice(0, 0, -1)});
    EXPECT_LT(error(states, fixture_["gru/states"]), kTorchTolerance.outputs);
  }
}

/// With the update gate shut and nothing recurrent, the prefixes are tanh of the pairs.
TEST_F(AutoencoderModules, Attention) {
  pass_steps_through();
  block(parameters_, layout_.gru_input).slice(0, 0, 8).slice(1, 32, 40).copy_(at::eye(8));
  block(parameters_, layout_.gru_input_bias).slice(1, 16, 32).fill_(-50.0F);
  block(parameters_, layout_.prefix).narrow(1, 0, 16).copy_(at::eye(16));
  block(parameters_, layout_.keys_values)
      .narrow(0, 0, 8)
      .copy_(fixture_["attention/keys_values"].t());
  block(parameters_, layout_.queries)[0].copy_(fixture_["attention/queries"]);
  const std::vector<Sequence> sequences = {sequence("attention/sequence", 7)};
  const auto parts = parts_of(architecture_, sequences, {1}, Rows::kPerStep);
  for (const auto& [name, make] : engines()) {
    SCOPED_TRACE(name);
    const auto features = make(architecture_)->encode(parameters_, parts);
    EXPECT_LT(error(features[0], fixture_["attention/output"]), kTorchTolerance.outputs);
  }
}

/// A decoder of zeros leaves the biases of its heads; includes deviations on both sides of where
/// softplus is cut short.
TEST_F(AutoencoderModules, GaussianLogDensity) {
  const auto mean = fixture_["gaussian/mean"];
  const auto raw = fixture_["gaussian/raw_deviation"];
  const auto actions = fixture_["gaussian/actions"];
  const auto expected = fixture_["gaussian/log_density"];
  for (const auto& [name, make] : engines())
    for (std::int64_t i = 0; i < mean.size(0); ++i) {
      SCOPED_TRACE(std::string(name) + ", row " + std::to_string(i));
      block(parameters_, layout_.mean_bias)[0].copy_(mean[i]);
      block(parameters_, layout_.deviation_bias)[0].copy_(raw[i]);
      const auto* action = actions[i].data_ptr<float>();
      const std::vector<Sequence> sequences = {{std::vector<float>(5), {action, action + 3}}};
      const auto parts = parts_of(architecture_, sequences, {1}, Rows::kPerStep);
      const auto found =
          make(architecture_)->log_likelihood(parameters_, at::zeros({1, 16}), parts);
      EXPECT_LT(error(found[0], expected[i]), kTorchTolerance.outputs);
    }
}

TEST_F(AutoencoderModules, CategoricalLogProbability) {
  auto architecture = architecture_;
  architecture.discrete = true;
  const AutoencoderLayout layout(architecture);
  const auto parameters = at::zeros({layout.size});
  const auto logits = fixture_["categorical/logits"];
  const std::vector<float> nothing(5);
  const std::vector<Sequence> sequences = {{nothing, {0.0F}}, {nothing, {1.0F}}, {nothing, {2.0F}}};
  const auto parts = parts_of(architecture, sequences, {3}, Rows::kDistinct);
  for (const auto& [name, make] : engines())
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      SCOPED_TRACE(std::string(name) + ", row " + std::to_string(i));
      block(parameters, layout.mean_bias)[0].copy_(logits[i]);
      const auto found = make(architecture)->log_likelihood(parameters, at::zeros({3, 16}), parts);
      EXPECT_LT(error(found, fixture_["categorical/log_probs"][i]), kTorchTolerance.outputs);
    }
}

/// Blocks follow each other without gaps, and initial values keep to ±1/sqrt(fan in).
TEST(AutoencoderLayout, CoversAllParameters) {
  for (const bool discrete : {true, false}) {
    const AutoencoderArchitecture architecture{.inputs = 7, .discrete = discrete, .actions = 4};
    const AutoencoderLayout layout(architecture);
    const auto parameters = initial_parameters(architecture, Random(1));
    std::int64_t next = 0;
    for (const auto* b : layout.blocks()) {
      EXPECT_EQ(b->offset, next) << b->name;
      next += b->rows * b->columns;
      if (b->rows * b->columns == 0) continue;
      const double scale = std::sqrt(static_cast<double>(b->fan_in));
      const double largest = scale * block(parameters, *b).abs().max().item<double>();
      EXPECT_LE(largest, 1.0) << b->name;
      EXPECT_GT(largest, 0.3) << b->name;
    }
    EXPECT_EQ(layout.size, next);
    EXPECT_EQ(layout.encoder_size, layout.from_features.offset);
  }
}

}  // namespace
}  // namespace kindred
