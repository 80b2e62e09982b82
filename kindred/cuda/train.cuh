// Trains policies from the first to the last step of a round in one launch.
//
// A cluster of thread blocks trains one policy. Every block holds the weights in shared memory and
// takes its share of each batch, 128 steps at a time; a warp takes 16 of these from inputs to
// deltas without leaving its registers. Gradients are added through distributed shared memory, each
// block adding up and updating its share of the parameters and handing the result to the others.
//
// Precision: products of halves, as in score.cuh, added up as floats. A step's deltas are divided
// by the largest of its outputs' on their way back, so that they stay within what a half can tell.
// Gradients of weights are products of bfloat16, whose range they need, and so they are told to the
// other blocks: the error is far below the noise of drawing a batch. Where a number is too large
// for a half the loss is no number, and whoever asked computes otherwise.
#pragma once

#include <cooperative_groups.h>

#include "kindred/cuda/heads.cuh"
#include "kindred/cuda/kernels.h"
#include "kindred/cuda/tensor_cores.cuh"

namespace kindred::cuda {

inline constexpr int kTrainThreads = 256;
inline constexpr int kTrainWarps = kTrainThreads / 32;
inline constexpr int kPassRows = 16 * kTrainWarps;
inline constexpr int kMostBlocks = 16;  // per policy

/// A block's shared memory, as offsets into it.
template <int kTiles, int kHidden, int kOutputs>
struct TrainMemory {
  static constexpr ImageLayout kImage{16 * kTiles, kHidden, kOutputs};
  static constexpr int kRowBytes = 2 * kHidden;

