#include "kindred/nn/autoencoder.h"

#include <ATen/ATen.h>

#include <algorithm>
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

/// The flat parameters cut into their blocks. One cut has one derivative; a view per block would
/// have one of the full size each.
class Blocks {
 public:
  Blocks(const at::Tensor& parameters, const AutoencoderLayout& layout) {
    std::vector<std::int64_t> sizes;
    for (const auto* block : layout.blocks()) {
      names_.push_back(block->name);
      sizes.push_back(block->rows * block->columns);
    }
    cut_ = parameters.split_with_sizes(sizes);
  }

  at::Tensor operator[](const ParameterBlock& block) const {
    const auto i = static_cast<std::size_t>(std::ranges::find(names_, block.name) - names_.begin());
    return cut_[i].view({block.rows, block.columns});
  }

 private:
  std::vector<const char*> names_;
  std::vector<at::Tensor> cut_;
};

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::matmul(x, weight) + bias;
}

/// The network as LibTorch operations on padded sequences, on whatever device the parameters are.
class TorchAutoencoder final : public AutoencoderEngine {
 public:
  explicit TorchAutoencoder(const AutoencoderArchitecture& architecture)
      : a_(architecture), layout_(architecture) {}

  at::Tensor encode(const at::Tensor& parameters, std::span<const SequenceBatch> parts) override {
    const Blocks blocks(parameters, layout_);
    std::vector<at::Tensor> features;
    for (const auto& part : parts)
      features.push_back(encode_part(blocks, Padded(part, a_, parameters.device())));
    return features.size() == 1 ? features[0] : at::cat(features);
  }

  at::Tensor log_likelihood(const at::Tensor& parameters, const at::Tensor& features,
                            std::span<const SequenceBatch> parts) override {
    const Blocks blocks(parameters, layout_);
    std::vector<at::Tensor> sums;
    std::int64_t begin = 0;
    for (const auto& part : parts) {
      sums.push_back(decode_part(blocks, features.narrow(0, begin, part.sequences()),
                                 Padded(part, a_, parameters.device())));
      begin += part.sequences();
    }
    return sums.size() == 1 ? sums[0] : at::cat(sums);
  }

 private:
  /// A part on the device, every sequence as long as the longest. What lies beyond a sequence's end
  /// repeats its first step and is outside.
  struct Padded {
    Padded(const SequenceBatch& part, const AutoencoderArchitecture& a, const at::Device& device)
        : sequences(part.sequences()), longest(part.longest()) {
      const auto cells = sequences * longest;
      auto numbers = at::zeros({4, cells}, at::kLong);  // one copy to the device, not four
      auto* n = numbers.data_ptr<std::int64_t>();
      for (std::int64_t b = 0; b < sequences; ++b)
        for (std::int64_t t = 0; t < longest; ++t) {
          const bool in = t < part.lengths[static_cast<std::size_t>(b)];
          const auto step = static_cast<std::size_t>(
              (in ? part.time_offsets[static_cast<std::size_t>(t)] : 0) + b);
          auto* cell = n + b * longest + t;
          cell[0] = part.pair_of_step[step];
          cell[cells] = part.observation_of_step[step];
          cell[2 * cells] =
              a.discrete ? part.discrete_actions[step] : static_cast<std::int64_t>(step);
          cell[3 * cells] = in;
        }
      numbers = numbers.to(device);
      pair = numbers[0];
      observation = numbers[1];
      action = numbers[2];
      outside = (numbers[3] == 0).view({sequences, longest});
      const auto rows = [&](const std::vector<float>& values, std::int64_t width) {
        return at::from_blob(const_cast<float*>(values.data()),
                             {static_cast<std::int64_t>(values.size()) / width, width}, at::kFloat)
            .to(device, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
      };
      pairs = rows(part.pairs, a.inputs + a.actions);
      observations = rows(part.observations, a.inputs);
      if (!a.discrete) actions = rows(part.continuous_actions, a.actions);
    }

    /// Rows of `table` in the shape of the batch.
    at::Tensor spread(const at::Tensor& table, const at::Tensor& row) const {
      return table.index_select(0, row).view({sequences, longest, table.size(1)});
    }

    std::int64_t sequences, longest;
    at::Tensor pair, observation, action;  // [sequences × longest]
    at::Tensor outside;                    // [sequences, longest]
    at::Tensor pairs, observations, actions;
  };

