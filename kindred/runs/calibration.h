// What the fit of a run's own episodes says about new ones: how sure a label is, and how many of
// the run's own fit as badly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred {

/// Where centres measure surprises, the run's own were measured by policies that had not seen the
/// episode. Elsewhere a surprise is how far a score (per step where scores sum over steps) lies
/// below the centre's own mean, in their deviations: in-sample, so that new episodes fit a little
/// worse than it expects.
struct Calibration {
  bool held_out = false;
  std::vector<double> surprises;  ///< The run's own, the largest first; never empty.
  double temperature = 1.0;       ///< By how much scores are too sure of the label.
  std::vector<double> usual;      ///< [k], in-sample only: the mean score of a centre's own.
  std::vector<double> spread;     ///< [k], in-sample only: their deviation.

  static Calibration of(const Clustering& clustering, const Trajectories& data);

  /// [episodes]; `scores` are the centres'.
  std::vector<double> surprises_of(const Centres& centres, const Matrix& scores,
                                   std::span<const std::int32_t> labels, const Trajectories& data,
                                   const RunContext& run) const;
  /// The share of the run's own episodes that fit as badly; beyond them what their tail leads to.
  double misfit(double surprise) const;
  /// Of every centre, with the share of episodes each has: [episodes, k], rows sum to one.
  Matrix posteriors(const Matrix& scores, std::span<const std::int64_t> sizes) const;

  void save(ArrayFileWriter& file) const;
  static bool is_in(const ArrayFileReader& file);
  static Calibration load(const ArrayFileReader& file, std::int64_t k);
};

}  // namespace kindred
