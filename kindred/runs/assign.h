// Labels for trajectories that were not in a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "kindred/core/progress.h"
#include "kindred/runs/run.h"

namespace kindred {

struct Assignment {
  std::vector<std::int32_t> labels;  ///< [episodes]
  std::vector<double> margins;       ///< [episodes]
  std::vector<std::uint8_t> fits;    ///< [episodes]: 0 where no centre explains the episode.
  std::vector<std::int64_t> sizes;   ///< [k]

  std::int64_t misfits() const;
};

/// Gives every trajectory to the centre that explains it best. Throws DataFormatError when the data
/// has other dimensions than the run's.
Assignment assign(const LoadedRun& fitted, const Trajectories& data, const RunContext& context);

/// Writes the columns episode, label, margin and fits.
void write_assignment(const std::filesystem::path& path, const Trajectories& data,
                      const Assignment& assignment);

}  // namespace kindred
