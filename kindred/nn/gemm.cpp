#include "kindred/nn/gemm.h"

#include <algorithm>

#include "kindred/core/vectorise.h"

namespace kindred {
namespace {

/// What a generation of processors computes with: vectors of so many bytes, as many rows of sums,
/// two vectors each, as its registers hold beside the factors, and how many vectors side by side
/// are best where many rows read them.
template <int Bytes, int Rows, int Columns = 2>
struct Registers {
  static constexpr int kBytes = Bytes, kRows = Rows, kColumns = Columns;
  /// Whether a panel is laid out one line after another before it is read: lines a power of two
  /// apart would share a few places of the first cache. A wide panel is more than that holds and
  /// comes from the second in any case.
  static constexpr bool kPacks = Columns == 2;
  template <class T>
  struct Of {
    // A using would ignore the attributes of a type that is not yet known.
    typedef T Vector __attribute__((vector_size(Bytes)));
    // The same in memory, where nothing promises alignment.
    typedef T InMemory __attribute__((vector_size(Bytes), aligned(sizeof(T)), may_alias));
    static constexpr std::int64_t kWidth = Bytes / static_cast<int>(sizeof(T));
  };
};

/// Rows of A and C per pass: what is read again for every panel stays in the second cache.
constexpr std::int64_t kBlock = 384;
/// Rows of B per pass: a panel of it stays in the first cache.
constexpr std::int64_t kDepth = 256;
/// Rows of C from which on a panel of B is read often enough to be as wide as is best.
constexpr std::int64_t kManyRows = 24;
/// More rows than this GCC does not unroll, and keeps their sums in memory.
constexpr int kMostRows = 12;

/// A(i, j) = data[i * row_stride + j * column_stride].
template <class T>
struct Operand {
  const T* data;
  std::int64_t row_stride, column_stride;

  Operand from(std::int64_t row, std::int64_t column = 0) const {
    return {data + row * row_stride + column * column_stride, row_stride, column_stride};
  }
};

template <class T>
struct Ends {
  bool accumulate = false, rectify = false;
  const T *bias = nullptr, *gate = nullptr;
  std::int64_t padding = 0;
  T* row_sums = nullptr;
};

/// C [.., .. of `stride`] at `data`, with what its sums start from and end as.
template <class T>
struct Target {
  T* data;
  std::int64_t stride;
  Ends<T> ends;

