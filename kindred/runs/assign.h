// Labels for trajectories that were not in a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "kindred/core/progress.h"
#include "kindred/runs/run.h"

namespace kindred {

/// The share of known policies' trajectories that may be said to fit none.
inline constexpr double kFalseAlarms = 0.01;

/// Posteriors, surprises and misfit are empty where the run has no calibration.
struct Assignment {
  std::vector<std::int32_t> labels;  ///< [episodes]
  std::vector<double> margins;       ///< [episodes]
  std::vector<std::uint8_t> fits;    ///< [episodes]: 0 where no centre explains the episode.
  std::vector<std::int64_t> sizes;   ///< [k]
  Matrix posteriors;                 ///< [episodes, k]
  std::vector<double> surprises;  ///< [episodes]: Centres::surprises, by the centre of the label.
  std::vector<double> misfit;     ///< [episodes]: the share of the run's own that fit as badly.

  std::int64_t misfits() const;
};

/// Gives every trajectory to the centre that explains it best. One fits none where a share of less
/// than `false_alarms` of the run's own episodes fits as badly; where the run has no calibration,
/// one in a thousand. Throws DataFormatError when the data has other dimensions than the run's.
Assignment assign(const LoadedRun& fitted, const Trajectories& data, double false_alarms,
                  const RunContext& context);

/// Writes the columns episode, label, margin, fits, and where they are known posterior (of the
/// label), surprise, misfit, and p0, p1, … (the posterior of every centre).
void write_assignment(const std::filesystem::path& path, const Trajectories& data,
                      const Assignment& assignment);

}  // namespace kindred
