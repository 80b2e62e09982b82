#include <algorithm>

#include "kindred/core/vectorise.h"
#include "kindred/nn/cpu_autoencoder.h"
#include "kindred/nn/gaussian.h"
#include "kindred/nn/layers.h"

namespace kindred {
namespace {

/// The first layer: what the observation and the features each contribute, added and cut off.
KINDRED_VECTORISE
void add_parts(std::int64_t rows, std::int64_t width, const std::int32_t* observation,
               const float* from_observation, const float* from_features, float* __restrict out) {
  for (std::int64_t b = 0; b < rows; ++b)
    for (std::int64_t j = 0; j < width; ++j) {
      const float x = from_observation[observation[b] * width + j] + from_features[b * width + j];
      out[b * width + j] = x > 0.0F ? x : 0.0F;
    }
}

/// Calls visit(sequence, step) for every step.
template <class Visit>
void for_each_step(const SequenceBatch& batch, const Visit& visit) {
  for (std::int64_t t = 0; t < batch.longest(); ++t)
    for (std::int64_t b = 0; b < batch.active(t); ++b)
      visit(b, batch.time_offsets[static_cast<std::size_t>(t)] + b);
}

}  // namespace

void CpuDecoder::forward(const AutoencoderWeights& w, const SequenceBatch& batch,
                         const float* features, float* log_likelihood) {
  const auto& a = w.architecture();
  const auto& layers = w.layers();
  const auto steps = batch.steps();
  const auto observations = static_cast<std::int64_t>(batch.observations.size()) / a.inputs;
  layers.from_observation.forward(observations, batch.observations.data(), w.parameters(),
                                  from_observation_);
  layers.from_features.forward(batch.sequences(), features, w.parameters(), from_features_);
  grow(layer1_, steps * a.decoder1);
  for (std::int64_t t = 0; t < batch.longest(); ++t) {
    const auto begin = batch.time_offsets[static_cast<std::size_t>(t)];
    add_parts(batch.active(t), a.decoder1, batch.observation_of_step.data() + begin,
              from_observation_.data(), from_features_.data(), layer1_.data() + begin * a.decoder1);
  }
  layers.decoder2.forward(steps, layer1_.data(), w.parameters(), layer2_, /*rectify=*/true);
  layers.decoder3.forward(steps, layer2_.data(), w.parameters(), layer3_, /*rectify=*/true);
  const auto width = w.head().outputs;
  for (std::size_t h = 0; h < w.heads().size(); ++h)
    w.head().forward(steps, layer3_.data(), w.heads()[h].parameters.data(), heads_[h]);

  std::fill_n(log_likelihood, batch.sequences(), 0.0F);
  if (a.discrete) {
    log_softmax(steps, a.actions, width, heads_[0].data());
    for_each_step(batch, [&](std::int64_t b, std::int64_t step) {
      log_likelihood[b] += heads_[0][static_cast<std::size_t>(
          step * width + batch.discrete_actions[static_cast<std::size_t>(step)])];
    });
    return;
  }
  grow(of_steps_, steps);
  gaussian_log_densities(steps, a.actions, width, heads_[0].data(), heads_[1].data(),
                         batch.continuous_actions.data(), of_steps_.data());
  for_each_step(batch, [&](std::int64_t b, std::int64_t step) {
    log_likelihood[b] += of_steps_[static_cast<std::size_t>(step)];
  });
}

void CpuDecoder::heads_backward(const AutoencoderWeights& w, const SequenceBatch& batch,
                                const float* output_gradient, float* gradient) {
  const auto& a = w.architecture();
  const auto steps = batch.steps();
  const auto width = w.head().outputs;
  for (std::size_t h = 0; h < w.heads().size(); ++h) {
    grow(d_heads_[h], steps * width);
    std::fill_n(d_heads_[h].data(), steps * width, 0.0F);
  }
  if (a.discrete) {
    for_each_step(batch, [&](std::int64_t b, std::int64_t step) {
      const float g = output_gradient[b];
      const float* log_prob = heads_[0].data() + step * width;
      float* d_logit = d_heads_[0].data() + step * width;
      for (std::int64_t j = 0; j < a.actions; ++j) d_logit[j] = -g * fast_exp(log_prob[j]);
      d_logit[batch.discrete_actions[static_cast<std::size_t>(step)]] += g;
    });
  } else {
    grow(of_steps_, steps);
    for_each_step(batch, [&](std::int64_t b, std::int64_t step) {
      of_steps_[static_cast<std::size_t>(step)] = output_gradient[b];
    });
    gaussian_gradient(steps, a.actions, width, heads_[0].data(), heads_[1].data(),
                      batch.continuous_actions.data(), of_steps_.data(), d_heads_[0].data(),
                      d_heads_[1].data());
  }
  for (std::size_t h = 0; h < w.heads().size(); ++h) {
    const auto& head = w.heads()[h];
    head_gradient_.assign(head.parameters.size(), 0.0F);
    w.head().parameter_gradient(steps, layer3_.data(), d_heads_[h].data(), head_gradient_.data());
    for (std::int64_t i = 0; i < a.decoder3; ++i)
      add(a.actions, head_gradient_.data() + i * width,
          gradient + head.weight->offset + i * a.actions);
    add(a.actions, head_gradient_.data() + w.head().bias, gradient + head.bias->offset);
    w.head().pass_back(steps, d_heads_[h].data(), head.transposed.data(), d_layer3_, h > 0,
                       h + 1 == w.heads().size() ? layer3_.data() : nullptr);
  }
}

void CpuDecoder::backward(const AutoencoderWeights& w, const SequenceBatch& batch,
                          const float* features, const float* output_gradient,
                          float* feature_gradient, float* gradient) {
  const auto& a = w.architecture();
  const auto& layers = w.layers();
  const auto steps = batch.steps();
  heads_backward(w, batch, output_gradient, gradient);
  layers.decoder3.parameter_gradient(steps, layer2_.data(), d_layer3_.data(), gradient);
  layers.decoder3.pass_back(steps, d_layer3_.data(), w.transposed(), d_layer2_, /*add=*/false,
                            layer2_.data());
  layers.decoder2.parameter_gradient(steps, layer1_.data(), d_layer2_.data(), gradient);
  layers.decoder2.pass_back(steps, d_layer2_.data(), w.transposed(), d_layer1_, /*add=*/false,
                            layer1_.data());

  d_from_features_.assign(static_cast<std::size_t>(batch.sequences() * a.decoder1), 0.0F);
  for (std::int64_t t = 0; t < batch.longest(); ++t)
    add(batch.active(t) * a.decoder1,
        d_layer1_.data() + batch.time_offsets[static_cast<std::size_t>(t)] * a.decoder1,
        d_from_features_.data());
  const auto observations = static_cast<std::int64_t>(batch.observations.size()) / a.inputs;
  const float* d_rows = gather_gradients(observations, a.decoder1, batch.observation_of_step,
                                         d_layer1_, d_from_observation_);
  layers.from_observation.parameter_gradient(observations, batch.observations.data(), d_rows,
                                             gradient);
  layers.from_features.parameter_gradient(batch.sequences(), features, d_from_features_.data(),
                                          gradient);
  // The features' width may be half a lane: this product is small, so it goes without a kernel.
  const float* weight = w[w.layout().from_features];
  for (std::int64_t b = 0; b < batch.sequences(); ++b)
    for (std::int64_t j = 0; j < a.features(); ++j) {
      float sum = 0.0F;
      for (std::int64_t c = 0; c < a.decoder1; ++c)
        sum += weight[j * a.decoder1 + c] *
               d_from_features_[static_cast<std::size_t>(b * a.decoder1 + c)];
      feature_gradient[b * a.features() + j] = sum;
    }
}

}  // namespace kindred