  Target from(std::int64_t row, std::int64_t column) const {
    const auto offset = row * stride + column;
    return {data + offset,
            stride,
            {.accumulate = ends.accumulate,
             .rectify = ends.rectify,
             .bias = ends.bias ? ends.bias + column : nullptr,
             .gate = ends.gate ? ends.gate + offset : nullptr,
             .row_sums = ends.row_sums ? ends.row_sums + column : nullptr}};
  }
};

/// Rows × Columns vectors of C, with all sums in registers; and those of B's rows where AndB.
template <class Machine, int Rows, int Columns, bool AndB = false, class T>
[[gnu::always_inline]] inline void tile(std::int64_t k, Operand<T> a, const T* b,
                                        std::int64_t b_stride, const Target<T>& c) {
  using Vector = typename Machine::template Of<T>::Vector;
  using InMemory = typename Machine::template Of<T>::InMemory;
  constexpr auto kWidth = Machine::template Of<T>::kWidth;
  const auto at = [](const T* from) -> const InMemory& {
    return *reinterpret_cast<const InMemory*>(from);
  };
  constexpr int kSums = Rows + (AndB ? 1 : 0);
  Vector sum[kSums][Columns];
  for (int l = 0; AndB && l < Columns; ++l)
    sum[Rows][l] = c.ends.accumulate ? Vector(at(c.ends.row_sums + l * kWidth)) : Vector{};
  for (int r = 0; r < Rows; ++r)
    for (int l = 0; l < Columns; ++l)
      sum[r][l] = c.ends.accumulate ? Vector(at(c.data + r * c.stride + l * kWidth))
                  : c.ends.bias     ? Vector(at(c.ends.bias + l * kWidth))
                                    : Vector{};
  for (std::int64_t p = 0; p < k; ++p, b += b_stride, a.data += a.column_stride) {
    Vector row[Columns];
    for (int l = 0; l < Columns; ++l) row[l] = at(b + l * kWidth);
    for (int r = 0; r < Rows; ++r)
      for (int l = 0; l < Columns; ++l) sum[r][l] += a.data[r * a.row_stride] * row[l];
    for (int l = 0; AndB && l < Columns; ++l) sum[Rows][l] += row[l];
  }
  for (int l = 0; AndB && l < Columns; ++l)
    *reinterpret_cast<InMemory*>(c.ends.row_sums + l * kWidth) = sum[Rows][l];
  if (c.ends.rectify) {
    for (int r = 0; r < Rows; ++r)
      for (auto& x : sum[r]) x = x > Vector{} ? x : Vector{};
  } else if (c.ends.gate) {
    for (int r = 0; r < Rows; ++r)
      for (int l = 0; l < Columns; ++l)
        sum[r][l] = at(c.ends.gate + r * c.stride + l * kWidth) > Vector{} ? sum[r][l] : Vector{};
  }
  for (int r = 0; r < Rows; ++r)
    for (int l = 0; l < Columns; ++l)
      *reinterpret_cast<InMemory*>(c.data + r * c.stride + l * kWidth) = sum[r][l];
}

/// The last rows of a panel, fewer than Rows + 1.
template <class Machine, int Rows, int Columns, bool AndB = false, class T>
[[gnu::always_inline]] inline void last_rows(std::int64_t m, std::int64_t k, Operand<T> a,
                                             const T* b, std::int64_t b_stride,
                                             const Target<T>& c) {
  if constexpr (Rows > 0 || AndB)
    if (m == Rows) return tile<Machine, Rows, Columns, AndB>(k, a, b, b_stride, c);
  if constexpr (Rows > 0) last_rows<Machine, Rows - 1, Columns, AndB>(m, k, a, b, b_stride, c);
}

/// All m rows of C for some columns of vectors.
template <class Machine, int Columns, class T>
[[gnu::always_inline]] inline void panel(std::int64_t m, std::int64_t k, Operand<T> a, const T* b,
                                         std::int64_t b_stride, const Target<T>& c) {
  constexpr auto kRows = std::min(kMostRows, 2 * Machine::kRows / Columns);
  std::int64_t i = 0;
  for (; i + kRows <= m; i += kRows)
    tile<Machine, kRows, Columns>(k, a.from(i), b, b_stride, c.from(i, 0));
  if (c.ends.row_sums)
    last_rows<Machine, kRows - 1, Columns, true>(m - i, k, a.from(i), b, b_stride, c.from(i, 0));
  else
    last_rows<Machine, kRows - 1, Columns>(m - i, k, a.from(i), b, b_stride, c.from(i, 0));
}

/// At most kBlock rows of C.
template <class Machine>
[[gnu::always_inline]] inline void block(std::int64_t m, std::int64_t n, std::int64_t k,
                                         Operand<float> a, const float* b, float* c,
                                         const Ends<float>& ends) {
  using InMemory = typename Machine::template Of<float>::InMemory;
  // Half a vector is enough for the last columns, and costs half where a whole one is computed in
  // two steps.
  using Narrow = Registers<Machine::kBytes == 64 ? 32 : Machine::kBytes, Machine::kRows>;
  constexpr auto kWidth = Machine::template Of<float>::kWidth;
  constexpr auto kPanel = Machine::kColumns * kWidth;
  constexpr auto kNarrow = Narrow::template Of<float>::kWidth;
  [[maybe_unused]] alignas(64) float packed[Machine::kPacks ? kDepth * kPanel : 1];
  const auto columns = padded(n - ends.padding, kNarrow);
  std::int64_t depth = 0;
  do {
    const auto part = std::min(kDepth, k - depth);
    const bool first = depth == 0, last = depth + part == k;
    const Target<float> target{c,
                               n,
                               {.accumulate = ends.accumulate || !first,
                                .rectify = ends.rectify && last,
                                .bias = ends.bias,
                                .gate = last ? ends.gate : nullptr,
                                .row_sums = ends.row_sums}};
    const auto a_part = a.from(0, depth);
    const float* b_part = b + depth * n;
    std::int64_t j = 0;
    if (m >= kManyRows)
      for (; j + kPanel <= columns; j += kPanel) {
        const float* lines = b_part + j;
        if constexpr (Machine::kPacks) {
          for (std::int64_t p = 0; p < part; ++p)
            for (std::int64_t l = 0; l < kPanel; l += kWidth)
              *reinterpret_cast<InMemory*>(packed + p * kPanel + l) =
                  *reinterpret_cast<const InMemory*>(lines + p * n + l);
          lines = packed;
        }
        panel<Machine, Machine::kColumns>(m, part, a_part, lines, Machine::kPacks ? kPanel : n,
                                          target.from(0, j));
      }
    for (; j + 2 * kWidth <= columns; j += 2 * kWidth)
      panel<Machine, 2>(m, part, a_part, b_part + j, n, target.from(0, j));
    for (; j + kWidth <= columns; j += kWidth)
      panel<Machine, 1>(m, part, a_part, b_part + j, n, target.from(0, j));
    if (j < columns) panel<Narrow, 1>(m, part, a_part, b_part + j, n, target.from(0, j));
    depth += part;
  } while (depth < k);
  if (columns == n || ends.accumulate) return;
  for (std::int64_t i = 0; i < m; ++i) std::fill(c + i * n + columns, c + (i + 1) * n, 0.0F);
  if (ends.row_sums) std::fill(ends.row_sums + columns, ends.row_sums + n, 0.0F);
}

template <class Machine>
[[gnu::always_inline]] inline void product(std::int64_t m, std::int64_t n, std::int64_t k,
                                           Operand<float> a, const float* b, float* c,
                                           Ends<float> ends) {
  for (std::int64_t i = 0; i < m; i += kBlock) {
    block<Machine>(std::min(kBlock, m - i), n, k, a.from(i), b, c + i * n, ends);
    if (ends.gate) ends.gate += kBlock * n;
    ends.row_sums = nullptr;  // the first rows of C saw all of B
  }
}

/// One vector of columns of some rows of XᵀX.
template <class Lanes, int Rows, class T>
struct Strip {
  typename Lanes::Vector sum[Rows];

