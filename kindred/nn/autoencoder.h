// The trajectory autoencoder of the paper's representation methods (CAAE, VAE, VQ-VAE, DEC).
//
// Encoder: every step's [observation, action] → two ReLU layers → GRU → a ReLU layer for every
// prefix → attention with one learned query per head over all prefixes → features z.
// Decoder: [z, observation] → three ReLU layers → the distribution of the action. It never sees
// past actions, so that z can hold only what the policy is, not what it did.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/core/workers.h"
#include "kindred/nn/sequence_batch.h"

namespace at {
class Tensor;
}

namespace kindred {

/// Widths of hidden layers are multiples of 16 and the number of features is a multiple of 8.
struct AutoencoderArchitecture {
  std::int64_t inputs = 0;  ///< Numbers per observation.
  bool discrete = true;
  std::int64_t actions = 0;    ///< Number of actions, or numbers per action when continuous.
  std::int64_t hidden = 128;   ///< Width of the step layers and of the prefix layer.
  std::int64_t memory = 64;    ///< Width of the GRU's state.
  std::int64_t heads = 2;      ///< Of the attention.
  std::int64_t head_size = 8;  ///< Features per head.
  std::int64_t decoder1 = 128, decoder2 = 32, decoder3 = 32;

  std::int64_t features() const { return heads * head_size; }
  bool operator==(const AutoencoderArchitecture&) const = default;
};

/// A matrix inside the flat vector of all parameters, row-major.
struct ParameterBlock {
  const char* name;
  std::int64_t rows, columns;
  std::int64_t fan_in;  ///< What its initial values are scaled by.
  std::int64_t offset;
};

/// Where each parameter lies. Products are written inputs · weight + bias.
struct AutoencoderLayout {
  explicit AutoencoderLayout(const AutoencoderArchitecture& architecture);

  // In order: two step layers; the GRU's input and recurrent parts (columns: reset, update,
  // candidate); the prefix layer; attention (columns: keys, values) and its queries; the decoder.
  ParameterBlock step1, step1_bias, step2, step2_bias;
  ParameterBlock gru_input, gru_input_bias, gru_recurrent, gru_recurrent_bias;
  ParameterBlock prefix, prefix_bias, keys_values, queries;
  ParameterBlock from_features, from_observation, decoder1_bias;
  ParameterBlock decoder2, decoder2_bias, decoder3, decoder3_bias;
  ParameterBlock mean, mean_bias;            ///< Logits when discrete.
  ParameterBlock deviation, deviation_bias;  ///< Empty when discrete.

  std::int64_t encoder_size = 0;  ///< The encoder's parameters come first.
  std::int64_t size = 0;
  /// Every block in the order of its offset.
  std::vector<const ParameterBlock*> blocks() const;
};

/// Parameters as one vector [size], uniform in ±1/sqrt(fan_in), on the CPU.
at::Tensor initial_parameters(const AutoencoderArchitecture& architecture, Random random);

/// Evaluates and differentiates; parameters may change between calls, the engine keeps only
/// buffers. Both functions are differentiable by LibTorch's autograd; on the CPU they run in fused
/// kernels (cpu_autoencoder.cpp), elsewhere as LibTorch operations. A batch comes in parts;
/// sequences of the result follow each other as in the parts.
class AutoencoderEngine {
 public:
  virtual ~AutoencoderEngine() = default;
  /// [sequences, features]
  virtual at::Tensor encode(const at::Tensor& parameters, std::span<const SequenceBatch> parts) = 0;
  /// Σ_t log p(a_t | features, s_t) of each sequence: [sequences].
  virtual at::Tensor log_likelihood(const at::Tensor& parameters, const at::Tensor& features,
                                    std::span<const SequenceBatch> parts) = 0;
};

/// Processes that share every batch: each computes some of its parts, and all get every result, to
/// the bits that one process alone would find.
class PartSharing {
 public:
  virtual ~PartSharing() = default;
  /// Whether the part, of so many, is computed here.
  virtual bool is_own(std::int64_t part, std::int64_t parts) const = 0;
  /// Rows of `width` numbers, of which everybody has filled in those of its own parts; part p has
  /// rows begins[p] to begins[p + 1].
  virtual void exchange(std::span<float> rows, std::int64_t width,
                        std::span<const std::int64_t> begins) = 0;
  /// Lets one process after the other add its parts, of so many, to the sum of those before.
  virtual void add_in_turn(std::span<float> sum, std::int64_t parts,
                           const std::function<void()>& add_own) = 0;
};

/// `parts` given to encode must stay alive until the gradients have been taken. Asked to stop, both
/// functions and their gradients throw Interrupted. Where batches are shared all processes call
/// them together, and `sharing` must outlive the result; null: this one has all parts.
std::unique_ptr<AutoencoderEngine> make_cpu_autoencoder(const AutoencoderArchitecture& architecture,
                                                        const Workers& workers,
                                                        PartSharing* sharing = nullptr);
std::unique_ptr<AutoencoderEngine> make_torch_autoencoder(
    const AutoencoderArchitecture& architecture);

}  // namespace kindred
