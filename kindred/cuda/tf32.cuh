// Tensor cores on TF32 numbers: floats with 10 bits behind the point.
#pragma once

#include <cstdint>

namespace kindred::cuda {

/// The nearest TF32 number, in a float's bits.
__device__ inline std::uint32_t to_tf32(float x) {
  std::uint32_t result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(x));
  return result;
}

/// sums [16, 8] += a [16, 8] · b [8, 8], spread over a warp. With g = lane / 4 and t = lane % 4:
/// a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4); b: (t, g), (t + 4, g); sums: (g, 2t),
/// (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
__device__ inline void multiply_add(float (&sums)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Floats as the sums of two TF32 numbers, which leaves an error of about 2⁻²².
template <int kCount>
struct Split {
  std::uint32_t high[kCount], low[kCount];

  __device__ void set(int i, float x) {
    high[i] = to_tf32(x);
    low[i] = to_tf32(x - __uint_as_float(high[i]));
  }
};

/// The product of floats: three of TF32 numbers, the small ones first.
__device__ inline void multiply_add(float (&sums)[4], const Split<4>& a, const Split<2>& b) {
  multiply_add(sums, a.low, b.high);
  multiply_add(sums, a.high, b.low);
  multiply_add(sums, a.high, b.high);
}

}  // namespace kindred::cuda
