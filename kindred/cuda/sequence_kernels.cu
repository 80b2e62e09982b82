#include "kindred/cuda/block_sums.cuh"
#include "kindred/cuda/launch_kernel.cuh"
#include "kindred/cuda/sequence_kernels.h"

namespace kindred::cuda {
namespace {

/// The rows of a block's sequence.
struct Span {
  std::int64_t begin;
  int length;

  __device__ explicit Span(const Sequences& sequences)
      : begin(sequences.begins[blockIdx.x]),
        length(static_cast<int>(sequences.begins[blockIdx.x + 1] - begin)) {}
};

constexpr int kSliceRows = 32;  // of a sequence, that a block gathers

/// Rows [begin, end) of the block's sequence, which this thread's warp visits one by one.
template <class Visit>
__device__ void for_rows_of_slice(const Span& rows, const Visit& visit) {
  const int begin = static_cast<int>(blockIdx.y) * kSliceRows;
  const int end = begin + kSliceRows < rows.length ? begin + kSliceRows : rows.length;
  for (int t = begin + static_cast<int>(threadIdx.x) / 32; t < end; t += kBlockWarps)
    visit(t, rows.begin + t);
}

__global__ void gather_kernel(const __grid_constant__ ResidentSteps steps,
                              const __grid_constant__ Gathering task) {
  const std::int64_t first = steps.offsets[task.episodes[blockIdx.x]];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for_rows_of_slice(Span(task.sequences), [&](int t, std::int64_t row) {
    const std::int64_t step = first + t;
    const std::int64_t place = steps.observation_of_step ? steps.observation_of_step[step] : step;
    const float* observation = steps.observations + place * steps.inputs;
    const int action = steps.discrete_actions ? steps.discrete_actions[step] : -1;
    if (lane == 0 && steps.discrete_actions) task.action[row] = action;
    float* pair = task.pairs + row * task.pair_stride;
    float* seen = task.seen + row * task.seen_stride + task.features;
    for (int c = lane; c < task.pair_stride; c += 32) {
      const int of_action = c - steps.inputs;
      float value = 0.0F;
      if (of_action < 0)
        value = observation[c];
      else if (of_action < steps.actions)
        value = steps.discrete_actions ? (of_action == action ? 1.0F : 0.0F)
                                       : steps.continuous_actions[step * steps.actions + of_action];
      pair[c] = value;
    }
    for (int c = lane; c < task.seen_stride - task.features; c += 32)
      seen[c] = c < steps.inputs ? observation[c] : 0.0F;
  });
}

__global__ void spread_kernel(const __grid_constant__ Gathering task, const float* features) {
  const float* own = features + std::int64_t{blockIdx.x} * task.features;
  for_rows_of_slice(Span(task.sequences), [&](int, std::int64_t row) {
    for (int c = static_cast<int>(threadIdx.x) % 32; c < task.features; c += 32)
      task.seen[row * task.seen_stride + c] = own[c];
  });
}

__global__ void attention_kernel(const __grid_constant__ Attention task, int width) {
  __shared__ float shared[kBlockThreads];
  const Span rows(task.sequences);
  const int thread = static_cast<int>(threadIdx.x);
  const float* keys = task.keys_values + rows.begin * 2 * width;
  float* weights = task.weights + rows.begin * task.heads;
  for (int head = 0; head < task.heads; ++head) {
    const float* query = task.queries + head * task.head_size;
    float largest = -1e30F, total = 0.0F;
    for (int t = thread; t < rows.length; t += kBlockThreads) {
      const float* key = keys + std::int64_t{t} * 2 * width + head * task.head_size;
      float score = 0.0F;
      for (int j = 0; j < task.head_size; ++j) score += query[j] * key[j];
      weights[t * task.heads + head] = score;
      largest = fmaxf(largest, score);
    }
    largest = together<Largest>(largest, shared);
    for (int t = thread; t < rows.length; t += kBlockThreads) {
      float& weight = weights[t * task.heads + head];
      weight = expf(weight - largest);
      total += weight;
    }
    total = together<Sum>(total, shared);
    for (int t = thread; t < rows.length; t += kBlockThreads)
      weights[t * task.heads + head] /= total;
  }
  __syncthreads();  // others read the weights now
  const int lanes = kBlockThreads / width, feature = thread % width, lane = thread / width;
  float sum = 0.0F;
  if (lane < lanes)
#pragma unroll 4
    for (int t = lane; t < rows.length; t += lanes)
      sum += weights[t * task.heads + feature / task.head_size] *
             keys[std::int64_t{t} * 2 * width + width + feature];
  sum = sum_of_lanes(sum, width, lanes, shared);
  if (thread < width) task.features[std::int64_t{blockIdx.x} * width + thread] = sum;
}

__global__ void attention_back_kernel(const __grid_constant__ AttentionBackward task, int width) {
  __shared__ float shared[kBlockThreads];
  const auto& forward = task.forward;
  const Span rows(forward.sequences);
  const int thread = static_cast<int>(threadIdx.x);
  const float* keys = forward.keys_values + rows.begin * 2 * width;
  float* d_keys = task.d_keys_values + rows.begin * 2 * width;
  const float* weights = forward.weights + rows.begin * forward.heads;
  float* d_scores = task.d_scores + rows.begin * forward.heads;
  const float* features = forward.features + std::int64_t{blockIdx.x} * width;
  const float* d_features = task.d_features + std::int64_t{blockIdx.x} * width;
  for (int i = thread; i < rows.length * forward.heads; i += kBlockThreads) {
    const std::int64_t t = i / forward.heads;
    const int begin = i % forward.heads * forward.head_size;
    const float weight = weights[i];
    // Softmax: the mean of the weights' gradients under the weights is d_features · features.
    float d_score = 0.0F;
    for (int j = begin; j < begin + forward.head_size; ++j) {
      d_score += d_features[j] * (keys[t * 2 * width + width + j] - features[j]);
      d_keys[t * 2 * width + width + j] = weight * d_features[j];
    }
    d_score *= weight;
    d_scores[i] = d_score;
    for (int j = begin; j < begin + forward.head_size; ++j)
      d_keys[t * 2 * width + j] = d_score * forward.queries[j];
  }
  __syncthreads();
  const int lanes = kBlockThreads / width, feature = thread % width, lane = thread / width;
  float sum = 0.0F;
  if (lane < lanes)
#pragma unroll 4
    for (int t = lane; t < rows.length; t += lanes)
      sum += d_scores[t * forward.heads + feature / forward.head_size] *
             keys[std::int64_t{t} * 2 * width + feature];
  sum = sum_of_lanes(sum, width, lanes, shared);
  if (thread < width) task.d_queries[std::int64_t{blockIdx.x} * width + thread] = sum;
}

constexpr float kLeastDeviation = 1e-5F;
constexpr float kLinearFrom = 20.0F;  // beyond it softplus is its argument

__device__ float deviation_of(float raw) {
  return (raw > kLinearFrom ? raw : log1pf(expf(raw))) + kLeastDeviation;
}

/// log p of one number under a Gaussian, and its derivatives by mean and raw deviation.
__device__ float gaussian(float action, float mean, float raw, float& d_mean, float& d_raw) {
  constexpr float kHalfLogTwoPi = 0.91893853320467274F;
  const float deviation = deviation_of(raw);
  const float z = (action - mean) / deviation;
  d_mean = z / deviation;
  d_raw = (z * z - 1.0F) / deviation * (raw > kLinearFrom ? 1.0F : 1.0F / (1.0F + expf(-raw)));
  return -0.5F * z * z - logf(deviation) - kHalfLogTwoPi;
}

/// Largest logit, and what the exponentials relative to it add up to.
__device__ float2 normaliser(const float* logits, int count) {
  float largest = logits[0], total = 0.0F;
  for (int j = 1; j < count; ++j) largest = fmaxf(largest, logits[j]);
  for (int j = 0; j < count; ++j) total += expf(logits[j] - largest);
  return make_float2(largest, total);
}

__global__ void likelihood_kernel(const __grid_constant__ Likelihood task) {
  __shared__ float shared[kBlockWarps];
  const Span rows(task.sequences);
  float sum = 0.0F;
  for (int t = static_cast<int>(threadIdx.x); t < rows.length; t += kBlockThreads) {
    const std::int64_t row = rows.begin + t;
    const float* heads = task.heads + row * task.stride;
    if (task.discrete) {
      const float2 scale = normaliser(heads, task.actions);
      sum += heads[task.discrete_actions[row]] - scale.x - logf(scale.y);
    } else {
      float d_mean, d_raw;
      for (int j = 0; j < task.actions; ++j)
        sum += gaussian(task.continuous_actions[row * task.action_stride + j], heads[j],
                        heads[task.deviations + j], d_mean, d_raw);
    }
  }
  sum = together<Sum>(sum, shared);
  if (threadIdx.x == 0) task.sums[blockIdx.x] = sum;
}

__global__ void likelihood_back_kernel(const __grid_constant__ Likelihood task) {
  const Span rows(task.sequences);
  const float weight = task.d_sums[blockIdx.x];
  for (int t = static_cast<int>(threadIdx.x); t < rows.length; t += kBlockThreads) {
    const std::int64_t row = rows.begin + t;
    const float* heads = task.heads + row * task.stride;
    float* d_heads = task.d_heads + row * task.stride;
    const int groups = task.discrete ? 1 : 2, group = task.stride / groups;
    for (int g = 0; g < groups; ++g)
      for (int j = task.actions; j < group; ++j) d_heads[g * group + j] = 0.0F;
    if (task.discrete) {
      const float2 scale = normaliser(heads, task.actions);
      for (int j = 0; j < task.actions; ++j)
        d_heads[j] = weight * ((task.discrete_actions[row] == j ? 1.0F : 0.0F) -
                               expf(heads[j] - scale.x) / scale.y);
    } else {
      for (int j = 0; j < task.actions; ++j) {
        float d_mean, d_raw;
        gaussian(task.continuous_actions[row * task.action_stride + j], heads[j],
                 heads[task.deviations + j], d_mean, d_raw);
        d_heads[j] = weight * d_mean;
        d_heads[task.deviations + j] = weight * d_raw;
      }
    }
  }
}

__global__ void feature_gradient_kernel(const __grid_constant__ FeatureGradient task) {
  __shared__ float shared[kBlockThreads];
  __shared__ float sums[kMostOutputs];
  const Span rows(task.sequences);
  const int thread = static_cast<int>(threadIdx.x);
  const float* deltas = task.deltas + rows.begin * task.outputs;
  // Columns in groups that threads have room for; every group's rows over as many lanes as fit.
  const int columns = task.outputs < kBlockThreads ? task.outputs : kBlockThreads;
  const int lanes = kBlockThreads / columns, lane = thread / columns;
  for (int begin = 0; begin < task.outputs; begin += columns) {
    const int column = begin + thread % columns;
    float sum = 0.0F;
    if (lane < lanes && column < task.outputs)
#pragma unroll 8
      for (int t = lane; t < rows.length; t += lanes)
        sum += deltas[std::int64_t{t} * task.outputs + column];
    sum = sum_of_lanes(sum, columns, lanes, shared);
    if (thread < columns && column < task.outputs) sums[column] = sum;
  }
  __syncthreads();
  for (int feature = thread / 32; feature < task.features; feature += kBlockWarps) {
    float sum = 0.0F;
    for (int c = thread % 32; c < task.outputs; c += 32)
      sum += task.weight[feature * task.outputs + c] * sums[c];
#pragma unroll
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0U, sum, other);
    if (thread % 32 == 0)
      task.d_features[std::int64_t{blockIdx.x} * task.features + feature] += sum;
  }
}

dim3 block_each(const Sequences& sequences) { return dim3(static_cast<unsigned>(sequences.count)); }

dim3 slices_of(const Gathering& task) {
  return dim3(static_cast<unsigned>(task.sequences.count),
              static_cast<unsigned>((task.longest + kSliceRows - 1) / kSliceRows));
}

}  // namespace

void gather(const ResidentSteps& steps, const Gathering& task) {
  launch(gather_kernel, slices_of(task), kBlockThreads, steps, task);
}

void spread(const Gathering& task, const float* features) {
  launch(spread_kernel, slices_of(task), kBlockThreads, task, features);
}

void attend(const Attention& task) {
  launch(attention_kernel, block_each(task.sequences), kBlockThreads, task, task.width());
}

void attend_back(const AttentionBackward& task) {
  launch(attention_back_kernel, block_each(task.forward.sequences), kBlockThreads, task,
         task.forward.width());
}

void find_likelihood(const Likelihood& task) {
  launch(likelihood_kernel, block_each(task.sequences), kBlockThreads, task);
}

void find_likelihood_back(const Likelihood& task) {
  launch(likelihood_back_kernel, block_each(task.sequences), kBlockThreads, task);
}

void find_feature_gradient(const FeatureGradient& task) {
  launch(feature_gradient_kernel, block_each(task.sequences), kBlockThreads, task);
}

}  // namespace kindred::cuda
