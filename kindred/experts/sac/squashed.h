// The policy that SAC trains: action = tanh(m + σ ε), where a network gives m and σ for every
// number of an action and ε is standard normal.
#pragma once

#include <span>

namespace kindred::sac {

/// The action for `noise` [dim], given the network's outputs [2, dim] as squashed_log_deviation
/// reads them. Returns its log-density.
float draw(std::span<const float> outputs, std::span<const float> noise, std::span<float> action);

/// The gradient of `temperature` · log-density − value by the outputs [2, dim], where `action` is
/// what draw gave and `d_value` [dim] the value's gradient by it.
void actor_gradient(std::span<const float> outputs, std::span<const float> noise,
                    std::span<const float> action, std::span<const float> d_value,
                    float temperature, std::span<float> d_outputs);

}  // namespace kindred::sac
