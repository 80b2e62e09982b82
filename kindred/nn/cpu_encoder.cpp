#include <algorithm>
#include <cmath>

#include "kindred/core/vectorise.h"
#include "kindred/nn/cpu_autoencoder.h"
#include "kindred/nn/layers.h"

namespace kindred {
namespace {

/// One time of the GRU for `rows` sequences: gates = reset, update, candidate.
KINDRED_VECTORISE
void gru_cell(std::int64_t rows, std::int64_t width, const std::int32_t* pair,
              const float* gru_input, const float* __restrict recurrent,
              const float* __restrict previous, float* __restrict gates,
              float* __restrict candidate, float* __restrict state) {
  for (std::int64_t b = 0; b < rows; ++b) {
    const float* __restrict in = gru_input + std::int64_t{3} * pair[b] * width;
    for (std::int64_t j = 0; j < width; ++j) {
      const float reset = sigmoid(in[j] + recurrent[j]);
      const float update = sigmoid(in[width + j] + recurrent[width + j]);
      const float from_past = recurrent[2 * width + j];
      const float fresh = fast_tanh(in[2 * width + j] + reset * from_past);
      gates[j] = reset;
      gates[width + j] = update;
      gates[2 * width + j] = fresh;
      candidate[j] = from_past;
      state[j] = fresh + update * (previous[j] - fresh);
    }
    recurrent += 3 * width;
    previous += width;
    gates += 3 * width;
    candidate += width;
    state += width;
  }
}

/// Gradients of the gates' sums from those of the states; `carry` becomes the part of the previous
/// state's gradient that does not pass through the gates.
KINDRED_VECTORISE
void gru_cell_backward(std::int64_t rows, std::int64_t width, const float* __restrict gates,
                       const float* __restrict candidate, const float* __restrict previous,
                       const float* __restrict d_state, float* __restrict carry,
                       float* __restrict d_input, float* __restrict d_recurrent) {
  for (std::int64_t b = 0; b < rows; ++b) {
    for (std::int64_t j = 0; j < width; ++j) {
      const float d = d_state[j] + carry[j];
      const float reset = gates[j];
      const float update = gates[width + j];
      const float fresh = gates[2 * width + j];
      const float d_fresh = d * (1.0F - update) * (1.0F - fresh * fresh);
      const float d_update = d * (previous[j] - fresh) * update * (1.0F - update);
      const float d_reset = d_fresh * candidate[j] * reset * (1.0F - reset);
      d_input[j] = d_recurrent[j] = d_reset;
      d_input[width + j] = d_recurrent[width + j] = d_update;
      d_input[2 * width + j] = d_fresh;
      d_recurrent[2 * width + j] = d_fresh * reset;
      carry[j] = d * update;
    }
    gates += 3 * width;
    candidate += width;
    previous += width;
    d_state += width;
    carry += width;
    d_input += 3 * width;
    d_recurrent += 3 * width;
  }
}

}  // namespace

void CpuEncoder::forward(const AutoencoderWeights& w, const SequenceBatch& batch, float* features) {
  const auto& layers = w.layers();
  const auto pairs = static_cast<std::int64_t>(batch.pairs.size()) / layers.step1.inputs;
  grow(layer1_, pairs * layers.step1.outputs);
  grow(layer2_, pairs * layers.step2.outputs);
  grow(gru_input_, pairs * layers.gru_input.outputs);
  for_rows_together(pairs, [&](std::int64_t begin, std::int64_t rows) {
    float* layer1 = layer1_.data() + begin * layers.step1.outputs;
    float* layer2 = layer2_.data() + begin * layers.step2.outputs;
    layers.step1.forward(rows, batch.pairs.data() + begin * layers.step1.inputs, w.parameters(),
                         layer1, /*rectify=*/true);
    layers.step2.forward(rows, layer1, w.parameters(), layer2, /*rectify=*/true);
    layers.gru_input.forward(rows, layer2, w.parameters(),
                             gru_input_.data() + begin * layers.gru_input.outputs);
  });
  run_gru(w, batch);
  const auto steps = batch.steps();
  grow(prefixes_, steps * layers.prefix.outputs);
  grow(keys_values_, steps * layers.keys_values.outputs);
  for_rows_together(steps, [&](std::int64_t begin, std::int64_t rows) {
    float* prefixes = prefixes_.data() + begin * layers.prefix.outputs;
    layers.prefix.forward(rows, states_.data() + begin * layers.prefix.inputs, w.parameters(),
                          prefixes, /*rectify=*/true);
    layers.keys_values.forward(rows, prefixes, w.parameters(),
                               keys_values_.data() + begin * layers.keys_values.outputs);
  });
  attend(w, batch, features);
}

void CpuEncoder::run_gru(const AutoencoderWeights& w, const SequenceBatch& batch) {
  const auto width = w.architecture().memory;
  const auto steps = batch.steps();
  grow(gates_, steps * 3 * width);
  for (auto* buffer : {&candidate_, &previous_, &states_}) grow(*buffer, steps * width);
  for (std::int64_t t = 0; t < batch.longest(); ++t) {
    const auto rows = batch.active(t);
    const auto begin = batch.time_offsets[static_cast<std::size_t>(t)];
    float* previous = previous_.data() + begin * width;
    if (t == 0)
      std::fill_n(previous, rows * width, 0.0F);
    else
      std::copy_n(states_.data() + batch.time_offsets[static_cast<std::size_t>(t) - 1] * width,
                  rows * width, previous);
    w.layers().gru_recurrent.forward(rows, previous, w.parameters(), recurrent_);
    gru_cell(rows, width, batch.pair_of_step.data() + begin, gru_input_.data(), recurrent_.data(),
             previous, gates_.data() + begin * 3 * width, candidate_.data() + begin * width,
             states_.data() + begin * width);
  }
}

void CpuEncoder::attend(const AutoencoderWeights& w, const SequenceBatch& batch, float* features) {
  const auto& a = w.architecture();
  const float* queries = w[w.layout().queries];
  const auto latent = a.features();
  const auto sequences = batch.sequences();
  grow(attention_, batch.steps() * a.heads);
  most_.assign(static_cast<std::size_t>(sequences * a.heads), -1e30F);
  total_.assign(most_.size(), 0.0F);
  const auto for_each_step = [&](const auto& visit) {
    for (std::int64_t t = 0; t < batch.longest(); ++t)
      for (std::int64_t b = 0; b < batch.active(t); ++b)
        visit(b, batch.time_offsets[static_cast<std::size_t>(t)] + b);
  };
  for_each_step([&](std::int64_t b, std::int64_t step) {
    const float* key = keys_values_.data() + step * 2 * latent;
    for (std::int64_t h = 0; h < a.heads; ++h) {
      float score = 0.0F;
      for (std::int64_t j = h * a.head_size; j < (h + 1) * a.head_size; ++j)
        score += queries[j] * key[j];
      attention_[static_cast<std::size_t>(step * a.heads + h)] = score;
      auto& highest = most_[static_cast<std::size_t>(b * a.heads + h)];
      highest = std::max(highest, score);
    }
  });
  std::fill_n(features, sequences * latent, 0.0F);
  for_each_step([&](std::int64_t b, std::int64_t step) {
    const float* value = keys_values_.data() + step * 2 * latent + latent;
    for (std::int64_t h = 0; h < a.heads; ++h) {
      const auto i = static_cast<std::size_t>(b * a.heads + h);
      auto& weight = attention_[static_cast<std::size_t>(step * a.heads + h)];
      weight = fast_exp(weight - most_[i]);
      total_[i] += weight;
      for (std::int64_t j = h * a.head_size; j < (h + 1) * a.head_size; ++j)
        features[b * latent + j] += weight * value[j];
    }
  });
  for (std::int64_t b = 0; b < sequences; ++b)
    for (std::int64_t j = 0; j < latent; ++j)
      features[b * latent + j] /= total_[static_cast<std::size_t>(b * a.heads + j / a.head_size)];
  for_each_step([&](std::int64_t b, std::int64_t step) {
    for (std::int64_t h = 0; h < a.heads; ++h)
      attention_[static_cast<std::size_t>(step * a.heads + h)] /=
          total_[static_cast<std::size_t>(b * a.heads + h)];
  });
}

void CpuEncoder::backward(const AutoencoderWeights& w, const SequenceBatch& batch,
                          const float* features, const float* feature_gradient, float* gradient) {
  const auto& layers = w.layers();
  const auto steps = batch.steps();
  attend_backward(w, batch, features, feature_gradient, gradient);
  grow(d_states_, steps * layers.prefix.inputs);
  for_rows_together(steps, [&](std::int64_t begin, std::int64_t rows) {
    const float* prefixes = prefixes_.data() + begin * layers.prefix.outputs;
    const float* d_keys_values = d_keys_values_.data() + begin * layers.keys_values.outputs;
    layers.keys_values.parameter_gradient(rows, prefixes, d_keys_values, gradient);
    layers.keys_values.pass_back(rows, d_keys_values, w.transposed(), d_prefixes_, /*add=*/false,
                                 prefixes);
    layers.prefix.parameter_gradient(rows, states_.data() + begin * layers.prefix.inputs,
                                     d_prefixes_.data(), gradient);
    layers.prefix.pass_back(rows, d_prefixes_.data(), w.transposed(),
                            d_states_.data() + begin * layers.prefix.inputs);
  });
  gru_backward(w, batch);
  layers.gru_recurrent.parameter_gradient(steps, previous_.data(), d_recurrent_.data(), gradient);
  steps_backward(w, batch, gradient);
}

void CpuEncoder::attend_backward(const AutoencoderWeights& w, const SequenceBatch& batch,
                                 const float* features, const float* feature_gradient,
                                 float* gradient) {
  const auto& a = w.architecture();
  const float* queries = w[w.layout().queries];
  float* d_queries = gradient + w.layout().queries.offset;
  const auto latent = a.features();
  grow(d_keys_values_, batch.steps() * 2 * latent);
  for (std::int64_t t = 0; t < batch.longest(); ++t)
    for (std::int64_t b = 0; b < batch.active(t); ++b) {
      const auto step = batch.time_offsets[static_cast<std::size_t>(t)] + b;
      const float* key = keys_values_.data() + step * 2 * latent;
      const float* value = key + latent;
      const float* z = features + b * latent;
      const float* dz = feature_gradient + b * latent;
      float* d_key = d_keys_values_.data() + step * 2 * latent;
      float* d_value = d_key + latent;
      for (std::int64_t h = 0; h < a.heads; ++h) {
        const float weight = attention_[static_cast<std::size_t>(step * a.heads + h)];
        // Softmax: the mean of the weights' gradients under the weights is dz · z.
        float d_score = 0.0F;
        for (std::int64_t j = h * a.head_size; j < (h + 1) * a.head_size; ++j)
          d_score += dz[j] * (value[j] - z[j]);
        d_score *= weight;
        for (std::int64_t j = h * a.head_size; j < (h + 1) * a.head_size; ++j) {
          d_value[j] = weight * dz[j];
          d_key[j] = d_score * queries[j];
          d_queries[j] += d_score * key[j];
        }
      }
    }
}

void CpuEncoder::gru_backward(const AutoencoderWeights& w, const SequenceBatch& batch) {
  const auto width = w.architecture().memory;
  grow(d_input_, batch.steps() * 3 * width);
  grow(d_recurrent_, batch.steps() * 3 * width);
  carry_.assign(static_cast<std::size_t>(batch.sequences() * width), 0.0F);
  for (auto t = batch.longest(); t-- > 0;) {
    const auto rows = batch.active(t);
    const auto begin = batch.time_offsets[static_cast<std::size_t>(t)];
    float* d_recurrent = d_recurrent_.data() + begin * 3 * width;
    gru_cell_backward(rows, width, gates_.data() + begin * 3 * width,
                      candidate_.data() + begin * width, previous_.data() + begin * width,
                      d_states_.data() + begin * width, carry_.data(),
                      d_input_.data() + begin * 3 * width, d_recurrent);
    w.layers().gru_recurrent.pass_back(rows, d_recurrent, w.transposed(), carry_, /*add=*/true);
  }
}

void CpuEncoder::steps_backward(const AutoencoderWeights& w, const SequenceBatch& batch,
                                float* gradient) {
  const auto& layers = w.layers();
  const auto pairs = static_cast<std::int64_t>(batch.pairs.size()) / layers.step1.inputs;
  const float* d_input =
      gather_gradients(pairs, layers.gru_input.outputs, batch.pair_of_step, d_input_, d_gru_input_);
  for_rows_together(pairs, [&](std::int64_t begin, std::int64_t rows) {
    const float* layer1 = layer1_.data() + begin * layers.step1.outputs;
    const float* layer2 = layer2_.data() + begin * layers.step2.outputs;
    const float* d_rows = d_input + begin * layers.gru_input.outputs;
    layers.gru_input.parameter_gradient(rows, layer2, d_rows, gradient);
    layers.gru_input.pass_back(rows, d_rows, w.transposed(), d_layer2_, /*add=*/false, layer2);
    layers.step2.parameter_gradient(rows, layer1, d_layer2_.data(), gradient);
    layers.step2.pass_back(rows, d_layer2_.data(), w.transposed(), d_layer1_, /*add=*/false,
                           layer1);
    layers.step1.parameter_gradient(rows, batch.pairs.data() + begin * layers.step1.inputs,
                                    d_layer1_.data(), gradient);
  });
}

}  // namespace kindred