  /// States of all prefixes, [sequences, longest, memory].
  at::Tensor run_gru(const Blocks& p, const at::Tensor& x) const {
    // cuDNN wants its weights, the other way round, in one piece.
    const auto wide = 3 * a_.memory;
    const auto weights =
        at::cat({p[layout_.gru_input].t().reshape(-1), p[layout_.gru_recurrent].t().reshape(-1),
                 p[layout_.gru_input_bias].view(-1), p[layout_.gru_recurrent_bias].view(-1)})
            .split_with_sizes({wide * a_.hidden, wide * a_.memory, wide, wide});
    const auto start = at::zeros({1, x.size(0), a_.memory}, x.options());
    return std::get<0>(at::gru(x, start,
                               {weights[0].view({wide, a_.hidden}),
                                weights[1].view({wide, a_.memory}), weights[2], weights[3]},
                               /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0.0,
                               /*train=*/at::GradMode::is_enabled(), /*bidirectional=*/false,
                               /*batch_first=*/true));
  }

  at::Tensor encode_part(const Blocks& p, const Padded& part) const {
    auto x = at::relu(linear(part.pairs, p[layout_.step1], p[layout_.step1_bias]));
    x = at::relu(linear(x, p[layout_.step2], p[layout_.step2_bias]));
    const auto states = run_gru(p, part.spread(x, part.pair));
    const auto prefixes = at::relu(linear(states, p[layout_.prefix], p[layout_.prefix_bias]));
    const auto keys_values = at::matmul(prefixes, p[layout_.keys_values])
                                 .view({part.sequences, part.longest, 2, a_.heads, a_.head_size});
    const auto scores =
        (keys_values.select(2, 0) * p[layout_.queries].view({a_.heads, a_.head_size}))
            .sum(-1)
            .masked_fill(part.outside.unsqueeze(-1), -1e30);
    const auto weight = at::softmax(scores, 1).unsqueeze(-1);
    return (weight * keys_values.select(2, 1)).sum(1).flatten(1);
  }

  at::Tensor decode_part(const Blocks& p, const at::Tensor& features, const Padded& part) const {
    const auto rows =
        linear(part.observations, p[layout_.from_observation], p[layout_.decoder1_bias]);
    auto x = at::relu(part.spread(rows, part.observation) +
                      at::matmul(features, p[layout_.from_features]).unsqueeze(1));
    x = at::relu(linear(x, p[layout_.decoder2], p[layout_.decoder2_bias]));
    x = at::relu(linear(x, p[layout_.decoder3], p[layout_.decoder3_bias]));
    const auto mean = linear(x, p[layout_.mean], p[layout_.mean_bias]);
    at::Tensor log_probs;  // [sequences, longest]
    if (a_.discrete) {
      const auto actions = part.action.view({part.sequences, part.longest, 1});
      log_probs = at::log_softmax(mean, -1).gather(-1, actions).squeeze(-1);
    } else {
      const auto deviation =
          at::softplus(linear(x, p[layout_.deviation], p[layout_.deviation_bias])) + 1e-5;
      const auto z = (part.spread(part.actions, part.action) - mean) / deviation;
      log_probs =
          (-0.5 * z.square() - deviation.log() - 0.5 * std::log(2.0 * std::numbers::pi)).sum(-1);
    }
    return log_probs.masked_fill(part.outside, 0.0).sum(1);
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
