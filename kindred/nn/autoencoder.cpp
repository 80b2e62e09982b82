#include "kindred/nn/autoencoder.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

namespace kindred {

AutoencoderLayout::AutoencoderLayout(const AutoencoderArchitecture& a) {
  const auto place = [&](const char* name, std::int64_t rows, std::int64_t columns,
                         std::int64_t fan_in) {
    const ParameterBlock block{name, rows, columns, fan_in, size};
    size += rows * columns;
    return block;
  };
  const auto pair_width = a.inputs + a.actions;
  step1 = place("step1", pair_width, a.hidden, pair_width);
  step1_bias = place("step1_bias", 1, a.hidden, pair_width);
  step2 = place("step2", a.hidden, a.hidden, a.hidden);
  step2_bias = place("step2_bias", 1, a.hidden, a.hidden);
  gru_input = place("gru_input", a.hidden, 3 * a.memory, a.memory);
  gru_input_bias = place("gru_input_bias", 1, 3 * a.memory, a.memory);
  gru_recurrent = place("gru_recurrent", a.memory, 3 * a.memory, a.memory);
  gru_recurrent_bias = place("gru_recurrent_bias", 1, 3 * a.memory, a.memory);
  prefix = place("prefix", a.memory, a.hidden, a.memory);
  prefix_bias = place("prefix_bias", 1, a.hidden, a.memory);
  keys_values = place("keys_values", a.hidden, 2 * a.features(), a.hidden);
  queries = place("queries", 1, a.features(), a.head_size);
  encoder_size = size;

  const auto seen = a.features() + a.inputs;
  from_features = place("from_features", a.features(), a.decoder1, seen);
  from_observation = place("from_observation", a.inputs, a.decoder1, seen);
  decoder1_bias = place("decoder1_bias", 1, a.decoder1, seen);
  decoder2 = place("decoder2", a.decoder1, a.decoder2, a.decoder1);
  decoder2_bias = place("decoder2_bias", 1, a.decoder2, a.decoder1);
  decoder3 = place("decoder3", a.decoder2, a.decoder3, a.decoder2);
  decoder3_bias = place("decoder3_bias", 1, a.decoder3, a.decoder2);
  mean = place("mean", a.decoder3, a.actions, a.decoder3);
  mean_bias = place("mean_bias", 1, a.actions, a.decoder3);
  const auto deviations = a.discrete ? 0 : a.actions;
  deviation = place("deviation", a.decoder3, deviations, a.decoder3);
  deviation_bias = place("deviation_bias", 1, deviations, a.decoder3);
}

std::vector<const ParameterBlock*> AutoencoderLayout::blocks() const {
  return {&step1,         &step1_bias,       &step2,         &step2_bias,
          &gru_input,     &gru_input_bias,   &gru_recurrent, &gru_recurrent_bias,
          &prefix,        &prefix_bias,      &keys_values,   &queries,
          &from_features, &from_observation, &decoder1_bias, &decoder2,
          &decoder2_bias, &decoder3,         &decoder3_bias, &mean,
          &mean_bias,     &deviation,        &deviation_bias};
}

at::Tensor initial_parameters(const AutoencoderArchitecture& architecture, Random random) {
  const AutoencoderLayout layout(architecture);
  auto parameters = at::empty({layout.size});
  auto* out = parameters.data_ptr<float>();
  for (const auto* block : layout.blocks()) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(block->fan_in));
    for (std::int64_t i = 0; i < block->rows * block->columns; ++i)
      *out++ = static_cast<float>(random.uniform(-bound, bound));
  }
  return parameters;
}

namespace {

/// The network as LibTorch operations on padded sequences, on whatever device the parameters are.
class TorchAutoencoder final : public AutoencoderEngine {
 public:
  explicit TorchAutoencoder(const AutoencoderArchitecture& architecture)
      : a_(architecture), layout_(architecture) {}

  at::Tensor encode(const at::Tensor& parameters, std::span<const SequenceBatch> parts) override {
    std::vector<at::Tensor> features;
    for (const auto& part : parts) features.push_back(encode_part(parameters, part));
    return features.size() == 1 ? features[0] : at::cat(features);
  }

  at::Tensor log_likelihood(const at::Tensor& parameters, const at::Tensor& features,
                            std::span<const SequenceBatch> parts) override {
    std::vector<at::Tensor> sums;
    std::int64_t begin = 0;
    for (const auto& part : parts) {
      sums.push_back(decode_part(parameters, features.narrow(0, begin, part.sequences()), part));
      begin += part.sequences();
    }
    return sums.size() == 1 ? sums[0] : at::cat(sums);
  }

 private:
  static at::Tensor block(const at::Tensor& parameters, const ParameterBlock& b) {
    return parameters.narrow(0, b.offset, b.rows * b.columns).view({b.rows, b.columns});
  }

  static at::Tensor linear(const at::Tensor& x, const at::Tensor& parameters,
                           const ParameterBlock& weight, const ParameterBlock& bias) {
    return at::matmul(x, block(parameters, weight)) + block(parameters, bias);
  }

  /// Host numbers as a tensor beside the parameters.
  template <class T>
  static at::Tensor tensor(const std::vector<T>& values, at::IntArrayRef shape, at::ScalarType type,
                           const at::Tensor& parameters) {
    return at::from_blob(const_cast<T*>(values.data()), shape, at::TensorOptions().dtype(type))
        .to(parameters.device(), type, /*non_blocking=*/false, /*copy=*/true);
  }

