// Networks on planes of zeros and ones as centres.
#pragma once

#include <memory>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/policies/plane_view.h"
#include "kindred/policies/sparse_network.h"

namespace kindred {

/// A centre is the mean of the two networks of a cluster. Scores are log-likelihoods. They do not
/// act: policies that can are cloned from the clusters.
class PlaneCentres final : public Centres {
 public:
  /// networks: [2 × count], the first of every centre, then the second of every centre.
  PlaneCentres(std::shared_ptr<const PlaneView> view, std::int64_t actions,
               std::vector<SparseNetwork> networks);

  std::int64_t count() const override { return std::ssize(networks_) / 2; }
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  bool sums_over_steps() const override { return true; }
  void save(ArrayFileWriter& file) const override;
  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

 private:
  std::shared_ptr<const PlaneView> view_;
  std::int64_t actions_;
  std::vector<SparseNetwork> networks_;
};

}  // namespace kindred