  // Weights, as halves.
  static constexpr int kFirst = 0;
  static constexpr int kSecond = kFirst + 16 * kTiles * kRowBytes;
  static constexpr int kHeads = kSecond + kHidden * kRowBytes;
  static constexpr int kSecondBias = kHeads + kHidden * 2 * kOutputs;  // floats
  static constexpr int kHeadBias = kSecondBias + 4 * kHidden;
  // The steps of a pass.
  static constexpr int kInputs = kHeadBias + 4 * kOutputs;  // as halves
  static constexpr int kInputsBfloats = kInputs + kPassRows * 32 * kTiles;
  static constexpr int kActions = kInputsBfloats + kPassRows * 32 * kTiles;
  // What a pass computes; its gradients take its place.
  static constexpr int kBelow = kActions + kPassRows * 2 * kOutputs;  // after the first layer
  static constexpr int kAbove = kBelow + kPassRows * kRowBytes;   // after the second; then deltas
  static constexpr int kDeltas = kAbove + kPassRows * kRowBytes;  // of the second layer
  static constexpr int kOutputDeltas = kDeltas + kPassRows * kRowBytes;
  static constexpr int kGradients = kBelow;
  static constexpr int kPassEnd = kOutputDeltas + kPassRows * 2 * kOutputs;
  static constexpr int kGradientsEnd = kGradients + 2 * kImage.size();
  // What warps and blocks tell each other.
  static constexpr int kWarpSums = (kPassEnd > kGradientsEnd ? kPassEnd : kGradientsEnd);
  static constexpr int kBlockSums = kWarpSums + 4 * 2 * kTrainWarps;
  static constexpr int kBytes = kBlockSums + 8 * kMostBlocks;
};

__device__ __forceinline__ std::uint32_t address_in(std::uint32_t address, int block) {
  std::uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
/// Stays between barriers, but need not wait for other reads.
__device__ __forceinline__ Four read_in_cluster(std::uint32_t address) {
  Four f;
  asm volatile("ld.shared::cluster.v4.b32 {%0,%1,%2,%3}, [%4];"
               : "=r"(f.x[0]), "=r"(f.x[1]), "=r"(f.x[2]), "=r"(f.x[3])
               : "r"(address));
  return f;
}
__device__ __forceinline__ void write_in_cluster(std::uint32_t address, uint4 v) {
  asm volatile("st.shared::cluster.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}
__device__ __forceinline__ void write_in_cluster(std::uint32_t address, float a, float b) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1,%2};" ::"r"(address), "f"(a), "f"(b)
               : "memory");
}
__device__ __forceinline__ void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void copy_async(std::uint32_t to, const unsigned char* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}
/// To a unit in the last place, without the branches of one that is right to the last bit.
__device__ __forceinline__ float square_root(float x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
__device__ __forceinline__ float sum_of_warp(float x) {
#pragma unroll
  for (int other = 16; other > 0; other /= 2) x += __shfl_xor_sync(~0U, x, other);
  return x;
}

/// One thread of a block that trains a policy. kOnce: a block's share of a batch is one pass, so
/// that gradients need no registers before they are computed.
template <int kTiles, int kHidden, int kOutputs, bool kDiscrete, bool kOnce>
class Trainer {
  using Memory = TrainMemory<kTiles, kHidden, kOutputs>;
  using Hidden = Operand<kHidden>;
  using Outputs = Operand<kOutputs>;
  using Inputs = Operand<16 * kTiles>;
  static constexpr StepLayout kStep{kTiles, kOutputs};
  static constexpr int kInner = kHidden / 16;   // tiles of 16 units
  static constexpr int kDown = kHidden / 64;    // second layer's gradient: tiles per warp
  static constexpr int kAcross = kHidden / 16;  // … of 8 units

 public:
  __device__ Trainer(const Shape& shape, const TrainTask& task, unsigned char* memory, int blocks,
                     int rank, int policy)
      : shape_(shape),
        task_(task),
        trainee_(task.trainees[policy]),
        memory_(memory),
        shared_(shared_address(memory)),
        blocks_(blocks),
        rank_(rank),
        policy_(policy),
        thread_(static_cast<int>(threadIdx.x)),
        warp_(thread_ / 32),
        lane_(thread_ % 32),
        factor_(1.0F / static_cast<float>(task.settings.batch)) {
    const std::int64_t batch = task.settings.batch;
    row_begin_ = static_cast<int>(batch * rank / blocks);
    rows_ = static_cast<int>(batch * (rank + 1) / blocks) - row_begin_;
  }

  __device__ void train() {
    for (int eight = thread_; eight < kEights; eight += kTrainThreads)
      hand_out(eight, of_image(task_.images, eight), rank_, rank_ + 1);
    for (int i = thread_; i < kPassRows * 4 * kTiles; i += kTrainThreads)
      *reinterpret_cast<uint4*>(memory_ + Memory::kInputs + 16 * i) = make_uint4(0, 0, 0, 0);
    for (int i = thread_; i < kPassRows * kOutputs / 8; i += kTrainThreads)
      *reinterpret_cast<uint4*>(memory_ + Memory::kActions + 16 * i) = make_uint4(0, 0, 0, 0);
    __syncthreads();
    draw(0, 0);
    fetch(0);
    const auto& settings = task_.settings;
    double window = 0.0, previous = INFINITY, decay1 = 1.0, decay2 = 1.0;
    TrainEnd end{0, 0.0F};
    for (bool done = false; !done;) {
      loss_ = 0.0F;
      if constexpr (!kOnce) clear_gradients();
      const int passes = kOnce ? 1 : (rows_ + kPassRows - 1) / kPassRows;
      for (int pass = 0; pass < passes; ++pass) {
        wait_for_copies();
        __syncthreads();
        const bool last = pass + 1 == passes;
        const int step_after = last ? end.steps + 1 : end.steps;
        const int pass_after = last ? 0 : pass + 1;
        draw(step_after, pass_after);
        this->pass(rows_ - pass * kPassRows);
        __syncthreads();
        fetch(pass_after);
      }
      ++end.steps;
      decay1 *= 0.9;
      decay2 *= 0.999;
      const double loss = static_cast<double>(
          update(static_cast<float>(1.0 - decay1), static_cast<float>(1.0 - decay2)));
      window += loss;
      if (end.steps % settings.plateau_steps == 0) {
        const double mean = window / settings.plateau_steps;
        end.loss = static_cast<float>(mean);
        done = !(previous - mean >= settings.plateau_tolerance);  // also where it is no number
        previous = mean;
        window = 0.0;
      } else if (end.steps < settings.plateau_steps) {
        end.loss = static_cast<float>(loss);
      }
      done = done || end.steps >= settings.max_steps;
    }
    wait_for_copies();
    if (rank_ == 0 && thread_ == 0) task_.ends[policy_] = end;
  }

 private:
  static __device__ constexpr ImageLayout layout() {
    return ImageLayout(16 * kTiles, kHidden, kOutputs);
  }

  /// Which step of the data this thread fetches for a pass.
  __device__ void draw(int step, int pass) {
    const int row = pass * kPassRows + thread_ / 2;
    if (row < rows_)
      drawn_ = task_.pool[trainee_.pool + drawn(trainee_.stream, static_cast<std::uint32_t>(step),
                                                static_cast<std::uint32_t>(row_begin_ + row),
                                                trainee_.count)];
  }

  /// Two threads fetch a row.
  __device__ void fetch(int pass) {
    if (pass * kPassRows + thread_ / 2 >= rows_) return;
    const int row = thread_ / 2;
    const unsigned char* from = task_.steps + static_cast<std::int64_t>(drawn_) * kStep.bytes();
    using Row = Rows<16 * kTiles>;
#pragma unroll
    for (int i = 0; i < 2 * kTiles; ++i) {
      if (i % 2 != thread_ % 2) continue;
      copy_async(shared_ + Memory::kInputs + Row::piece(row, i), from + 16 * i);
      copy_async(shared_ + Memory::kInputsBfloats + Row::piece(row, i),
                 from + kStep.bfloats() + 16 * i);
    }
#pragma unroll
    for (int i = 0; i < kOutputs / 8; ++i)
      if (i % 2 == thread_ % 2)
        copy_async(shared_ + Memory::kActions + row * 2 * kOutputs + 16 * i,
                   from + kStep.action() + 16 * i);
  }

  __device__ void clear_gradients() {
    const auto clear = [](auto& tiles) {
      for (auto& tile : tiles)
        for (float& x : tile) x = 0.0F;
    };
    for (auto& row : of_second_) clear(row);
    for (auto& row : of_first_) clear(row);
    clear(of_heads_);
    clear(of_bias_);
    clear(of_head_bias_);
  }

  /// Where this thread's pairs of numbers are in Rows: two rows (0 and 8 below) of a tile's eight
  /// columns.
  __device__ __forceinline__ std::uint32_t* pair(int array, int half, int eight) const {
    const int row = 16 * warp_ + lane_ / 4 + 8 * half;
    return reinterpret_cast<std::uint32_t*>(memory_ + array + Rows<kHidden>::piece(row, eight) +
                                            4 * (lane_ % 4));
  }

  /// Two tiles of eight units after ReLU, as a left operand of what is above, and kept.
  __device__ __forceinline__ Four activate(int array, int sixteen, const float (&a)[4],
                                           const float (&b)[4]) const {
    const float* v[2] = {a, b};
    Four halves;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float low = v[i / 2][2 * (i % 2)], high = v[i / 2][2 * (i % 2) + 1];
      halves.x[i] = pack_half_relu(low, high);
      *pair(array, i % 2, 2 * sixteen + i / 2) = pack_relu(low, high);
    }
    return halves;
  }

  /// The same for deltas, which pass where the unit was active; kept at their true size.
  __device__ __forceinline__ Four pass_back(int units, int array, int sixteen, const float (&a)[4],
                                            const float (&b)[4], const float (&sizes)[2]) const {
    const float* v[2] = {a, b};
    Four halves;
    std::uint32_t kept[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float low = v[i / 2][2 * (i % 2)], high = v[i / 2][2 * (i % 2) + 1];
      const std::uint32_t active = positive(*pair(units, i % 2, 2 * sixteen + i / 2));
      halves.x[i] = pack_half(low, high) & active;
      kept[i] = pack(low * sizes[i % 2], high * sizes[i % 2]) & active;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) *pair(array, i % 2, 2 * sixteen + i / 2) = kept[i];
    return halves;
  }

  /// Adds the gradient of 128 steps, of which the first `rows` count.
  __device__ __forceinline__ void pass(int rows) {
    Four deltas[kInner];
    float sizes[2];  // of the deltas of this thread's two rows
    if (16 * warp_ < rows) {
      float outputs[kOutputs / 8][4];
      forward(outputs);
      deltas_of_second(outputs, rows, deltas, sizes);
    }
    __syncthreads();
    if constexpr (kOnce) clear_gradients();
    by_sixteen(rows, [&](int row) { gradient_of_heads(row); });
    __syncthreads();
    if (16 * warp_ < rows) deltas_of_first(deltas, sizes);
    by_sixteen(rows, [&](int row) { gradient_of_second(row); });
    __syncthreads();
    by_sixteen(rows, [&](int row) { gradient_of_first(row); });
  }

  /// Calls `work` with the first of every 16 rows; all at once in the usual case.
  template <class Work>
  static __device__ __forceinline__ void by_sixteen(int rows, const Work& work) {
    if (rows >= kPassRows) {
#pragma unroll
      for (int row = 0; row < kPassRows; row += 16) work(row);
    } else {
#pragma unroll 1
      for (int row = 0; row < rows; row += 16) work(row);
    }
  }

  __device__ __forceinline__ void forward(float (&outputs)[kOutputs / 8][4]) {
    Four below[kInner];
    {
      Four inputs[kTiles];
      const auto x = Inputs::down_right(shared_ + Memory::kInputs, 16 * warp_, lane_);
#pragma unroll
      for (int k = 0; k < kTiles; ++k) inputs[k] = load_four(x.block(0, 16 * k));
      const auto w = Hidden::down_right(shared_ + Memory::kFirst, 0, lane_);
#pragma unroll
      for (int n = 0; n < kInner; ++n) {
        float sum[2][4] = {};
#pragma unroll
        for (int k = 0; k < kTiles; ++k) {
          const Four b = load_four_transposed(w.block(16 * k, 16 * n));
          multiply_add_half(sum[0], inputs[k], b.x[0], b.x[1]);
          multiply_add_half(sum[1], inputs[k], b.x[2], b.x[3]);
        }
        below[n] = activate(Memory::kBelow, n, sum[0], sum[1]);
      }
    }
    const auto* head_bias = reinterpret_cast<const float*>(memory_ + Memory::kHeadBias);
#pragma unroll
    for (int i = 0; i < kOutputs / 8; ++i) {
      const float2 b = *reinterpret_cast<const float2*>(head_bias + 8 * i + 2 * (lane_ % 4));
      outputs[i][0] = outputs[i][2] = b.x;
      outputs[i][1] = outputs[i][3] = b.y;
    }
    const auto* bias = reinterpret_cast<const float*>(memory_ + Memory::kSecondBias);
    const auto w = Hidden::down_right(shared_ + Memory::kSecond, 0, lane_);
    const auto head = Outputs::down_right(shared_ + Memory::kHeads, 0, lane_);
#pragma unroll
    for (int n = 0; n < kInner; n += 2) {
      float sum[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 b = *reinterpret_cast<const float2*>(bias + 16 * n + 8 * i + 2 * (lane_ % 4));
        sum[i][0] = sum[i][2] = b.x;
        sum[i][1] = sum[i][3] = b.y;
      }
#pragma unroll
      for (int k = 0; k < kInner; ++k)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const Four b = load_four_transposed(w.block(16 * k, 16 * (n + j)));
          multiply_add_half(sum[2 * j], below[k], b.x[0], b.x[1]);
          multiply_add_half(sum[2 * j + 1], below[k], b.x[2], b.x[3]);
        }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const Four above = activate(Memory::kAbove, n + j, sum[2 * j], sum[2 * j + 1]);
#pragma unroll
        for (int o = 0; o < kOutputs / 16; ++o) {
          const Four b = load_four_transposed(head.block(16 * (n + j), 16 * o));
          multiply_add_half(outputs[2 * o], above, b.x[0], b.x[1]);
          multiply_add_half(outputs[2 * o + 1], above, b.x[2], b.x[3]);
        }
      }
    }
  }

  /// From the heads' outputs to the second layer's deltas.
  __device__ __forceinline__ void deltas_of_second(float (&outputs)[kOutputs / 8][4], int rows,
                                                   Four (&deltas)[kInner], float (&sizes)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = 16 * warp_ + lane_ / 4 + 8 * half;
      float of_row[kOutputs / 4];
#pragma unroll
      for (int i = 0; i < kOutputs / 4; ++i) of_row[i] = outputs[i / 2][2 * half + i % 2];
      const float surprise = surprise_of_row<kOutputs, kDiscrete>(
          of_row, shape_, memory_ + Memory::kActions + row * 2 * kOutputs, lane_ % 4, factor_);
      const bool counts = row < rows;
      if (counts) loss_ += surprise;
      float size = 0.0F;
#pragma unroll
      for (int i = 0; i < kOutputs / 4; ++i) {
        const float delta = counts ? of_row[i] : 0.0F;
        outputs[i / 2][2 * half + i % 2] = delta;
        size = fmaxf(size, fabsf(delta));
      }
      sizes[half] = fmaxf(max_of_four(size), 1e-30F);
    }
    const float inverse[2] = {__fdividef(1.0F, sizes[0]), __fdividef(1.0F, sizes[1])};
    Four output_deltas[kOutputs / 16];
