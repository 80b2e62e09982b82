// Products of matrices in tiles of 64 × 64 numbers, on tensor cores. Four warps take a quarter of a
// tile each; floats are two TF32 numbers, so that products are as good as those of floats.
#include "kindred/cuda/launch_kernel.cuh"
#include "kindred/cuda/products.h"
#include "kindred/cuda/tf32.cuh"

namespace kindred::cuda {
namespace {

constexpr int kTile = 64, kDepth = 32, kThreads = 128;
constexpr int kLoads = kTile * kDepth / kThreads / 4;  // fours of a tile that one thread fetches
// Between rows of a tile that lie along the depth, or across it: no two threads of a warp read from
// one bank, and fours stay aligned.
constexpr int kAlong = kDepth + 4, kAcross = kTile + 8;

/// Four neighbouring numbers, or zeros.
__device__ float4 four_at(const float* numbers, bool there) {
  return there ? *reinterpret_cast<const float4*>(numbers) : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
}

/// The first `count` of four neighbouring numbers that may begin anywhere, then zeros.
__device__ float4 few_at(const float* numbers, int count) {
  return make_float4(count > 0 ? numbers[0] : 0.0F, count > 1 ? numbers[1] : 0.0F,
                     count > 2 ? numbers[2] : 0.0F, count > 3 ? numbers[3] : 0.0F);
}

/// One operand's numbers of some depth: [64][kAlong], or [kDepth][kAcross].
template <bool kLiesAlong>
struct Tile {
  __align__(16) float numbers[kLiesAlong ? kTile * kAlong : kDepth * kAcross];

  __device__ float at(int place, int depth) const {
    return kLiesAlong ? numbers[place * kAlong + depth] : numbers[depth * kAcross + place];
  }
  __device__ void set(int row, int column, const float4& four) {
    *reinterpret_cast<float4*>(numbers + row * (kLiesAlong ? kAlong : kAcross) + column) = four;
  }
};

/// A warp's quarter of a tile, 32 × 32, as 2 × 4 pieces of 16 × 8.
struct Quarter {
  int row, column, g, t;  // where it begins; which numbers of a piece are this thread's
  float sums[2][4][4] = {};

  __device__ Quarter() {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    row = warp / 2 * 32;
    column = warp % 2 * 32;
    g = lane / 4;
    t = lane % 4;
  }

  template <bool kLeftAlong, bool kRightAlong>
  __device__ void add_products(const Tile<kLeftAlong>& left, const Tile<kRightAlong>& right) {
#pragma unroll
    for (int k = 0; k < kDepth; k += 8) {
      Split<4> a[2];
      Split<2> b[4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int n = 0; n < 4; ++n)
          a[i].set(n, left.at(row + 16 * i + g + n % 2 * 8, k + t + n / 2 * 4));
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int n = 0; n < 2; ++n) b[j].set(n, right.at(column + 8 * j + g, k + t + n * 4));
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply_add(sums[i][j], a[i], b[j]);
    }
  }

  /// Calls visit(row, column, two neighbouring sums).
  template <class Visit>
  __device__ void for_each(const Visit& visit) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          visit(row + 16 * i + g + 8 * half, column + 8 * j + 2 * t, sums[i][j][2 * half],
                sums[i][j][2 * half + 1]);
  }
};