  [[gnu::always_inline]] Strip(const T* c, std::int64_t stride, bool accumulate) {
    for (int r = 0; r < Rows; ++r)
      sum[r] = accumulate ? typename Lanes::Vector(
                                *reinterpret_cast<const typename Lanes::InMemory*>(c + r * stride))
                          : typename Lanes::Vector{};
  }
  [[gnu::always_inline]] void add(const T* rows, const T* columns) {
    const typename Lanes::Vector lanes =
        *reinterpret_cast<const typename Lanes::InMemory*>(columns);
    for (int r = 0; r < Rows; ++r) sum[r] += rows[r] * lanes;
  }
  [[gnu::always_inline]] void store(T* c, std::int64_t stride) const {
    for (int r = 0; r < Rows; ++r)
      *reinterpret_cast<typename Lanes::InMemory*>(c + r * stride) = sum[r];
  }
};

/// The lower triangle of XᵀX for its first two vectors of columns. Half a vector is enough for rows
/// that end there, and costs half where a whole one is computed in two steps.
template <class Machine, class T>
[[gnu::always_inline]] inline void corner(std::int64_t n, std::int64_t stride, const T* x, T* c,
                                          bool accumulate) {
  using Whole = typename Machine::template Of<T>;
  using Half = typename Registers<Machine::kBytes / 2, 0>::template Of<T>;
  constexpr int kWidth = Whole::kWidth, kHalf = kWidth / 2;
  const auto at = [&](int row, int column) { return c + row * stride + column; };
  Strip<Half, kHalf, T> top(at(0, 0), stride, accumulate);
  Strip<Whole, kWidth + kHalf, T> left(at(kHalf, 0), stride, accumulate);
  Strip<Half, kHalf, T> middle(at(kWidth, kWidth), stride, accumulate);
  Strip<Whole, kHalf, T> right(at(kWidth + kHalf, kWidth), stride, accumulate);
  for (std::int64_t p = 0; p < n; ++p, x += stride) {
    top.add(x, x);
    left.add(x + kHalf, x);
    middle.add(x + kWidth, x + kWidth);
    right.add(x + kWidth + kHalf, x + kWidth);
  }
  top.store(at(0, 0), stride);
  left.store(at(kHalf, 0), stride);
  middle.store(at(kWidth, kWidth), stride);
  right.store(at(kWidth + kHalf, kWidth), stride);
}

template <class Machine, class T>
[[gnu::always_inline]] inline void gram(std::int64_t n, std::int64_t width, std::int64_t stride,
                                        const T* x, T* c, bool accumulate) {
  constexpr auto kWidth = Machine::template Of<T>::kWidth;
  constexpr auto kPanel = 2 * kWidth;
  constexpr bool kCorners = Machine::kRows >= kPanel / 2 + kWidth / 2;  // its sums are registers
  const Target<T> target{c, stride, {.accumulate = accumulate}};
  const auto rows = [&](std::int64_t row) { return Operand<T>{x + row, 1, stride}; };
  // Under a panel's columns only the rows from its diagonal on are needed.
  for (std::int64_t j = 0; j < width; j += kPanel) {
    auto i = j;
    if (kCorners && j + kPanel <= width) {
      if constexpr (kCorners) corner<Machine>(n, stride, x + j, target.from(j, j).data, accumulate);
      i += kPanel;
    } else {
      const auto first = std::min(kWidth, width - j);
      panel<Machine, 1>(first, n, rows(j), x + j, stride, target.from(j, j));
      i += first;
    }
    panel<Machine, 2>(width - i, n, rows(i), x + j, stride, target.from(i, j));
  }
}

template <class Machine>
[[gnu::always_inline]] inline void projection(std::int64_t n, std::int64_t inputs,
                                              std::int64_t outputs, std::int64_t stride,
                                              const double* x, const double* weights,
                                              const double* bias, double* y) {
  constexpr auto kPanel = 2 * Machine::template Of<double>::kWidth;
  const Operand<double> rows{x, stride, 1};
  const Target<double> target{y, stride, {.bias = bias}};
  std::int64_t j = 0;
  for (; j + kPanel <= outputs; j += kPanel)
    panel<Machine, 2>(n, inputs, rows, weights + j, outputs, target.from(0, j));
  if (j < outputs) panel<Machine, 1>(n, inputs, rows, weights + j, outputs, target.from(0, j));
}

/// The products as one generation of processors computes them.
struct Products {
  void (*product)(std::int64_t, std::int64_t, std::int64_t, Operand<float>, const float*, float*,
                  const Ends<float>&);
  void (*gram)(std::int64_t, std::int64_t, std::int64_t, const double*, double*, bool);
  void (*float_gram)(std::int64_t, std::int64_t, std::int64_t, const float*, float*, bool);
  void (*project)(std::int64_t, std::int64_t, std::int64_t, std::int64_t, const double*,
                  const double*, const double*, double*);
};

#define KINDRED_PRODUCTS(generation, attributes, ...)                                              \
  attributes void product_##generation(std::int64_t m, std::int64_t n, std::int64_t k,             \
                                       Operand<float> a, const float* b, float* c,                 \
                                       const Ends<float>& ends) {                                  \
    product<Registers<__VA_ARGS__>>(m, n, k, a, b, c, ends);                                       \
  }                                                                                                \
  attributes void gram_##generation(std::int64_t n, std::int64_t width, std::int64_t stride,       \
                                    const double* x, double* c, bool accumulate) {                 \
    gram<Registers<__VA_ARGS__>>(n, width, stride, x, c, accumulate);                              \
  }                                                                                                \
  attributes void float_gram_##generation(std::int64_t n, std::int64_t width, std::int64_t stride, \
                                          const float* x, float* c, bool accumulate) {             \
    gram<Registers<__VA_ARGS__>>(n, width, stride, x, c, accumulate);                              \
  }                                                                                                \
  attributes void project_##generation(std::int64_t n, std::int64_t inputs, std::int64_t outputs,  \
                                       std::int64_t stride, const double* x,                       \
                                       const double* weights, const double* bias, double* y) {     \
    projection<Registers<__VA_ARGS__>>(n, inputs, outputs, stride, x, weights, bias, y);           \
  }

