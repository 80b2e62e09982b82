// The problem that Kindred and its peers are timed on: a formula, so that every program makes the
// same numbers for itself, bit by bit. bench/peers/problem.py is the same in Python and says what
// it is; `checksum` tells them apart.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::int64_t kInputs = 17, kActions = 6, kHidden = 128;
enum Stream : std::uint64_t { kObservations, kNoise, kParameters, kBatches, kLengths };

/// Number `counter` of a stream: 64 random bits (the finaliser of SplitMix64).
inline std::uint64_t bits(Stream stream, std::int64_t counter) {
  std::uint64_t x = (stream << 40U) + static_cast<std::uint64_t>(counter);
  x = (x + 1) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// Uniform in [-2, 2) in steps of 1/1024: their products are exact in double.
inline double small_number(Stream stream, std::int64_t counter) {
  return (static_cast<double>(bits(stream, counter) >> 52U) - 2048.0) / 1024.0;
}

/// Step number `step` of a dataset, made by policy `whose`.
inline void make_step(std::int64_t step, std::int64_t whose, float* observation, float* action) {
  double x[kInputs];
  for (std::int64_t i = 0; i < kInputs; ++i) {
    x[i] = small_number(kObservations, step * kInputs + i);
    observation[i] = static_cast<float>(x[i]);
  }
  for (std::int64_t j = 0; j < kActions; ++j)
    action[j] = static_cast<float>(x[(whose + j) % kInputs] * x[(whose + 3 * j + 1) % kInputs] / 2 +
                                   x[(2 * whose + j + 5) % kInputs] +
                                   small_number(kNoise, step * kActions + j) / 4);
}

/// Parameters, array after array: each [copies, rows, columns], uniform in ±1/sqrt(fan_in).
class InitialParameters {
 public:
  std::vector<float> next(std::int64_t count, std::int64_t fan_in) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    std::vector<float> values(static_cast<std::size_t>(count));
    for (auto& value : values) {
      const auto number = static_cast<double>(bits(kParameters, begin_++) >> 40U);
      value = static_cast<float>((number / (1 << 23) - 1.0) * bound);
    }
    return values;
  }

 private:
  std::int64_t begin_ = 0;
};

/// Of the bits of arrays in their order; a change of any number changes it.
class Checksum {
 public:
  void add(std::span<const float> array) {
    std::uint64_t sum = 0, weight = 1;
    for (const float value : array) {
      std::uint32_t number;
      std::memcpy(&number, &value, sizeof number);
      sum += weight * number;
      weight += 2;
    }
    total_ = total_ * 31 + sum;
  }
  std::string text() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string result;
    for (int shift = 60; shift >= 0; shift -= 4) result += kDigits[(total_ >> shift) & 15U];
    return result;
  }

 private:
  std::uint64_t total_ = 0;
};

/// Episodes of different lengths for the trajectory autoencoder: update i takes the `batch`
/// episodes from i * batch on, in a circle.
struct Sequences {
  std::int64_t count = 256;
  std::int64_t longest = 200;
  std::int64_t batch = 64;
  std::int64_t updates = 8;
  std::int64_t k = 4;

  std::int64_t length(std::int64_t episode) const {
    const auto half = longest / 2;
    return half + static_cast<std::int64_t>(bits(kLengths, episode) %
                                            static_cast<std::uint64_t>(longest - half + 1));
  }
};

struct Problem {
  std::int64_t policies = 4;
  std::int64_t steps = 200'000;  ///< Of the dataset; whole episodes.
  std::int64_t length = 500;     ///< Of an episode.
  std::int64_t batch = 512;      ///< Steps of a policy in a training step.
  std::int64_t updates = 100;    ///< Training steps.

  std::int64_t episodes() const { return steps / length; }

  /// [steps, kInputs] and [steps, kActions].
  void make(std::vector<float>& observations, std::vector<float>& actions) const {
    observations.resize(static_cast<std::size_t>(steps * kInputs));
    actions.resize(static_cast<std::size_t>(steps * kActions));
    for (std::int64_t t = 0; t < steps; ++t)
      make_step(t, t / length % policies, observations.data() + t * kInputs,
                actions.data() + t * kActions);
  }

  /// Row `i` of the batch of training step `update` of a policy: a step of the dataset.
  std::int64_t drawn(std::int64_t update, std::int64_t policy, std::int64_t i) const {
    const auto own_episodes = (episodes() - policy + policies - 1) / policies;
    const auto number = bits(kBatches, (update * policies + policy) * batch + i);
    const auto own =
        static_cast<std::int64_t>(number % static_cast<std::uint64_t>(own_episodes * length));
    return (own / length * policies + policy) * length + own % length;
  }

  /// Weights [policies, inputs, outputs] and biases [policies, 1, outputs], layer by layer: two
  /// hidden layers, means, raw deviations; as in kindred::PolicyStack.
  std::vector<std::vector<float>> parameters() const {
    InitialParameters initial;
    std::vector<std::vector<float>> result;
    const std::int64_t layers[][2] = {
        {kInputs, kHidden}, {kHidden, kHidden}, {kHidden, kActions}, {kHidden, kActions}};
    for (const auto& [inputs, outputs] : layers) {
      result.push_back(initial.next(policies * inputs * outputs, inputs));
      result.push_back(initial.next(policies * outputs, inputs));
    }
    return result;
  }

  /// Floating-point operations of all training steps: products forward, and twice that backward,
  /// but for the inputs'.
  double training_flop() const {
    constexpr double kWeights = static_cast<double>((kInputs + kHidden + 2 * kActions) * kHidden);
    return static_cast<double>(updates * policies * batch) *
           (6.0 * kWeights - 2.0 * static_cast<double>(kInputs * kHidden));
  }
  double scoring_flop() const {
    return 2.0 * static_cast<double>(steps * policies * (kInputs + kHidden + 2 * kActions)) *
           static_cast<double>(kHidden);
  }
};

}  // namespace bench
