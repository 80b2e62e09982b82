#include "kindred/data/least_squares.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/vectorise.h"

namespace kindred {
namespace {

constexpr std::size_t kLanes = 4, kFactorsAtOnce = 4, kPartsAtOnce = 2, kPendingRows = 16;
constexpr std::size_t kNumbersAtOnce = kPartsAtOnce * kLanes;
using Lanes = double
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));

const Lanes& lanes(const double* numbers) { return *reinterpret_cast<const Lanes*>(numbers); }
Lanes& lanes(double* numbers) { return *reinterpret_cast<Lanes*>(numbers); }

constexpr std::size_t round_up(std::size_t count, std::size_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Adds the products of these rows, some factors with some numbers at a time, to their sums.
KINDRED_VECTORISE_ALIKE
void add_products(std::size_t factors, std::size_t stride, std::size_t count, const double* rows,
                  double* sums) {
  for (std::size_t i = 0; i < factors; i += kFactorsAtOnce)
    for (std::size_t j = i / kNumbersAtOnce * kNumbersAtOnce; j < stride; j += kNumbersAtOnce) {
      Lanes some[kFactorsAtOnce][kPartsAtOnce];  // stay in registers
      double* first = sums + i * stride + j;
      for (std::size_t f = 0; f < kFactorsAtOnce; ++f)
        for (std::size_t p = 0; p < kPartsAtOnce; ++p)
          some[f][p] = lanes(first + f * stride + p * kLanes);
      for (std::size_t r = 0; r < count; ++r) {
        const double* row = rows + r * stride;
        for (std::size_t f = 0; f < kFactorsAtOnce; ++f)
          for (std::size_t p = 0; p < kPartsAtOnce; ++p)
            some[f][p] += row[i + f] * lanes(row + j + p * kLanes);
      }
      for (std::size_t f = 0; f < kFactorsAtOnce; ++f)
        for (std::size_t p = 0; p < kPartsAtOnce; ++p)
          lanes(first + f * stride + p * kLanes) = some[f][p];
    }
}

constexpr std::size_t kOutputsAtOnce = 2;

/// kOutputs of the outputs.
template <std::size_t kOutputs>
[[gnu::always_inline]] inline void apply_some(std::size_t inputs, std::size_t outputs,
                                              const double* weights, const double* input,
                                              double* out) {
  constexpr auto kParts = kExamplesAtOnce / kLanes;
  Lanes sums[kOutputs][kParts] = {};
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t p = 0; p < kParts; ++p) {
      const Lanes in = lanes(input + i * kExamplesAtOnce + p * kLanes);
      for (std::size_t o = 0; o < kOutputs; ++o) sums[o][p] += in * weights[i * outputs + o];
    }
  for (std::size_t o = 0; o < kOutputs; ++o)
    for (std::size_t p = 0; p < kParts; ++p)
      lanes(out + o * kExamplesAtOnce + p * kLanes) = sums[o][p];
}

KINDRED_VECTORISE_ALIKE
void apply_to_examples(std::size_t inputs, std::size_t outputs, const double* weights,
                       const double* input, double* out) {
  std::size_t o = 0;
  for (; o + kOutputsAtOnce <= outputs; o += kOutputsAtOnce)
    apply_some<kOutputsAtOnce>(inputs, outputs, weights + o, input, out + o * kExamplesAtOnce);
  for (; o < outputs; ++o)
    apply_some<1>(inputs, outputs, weights + o, input, out + o * kExamplesAtOnce);
}

}  // namespace

ProductSums::ProductSums(std::size_t factors, std::size_t width)
    : factors_(round_up(factors, kFactorsAtOnce)),
      stride_(round_up(std::max(width, factors_), kNumbersAtOnce)),
      sums_(factors_ * stride_, 0.0),
      pending_(kPendingRows * stride_, 0.0) {}

double* ProductSums::add_row() {
  if (pending_rows_ == kPendingRows) add_pending();
  return pending_.data() + stride_ * pending_rows_++;
}

double ProductSums::sum(std::size_t i, std::size_t j) {
  if (pending_rows_ > 0) add_pending();
  return sums_[i * stride_ + j];
}

void ProductSums::add_pending() {
  add_products(factors_, stride_, pending_rows_, pending_.data(), sums_.data());
  pending_rows_ = 0;
}

LeastSquares::LeastSquares(std::int64_t inputs, std::int64_t outputs)
    : inputs_(static_cast<std::size_t>(inputs)),
      outputs_(static_cast<std::size_t>(outputs)),
      products_(inputs_, inputs_ + outputs_) {}

void LeastSquares::add(std::span<const double> input, std::span<const double> output) {
  std::ranges::copy(output, std::ranges::copy(input, products_.add_row()).out);
}

std::vector<double> LeastSquares::weights(double ridge) {
  std::vector<double> l(inputs_ * inputs_), x(inputs_ * outputs_);
  for (std::size_t i = 0; i < inputs_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) l[i * inputs_ + j] = products_.sum(j, i);
    for (std::size_t o = 0; o < outputs_; ++o) x[i * outputs_ + o] = products_.sum(i, inputs_ + o);
  }
  double trace = 0.0;
  for (std::size_t i = 0; i < inputs_; ++i) trace += l[i * inputs_ + i];
  const double least = ridge * trace / static_cast<double>(inputs_) + 1e-300;
  for (std::size_t i = 0; i < inputs_; ++i) l[i * inputs_ + i] += least;
  for (std::size_t i = 0; i < inputs_; ++i)  // Cholesky, in place
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = l[i * inputs_ + j];
      for (std::size_t m = 0; m < j; ++m) sum -= l[i * inputs_ + m] * l[j * inputs_ + m];
      l[i * inputs_ + j] = i == j ? std::sqrt(std::max(sum, least)) : sum / l[j * inputs_ + j];
    }
  for (std::size_t o = 0; o < outputs_; ++o) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      double sum = x[i * outputs_ + o];
      for (std::size_t m = 0; m < i; ++m) sum -= l[i * inputs_ + m] * x[m * outputs_ + o];
      x[i * outputs_ + o] = sum / l[i * inputs_ + i];
    }
    for (std::size_t i = inputs_; i-- > 0;) {
      double sum = x[i * outputs_ + o];
      for (std::size_t m = i + 1; m < inputs_; ++m) sum -= l[m * inputs_ + i] * x[m * outputs_ + o];
      x[i * outputs_ + o] = sum / l[i * inputs_ + i];
    }
  }
  return x;
}

void apply_weights(std::span<const double> weights, std::span<const double> input,
                   std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (std::size_t i = 0; i < input.size(); ++i)
    for (std::size_t o = 0; o < out.size(); ++o) out[o] += input[i] * weights[i * out.size() + o];
}

void apply_weights_at_once(std::span<const double> weights, std::span<const double> input,
                           std::span<double> out) {
  apply_to_examples(input.size() / kExamplesAtOnce, out.size() / kExamplesAtOnce, weights.data(),
                    input.data(), out.data());
}

}  // namespace kindred
