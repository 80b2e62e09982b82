#include "kindred/experts/policy.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kindred/core/error.h"

namespace kindred {
namespace {

/// log P(Z > z) of a standard normal Z; far out, where the probability underflows, by its series.
double log_tail(double z) {
  if (z < 30.0) return std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
  const double w = 1.0 / (z * z);
  return -0.5 * z * z - std::log(z * std::sqrt(2.0 * std::numbers::pi)) +
         std::log1p(-w + 3.0 * w * w);
}

// A certain action has no density; with this deviation it gets a high one that rounding cannot end.
constexpr double kLeastDeviation = 1e-4;

}  // namespace

std::int64_t distribution_width(const EnvironmentSpec& spec) {
  return spec.is_discrete() ? spec.action_width : 2 * spec.action_width;
}

std::int32_t draw_discrete(std::span<const float> probabilities, Random& random) {
  double left = random.uniform();
  std::int32_t last_possible = 0;
  for (std::size_t action = 0; action < probabilities.size(); ++action) {
    if (probabilities[action] <= 0.0f) continue;
    last_possible = static_cast<std::int32_t>(action);
    left -= static_cast<double>(probabilities[action]);
    if (left < 0.0) break;
  }
  return last_possible;  // also when rounding leaves the sum a little below 1
}

void draw_continuous(std::span<const float> gaussian, Random& random, std::span<float> action) {
  const auto mean = gaussian.first(action.size());
  const auto deviation = gaussian.last(action.size());
  for (std::size_t i = 0; i < action.size(); ++i)
    action[i] = mean[i] + deviation[i] * static_cast<float>(random.normal());
}

double gaussian_log_density(std::span<const float> gaussian, std::span<const float> action,
                            bool clipped) {
  const auto mean = gaussian.first(action.size());
  const auto deviation = gaussian.last(action.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < action.size(); ++i) {
    const double scale = std::max(static_cast<double>(deviation[i]), kLeastDeviation);
    const double z = (static_cast<double>(action[i]) - static_cast<double>(mean[i])) / scale;
    if (clipped && std::abs(action[i]) >= 1.0f)
      sum += log_tail(action[i] > 0.0f ? z : -z);
    else
      sum -= 0.5 * (z * z + std::log(2.0 * std::numbers::pi)) + std::log(scale);
  }
  return sum;
}

TabularPolicy::TabularPolicy(std::string name, std::string summary, std::int64_t actions,
                             std::vector<float> probabilities)
    : Policy(std::move(name), std::move(summary)),
      actions_(static_cast<std::size_t>(actions)),
      probabilities_(std::move(probabilities)) {
  if (probabilities_.size() % actions_ != 0)
    throw InvalidArgument("policy '{}': {} probabilities are not rows of {} actions", this->name(),
                          probabilities_.size(), actions);
  for (std::size_t row = 0; row < probabilities_.size(); row += actions_) {
    const auto chances = std::span(probabilities_).subspan(row, actions_);
    const float sum = std::accumulate(chances.begin(), chances.end(), 0.0f);
    if (std::ranges::min(chances) < 0.0f || std::abs(sum - 1.0f) > 1e-4f)
      throw InvalidArgument("policy '{}': the probabilities of state {} sum to {}, not 1",
                            this->name(), row / actions_, sum);
  }
}

std::shared_ptr<const TabularPolicy> TabularPolicy::deterministic(
    std::string name, std::string summary, const EnvironmentSpec& spec,
    const std::function<std::int32_t(std::int32_t state)>& rule) {
  std::vector<float> probabilities(static_cast<std::size_t>(spec.states * spec.action_width));
  for (std::int32_t state = 0; state < spec.states; ++state)
    probabilities[static_cast<std::size_t>(state * spec.action_width + rule(state))] = 1.0f;
  return std::make_shared<TabularPolicy>(std::move(name), std::move(summary), spec.action_width,
                                         std::move(probabilities));
}

std::span<const float> TabularPolicy::probabilities(std::int32_t state) const {
  return std::span(probabilities_).subspan(static_cast<std::size_t>(state) * actions_, actions_);
}

void TabularPolicy::distribution(const Situations& seen, std::span<float> out) const {
  auto row = out.begin();
  for (const auto state : seen.states) row = std::ranges::copy(probabilities(state), row).out;
}

}  // namespace kindred