  /// For each sequence and time the number of its step; steps beyond a sequence's end are step 0
  /// and masked. Both [sequences, longest].
  static std::pair<at::Tensor, at::Tensor> grid(const SequenceBatch& part,
                                                const at::Tensor& parameters) {
    auto step = at::zeros({part.sequences(), part.longest()}, at::kLong);
    auto inside = at::zeros({part.sequences(), part.longest()}, at::kBool);
    auto* s = step.data_ptr<std::int64_t>();
    auto* in = inside.data_ptr<bool>();
    for (std::int64_t b = 0; b < part.sequences(); ++b)
      for (std::int64_t t = 0; t < part.lengths[static_cast<std::size_t>(b)]; ++t) {
        s[b * part.longest() + t] = part.time_offsets[static_cast<std::size_t>(t)] + b;
        in[b * part.longest() + t] = true;
      }
    return {step.to(parameters.device()), inside.to(parameters.device())};
  }

  at::Tensor encode_part(const at::Tensor& p, const SequenceBatch& part) const {
    const auto [step, inside] = grid(part, p);
    const auto width = a_.inputs + a_.actions;
    const auto pairs = tensor(
        part.pairs, {static_cast<std::int64_t>(part.pairs.size()) / width, width}, at::kFloat, p);
    const auto of_step = tensor(part.pair_of_step, {part.steps()}, at::kInt, p).to(at::kLong);
    auto x = at::relu(linear(pairs, p, layout_.step1, layout_.step1_bias));
    x = at::relu(linear(x, p, layout_.step2, layout_.step2_bias));
    x = x.index_select(0, of_step.index_select(0, step.flatten()))
            .view({part.sequences(), part.longest(), a_.hidden});
    const std::vector<at::Tensor> weights = {block(p, layout_.gru_input).t().contiguous(),
                                             block(p, layout_.gru_recurrent).t().contiguous(),
                                             block(p, layout_.gru_input_bias).view(-1),
                                             block(p, layout_.gru_recurrent_bias).view(-1)};
    const auto start = at::zeros({1, part.sequences(), a_.memory}, p.options());
    const auto states = std::get<0>(
        at::gru(x, start, weights, true, 1, 0.0, at::GradMode::is_enabled(), false, true));
    const auto prefixes = at::relu(linear(states, p, layout_.prefix, layout_.prefix_bias));
    const auto keys_values =
        at::matmul(prefixes, block(p, layout_.keys_values))
            .view({part.sequences(), part.longest(), 2, a_.heads, a_.head_size});
    const auto queries = block(p, layout_.queries).view({a_.heads, a_.head_size});
    const auto scores = (keys_values.select(2, 0) * queries)
                            .sum(-1)
                            .masked_fill(inside.logical_not().unsqueeze(-1), -1e30);
    const auto weight = at::softmax(scores, 1).unsqueeze(-1);
    return (weight * keys_values.select(2, 1)).sum(1).flatten(1);
  }

  at::Tensor decode_part(const at::Tensor& p, const at::Tensor& features,
                         const SequenceBatch& part) const {
    const auto [step, inside] = grid(part, p);
    const auto observations =
        tensor(part.observations,
               {static_cast<std::int64_t>(part.observations.size()) / a_.inputs, a_.inputs},
               at::kFloat, p);
    const auto of_step =
        tensor(part.observation_of_step, {part.steps()}, at::kInt, p).to(at::kLong);
    const auto rows = linear(observations, p, layout_.from_observation, layout_.decoder1_bias)
                          .index_select(0, of_step.index_select(0, step.flatten()))
                          .view({part.sequences(), part.longest(), a_.decoder1});
    auto x = at::relu(rows + at::matmul(features, block(p, layout_.from_features)).unsqueeze(1));
    x = at::relu(linear(x, p, layout_.decoder2, layout_.decoder2_bias));
    x = at::relu(linear(x, p, layout_.decoder3, layout_.decoder3_bias));
    const auto mean = linear(x, p, layout_.mean, layout_.mean_bias);
    at::Tensor log_probs;  // [sequences, longest]
    if (a_.discrete) {
      const auto actions = tensor(part.discrete_actions, {part.steps()}, at::kInt, p)
                               .to(at::kLong)
                               .index_select(0, step.flatten())
                               .view({part.sequences(), part.longest(), 1});
      log_probs = at::log_softmax(mean, -1).gather(-1, actions).squeeze(-1);
    } else {
      const auto actions =
          tensor(part.continuous_actions, {part.steps(), a_.actions}, at::kFloat, p)
              .index_select(0, step.flatten())
              .view({part.sequences(), part.longest(), a_.actions});
      const auto deviation =
          at::softplus(linear(x, p, layout_.deviation, layout_.deviation_bias)) + 1e-5;
      const auto z = (actions - mean) / deviation;
      log_probs =
          (-0.5 * z.square() - deviation.log() - 0.5 * std::log(2.0 * std::numbers::pi)).sum(-1);
    }
    return log_probs.masked_fill(inside.logical_not(), 0.0).sum(1);
  }

  AutoencoderArchitecture a_;
  AutoencoderLayout layout_;
};

}  // namespace

std::unique_ptr<AutoencoderEngine> make_torch_autoencoder(
    const AutoencoderArchitecture& architecture) {
  return std::make_unique<TorchAutoencoder>(architecture);
}

}  // namespace kindred
