#include "kindred/nn/rough_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/core/error.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define KINDRED_VNNI __attribute__((target("arch=x86-64-v4,avx512vnni")))
#define KINDRED_VNNI_INLINE KINDRED_VNNI __attribute__((always_inline)) inline
#endif

namespace kindred {
namespace {

constexpr std::int64_t kUnits = 6;                   // of a tile: their sums fill the registers
constexpr std::int64_t kPerShort = 2, kPerByte = 4;  // numbers in a word
constexpr float kMostOfAByte = 255.0F;
constexpr float kLeastFactor = 0.25F;             // so that no unit's number dwarfs the others'
constexpr std::int64_t kWidestInBytes = 1 << 16;  // sums of more could pass 31 bits

std::int64_t words_for(std::int64_t numbers, bool in_bytes) {
  const auto in_a_word = in_bytes ? kPerByte : kPerShort;
  return (numbers + in_a_word - 1) / in_a_word;
}

/// The largest whole number among so many. The length of a vector of shorts is then at most 2^15,
/// and so is that of a unit's weights: the sum of their products cannot pass 31 bits.
float most_of(std::int64_t numbers, bool in_bytes) {
  return in_bytes ? kMostOfAByte : std::floor(32767.0F / std::sqrt(static_cast<float>(numbers)));
}

/// What the weights of a unit are divided by.
float scale_of(std::span<const float> weights, bool in_bytes) {
  double length = 0.0, largest = 0.0;
  for (const float w : weights) {
    length += static_cast<double>(w) * static_cast<double>(w);
    largest = std::max(largest, std::abs(static_cast<double>(w)));
  }
  return static_cast<float>(
      std::max(1e-30, in_bytes ? largest / 127.0 : std::sqrt(length) / 32766.0));
}

/// Rounds a unit's weights so that their sum is kept: most inputs are positive and alike, and what
/// they have in common then counts as it should.
std::vector<std::int32_t> rounded(std::span<const float> weights) {
  std::vector<std::int32_t> whole(weights.size());
  std::vector<float> rests(weights.size());  // what rounding took off
  float rest_of_all = 0.0F;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    whole[i] = static_cast<std::int32_t>(weights[i] + (weights[i] < 0.0F ? -0.5F : 0.5F));
    rests[i] = weights[i] - static_cast<float>(whole[i]);
    rest_of_all += rests[i];
  }
  const bool up = rest_of_all > 0.0F;
  for (auto left = static_cast<int>(std::abs(rest_of_all) + 0.5F); left > 0; --left) {
    const auto [least, most] = std::ranges::minmax_element(rests);
    const auto at = up ? most : least;
    whole[static_cast<std::size_t>(at - rests.begin())] += up ? 1 : -1;
    *at = 0.0F;
  }
  return whole;
}

/// Weights of units as products read them: tile after tile, word by word.
std::vector<std::uint32_t> in_words(const std::vector<std::vector<float>>& units, bool in_bytes) {
  const auto in_a_word = static_cast<std::size_t>(in_bytes ? kPerByte : kPerShort);
  const auto bits = 32U / static_cast<unsigned>(in_a_word);
  const auto words = static_cast<std::size_t>(words_for(std::ssize(units.front()), in_bytes));
  std::vector<std::vector<std::int32_t>> numbers;
  for (const auto& own : units) numbers.push_back(rounded(own));
  std::vector<std::uint32_t> result;
  result.reserve(words * units.size());
  for (std::size_t first = 0; first < units.size(); first += kUnits)
    for (std::size_t w = 0; w < words; ++w)
      for (auto u = first; u < std::min(first + kUnits, units.size()); ++u) {
        std::uint32_t word = 0;
        for (std::size_t part = 0; part < in_a_word; ++part) {
          const auto i = w * in_a_word + part;
          const auto whole = i < numbers[u].size() ? static_cast<std::uint32_t>(numbers[u][i]) : 0U;
          word |= (whole & ((1U << bits) - 1U)) << (part * bits);
        }
        result.push_back(word);
      }
  return result;
}

}  // namespace

