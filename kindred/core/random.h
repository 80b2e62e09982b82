// Seeded random streams. A stream is named: Random(seed, "init", restart) yields the same numbers
// on every machine and compiler, whatever other streams are drawn from. Throws nothing.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace kindred {

/// xoshiro256++ seeded from (seed, name, index). Satisfies std::uniform_random_bit_generator.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed, std::string_view name = "", std::uint64_t index = 0);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    const std::uint64_t result = rotate_left(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate_left(state_[3], 45);
    return result;
  }

  /// Uniform in [0, 1), 53 random bits.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform integer in [0, bound); bound must be positive. Unbiased to 2^-32 for bound < 2^32.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }

  /// Standard normal (Box-Muller; uses two uniforms per pair of numbers).
  double normal();

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  static constexpr std::uint64_t rotate_left(std::uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
  }

  std::array<std::uint64_t, 4> state_{};
  double spare_normal_ = 0.0;
  bool has_spare_normal_ = false;
};

}  // namespace kindred
