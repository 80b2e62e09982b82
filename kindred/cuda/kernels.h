// What the kernels are called with: plain numbers and pointers into the GPU's memory. Work is put
// into the default stream; nothing waits. Failures throw, as they become known.
#pragma once

#include <cstdint>

#include "kindred/cuda/layout.h"

namespace kindred::cuda {

/// A stretch of neighbouring steps, and where they stand in the list of all policies' steps.
struct Stretch {
  std::int32_t begin, length;
  std::int64_t at;
};

/// What trains one policy.
struct Trainee {
  std::int64_t pool;     ///< Where its steps begin in the list.
  std::uint32_t count;   ///< How many there are.
  std::uint64_t stream;  ///< Names its random numbers.
};

struct TrainSettings {
  int batch = 512;
  float learning_rate = 1e-3F, epsilon = 1e-8F, max_gradient_norm = 0.5F;
  int max_steps = 1000;
  int plateau_steps = 30;
  double plateau_tolerance = 1e-3;
};

/// How a policy's training ended.
struct TrainEnd {
  std::int32_t steps;  ///< Taken.
  float loss;          ///< Mean over the last whole window of `plateau_steps`, or of the last step.
};

struct TrainTask {
  const unsigned char* steps;  ///< By StepLayout.
  const std::int32_t* pool;    ///< Steps of all trainees.
  const Trainee* trainees;     ///< [policies]
  float* images;               ///< [policies, image]
  float* first_averages;       ///< Like images: Adam's, all zero.
  float* second_averages;
  TrainEnd* ends;  ///< [policies]
  int policies;
  TrainSettings settings;
};

struct ScoreTask {
  const unsigned char* steps;
  const float* images;  ///< [policies, image]
  float* log_probs;     ///< [policies, count]
  std::int64_t count;   ///< Steps.
  int policies;
};

/// Where single steps' log-probabilities become what episodes are judged by.
struct SumTask {
  const float* log_probs;       ///< [policies, count]
  const float* common;          ///< [count], or none
  const std::int64_t* offsets;  ///< [episodes + 1]
  double* sums;                 ///< [episodes, policies]
  std::int64_t count, episodes;
  int policies;
  float own_share, common_share;  ///< Logarithms.
  float floor;
};

/// inputs [rows, shape.inputs]; the row of a step is its own or what `row_of_step` says; actions
/// [steps, actions] floats or [steps] integers.
void write_steps(const Shape& shape, std::int64_t steps, const float* inputs,
                 const std::int64_t* row_of_step, const void* actions, unsigned char* out);
/// One parameter of all policies [policies, numbers] into their images, where `places` say, and
/// back.
void write_images(const float* parameter, const std::int32_t* places, int numbers, int policies,
                  int image, float* images);
void read_images(const float* images, const std::int32_t* places, int numbers, int policies,
                 int image, float* parameter);
void write_pool(const Stretch* stretches, int count, std::int32_t* pool);
/// These for shapes of shapes.h.
void train_policies(const Shape& shape, const TrainTask& task);
void score_steps(const Shape& shape, const ScoreTask& task);
void sum_episodes(const SumTask& task);

}  // namespace kindred::cuda
