// PG-Kmeans without gradient steps: policies with a closed form, a = Wᵀφ(s) + noise, one deviation
// of the noise per target, shared by all clusters.
//
// W, the noise and the labels each maximise one objective,
//   J = -½ Σ_d [ T log σ_d² + (Σ_i error_d(i, label of i) + λ Σ_j |W_jd|²) / σ_d² ],
// so J rises in every round that changes a label, and rounds come to an end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/policies/episode_statistics.h"

namespace kindred {

/// The least variance of noise, where targets have variance 1: actions repeated to the last digit
/// would otherwise count without bound.
inline constexpr double kLeastNoise = 1e-6;

/// (Σφφᵀ + ridge·I)⁻¹ Σφaᵀ of the sums of a set of episodes: [features, targets].
std::vector<double> solve_policy(const StatisticsLayout& layout, std::span<const double> sums,
                                 double ridge);

/// What a solved policy misses of the episodes it was solved on, per target, its ridge included.
std::vector<double> fitted_error(const StatisticsLayout& layout, std::span<const double> sums,
                                 std::span<const double> weights);

/// What a policy of a piece's own would explain of the errors that another leaves.
struct OwnPart {
  std::vector<double> explained;  ///< Squared errors, per target.
  /// Noise of variance v alone would let it explain v for each of so many parameters.
  double parameters = 0.0;

  /// Explained per target and parameter, where errors are usually as `noise` says: 1 where there is
  /// nothing but noise.
  double ratio(std::span<const double> noise) const;
  /// In deviations of what noise alone would do.
  double surprise(std::span<const double> noise) const;
};

/// Of a piece's sums, under a policy [features, targets].
OwnPart own_part(const StatisticsLayout& layout, std::span<const double> sums,
                 std::span<const double> policy, double ridge);

/// The piece of an episode than which a quarter of its pieces surprise less. An episode that went
/// astray surprises in parts, one of another policy everywhere.
OwnPart least_surprising_quarter(std::vector<OwnPart> pieces, std::span<const double> noise);

/// Policies side by side, and the noise they share.
struct ExactPolicies {
  std::vector<double> weights;  ///< [features, k × targets]
  std::vector<double> noise;    ///< [targets]: variance
  double objective = 0.0;       ///< J
};

/// J, where `errors` ([targets]) are summed over all clusters, and the noise that maximises it.
double objective_of(std::span<const double> errors, double steps, std::vector<double>& noise);

/// The policies and the noise that maximise J, from the sums of k clusters.
ExactPolicies solve_policies(const StatisticsLayout& layout, std::span<const double> sums,
                             std::int64_t k, double ridge);
}  // namespace kindred
