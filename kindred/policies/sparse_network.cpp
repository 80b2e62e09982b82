#include "kindred/policies/sparse_network.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/vectorise.h"

namespace kindred {
namespace {

constexpr auto kHidden = SparseNetwork::kHidden;
constexpr double kLearningRate = 2e-3;
constexpr float kWeightDecay = 0.1F;  // times the learning rate, in every step
constexpr double kRandomShare = 0.01;
constexpr double kNoLimit = 1e30;  // on the norm of a gradient

/// Where the weights lie among the parameters.
struct Offsets {
  std::int64_t b1, w2, b2;

  Offsets(std::int64_t columns, std::int64_t actions)
      : b1(columns * kHidden), w2(b1 + kHidden), b2(w2 + actions * kHidden) {}
};

KINDRED_VECTORISE
void hidden_units(std::span<const std::int32_t> ones, const float* __restrict w1,
                  const float* __restrict b1, float* __restrict hidden) {
  for (std::int64_t h = 0; h < kHidden; ++h) hidden[h] = b1[h];
  for (const std::int64_t m : ones) {
    const float* row = w1 + m * kHidden;
    for (std::int64_t h = 0; h < kHidden; ++h) hidden[h] += row[h];
  }
  for (std::int64_t h = 0; h < kHidden; ++h) hidden[h] = hidden[h] > 0.0F ? hidden[h] : 0.0F;
}

/// a · b, several sums side by side.
KINDRED_VECTORISE
float dot(const float* __restrict a, const float* __restrict b) {
  constexpr std::int64_t kSums = 16;
  float sums[kSums] = {};
  for (std::int64_t h = 0; h < kHidden; h += kSums)
    for (std::int64_t s = 0; s < kSums; ++s) sums[s] += a[h + s] * b[h + s];
  float sum = 0.0F;
  for (const float s : sums) sum += s;
  return sum;
}

/// The gradient of one step: `missed` [actions] is probability less what was done.
KINDRED_VECTORISE
void add_gradient(std::span<const std::int32_t> ones, std::int64_t actions,
                  const float* __restrict missed, const float* __restrict hidden,
                  const float* __restrict w2, float* __restrict g1, float* __restrict gb1,
                  float* __restrict g2, float* __restrict gb2) {
  float back[kHidden] = {};
  for (std::int64_t a = 0; a < actions; ++a) {
    gb2[a] += missed[a];
    for (std::int64_t h = 0; h < kHidden; ++h) {
      back[h] += missed[a] * w2[a * kHidden + h];
      g2[a * kHidden + h] += missed[a] * hidden[h];
    }
  }
  for (std::int64_t h = 0; h < kHidden; ++h) {
    back[h] = hidden[h] > 0.0F ? back[h] : 0.0F;
    gb1[h] += back[h];
  }
  for (const std::int64_t m : ones) {
    float* row = g1 + m * kHidden;
    for (std::int64_t h = 0; h < kHidden; ++h) row[h] += back[h];
  }
}

/// Logits → probabilities, in place.
void softmax(std::span<float> logits) {
  const float most = *std::ranges::max_element(logits);
  float sum = 0.0F;
  for (auto& x : logits) sum += x = std::exp(x - most);
  for (auto& x : logits) x /= sum;
}

}  // namespace

SparseNetwork::SparseNetwork(std::int64_t columns, std::int64_t actions, Random random)
    : SparseNetwork(columns, actions,
                    std::vector<float>(static_cast<std::size_t>(parameters_of(columns, actions)))) {
  const Offsets at(columns, actions);
  for (std::int64_t i = 0; i < at.b1; ++i)
    parameters_[static_cast<std::size_t>(i)] = static_cast<float>(0.2 * random.normal());
  for (auto i = at.w2; i < at.b2; ++i)
    parameters_[static_cast<std::size_t>(i)] = static_cast<float>(0.05 * random.normal());
}

SparseNetwork::SparseNetwork(std::int64_t columns, std::int64_t actions,
                             std::vector<float> parameters)
    : columns_(columns),
      actions_(actions),
      parameters_(std::move(parameters)),
      adam_(parameters_.size()) {}

void SparseNetwork::forward(std::span<const std::int32_t> ones, float* hidden,
                            float* logits) const {
  const Offsets at(columns_, actions_);
  const float* p = parameters_.data();
  hidden_units(ones, p, p + at.b1, hidden);
  for (std::int64_t a = 0; a < actions_; ++a)
    logits[a] = p[at.b2 + a] + dot(hidden, p + at.w2 + a * kHidden);
}

void SparseNetwork::train(const SparseRows& rows, std::span<const std::int32_t> actions,
                          std::span<const std::int64_t> steps) {
  const Offsets at(columns_, actions_);
  gradient_.assign(parameters_.size(), 0.0F);
  float* g = gradient_.data();
  float hidden[kHidden];
  std::vector<float> missed(static_cast<std::size_t>(actions_));
  const float share = 1.0F / static_cast<float>(steps.size());
  for (const auto t : steps) {
    const auto ones = rows.of(t);
    forward(ones, hidden, missed.data());
    softmax(missed);
    missed[static_cast<std::size_t>(actions[static_cast<std::size_t>(t)])] -= 1.0F;
    for (auto& x : missed) x *= share;
    add_gradient(ones, actions_, missed.data(), hidden, parameters_.data() + at.w2, g, g + at.b1,
                 g + at.w2, g + at.b2);
  }
  for (auto& x : parameters_) x *= 1.0F - static_cast<float>(kLearningRate) * kWeightDecay;
  adam_.update(gradient_, {.learning_rate = kLearningRate, .max_gradient_norm = kNoLimit},
               parameters_);
}

void SparseNetwork::log_probs(std::span<const std::int32_t> ones, std::span<double> out) const {
  float hidden[kHidden];
  std::vector<float> probabilities(out.size());
  forward(ones, hidden, probabilities.data());
  softmax(probabilities);
  const double least = kRandomShare / static_cast<double>(actions_);
  for (std::size_t a = 0; a < out.size(); ++a)
    out[a] = std::log((1.0 - kRandomShare) * static_cast<double>(probabilities[a]) + least);
}

}  // namespace kindred