KINDRED_PRODUCTS(baseline, , 16, 6)
#if KINDRED_GENERATIONS
KINDRED_PRODUCTS(v3, __attribute__((target("arch=x86-64-v3"))), 32, 6)
KINDRED_PRODUCTS(v4, __attribute__((target("arch=x86-64-v4"))), 64, 12, 4)
#endif
#undef KINDRED_PRODUCTS

Products products_of_this_machine() {
#if KINDRED_GENERATIONS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return {product_v4, gram_v4, float_gram_v4, project_v4};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {product_v3, gram_v3, float_gram_v3, project_v3};
#endif
  return {product_baseline, gram_baseline, float_gram_baseline, project_baseline};
}

const Products& products() {
  static const Products chosen = products_of_this_machine();
  return chosen;
}

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, StridedMatrix a, const float* b, float* c,
          const ProductEnds& ends) {
  products().product(
      m, n, k, {a.data, a.row_stride, a.column_stride}, b, c,
      {ends.accumulate, ends.rectify, ends.bias, ends.gate, ends.padding, ends.row_sums});
}

void gram(std::int64_t n, std::int64_t width, std::int64_t stride, const double* x, double* c,
          bool accumulate) {
  products().gram(n, width, stride, x, c, accumulate);
}

void gram(std::int64_t n, std::int64_t width, std::int64_t stride, const float* x, float* c,
          bool accumulate) {
  products().float_gram(n, width, stride, x, c, accumulate);
}

void project(std::int64_t n, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
             const double* x, const double* weights, const double* bias, double* y) {
  products().project(n, inputs, outputs, stride, x, weights, bias, y);
}

}  // namespace kindred
