#include "kindred/policies/exact_centres.h"

#include <cmath>
#include <numbers>

namespace kindred {

ExactCentres::ExactCentres(FeatureMap map, ActionTargets targets)
    : map_(std::move(map)), targets_(std::move(targets)) {}

ExactCentres::ExactCentres(FeatureMap map, ActionTargets targets,
                           const EpisodeStatistics& statistics,
                           std::span<const std::int32_t> labels, std::int64_t k, double ridge)
    : ExactCentres(std::move(map), std::move(targets)) {
  auto solved = solve_policies(statistics, labels, k, ridge);
  count_ = k;
  weights_ = std::move(solved.weights);
  noise_ = std::move(solved.noise);
}

Matrix ExactCentres::score(const Trajectories& data, const RunContext& run) const {
  require_cpu(run, "scoring with exact policies");
  require_same_dimensions(data, map_.obs_dim(), targets_.discrete(), targets_.actions());
  return score(EpisodeStatistics(data, map_, targets_, run));
}

Matrix ExactCentres::score(const EpisodeStatistics& statistics) const {
  const auto& layout = statistics.layout();
  double log_noise = 0.0;  // of one step
  for (const double variance : noise_)
    log_noise += 0.5 * std::log(2.0 * std::numbers::pi * variance);
  Matrix scores(statistics.episodes(), count_);
  std::vector<double> errors(static_cast<std::size_t>(count_ * layout.targets));
  for (std::int64_t i = 0; i < statistics.episodes(); ++i) {
    squared_errors(layout, statistics.of(i), weights_, errors);
    const double steps = statistics.of(i)[static_cast<std::size_t>(layout.steps())];
    for (std::int64_t j = 0; j < count_; ++j) {
      double sum = -steps * log_noise;
      for (std::size_t d = 0; d < noise_.size(); ++d)
        sum -= 0.5 * errors[static_cast<std::size_t>(j) * noise_.size() + d] / noise_[d];
      scores(i, j) = sum;
    }
  }
  return scores;
}

void ExactCentres::save(ArrayFileWriter& file) const {
  file.write_text("kind", "features");
  map_.save(file);
  targets_.save(file);
  file.write<double>("weights", weights_, {map_.count(), count_, targets_.count()});
  file.write<double>("noise", noise_, {targets_.count()});
}

std::shared_ptr<const Centres> ExactCentres::load(const ArrayFileReader& file) {
  auto map = FeatureMap::load(file);
  auto targets = ActionTargets::load(file);
  auto weights = file.read_finite<double>("weights", {map.count(), kAnyExtent, targets.count()});
  auto noise = file.read_finite<double>("noise", {targets.count()});
  for (const double variance : noise.values)
    if (variance < kLeastNoise) file.refuse("noise", "holds a variance that is too small");
  auto centres =
      std::shared_ptr<ExactCentres>(new ExactCentres(std::move(map), std::move(targets)));
  centres->count_ = weights.shape.at(1);
  centres->weights_ = std::move(weights.values);
  centres->noise_ = std::move(noise.values);
  return centres;
}

}  // namespace kindred
