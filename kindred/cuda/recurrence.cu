#include "kindred/cuda/launch_kernel.cuh"
#include "kindred/cuda/recurrence.h"

namespace kindred::cuda {
namespace {

constexpr int kAhead = 4;   // steps whose numbers are fetched while as many are computed
constexpr int kShares = 4;  // neighbouring threads that share a unit's sum

/// Which of the memory's units a thread multiplies: of every 16 neighbours the four from `share`
/// on, so that the threads of a warp read different banks.
__device__ int unit_of(int share, int i) { return 16 * (i / 4) + 4 * share + i % 4; }

__device__ float sum_of_shares(float x) {
  x += __shfl_xor_sync(~0U, x, 1);
  return x + __shfl_xor_sync(~0U, x, 2);
}

__device__ float sigmoid(float x) { return __fdividef(1.0F, 1.0F + __expf(-x)); }
/// Large numbers give 1 and -1, since a division by infinity gives 0.
__device__ float hyperbolic_tangent(float x) {
  return 1.0F - __fdividef(2.0F, 1.0F + __expf(2.0F * x));
}

template <int kMemory>
__global__ void __launch_bounds__(kShares* kMemory)
    recurrence_kernel(const __grid_constant__ Recurrence task) {
  constexpr int kOwn = kMemory / kShares;
  __shared__ __align__(16) float state[2][kMemory];
  const int unit = static_cast<int>(threadIdx.x) / kShares;
  const int share = static_cast<int>(threadIdx.x) % kShares;
  const std::int64_t begin = task.sequences.begins[blockIdx.x];
  const int length = static_cast<int>(task.sequences.begins[blockIdx.x + 1] - begin);

  float weight[3][kOwn], bias[3];
#pragma unroll
  for (int gate = 0; gate < 3; ++gate) {
    bias[gate] = task.bias[gate * kMemory + unit];
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      weight[gate][i] = task.weight[unit_of(share, i) * 3 * kMemory + gate * kMemory + unit];
  }
  float* gates = task.gates + begin * 3 * kMemory + unit;
  float* own = share == 0   ? task.states + begin * kMemory + unit
               : share == 1 ? task.from_past + begin * kMemory + unit
               : share == 2 ? gates
                            : gates + 2 * kMemory;
  const int own_stride = share < 2 ? kMemory : 3 * kMemory;
  float* before = task.previous + begin * kMemory + unit;
  if (share == 3) before[0] = 0.0F;
  const int leader = static_cast<int>(threadIdx.x) % 32 / kShares * kShares;

  float next[kAhead][3], now[kAhead][3];
  const auto fetch = [&](int first) {
#pragma unroll
    for (int a = 0; a < kAhead; ++a)
#pragma unroll
      for (int gate = 0; gate < 3; ++gate)
        next[a][gate] = first + a < length
                            ? gates[(std::int64_t{first} + a) * 3 * kMemory + gate * kMemory]
                            : 0.0F;
  };
  if (share == 0) state[0][unit] = 0.0F;
  float previous = 0.0F;
  fetch(0);
  __syncthreads();
  for (int first = 0; first < length; first += kAhead) {
#pragma unroll
    for (int a = 0; a < kAhead; ++a)
#pragma unroll
      for (int gate = 0; gate < 3; ++gate) now[a][gate] = next[a][gate];
    fetch(first + kAhead);
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int t = first + a;
      if (t >= length) break;
      float sums[3] = {};
#pragma unroll
      for (int i = 0; i < kOwn; i += 4) {
        const float4 h = *reinterpret_cast<const float4*>(&state[a % 2][unit_of(share, i)]);
#pragma unroll
        for (int gate = 0; gate < 3; ++gate) {
          sums[gate] += h.x * weight[gate][i];
          sums[gate] += h.y * weight[gate][i + 1];
          sums[gate] += h.z * weight[gate][i + 2];
          sums[gate] += h.w * weight[gate][i + 3];
        }
      }
#pragma unroll
      for (int gate = 0; gate < 3; ++gate) sums[gate] = sum_of_shares(sums[gate]) + bias[gate];
      // Of the four threads of a unit the first finds one gate and the others the other.
      const float gate = sigmoid(share == 0 ? now[a][0] + sums[0] : now[a][1] + sums[1]);
      const float reset = __shfl_sync(~0U, gate, leader);
      const float update = __shfl_sync(~0U, gate, leader + 1);
      const float fresh = hyperbolic_tangent(now[a][2] + reset * sums[2]);
      previous = fresh + update * (previous - fresh);
      if (share == 0) state[(a + 1) % 2][unit] = previous;
      __syncthreads();
      // Each of the four threads writes one of these, and two of them something more.
      own[std::int64_t{t} * own_stride] = share == 0   ? previous
                                          : share == 1 ? sums[2]
                                          : share == 2 ? reset
                                                       : fresh;
      if (share == 1) gates[std::int64_t{t} * 3 * kMemory + kMemory] = update;
      if (share == 3 && t + 1 < length) before[(std::int64_t{t} + 1) * kMemory] = previous;
    }
  }
}

template <int kMemory>
__global__ void __launch_bounds__(kShares* kMemory)
    recurrence_back_kernel(const __grid_constant__ RecurrenceBackward task) {
  constexpr int kOwn = kMemory / kShares;
  enum { kReset, kUpdate, kFresh, kPast, kPrevious, kDelta, kNumbers };
  __shared__ __align__(16) float delta[2][3][kMemory];
  const int unit = static_cast<int>(threadIdx.x) / kShares;
  const int share = static_cast<int>(threadIdx.x) % kShares;
  const std::int64_t begin = task.forward.sequences.begins[blockIdx.x];
  const int length = static_cast<int>(task.forward.sequences.begins[blockIdx.x + 1] - begin);

  float weight[3][kOwn];  // from this unit to the gates of others
#pragma unroll
  for (int gate = 0; gate < 3; ++gate)
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      weight[gate][i] =
          task.forward.weight[unit * 3 * kMemory + gate * kMemory + unit_of(share, i)];
  const float* gates = task.forward.gates + begin * 3 * kMemory + unit;
  const float* from_past = task.forward.from_past + begin * kMemory + unit;
  const float* before = task.forward.previous + begin * kMemory + unit;
  const float* d_states = task.d_states + begin * kMemory + unit;
  // Each of the four threads writes one of these.
  float* d_gates = task.d_gates + begin * 3 * kMemory + unit;
  float* own = share == 2 ? task.d_from_past + begin * kMemory + unit
                          : d_gates + (share == 3 ? 2 : share) * kMemory;
  const int own_stride = share == 2 ? kMemory : 3 * kMemory;

  float next[kAhead][kNumbers], now[kAhead][kNumbers];
  const auto fetch = [&](int last) {  // of steps last, last - 1, …
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const std::int64_t t = last - a;
#pragma unroll
      for (int gate = 0; gate < 3; ++gate)
        next[a][gate] = t >= 0 ? gates[t * 3 * kMemory + gate * kMemory] : 0.0F;
      next[a][kPast] = t >= 0 ? from_past[t * kMemory] : 0.0F;
      next[a][kPrevious] = t >= 0 ? before[t * kMemory] : 0.0F;
      next[a][kDelta] = t >= 0 ? d_states[t * kMemory] : 0.0F;
    }
  };
  float carry = 0.0F;
  fetch(length - 1);
  for (int last = length - 1; last >= 0; last -= kAhead) {
#pragma unroll
    for (int a = 0; a < kAhead; ++a)
#pragma unroll
      for (int n = 0; n < kNumbers; ++n) now[a][n] = next[a][n];
    fetch(last - kAhead);
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const std::int64_t t = last - a;
      if (t < 0) break;
      const float d = now[a][kDelta] + carry;
      const float reset = now[a][kReset], update = now[a][kUpdate], fresh = now[a][kFresh];
      const float d_fresh = d * (1.0F - update) * (1.0F - fresh * fresh);
      const float d_update = d * (now[a][kPrevious] - fresh) * update * (1.0F - update);
      const float d_reset = d_fresh * now[a][kPast] * reset * (1.0F - reset);
      const float d_past = d_fresh * reset;
      const float found = share == 0   ? d_reset
                          : share == 1 ? d_update
                          : share == 2 ? d_past
                                       : d_fresh;
      if (share < 3) delta[a % 2][share][unit] = found;
      __syncthreads();
      own[t * own_stride] = found;
      float sums[3] = {};
#pragma unroll
      for (int i = 0; i < kOwn; i += 4)
#pragma unroll
        for (int gate = 0; gate < 3; ++gate) {
          const float4 g = *reinterpret_cast<const float4*>(&delta[a % 2][gate][unit_of(share, i)]);
          sums[gate] += g.x * weight[gate][i];
          sums[gate] += g.y * weight[gate][i + 1];
          sums[gate] += g.z * weight[gate][i + 2];
          sums[gate] += g.w * weight[gate][i + 3];
        }
      carry = d * update + sum_of_shares(sums[0] + sums[1] + sums[2]);
    }
  }
}

/// Calls `of_width` with the constant that `memory` is.
template <class OfWidth>
void with_width(int memory, const OfWidth& of_width) {
  switch (memory) {
    case 16:
      return of_width.template operator()<16>();
    case 32:
      return of_width.template operator()<32>();
    case 64:
      return of_width.template operator()<64>();
    case 128:
      return of_width.template operator()<128>();
    default:
      check(cudaErrorInvalidValue);
  }
}

}  // namespace

bool has_recurrence(int memory) {
  return memory == 16 || memory == 32 || memory == 64 || memory == 128;
}

void run(int memory, const Recurrence& task) {
  with_width(memory, [&]<int kMemory>() {
    launch(recurrence_kernel<kMemory>, dim3(static_cast<unsigned>(task.sequences.count)),
           kShares * kMemory, task);
  });
}

void run_back(int memory, const RecurrenceBackward& task) {
  with_width(memory, [&]<int kMemory>() {
    launch(recurrence_back_kernel<kMemory>,
           dim3(static_cast<unsigned>(task.forward.sequences.count)), kShares * kMemory, task);
  });
}

}  // namespace kindred::cuda