bool RoughPolicy::is_possible(const PolicyArchitecture& architecture) {
#ifdef KINDRED_VNNI
  return !architecture.hidden.empty() &&
         std::ranges::all_of(architecture.hidden,
                             [](std::int64_t units) { return units <= kWidestInBytes; }) &&
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

RoughPolicy::RoughPolicy(const PolicyStack& stack, std::int64_t index, Numerals numerals) {
  const auto& architecture = stack.architecture();
  if (!is_possible(architecture))
    throw InvalidArgument("this processor has no products of bytes for such a policy");
  const auto parameters = stack.parameters();
  const auto hidden = architecture.hidden.size();
  // What a unit's number is multiplied by where it is read, so that its own weights use all bits: a
  // ReLU does not mind.
  auto& factors = output_factors_;
  factors.assign(static_cast<std::size_t>(architecture.inputs), 1.0F);
  for (std::size_t l = 0; l <= hidden; ++l) {
    Layer layer{.inputs = parameters[2 * l].rows,
                .in_bytes = l > 0 && numerals == Numerals::kBytes};
    std::vector<std::vector<float>> units;  // each one's weights
    for (auto part = l; part < (l < hidden ? l + 1 : parameters.size() / 2); ++part) {
      const auto& weight = parameters[2 * part];  // all heads are one layer
      const auto weights = weight.of(index), biases = parameters[2 * part + 1].of(index);
      for (std::int64_t u = 0; u < weight.columns; ++u) {
        auto& own = units.emplace_back();
        own.reserve(factors.size());
        for (std::size_t i = 0; i < factors.size(); ++i)
          own.push_back(
              weights[i * static_cast<std::size_t>(weight.columns) + static_cast<std::size_t>(u)] *
              factors[i]);
      }
      layer.biases.insert(layer.biases.end(), biases.begin(), biases.end());
    }
    std::vector<float> scales;
    for (const auto& own : units) scales.push_back(scale_of(own, layer.in_bytes));
    layer.units = std::ssize(units);
    layer.scale = *std::ranges::max_element(scales);
    factors.clear();
    for (std::size_t u = 0; u < units.size(); ++u) {
      const float factor = std::max(kLeastFactor, scales[u] / layer.scale);
      factors.push_back(factor);
      layer.biases[u] /= factor;
      for (float& weight : units[u]) weight /= factor * layer.scale;
    }
    layer.weights = in_words(units, layer.in_bytes);
    layers_.push_back(std::move(layer));
  }
}

#ifdef KINDRED_VNNI

namespace {

using OfSteps = RoughPolicy::OfSteps<float>;
using Words = RoughPolicy::OfSteps<std::uint32_t>;
constexpr std::size_t kVectors = RoughPolicy::kVectors;
typedef float Floats __attribute__((vector_size(64), may_alias));
typedef std::int32_t Ints __attribute__((vector_size(64), may_alias));

KINDRED_VNNI_INLINE Floats& floats(RoughPolicy::Lanes<float>& lanes) {
  return *reinterpret_cast<Floats*>(lanes.of);
}
KINDRED_VNNI_INLINE const Floats& floats(const RoughPolicy::Lanes<float>& lanes) {
  return *reinterpret_cast<const Floats*>(lanes.of);
}
KINDRED_VNNI_INLINE Floats larger(Floats a, Floats b) { return a > b ? a : b; }

template <bool InBytes>
KINDRED_VNNI_INLINE Ints add_products(Ints sum, Ints inputs, Ints weights) {
  const auto s = reinterpret_cast<__m512i>(sum), i = reinterpret_cast<__m512i>(inputs),
             w = reinterpret_cast<__m512i>(weights);
  return reinterpret_cast<Ints>(InBytes ? _mm512_dpbusd_epi32(s, i, w)
                                        : _mm512_dpwssd_epi32(s, i, w));
}

/// What the products of a layer are taken of, tile after tile.
struct Products {
  std::int64_t words;
  const RoughPolicy::Numbers& inputs;
  const std::uint32_t* weights;
  float scale;
  const float* biases;
  float least;  ///< What is less becomes this.
  OfSteps* outputs;
};

/// The next Units units, with all sums in registers; `largest` of each step rises to theirs.
template <bool InBytes, int Units>
KINDRED_VNNI_INLINE void tile(Products& p, OfSteps& largest) {
  Ints sum[Units][kVectors];
#pragma GCC unroll 8
  for (int u = 0; u < Units; ++u)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) sum[u][v] = Ints{};
  const Words* words = p.inputs.words.data();
  const auto* weights = p.weights;
  for (std::int64_t w = 0; w < p.words; ++w, weights += Units) {
    Ints input[kVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v)
      input[v] = *reinterpret_cast<const Ints*>(words[w][v].of);
#pragma GCC unroll 8
    for (int u = 0; u < Units; ++u) {
      const Ints weight = Ints{} + static_cast<std::int32_t>(weights[u]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v)
        sum[u][v] = add_products<InBytes>(sum[u][v], input[v], weight);
    }
  }
  const Floats least = Floats{} + p.least;
  const float* biases = p.biases;
  OfSteps* outputs = p.outputs;
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) {
    const Floats unit = floats(p.inputs.unit[v]) * p.scale;
    Floats most = floats(largest[v]);
#pragma GCC unroll 8
    for (int u = 0; u < Units; ++u) {
      const Floats x = __builtin_convertvector(sum[u][v], Floats) * unit + biases[u];
      const Floats kept = larger(x, least);
      most = larger(kept, most);
      floats(outputs[u][v]) = kept;
    }
    floats(largest[v]) = most;
  }
  p.weights = weights;
  p.biases += Units;
  p.outputs += Units;
}

/// The last units of a layer, at most Units of them.
template <bool InBytes, int Units>
KINDRED_VNNI_INLINE void last_tile(std::int64_t units, Products& p, OfSteps& largest) {
  if constexpr (Units > 0) {
    if (units == Units) return tile<InBytes, Units>(p, largest);
    last_tile<InBytes, Units - 1>(units, p, largest);
  }
}

