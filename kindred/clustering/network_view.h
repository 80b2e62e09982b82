// How networks see data: observations through NetworkInputs, continuous actions in deviations from
// their mean, so that nothing depends on the units actions are recorded in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/network_inputs.h"
#include "kindred/data/array_file.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Empty where actions are taken as they are, as discrete ones always are.
struct NetworkActions {
  std::vector<float> mean;  ///< [act_dim]
  std::vector<float>
      deviation;  ///< [act_dim]: 0 where actions never vary; no network predicts these.

  /// By mean and deviation of every number of an action over the dataset. Where none varies the
  /// first counts as varying: a policy that does nothing is still a policy.
  static NetworkActions standardised(const Actions& actions);

  bool as_they_are() const { return mean.empty(); }
  /// How many numbers of an action networks predict, of `act_dim`.
  std::int64_t predicted(std::int64_t act_dim) const;

  /// Actions [n, act_dim] → out [n, predicted].
  void apply(std::span<const float> rows, std::span<float> out) const;
  /// What a network predicts, means and deviations [n, 2, predicted], in the units of the data →
  /// out [n, 2, act_dim]. Only where actions are scaled.
  void restore(std::span<const float> distribution, std::span<float> out) const;
};

struct NetworkView {
  NetworkInputs inputs;
  NetworkActions actions;

  void save(ArrayFileWriter& file) const;
  static NetworkView load(const ArrayFileReader& file);
};

}  // namespace kindred
