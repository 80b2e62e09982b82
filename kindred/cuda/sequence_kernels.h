// What the trajectory autoencoder does on a GPU between its products of matrices: which rows a
// minibatch has, attention over a sequence's rows, and the likelihood of its actions. A thread
// block takes one sequence; sums are always taken in the same order.
#pragma once

#include <cstdint>

#include "kindred/cuda/recurrence.h"

namespace kindred::cuda {

/// Steps of all trajectories in the GPU's memory.
struct ResidentSteps {
  const std::int64_t* offsets = nullptr;              ///< [episodes + 1]
  const float* observations = nullptr;                ///< [table rows, inputs]
  const std::int32_t* observation_of_step = nullptr;  ///< [steps]; none: the step itself
  const std::int32_t* discrete_actions = nullptr;     ///< [steps], or none
  const float* continuous_actions = nullptr;          ///< [steps, actions], or none
  int inputs = 0, actions = 0;
};

/// The rows of a minibatch, one for each step of its trajectories; filled with zeros to the stride.
struct Gathering {
  Sequences sequences;
  const std::int32_t* episodes = nullptr;  ///< [sequences], in the GPU's memory
  int longest = 0;                         ///< Sequence.
  std::int32_t* action = nullptr;          ///< [rows] numbers of discrete actions
  float* pairs = nullptr;                  ///< [rows, stride]: observation, then action
  int pair_stride = 0;
  float* seen = nullptr;  ///< [rows, stride]: features, which are left out, then observation
  int seen_stride = 0, features = 0;
};
void gather(const ResidentSteps& steps, const Gathering& task);

/// Writes a sequence's features into each of its rows of Gathering::seen.
void spread(const Gathering& task, const float* features);

/// Softmax over a sequence's rows of keys · query, head by head, and the values' mean under it.
struct Attention {
  Sequences sequences;
  int heads = 0, head_size = 0;
  const float* keys_values = nullptr;  ///< [rows, 2 features]
  const float* queries = nullptr;      ///< [features]
  float* weights = nullptr;            ///< [rows, heads]
  float* features = nullptr;           ///< [sequences, features]

  int width() const { return heads * head_size; }
};
/// What fits: a feature per thread.
inline constexpr int kMostFeatures = 256;
void attend(const Attention& task);

struct AttentionBackward {
  Attention forward;
  const float* d_features = nullptr;  ///< [sequences, features]
  float* d_scores = nullptr;          ///< [rows, heads]
  float* d_keys_values = nullptr;     ///< [rows, 2 features]
  float* d_queries = nullptr;         ///< [sequences, features]: each sequence's part
};
void attend_back(const AttentionBackward& task);

/// log p(action) of every row and their sum over a sequence, and back.
struct Likelihood {
  Sequences sequences;
  bool discrete = true;
  int actions = 0;
  const std::int32_t* discrete_actions = nullptr;  ///< [rows], or none
  const float* continuous_actions = nullptr;       ///< [rows, action_stride], or none
  int action_stride = 0;
  /// [rows, stride]: logits, or means and, from `deviations` on, raw deviations.
  const float* heads = nullptr;
  int stride = 0, deviations = 0;
  float* sums = nullptr;          ///< [sequences]
  const float* d_sums = nullptr;  ///< [sequences]
  float* d_heads = nullptr;       ///< As heads; zeros where those have nothing.
};
void find_likelihood(const Likelihood& task);
void find_likelihood_back(const Likelihood& task);

/// Gradient of the features, which every row of a sequence saw through `weight`.
struct FeatureGradient {
  Sequences sequences;
  int features = 0, outputs = 0;
  const float* weight = nullptr;  ///< [features, outputs]
  const float* deltas = nullptr;  ///< [rows, outputs]
  float* d_features = nullptr;    ///< [sequences, features]: is added to
};
/// What fits into the kernel's shared memory.
inline constexpr int kMostOutputs = 1024;
void find_feature_gradient(const FeatureGradient& task);

}  // namespace kindred::cuda
