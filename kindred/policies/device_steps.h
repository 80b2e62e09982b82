// What exact policies ask of steps, computed on a GPU: blocks of pieces, padded to one length, go
// through LibTorch's batched products.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/workers.h"
#include "kindred/policies/feature_map.h"

namespace kindred {

/// All steps of a dataset. It refers to the data, the map and the targets.
class DeviceSteps {
 public:
  DeviceSteps(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
              const std::string& device, const Workers& workers);

  /// Calls `use` with the sums of each piece, laid out as StatisticsLayout says, piece by piece.
  using UseSums =
      std::function<void(std::int64_t piece, std::int64_t episode, std::span<const double> sums)>;
  void sums(const UseSums& use) const;
  /// Squared errors of each piece under policies side by side, [features, policies × targets]:
  /// [pieces, policies × targets].
  Matrix errors(std::span<const double> weights) const;

 private:
  /// Features [pieces, steps, features] and actions [pieces, steps, targets]; nothing but zeros
  /// after a piece's last step.
  struct Block {
    std::int64_t first;
    torch::Tensor features, actions;
  };
  void blocks(const std::function<void(const Block&)>& use) const;

  const Trajectories& data_;
  const FeatureMap& map_;
  const ActionTargets& targets_;
  torch::Device device_;
  Workers workers_;
  struct Piece {
    std::int64_t begin, end, episode;
  };
  std::vector<Piece> pieces_;
};

}  // namespace kindred