/// What a layer does with its products before they are written: everything is read first, so that
/// nothing waits for one number at a time.
__device__ void finish(const Layer& task, std::int64_t row0, int column0, Quarter& quarter) {
  const auto inside = [&](int row, int column) {
    return row0 + row < task.count && column0 + column < task.outputs;
  };
  const auto add_from = [&](const float* from, std::int64_t stride) {
    float read[32];
    int next = 0;
    quarter.for_each([&](int row, int column, float&, float&) {
      const float* at = from + (row0 + row) * stride + column0 + column;
      read[next++] = inside(row, column) ? at[0] : 0.0F;
      read[next++] = inside(row, column + 1) ? at[1] : 0.0F;
    });
    next = 0;
    quarter.for_each([&](int, int, float& first, float& second) {
      first += read[next++];
      second += read[next++];
    });
  };
  if (task.bias) add_from(task.bias, 0);
  if (task.add) add_from(task.out, task.stride);
  if (task.rectify)
    quarter.for_each([](int, int, float& first, float& second) {
      first = fmaxf(first, 0.0F);
      second = fmaxf(second, 0.0F);
    });
  if (task.active) {
    float read[32];
    int next = 0;
    quarter.for_each([&](int row, int column, float&, float&) {
      const float* at = task.active + (row0 + row) * task.outputs + column0 + column;
      read[next++] = inside(row, column) ? at[0] : 0.0F;
      read[next++] = inside(row, column + 1) ? at[1] : 0.0F;
    });
    next = 0;
    quarter.for_each([&](int, int, float& first, float& second) {
      if (!(read[next++] > 0.0F)) first = 0.0F;
      if (!(read[next++] > 0.0F)) second = 0.0F;
    });
  }
  quarter.for_each([&](int row, int column, float& first, float& second) {
    float* out = task.out + (row0 + row) * task.stride + column0 + column;
    if (inside(row, column + 1) && task.stride % 2 == 0) {
      *reinterpret_cast<float2*>(out) = make_float2(first, second);
    } else {
      if (inside(row, column)) out[0] = first;
      if (inside(row, column + 1)) out[1] = second;
    }
  });
}

/// kFours: weights can be read in fours.
template <bool kTransposed, bool kFours>
__global__ void __launch_bounds__(kThreads) layer_kernel(const __grid_constant__ Layer task) {
  __shared__ Tile<true> left[2];
  __shared__ Tile<kTransposed> right[2];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row0 = std::int64_t{blockIdx.x} * kTile;
  const int column0 = static_cast<int>(blockIdx.y) * kTile;
  const int inner = task.inputs.width;
  // Fours along the depth: eight to a row. Fours across it: sixteen.
  const int along_row = thread / 8, along_column = thread % 8 * 4;
  const int across_row = thread / 16, across_column = thread % 16 * 4;

  float4 of_left[kLoads], of_right[kLoads];
  const auto fetch = [&](int k) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const std::int64_t row = row0 + along_row + 16 * i;
      of_left[i] = four_at(task.inputs.values + row * task.inputs.stride + k + along_column,
                           row < task.count && k + along_column < inner);
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int row = kTransposed ? column0 + along_row + 16 * i : k + across_row + 8 * i;
      const int column = kTransposed ? k + along_column : column0 + across_column;
      const int rows = kTransposed ? task.outputs : inner;
      const int columns = kTransposed ? inner : task.outputs;
      const float* at = task.weight + row * columns + column;
      of_right[i] = kFours ? four_at(at, row < rows && column < columns)
                           : few_at(at, row < rows ? columns - column : 0);
    }
  };
  const auto store = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      left[buffer].set(along_row + 16 * i, along_column, of_left[i]);
      if constexpr (kTransposed)
        right[buffer].set(along_row + 16 * i, along_column, of_right[i]);
      else
        right[buffer].set(across_row + 8 * i, across_column, of_right[i]);
    }
  };

  Quarter quarter;
  fetch(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int k = 0; k < inner; k += kDepth, buffer ^= 1) {
    const bool more = k + kDepth < inner;
    if (more) fetch(k + kDepth);
    quarter.add_products(left[buffer], right[buffer]);
    if (more) store(buffer ^ 1);
    __syncthreads();
  }
  finish(task, row0, column0, quarter);
}

/// The tiles of some gradients, one after the other: blockIdx.x; the chunk: blockIdx.y.
struct Gradients {
  WeightGradient of[kMostGradients];
  int first_tile[kMostGradients + 1];
  std::int64_t count, chunk_stride;
};

__host__ __device__ int tiles_over(std::int64_t numbers) {
  return static_cast<int>((numbers + kTile - 1) / kTile);
}

