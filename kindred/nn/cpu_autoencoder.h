// One part of a batch through the autoencoder on one CPU core. Buffers are reused: these kernels
// allocate nothing once the longest part has been seen. Parity with LibTorch is tested.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/nn/autoencoder.h"
#include "kindred/nn/layers.h"

namespace kindred {

/// The parameters as the kernels want them; shared by all parts of a batch.
class AutoencoderWeights {
 public:
  explicit AutoencoderWeights(const AutoencoderArchitecture& architecture);
  AutoencoderWeights(const AutoencoderWeights&) = delete;
  AutoencoderWeights& operator=(const AutoencoderWeights&) = delete;

  /// Takes the present values; `parameters` [layout().size] must outlive their use.
  void refresh(const float* parameters);

  const AutoencoderArchitecture& architecture() const { return architecture_; }
  const AutoencoderLayout& layout() const { return layout_; }
  const float* parameters() const { return parameters_; }
  const float* operator[](const ParameterBlock& block) const { return parameters_ + block.offset; }
  /// Weights of those layers that gradients pass through.
  const float* transposed() const { return transposed_.data(); }

  /// Where each layer lies in the parameters.
  struct Layers {
    Linear step1, step2, gru_input, gru_recurrent, prefix, keys_values;
    Linear from_features, from_observation, decoder2, decoder3;
  };
  const Layers& layers() const { return layers_; }

  /// Heads have copies of their own, with columns padded to whole lanes: logits; or means and raw
  /// deviations. head() says where weight and bias lie in these.
  struct Head {
    const ParameterBlock *weight, *bias;  ///< In the layout.
    std::vector<float> parameters, transposed;
  };
  const Linear& head() const { return head_; }
  const std::vector<Head>& heads() const { return heads_; }

 private:
  AutoencoderArchitecture architecture_;
  AutoencoderLayout layout_;
  const float* parameters_ = nullptr;
  std::vector<float> transposed_;  // [layout.size]
  Layers layers_;
  Linear head_;
  std::vector<Head> heads_;
};

class CpuEncoder {
 public:
  /// features: [sequences, features]. Keeps what backward needs.
  void forward(const AutoencoderWeights& weights, const SequenceBatch& batch, float* features);
  /// Adds the parameters' gradients to `gradient` ([layout.size]) given those of the features.
  void backward(const AutoencoderWeights& weights, const SequenceBatch& batch,
                const float* features, const float* feature_gradient, float* gradient);

 private:
  void run_gru(const AutoencoderWeights& weights, const SequenceBatch& batch);
  void attend(const AutoencoderWeights& weights, const SequenceBatch& batch, float* features);
  void attend_backward(const AutoencoderWeights& weights, const SequenceBatch& batch,
                       const float* features, const float* feature_gradient, float* gradient);
  void gru_backward(const AutoencoderWeights& weights, const SequenceBatch& batch);
  void steps_backward(const AutoencoderWeights& weights, const SequenceBatch& batch,
                      float* gradient);

  // Per distinct pair: the two step layers and the GRU's input. Per step: gates (reset, update,
  // candidate), the recurrent part of the candidate, states, prefixes, keys and values, attention.
  std::vector<float> layer1_, layer2_, gru_input_, gates_, candidate_, previous_, states_,
      prefixes_, keys_values_, attention_;
  std::vector<float> most_, total_;              // of the attention scores, per sequence and head
  std::vector<float> recurrent_, carry_;         // one time's
  std::vector<float> d_keys_values_, d_states_;  // gradients, per step
  std::vector<float> d_input_, d_recurrent_;     // of the gates' two parts, per step
  std::vector<float> d_gru_input_;               // per distinct pair
  std::vector<float> d_prefixes_, d_layer2_, d_layer1_;  // of rows that go back together
};

class CpuDecoder {
 public:
  /// log_likelihood: [sequences]. Keeps what backward needs.
  void forward(const AutoencoderWeights& weights, const SequenceBatch& batch, const float* features,
               float* log_likelihood);
  /// Sets the features' gradient and adds the parameters' given those of the log-likelihoods.
  void backward(const AutoencoderWeights& weights, const SequenceBatch& batch,
                const float* features, const float* output_gradient, float* feature_gradient,
                float* gradient);

 private:
  void heads_backward(const AutoencoderWeights& weights, const SequenceBatch& batch,
                      const float* output_gradient, float* gradient);

  std::vector<float> from_observation_, from_features_, layer1_, layer2_, layer3_;
  std::vector<float> heads_[2], d_heads_[2], head_gradient_;
  std::vector<float> of_steps_;  // log-densities, or their factors in the loss
  std::vector<float> d_layer1_, d_layer2_, d_layer3_, d_from_observation_, d_from_features_;
};

}  // namespace kindred
