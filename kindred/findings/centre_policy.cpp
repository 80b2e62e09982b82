#include "kindred/findings/centre_policy.h"

#include <algorithm>
#include <vector>

#include "kindred/core/error.h"

namespace kindred {
namespace {

/// All the probability on the likeliest action, or on the mean of a Gaussian[2, dim].
void make_certain(std::span<float> distribution, bool discrete) {
  if (!discrete) {
    std::ranges::fill(distribution.last(distribution.size() / 2), 0.0F);
    return;
  }
  const auto most = std::ranges::max_element(distribution) - distribution.begin();
  std::ranges::fill(distribution, 0.0F);
  distribution[static_cast<std::size_t>(most)] = 1.0F;
}

}  // namespace

void require_acts_in(const EnvironmentSpec& spec, std::int64_t obs_dim, bool discrete,
                     std::int64_t actions) {
  const auto describe = [](std::int64_t observations, bool are_discrete, std::int64_t width) {
    return fmt::format("{} observation numbers and {} {}", observations, width,
                       are_discrete ? "discrete actions" : "action numbers");
  };
  const bool fits = obs_dim == spec.observation_dim() && discrete == spec.is_discrete() &&
                    (discrete ? actions <= spec.action_width : actions == spec.action_width);
  if (!fits)
    throw InvalidArgument(
        "environment '{}' has {}, the data has {}; name the environment the data comes from",
        spec.name, describe(spec.observation_dim(), spec.is_discrete(), spec.action_width),
        describe(obs_dim, discrete, actions));
}

CentrePolicy::CentrePolicy(std::string name, std::shared_ptr<const PolicyCentres> centres,
                           std::int64_t centre, const EnvironmentSpec& spec, Acting acting)
    : Policy(std::move(name), "A policy fitted to trajectories."),
      centres_(std::move(centres)),
      centre_(centre),
      width_(distribution_width(spec)),
      acting_(acting) {
  require_acts_in(spec, centres_->obs_dim(), centres_->discrete(), centres_->actions());
}

void CentrePolicy::distribution(const Situations& seen, std::span<float> out) const {
  const auto own = centres_->discrete() ? centres_->actions() : 2 * centres_->actions();
  std::vector<float> fitted(static_cast<std::size_t>(seen.count * own));
  centres_->distribution(centre_, seen.observations, fitted);
  std::ranges::fill(out, 0.0F);
  for (std::int64_t i = 0; i < seen.count; ++i) {
    const auto row =
        std::span(fitted).subspan(static_cast<std::size_t>(i * own), static_cast<std::size_t>(own));
    if (acting_ == Acting::kMost) make_certain(row, centres_->discrete());
    std::ranges::copy(row, out.begin() + static_cast<std::ptrdiff_t>(i * width_));
  }
}

}  // namespace kindred
