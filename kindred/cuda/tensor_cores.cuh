// A warp's products on tensor cores: 16×16 by 16×8 of 16-bit numbers, added up in 32 bits, and the
// loads from shared memory that make operands of them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace kindred::cuda {

/// Four 8×8 matrices: an operand of 16 rows and 16 columns, or two of 16 rows and 8 columns.
struct Four {
  std::uint32_t x[4];
};

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ Four load_four(std::uint32_t address) {
  Four f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(f.x[0]), "=r"(f.x[1]), "=r"(f.x[2]), "=r"(f.x[3])
               : "r"(address)
               : "memory");
  return f;
}

__device__ __forceinline__ Four load_four_transposed(std::uint32_t address) {
  Four f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(f.x[0]), "=r"(f.x[1]), "=r"(f.x[2]), "=r"(f.x[3])
               : "r"(address)
               : "memory");
  return f;
}

/// c += a · b in bfloat16.
__device__ __forceinline__ void multiply_add(float (&c)[4], const Four& a, std::uint32_t b0,
                                             std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
}

/// The same in half precision.
__device__ __forceinline__ void multiply_add_half(float (&c)[4], const Four& a, std::uint32_t b0,
                                                  std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
}

/// Two numbers as bfloat16, the first in the low half.
__device__ __forceinline__ std::uint32_t pack(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

/// The same, the negative as 0.
__device__ __forceinline__ std::uint32_t pack_relu(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

/// Two bfloat16 as numbers.
__device__ __forceinline__ float2 unpack(std::uint32_t packed) {
  return make_float2(__uint_as_float(packed << 16), __uint_as_float(packed & 0xFFFF0000U));
}

/// Two numbers as halves, the negative as 0.
__device__ __forceinline__ std::uint32_t pack_half_relu(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

__device__ __forceinline__ std::uint32_t pack_half(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

/// Which halves of two bfloat16 that are not negative are more than 0, as bits to mask with.
__device__ __forceinline__ std::uint32_t positive(std::uint32_t packed) {
  std::uint32_t mask;
  asm("set.gt.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(packed), "r"(0U));
  return mask;
}

/// Rows of 16-bit numbers in shared memory, in pieces of 16 bytes, whose order changes from row to
/// row so that eight rows of one piece lie in different banks.
template <int kColumns>
struct Rows {
  static constexpr int kBytes = 2 * kColumns;

  static __device__ __forceinline__ int turn(int row) {
    if constexpr (kBytes == 32) return (row >> 2) & 1;
    if constexpr (kBytes == 64) return (row >> 1) & 3;
    if constexpr (kBytes == 128 || kBytes == 256) return row & 7;
    return 0;
  }
  /// Where piece `piece` of a row begins.
  static __device__ __forceinline__ int piece(int row, int piece) {
    return row * kBytes + ((piece ^ turn(row)) << 4);
  }
  /// Where a number is.
  static __device__ __forceinline__ int number(int row, int column) {
    return piece(row, column >> 3) + ((column & 7) << 1);
  }
};

/// Where in an array of Rows one lane's addresses for load_four() are. Rows come in steps of 16 and
/// pieces in steps of 2, both numbers known at compile time.
template <int kColumns>
struct Operand {
  std::uint32_t start, turned;

  /// Matrices go down, then right: a left operand as stored; a right one stored [inner, outer],
  /// transposed.
  static __device__ __forceinline__ Operand down_right(std::uint32_t array, int row, int lane) {
    return at(array, row + (lane & 15), lane >> 4);
  }
  /// Matrices go right, then down: a right operand stored [outer, inner]; a left one stored [inner,
  /// outer], transposed.
  static __device__ __forceinline__ Operand right_down(std::uint32_t array, int row, int lane) {
    return at(array, row + (lane & 7) + ((lane >> 4) << 3), (lane >> 3) & 1);
  }

  /// 16 rows and 16 columns, `rows` down and `columns` to the right.
  __device__ __forceinline__ std::uint32_t block(int rows, int columns) const {
    return start + static_cast<std::uint32_t>(rows * Rows<kColumns>::kBytes) +
           (static_cast<std::uint32_t>(columns << 1) ^ turned);
  }

 private:
  static __device__ __forceinline__ Operand at(std::uint32_t array, int row, int piece) {
    return {array + static_cast<std::uint32_t>(row * Rows<kColumns>::kBytes),
            static_cast<std::uint32_t>((piece ^ Rows<kColumns>::turn(row)) << 4)};
  }
};

}  // namespace kindred::cuda