#pragma unroll
    for (int o = 0; o < kOutputs / 16; ++o)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int half = i % 2, row = 16 * warp_ + lane_ / 4 + 8 * half;
        const float low = outputs[2 * o + i / 2][2 * half];
        const float high = outputs[2 * o + i / 2][2 * half + 1];
        output_deltas[o].x[i] = pack_half(low * inverse[half], high * inverse[half]);
        *reinterpret_cast<std::uint32_t*>(memory_ + Memory::kOutputDeltas +
                                          Rows<kOutputs>::piece(row, 2 * o + i / 2) +
                                          4 * (lane_ % 4)) = pack(low, high);
      }
    const auto head = Outputs::right_down(shared_ + Memory::kHeads, 0, lane_);
#pragma unroll
    for (int n = 0; n < kInner; ++n) {
      float sum[2][4] = {};
#pragma unroll
      for (int o = 0; o < kOutputs / 16; ++o) {
        const Four b = load_four(head.block(16 * n, 16 * o));
        multiply_add_half(sum[0], output_deltas[o], b.x[0], b.x[1]);
        multiply_add_half(sum[1], output_deltas[o], b.x[2], b.x[3]);
      }
      deltas[n] = pass_back(Memory::kAbove, Memory::kDeltas, n, sum[0], sum[1], sizes);
    }
  }

  /// The first layer's deltas, which take the place of the second layer's units.
  __device__ __forceinline__ void deltas_of_first(const Four (&deltas)[kInner],
                                                  const float (&sizes)[2]) {
    const auto w = Hidden::right_down(shared_ + Memory::kSecond, 0, lane_);
#pragma unroll
    for (int n = 0; n < kInner; n += 2) {
      float sum[4][4] = {};
#pragma unroll
      for (int k = 0; k < kInner; ++k)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const Four b = load_four(w.block(16 * (n + j), 16 * k));
          multiply_add_half(sum[2 * j], deltas[k], b.x[0], b.x[1]);
          multiply_add_half(sum[2 * j + 1], deltas[k], b.x[2], b.x[3]);
        }
#pragma unroll
      for (int j = 0; j < 2; ++j)
        pass_back(Memory::kBelow, Memory::kAbove, n + j, sum[2 * j], sum[2 * j + 1], sizes);
    }
  }

  /// A warp takes 16 units: their weights to the heads, and the bias of the second layer.
  __device__ __forceinline__ void gradient_of_heads(int k) {
    if (16 * warp_ >= kHidden) return;
    const auto above = Hidden::right_down(shared_ + Memory::kAbove, 0, lane_);
    const auto outputs = Outputs::down_right(shared_ + Memory::kOutputDeltas, 0, lane_);
    const auto deltas = Hidden::down_right(shared_ + Memory::kDeltas, 0, lane_);
    constexpr Four kOnes{{0x3F803F80U, 0x3F803F80U, 0x3F803F80U, 0x3F803F80U}};
    const Four a = load_four_transposed(above.block(k, 16 * warp_));
#pragma unroll
    for (int o = 0; o < kOutputs / 16; ++o) {
      const Four b = load_four_transposed(outputs.block(k, 16 * o));
      multiply_add(of_heads_[2 * o], a, b.x[0], b.x[1]);
      multiply_add(of_heads_[2 * o + 1], a, b.x[2], b.x[3]);
      multiply_add(of_head_bias_[2 * o], kOnes, b.x[0], b.x[1]);
      multiply_add(of_head_bias_[2 * o + 1], kOnes, b.x[2], b.x[3]);
    }
    const Four d = load_four_transposed(deltas.block(k, 16 * warp_));
    multiply_add(of_bias_[0], kOnes, d.x[0], d.x[1]);
    multiply_add(of_bias_[1], kOnes, d.x[2], d.x[3]);
  }

  /// A warp takes a quarter of the units below and half of those above.
  __device__ __forceinline__ void gradient_of_second(int k) {
    const auto below = Hidden::right_down(shared_ + Memory::kBelow, 0, lane_);
    const auto deltas = Hidden::down_right(shared_ + Memory::kDeltas, 0, lane_);
    Four a[kDown];
#pragma unroll
    for (int m = 0; m < kDown; ++m)
      a[m] = load_four_transposed(below.block(k, kHidden / 4 * (warp_ % 4) + 16 * m));
#pragma unroll
    for (int n = 0; n < kAcross; n += 2) {
      const Four b = load_four_transposed(deltas.block(k, kHidden / 2 * (warp_ / 4) + 8 * n));
#pragma unroll
      for (int m = 0; m < kDown; ++m) {
        multiply_add(of_second_[m][n], a[m], b.x[0], b.x[1]);
        multiply_add(of_second_[m][n + 1], a[m], b.x[2], b.x[3]);
      }
    }
  }

  /// A warp takes all inputs and 16 units.
  __device__ __forceinline__ void gradient_of_first(int k) {
    if (16 * warp_ >= kHidden) return;
    const auto inputs = Inputs::right_down(shared_ + Memory::kInputsBfloats, 0, lane_);
    const auto deltas = Hidden::down_right(shared_ + Memory::kAbove, 0, lane_);
    const Four b = load_four_transposed(deltas.block(k, 16 * warp_));
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      const Four a = load_four_transposed(inputs.block(k, 16 * m));
      multiply_add(of_first_[m][0], a, b.x[0], b.x[1]);
      multiply_add(of_first_[m][1], a, b.x[2], b.x[3]);
    }
  }

  /// This block's gradient, from registers into shared memory.
  __device__ __forceinline__ void store_gradients() {
    const int row = lane_ / 4, column = 2 * (lane_ % 4);
    const auto store_pair = [&](int at, float a, float b) {
      *reinterpret_cast<std::uint32_t*>(memory_ + Memory::kGradients + 2 * at) = pack(a, b);
    };
    const auto store = [&](int at, int at_below, const float(&tile)[4]) {
      store_pair(at, tile[0], tile[1]);
      store_pair(at_below, tile[2], tile[3]);
    };
#pragma unroll
    for (int m = 0; m < kDown; ++m)
#pragma unroll
      for (int n = 0; n < kAcross; ++n) {
        const int r = kHidden / 4 * (warp_ % 4) + 16 * m + row;
        const int c = kHidden / 2 * (warp_ / 4) + 8 * n + column;
        store(layout().second(r, c), layout().second(r + 8, c), of_second_[m][n]);
      }
    if (16 * warp_ < kHidden) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const int c = 16 * warp_ + 8 * n + column;
#pragma unroll
        for (int m = 0; m < kTiles; ++m)
          store(layout().first(16 * m + row, c), layout().first(16 * m + row + 8, c),
                of_first_[m][n]);
        if (row == 0) store_pair(layout().second_bias() + c, of_bias_[n][0], of_bias_[n][1]);
      }
