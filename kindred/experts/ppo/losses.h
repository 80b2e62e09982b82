// What one step adds to PPO's loss, with the gradients.
#pragma once

#include <cstdint>
#include <span>

namespace kindred::ppo {

/// Of the action that was taken, under the policy as it is now.
struct ActionTerms {
  float log_probability = 0.0F;
  float entropy = 0.0F;  ///< Of the whole distribution, in nats.
};

/// Discrete: gradients with respect to the logits.
ActionTerms categorical_terms(std::span<const float> logits, std::int32_t action,
                              std::span<float> d_log_probability, std::span<float> d_entropy);

/// Continuous: the log-probability's gradients with respect to the means and to the log-deviations.
/// The entropy's are 0 and 1.
ActionTerms gaussian_terms(std::span<const float> means, std::span<const float> log_deviation,
                           std::span<const float> action, std::span<float> d_means,
                           std::span<float> d_log_deviation);

/// -min(ρA, clip(ρ)A), where ρ is how much likelier the action has become and A its advantage.
struct Surrogate {
  float slope = 0.0F;       ///< With respect to log ρ.
  float divergence = 0.0F;  ///< ρ - 1 - log ρ: its mean is the KL from the policy that acted.
  bool at_clip = false;     ///< Nothing more to gain by moving on: the slope is 0.
};
Surrogate clipped_surrogate(float log_ratio, float advantage, float clip);

}  // namespace kindred::ppo