/// Of all units of a layer. Returns the largest number of each step, or 0.
template <bool InBytes>
KINDRED_VNNI OfSteps take_products(std::int64_t units, Products p) {
  OfSteps largest = {};
  for (; units >= kUnits; units -= kUnits) tile<InBytes, kUnits>(p, largest);
  last_tile<InBytes, kUnits - 1>(units, p, largest);
  return largest;
}

/// Rounds Count numbers of each step to a word; adding kRound leaves a whole number's last bits.
template <int Bits, int Count>
KINDRED_VNNI_INLINE void pack(const OfSteps* numbers, const Floats* inverse, Words& word) {
  constexpr float kRound = 12582912.0F;  // 1.5 · 2^23
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) {
    Ints packed = {};
#pragma GCC unroll 4
    for (int i = 0; i < Count; ++i) {
      const Floats shifted = floats(numbers[i][v]) * inverse[v] + kRound;
      packed |= (reinterpret_cast<Ints>(shifted) & ((1 << Bits) - 1)) << (i * Bits);
    }
    *reinterpret_cast<Ints*>(word[v].of) = packed;
  }
}

/// Rounds numbers [count, kSideBySide], of which those of a step are at most `largest`.
template <bool InBytes>
KINDRED_VNNI void round_numbers(const OfSteps* numbers, std::int64_t count, const OfSteps& largest,
                                RoughPolicy::Numbers& to) {
  constexpr int kInAWord = InBytes ? kPerByte : kPerShort, kBits = 32 / kInAWord;
  const float most = most_of(count, InBytes);
  Floats inverse[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    const Floats bound = larger(floats(largest[v]), Floats{} + 1e-30F);
    inverse[v] = most / bound;
    floats(to.unit[v]) = bound * (1.0F / most);
  }
  to.words.resize(static_cast<std::size_t>(words_for(count, InBytes)));
  auto* word = to.words.data();
  for (; count >= kInAWord; count -= kInAWord, numbers += kInAWord)
    pack<kBits, kInAWord>(numbers, inverse, *word++);
  if (count == 1) pack<kBits, 1>(numbers, inverse, *word);
  if (count == 2) pack<kBits, 2>(numbers, inverse, *word);
  if (count == 3) pack<kBits, 3>(numbers, inverse, *word);
}

/// Makes room for so many numbers of each step.
void grow(std::vector<OfSteps>& numbers, std::int64_t count) {
  numbers.resize(std::max(numbers.size(), static_cast<std::size_t>(count)));
}

}  // namespace

KINDRED_VNNI void RoughPolicy::read(std::span<const float> inputs, std::int64_t width,
                                    Buffers& buffers, Numbers& numbers) {
  const auto steps = static_cast<std::int64_t>(inputs.size()) / width;
  auto& columns = buffers.numbers;
  grow(columns, width);
  OfSteps<float> largest = {}, nothing = {};
  for (std::int64_t i = 0; i < width; ++i) {
    auto& column = columns[static_cast<std::size_t>(i)];
    float* number = column.front().of;
    for (std::int64_t s = 0; s < steps; ++s)
      number[s] = inputs[static_cast<std::size_t>(s * width + i)];
    std::fill(number + steps, number + kSideBySide, 0.0F);
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Floats x = floats(column[v]);
      floats(largest[v]) = larger(larger(x, -x), floats(largest[v]));
      floats(nothing[v]) += x * 0.0F;  // none, where all are finite
    }
  }
  round_numbers<false>(columns.data(), width, largest, numbers);
  for (std::size_t v = 0; v < kVectors; ++v) floats(numbers.unit[v]) += floats(nothing[v]);
}

KINDRED_VNNI const float* RoughPolicy::forward(const Numbers& inputs, Buffers& buffers) const {
  const auto* from = &inputs;
  for (std::size_t l = 0;; ++l) {
    const auto& layer = layers_[l];
    const bool is_last = l + 1 == layers_.size();
    auto& made = buffers.numbers;
    grow(made, layer.units);
    const auto products = layer.in_bytes ? take_products<true> : take_products<false>;
    const auto largest =
        products(layer.units, {.words = words_for(layer.inputs, layer.in_bytes),
                               .inputs = *from,
                               .weights = layer.weights.data(),
                               .scale = layer.scale,
                               .biases = layer.biases.data(),
                               .least = is_last ? -std::numeric_limits<float>::infinity() : 0.0F,
                               .outputs = made.data()});
    if (is_last) break;
    const auto round = layers_[l + 1].in_bytes ? round_numbers<true> : round_numbers<false>;
    round(made.data(), layer.units, largest, buffers.rounded);
    from = &buffers.rounded;
  }
  for (std::size_t u = 0; u < output_factors_.size(); ++u)
    for (auto& lanes : buffers.numbers[u]) floats(lanes) *= output_factors_[u];
  return buffers.numbers.front().front().of;
}

#else

void RoughPolicy::read(std::span<const float>, std::int64_t, Buffers&, Numbers&) {}
const float* RoughPolicy::forward(const Numbers&, Buffers&) const { return nullptr; }

#endif

}  // namespace kindred
