#include "kindred/experts/ppo/losses.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kindred::ppo {
namespace {

constexpr float kMostLogRatio = 20.0F;  // beyond it ρ would overflow

}  // namespace

ActionTerms categorical_terms(std::span<const float> logits, std::int32_t action,
                              std::span<float> d_log_probability, std::span<float> d_entropy) {
  const float most = std::ranges::max(logits);
  float sum = 0.0F;
  for (const float logit : logits) sum += std::exp(logit - most);
  const float log_sum = most + std::log(sum);
  ActionTerms terms;
  for (const float logit : logits) terms.entropy -= std::exp(logit - log_sum) * (logit - log_sum);
  for (std::size_t a = 0; a < logits.size(); ++a) {
    const float log_p = logits[a] - log_sum, p = std::exp(log_p);
    d_log_probability[a] = (static_cast<std::int32_t>(a) == action ? 1.0F : 0.0F) - p;
    d_entropy[a] = -p * (log_p + terms.entropy);
  }
  terms.log_probability = logits[static_cast<std::size_t>(action)] - log_sum;
  return terms;
}

ActionTerms gaussian_terms(std::span<const float> means, std::span<const float> log_deviation,
                           std::span<const float> action, std::span<float> d_means,
                           std::span<float> d_log_deviation) {
  const float half_log_two_pi = 0.5F * std::log(2.0F * std::numbers::pi_v<float>);
  ActionTerms terms;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const float inverse = std::exp(-log_deviation[i]);
    const float z = (action[i] - means[i]) * inverse;
    terms.log_probability -= 0.5F * z * z + log_deviation[i] + half_log_two_pi;
    terms.entropy += log_deviation[i] + half_log_two_pi + 0.5F;
    d_means[i] = z * inverse;
    d_log_deviation[i] = z * z - 1.0F;
  }
  return terms;
}

Surrogate clipped_surrogate(float log_ratio, float advantage, float clip) {
  log_ratio = std::clamp(log_ratio, -kMostLogRatio, kMostLogRatio);
  const float ratio = std::exp(log_ratio);
  const bool at_clip =
      (advantage > 0.0F && ratio > 1.0F + clip) || (advantage < 0.0F && ratio < 1.0F - clip);
  return {at_clip ? 0.0F : -advantage * ratio, ratio - 1.0F - log_ratio, at_clip};
}

}  // namespace kindred::ppo
