#include "kindred/experts/sac/squashed.h"

#include <cmath>
#include <numbers>

#include "kindred/experts/network_policy.h"
#include "kindred/nn/elementwise.h"

namespace kindred::sac {

float draw(std::span<const float> outputs, std::span<const float> noise, std::span<float> action) {
  constexpr float kHalfLogTwoPi = 0.918938533F, kLogTwo = std::numbers::ln2_v<float>;
  const auto dim = action.size();
  float log_density = 0.0F;
  for (std::size_t i = 0; i < dim; ++i) {
    const float log_deviation = squashed_log_deviation(outputs[dim + i]);
    const float u = outputs[i] + std::exp(log_deviation) * noise[i];
    action[i] = std::tanh(u);
    log_density -= 0.5F * noise[i] * noise[i] + log_deviation + kHalfLogTwoPi;
    log_density -= 2.0F * (kLogTwo - u - softplus(-2.0F * u));  // log of tanh's slope at u
  }
  return log_density;
}

void actor_gradient(std::span<const float> outputs, std::span<const float> noise,
                    std::span<const float> action, std::span<const float> d_value,
                    float temperature, std::span<float> d_outputs) {
  const auto dim = action.size();
  for (std::size_t i = 0; i < dim; ++i) {
    const float slope = (1.0F - action[i]) * (1.0F + action[i]);
    const float d_u = 2.0F * temperature * action[i] - d_value[i] * slope;
    const float squeezed = std::tanh(outputs[dim + i]);
    const float log_deviation = squashed_log_deviation(outputs[dim + i]);
    const float d_log_deviation = d_u * std::exp(log_deviation) * noise[i] - temperature;
    d_outputs[i] = d_u;
    d_outputs[dim + i] = d_log_deviation * 3.5F * (1.0F - squeezed * squeezed);
  }
}

}  // namespace kindred::sac