__global__ void __launch_bounds__(kThreads)
    gradient_kernel(const __grid_constant__ Gradients gradients) {
  __shared__ Tile<false> left[2], right[2];
  const int thread = static_cast<int>(threadIdx.x);
  int which = 0;
  while (static_cast<int>(blockIdx.x) >= gradients.first_tile[which + 1]) ++which;
  const auto& task = gradients.of[which];
  const int tile = static_cast<int>(blockIdx.x) - gradients.first_tile[which];
  const int inputs = task.inputs.width, deltas = task.deltas.width;
  const int across = tiles_over(deltas);
  const int input0 = tile / across * kTile, delta0 = tile % across * kTile;
  const std::int64_t per_chunk = (gradients.count + gridDim.y - 1) / gridDim.y;
  const std::int64_t begin = std::int64_t{blockIdx.y} * per_chunk;
  const std::int64_t end =
      begin + per_chunk < gradients.count ? begin + per_chunk : gradients.count;

  const int own_row = thread / 16, own_column = thread % 16 * 4;
  float4 of_left[kLoads], of_right[kLoads];
  const auto fetch = [&](std::int64_t from) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const std::int64_t row = from + own_row + 8 * i;
      of_left[i] = four_at(task.inputs.values + row * task.inputs.stride + input0 + own_column,
                           row < end && input0 + own_column < inputs);
      of_right[i] = four_at(task.deltas.values + row * task.deltas.stride + delta0 + own_column,
                            row < end && delta0 + own_column < deltas);
    }
  };
  const auto store = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      left[buffer].set(own_row + 8 * i, own_column, of_left[i]);
      right[buffer].set(own_row + 8 * i, own_column, of_right[i]);
    }
  };

  const bool adds_deltas = task.bias && input0 == 0 && thread < kTile;
  Quarter quarter;
  float bias = 0.0F;
  fetch(begin);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (std::int64_t row = begin; row < end; row += kDepth, buffer ^= 1) {
    const bool more = row + kDepth < end;
    if (more) fetch(row + kDepth);
    quarter.add_products(left[buffer], right[buffer]);
    if (adds_deltas)
      for (int k = 0; k < kDepth; ++k) bias += right[buffer].at(thread, k);
    if (more) store(buffer ^ 1);
    __syncthreads();
  }

  float* out = task.out + blockIdx.y * gradients.chunk_stride;
  if (adds_deltas && delta0 + thread < deltas)
    out[std::int64_t{inputs} * task.stride + delta0 + thread] = bias;
  quarter.for_each([&](int row, int column, float first, float second) {
    const int input = input0 + row, delta = delta0 + column;
    float* at = out + std::int64_t{input} * task.stride + delta;
    if (input < inputs && delta < deltas) at[0] = first;
    if (input < inputs && delta + 1 < deltas) at[1] = second;
  });
}

__global__ void add_parts_kernel(const float* parts, int count, std::int64_t stride,
                                 std::int64_t numbers, float* sums) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= numbers) return;
  float sum = 0.0F;
#pragma unroll 8
  for (int part = 0; part < count; ++part) sum += parts[part * stride + i];
  sums[i] = sum;
}

}  // namespace

void apply(const Layer& layer) {
  const dim3 tiles(static_cast<unsigned>(tiles_over(layer.count)),
                   static_cast<unsigned>(tiles_over(layer.outputs)));
  const int columns = layer.transposed ? layer.inputs.width : layer.outputs;
  const bool fours = columns % 4 == 0 && reinterpret_cast<std::uintptr_t>(layer.weight) % 16 == 0;
  const auto kernel = layer.transposed
                          ? (fours ? layer_kernel<true, true> : layer_kernel<true, false>)
                          : (fours ? layer_kernel<false, true> : layer_kernel<false, false>);
  launch(kernel, tiles, kThreads, layer);
}

void find(std::span<const WeightGradient> gradients, std::int64_t count, int chunks,
          std::int64_t chunk_stride, cudaStream_t stream) {
  Gradients all{};
  all.count = count;
  all.chunk_stride = chunk_stride;
  int tiles = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    all.of[i] = gradients[i];
    tiles += tiles_over(gradients[i].inputs.width) * tiles_over(gradients[i].deltas.width);
    all.first_tile[i + 1] = tiles;
  }
  launch_in(stream, gradient_kernel,
            dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(chunks)), kThreads, all);
}

void add_parts(const float* parts, int count, std::int64_t stride, std::int64_t numbers,
               float* sums) {
  launch(add_parts_kernel, dim3(static_cast<unsigned>((numbers + kThreads - 1) / kThreads)),
         kThreads, parts, count, stride, numbers, sums);
}

}  // namespace kindred::cuda