#pragma unroll
      for (int o = 0; o < kOutputs / 8; ++o)
        store(layout().head(16 * warp_ + row, 8 * o + column),
              layout().head(16 * warp_ + row + 8, 8 * o + column), of_heads_[o]);
    }
    if (warp_ == 0 && row == 0)
#pragma unroll
      for (int o = 0; o < kOutputs / 8; ++o)
        store_pair(layout().head_bias() + 8 * o + column, of_head_bias_[o][0], of_head_bias_[o][1]);
    const float loss = sum_of_warp(loss_);
    if (lane_ == 0)
      reinterpret_cast<float*>(memory_ + Memory::kWarpSums)[kTrainWarps + warp_] = loss;
  }

  /// Eight neighbouring numbers.
  struct alignas(16) Eight {
    float x[8];
  };
  static constexpr int kEights = Memory::kImage.size() / 8;
  /// Updates under way per thread: with four blocks and more, all of a step.
  static constexpr int kOwn = (kEights + 4 * kTrainThreads - 1) / (4 * kTrainThreads);

  /// Eight number `eight` of this policy's image, or of what is like it.
  __device__ __forceinline__ Eight of_image(const float* images, int eight) const {
    Eight e;
    const auto* from = reinterpret_cast<const float4*>(
        images + static_cast<std::int64_t>(policy_) * layout().size() + 8 * eight);
    *reinterpret_cast<float4*>(e.x) = from[0];
    *reinterpret_cast<float4*>(e.x + 4) = from[1];
    return e;
  }
  __device__ __forceinline__ void to_image(float* images, int eight, const Eight& e) const {
    auto* to = reinterpret_cast<float4*>(
        images + static_cast<std::int64_t>(policy_) * layout().size() + 8 * eight);
    to[0] = *reinterpret_cast<const float4*>(e.x);
    to[1] = *reinterpret_cast<const float4*>(e.x + 4);
  }

  /// Eight new numbers of the image, to the blocks from `begin` to `end`: a piece of a row of
  /// weights, or biases.
  __device__ __forceinline__ void hand_out(int eight, const Eight& e, int begin, int end) const {
    const int at = 8 * eight;
    if (at >= layout().second_bias()) {
      const int to = Memory::kSecondBias + 4 * (at - layout().second_bias());
      write_to_blocks(to, *reinterpret_cast<const uint4*>(e.x), begin, end);
      write_to_blocks(to + 16, *reinterpret_cast<const uint4*>(e.x + 4), begin, end);
      return;
    }
    const auto halves = [&](int i) { return pack_half(e.x[2 * i], e.x[2 * i + 1]); };
    int to;
    if (at >= layout().heads()) {
      const int within = at - layout().heads();
      to = Memory::kHeads + Rows<kOutputs>::piece(within / kOutputs, within % kOutputs / 8);
    } else {  // rows of both layers lie below each other, there and here
      const int row = at / kHidden, piece = (at % kHidden / 8) ^ (row & 7);
      to = Memory::kFirst + Rows<kHidden>::piece(row, piece);
    }
    write_to_blocks(to, make_uint4(halves(0), halves(1), halves(2), halves(3)), begin, end);
  }
  __device__ __forceinline__ void write_to_blocks(int to, uint4 v, int begin, int end) const {
#pragma unroll 4
    for (int block = begin; block < end; ++block)
      write_in_cluster(address_in(shared_ + static_cast<std::uint32_t>(to), block), v);
  }

  /// All blocks' gradients of this thread's numbers from eight number `from` on.
  template <int kBlocks>
  __device__ __forceinline__ void add_up(int from, int end, Eight (&sums)[kOwn]) const {
    constexpr int kAtOnce = kBlocks <= 4 ? kOwn : kBlocks == 8 ? 2 : 1;
#pragma unroll
    for (int first = 0; first < kOwn; first += kAtOnce) {
      if (from + first * kTrainThreads >= end) break;
      Four parts[kAtOnce][kBlocks];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int eight = min(from + (first + i) * kTrainThreads, end - 1);  // beyond it: not used
#pragma unroll
        for (int block = 0; block < kBlocks; ++block)
          parts[i][block] = read_in_cluster(address_in(shared_ + Memory::kGradients, block) +
                                            16U * static_cast<std::uint32_t>(eight));
      }
#pragma unroll
      for (int i = 0; i < kAtOnce && first + i < kOwn; ++i)
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          float2 sum = unpack(parts[i][0].x[n]);
#pragma unroll
          for (int block = 1; block < kBlocks; ++block) {
            const float2 part = unpack(parts[i][block].x[n]);
            sum.x += part.x;
            sum.y += part.y;
          }
          sums[first + i].x[2 * n] = sum.x;
          sums[first + i].x[2 * n + 1] = sum.y;
        }
    }
  }
  __device__ __forceinline__ void add_up(int from, int end, Eight (&sums)[kOwn]) const {
    switch (blocks_) {
      case 1:
        return add_up<1>(from, end, sums);
      case 2:
        return add_up<2>(from, end, sums);
      case 4:
        return add_up<4>(from, end, sums);
      case 8:
        return add_up<8>(from, end, sums);
      default:
        return add_up<kMostBlocks>(from, end, sums);
    }
  }

  /// One step of Adam by all blocks together; returns the batch's mean loss.
  __device__ __forceinline__ float update(float correction1, float correction2) {
    store_gradients();
    arrive_at_cluster();
    const int begin = kEights * rank_ / blocks_, end = kEights * (rank_ + 1) / blocks_;
    constexpr int kAtOnce = kOwn * kTrainThreads;
    wait_for_cluster();

    Eight sums[kOwn];
    float squares = 0.0F;
    for (int from = begin + thread_; from < end; from += kAtOnce) {
      add_up(from, end, sums);
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
        if (from + i * kTrainThreads < end)
#pragma unroll
          for (const float x : sums[i].x) squares += x * x;
    }
    squares = sum_of_warp(squares);
    auto* warp_sums = reinterpret_cast<float*>(memory_ + Memory::kWarpSums);
    if (lane_ == 0) warp_sums[warp_] = squares;
    __syncthreads();
    if (thread_ < blocks_) {
      float norm = 0.0F, loss = 0.0F;
#pragma unroll
      for (int w = 0; w < kTrainWarps; ++w) {
        norm += warp_sums[w];
        loss += warp_sums[kTrainWarps + w];
      }
      write_in_cluster(address_in(shared_ + Memory::kBlockSums + 8 * rank_, thread_), norm, loss);
    }
    arrive_at_cluster();
    Eight w[kOwn], m[kOwn], v[kOwn];
    const auto fetch_own = [&](int from) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const int eight = min(from + i * kTrainThreads, end - 1);  // beyond it: not used
        w[i] = of_image(task_.images, eight);
        m[i] = of_image(task_.first_averages, eight);
        v[i] = of_image(task_.second_averages, eight);
      }
    };
    fetch_own(begin + thread_);
    wait_for_cluster();

    float norm = 0.0F, loss = 0.0F;
    const auto* block_sums = reinterpret_cast<const float2*>(memory_ + Memory::kBlockSums);
    for (int block = 0; block < blocks_; ++block) {
      norm += block_sums[block].x;
      loss += block_sums[block].y;
    }
    const auto& settings = task_.settings;
    const float scale = fminf(1.0F, settings.max_gradient_norm / (sqrtf(norm) + 1e-6F));
    const float root = sqrtf(correction2);
    const float rate = settings.learning_rate * root / correction1;
    const float epsilon = settings.epsilon * root;
    for (int from = begin + thread_; from < end; from += kAtOnce) {
      if (from != begin + thread_) fetch_own(from);
      if (end - begin > kAtOnce) add_up(from, end, sums);  // otherwise they are still there
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const int eight = from + i * kTrainThreads;
        if (eight >= end) continue;
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          const float slope = sums[i].x[n] * scale;
          m[i].x[n] = 0.9F * m[i].x[n] + 0.1F * slope;
          v[i].x[n] = 0.999F * v[i].x[n] + 0.001F * slope * slope;
          w[i].x[n] -= rate * __fdividef(m[i].x[n], square_root(v[i].x[n]) + epsilon);
        }
        hand_out(eight, w[i], 0, blocks_);
        to_image(task_.images, eight, w[i]);
        to_image(task_.first_averages, eight, m[i]);
        to_image(task_.second_averages, eight, v[i]);
      }
    }
    arrive_at_cluster();
    wait_for_cluster();
    return loss * factor_;
  }

  const Shape& shape_;
  const TrainTask& task_;
  const Trainee trainee_;
  unsigned char* memory_;
  std::uint32_t shared_;
  int blocks_, rank_, policy_, thread_, warp_, lane_;
  float factor_;
  int row_begin_, rows_;  // of this block in every batch
  std::int32_t drawn_ = 0;

  // This warp's part of the gradient.
  float of_second_[kDown][kAcross][4];
  float of_first_[kTiles][2][4];
  float of_heads_[kOutputs / 8][4];
  float of_bias_[2][4];
  float of_head_bias_[kOutputs / 8][4];  // the same in every warp
  float loss_;
};

template <int kTiles, int kHidden, int kOutputs, bool kDiscrete, bool kOnce>
__global__ void __launch_bounds__(kTrainThreads, 1)
    train_kernel(const __grid_constant__ Shape shape, const __grid_constant__ TrainTask task) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const auto cluster = cooperative_groups::this_cluster();
  const int blocks = static_cast<int>(cluster.num_blocks());
  Trainer<kTiles, kHidden, kOutputs, kDiscrete, kOnce> trainer(
      shape, task, memory, blocks, static_cast<int>(cluster.block_rank()),
      static_cast<int>(blockIdx.x) / blocks);
  trainer.train();
}

}  // namespace kindred::cuda
