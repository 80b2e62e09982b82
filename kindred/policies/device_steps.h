// What exact policies ask of steps, computed on a GPU: blocks of pieces, padded to one length, go
// through LibTorch's batched products.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kindred/clustering/clustering.h"
#include "kindred/core/late_part.h"
#include "kindred/core/workers.h"
#include "kindred/policies/feature_map.h"

namespace kindred {

/// All steps of a dataset. It refers to the data, the map and the targets.
class DeviceSteps {
 public:
  virtual ~DeviceSteps() = default;

  /// Calls `use` with the sums of each piece, laid out as StatisticsLayout says, piece by piece.
  using UseSums =
      std::function<void(std::int64_t piece, std::int64_t episode, std::span<const double> sums)>;
  virtual void sums(const UseSums& use) const = 0;
  /// Squared errors of each piece under policies side by side, [features, policies × targets]:
  /// [pieces, policies × targets].
  virtual Matrix errors(std::span<const double> weights) const = 0;
};

extern TorchFunction<std::unique_ptr<DeviceSteps>(
    const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
    const std::string& device, const Workers& workers)>
    make_device_steps;

}  // namespace kindred
