#include "kindred/policies/exact_centres.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kindred/policies/device_steps.h"
#include "kindred/policies/piece_cost.h"
#include "kindred/policies/step_errors.h"

namespace kindred {
ExactCentres::ExactCentres(FeatureMap map, ActionTargets targets, std::vector<double> weights,
                           std::vector<double> noise, std::vector<double> own_noise, double ridge)
    : map_(std::move(map)),
      targets_(std::move(targets)),
      count_(std::ssize(weights) / (map_.count() * targets_.count())),
      weights_(std::move(weights)),
      noise_(std::move(noise)),
      own_noise_(std::move(own_noise)),
      ridge_(ridge) {
  for (const double variance : noise_)
    log_noise_ += 0.5 * std::log(2.0 * std::numbers::pi * variance);
}

Matrix ExactCentres::score(const Trajectories& data, const RunContext& run) const {
  require_same_dimensions(data, map_.obs_dim(), targets_.discrete(), targets_.actions());
  Matrix scores(data.episodes(), count_);
  const auto add = [&](std::int64_t i, std::int64_t steps, std::span<const double> errors) {
    for (std::int64_t j = 0; j < count_; ++j)
      add_piece(static_cast<double>(steps),
                errors.subspan(static_cast<std::size_t>(j) * noise_.size(), noise_.size()),
                scores(i, j));
  };
  if (run.device != "cpu") {
    const auto errors = make_device_steps(data, map_, targets_, run.device, run)->errors(weights_);
    std::int64_t piece = 0;
    for (std::int64_t i = 0; i < data.episodes(); ++i)
      for (const auto& [first, last] : pieces_of(data.offsets[i], data.offsets[i + 1]))
        add(i, last - first, errors.row(piece++));
    return scores;
  }
  run.chunks(data.episodes(), 1, [&](std::int64_t begin, std::int64_t end) {
    StepErrors missed(map_, targets_, {{map_.count(), weights_}});
    for (auto i = begin; i < end; ++i)
      for (const auto& [first, last] : pieces_of(data.offsets[i], data.offsets[i + 1]))
        add(i, last - first, missed.of(data, first, last).front());
  });
  return scores;
}

Matrix ExactCentres::score(const EpisodeStatistics& statistics) const {
  Matrix scores(statistics.episodes(), count_);
  std::vector<std::int64_t> pieces(static_cast<std::size_t>(statistics.pieces()));
  std::iota(pieces.begin(), pieces.end(), std::int64_t{0});
  statistics.workers().chunks(count_, 1, [&](std::int64_t j, std::int64_t) {
    const auto errors = statistics.piece_errors(pieces, policy(j));
    for (std::int64_t i = 0; i < scores.rows; ++i)
      for (auto p = statistics.first_piece(i); p < statistics.last_piece(i); ++p)
        add_piece(statistics.piece_steps(p), errors.row(p), scores(i, j));
  });
  return scores;
}

void ExactCentres::add_piece(double steps, std::span<const double> errors, double& score) const {
  score -= steps * log_noise_ + piece_cost_to_choose_by(errors, noise_, steps);
}

std::vector<double> ExactCentres::policy(std::int64_t centre) const {
  const auto targets = static_cast<std::size_t>(targets_.count());
  const auto columns = static_cast<std::size_t>(count_) * targets;
  std::vector<double> own;
  for (std::size_t m = 0; m < static_cast<std::size_t>(map_.count()); ++m) {
    const auto* row = weights_.data() + m * columns + static_cast<std::size_t>(centre) * targets;
    own.insert(own.end(), row, row + targets);
  }
  return own;
}

std::vector<double> ExactCentres::surprises(const Trajectories& data,
                                            std::span<const std::int32_t> labels,
                                            const RunContext& run) const {
  if (own_noise_.empty()) return {};
  require_same_dimensions(data, map_.obs_dim(), targets_.discrete(), targets_.actions());
  const StatisticsLayout layout{map_.count(), targets_.count()};
  const auto targets = static_cast<std::size_t>(layout.targets);
  std::vector<double> result(labels.size());
  run.chunks(data.episodes(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto label = labels[static_cast<std::size_t>(i)];
      const auto own = policy(label);
      std::vector<OwnPart> pieces;
      for (const auto& [from, to] : pieces_of(data.offsets[i], data.offsets[i + 1]))
        pieces.push_back(own_part(layout, step_sums(data, from, to, map_, targets_), own, ridge_));
      const auto noise =
          std::span(own_noise_).subspan(static_cast<std::size_t>(label) * targets, targets);
      result[static_cast<std::size_t>(i)] =
          least_surprising_quarter(std::move(pieces), noise).surprise(noise);
    }
  });
  return result;
}

std::vector<double> ExactCentres::expected_targets(std::span<const float> observation) const {
  const auto columns = static_cast<std::size_t>(count_ * targets_.count());
  std::vector<double> features(static_cast<std::size_t>(map_.count())), result(columns, 0.0);
  map_.apply(observation, features);
  for (std::size_t m = 0; m < features.size(); ++m)
    for (std::size_t c = 0; c < columns; ++c) result[c] += features[m] * weights_[m * columns + c];
  return result;
}

std::vector<double> ExactCentres::weights_of(std::int64_t centre) const {
  return targets_.in_units(policy(centre));
}

std::vector<double> ExactCentres::deviations_of(std::int64_t centre) const {
  const auto targets = noise_.size();
  return targets_.deviations(
      own_noise_.empty()
          ? std::span(noise_)
          : std::span(own_noise_).subspan(static_cast<std::size_t>(centre) * targets, targets));
}

void ExactCentres::distribution(std::int64_t centre, std::span<const float> observations,
                                std::span<float> out) const {
  const auto rows = observations.size() / static_cast<std::size_t>(obs_dim());
  const auto features = static_cast<std::size_t>(map_.count());
  const auto width = static_cast<std::size_t>(actions());
  const auto weights = weights_of(centre);
  const auto deviations = deviations_of(centre);
  std::vector<double> phi(rows * features), chosen(width);
  map_.apply(observations, phi);
  auto to = out.begin();
  for (std::size_t r = 0; r < rows; ++r) {
    std::ranges::fill(chosen, 0.0);
    for (std::size_t m = 0; m < features; ++m)
      for (std::size_t d = 0; d < width; ++d)
        chosen[d] += phi[r * features + m] * weights[m * width + d];
    double total = 1.0;
    if (discrete()) {
      for (auto& chance : chosen) chance = std::max(kLeastChance, chance);
      total = std::accumulate(chosen.begin(), chosen.end(), 0.0);
    }
    for (const double x : chosen) *to++ = static_cast<float>(x / total);
    if (!discrete())
      for (const double x : deviations) *to++ = static_cast<float>(x);
  }
}

void ExactCentres::save(ArrayFileWriter& file) const {
  file.write_text("kind", "features");
  map_.save(file);
  targets_.save(file);
  file.write<double>("weights", weights_, {map_.count(), count_, targets_.count()});
  file.write<double>("noise", noise_, {targets_.count()});
  if (own_noise_.empty()) return;
  file.write<double>("own_noise", own_noise_, {count_, targets_.count()});
  file.write<double>("ridge", std::vector<double>{ridge_});
}

std::shared_ptr<const Centres> ExactCentres::load(const ArrayFileReader& file) {
  auto map = FeatureMap::load(file);
  auto targets = ActionTargets::load(file);
  auto weights = file.read_finite<double>("weights", {map.count(), kAnyExtent, targets.count()});
  auto noise = file.read_finite<double>("noise", {targets.count()});
  std::vector<double> own_noise;
  double ridge = 0.0;
  if (file.contains("own_noise")) {  // runs of before had none
    own_noise =
        file.read_finite<double>("own_noise", {weights.shape.at(1), targets.count()}).values;
    ridge = file.read_number<double>("ridge");
    if (!(ridge > 0.0 && std::isfinite(ridge))) file.refuse("ridge", "is not a number above 0");
  }
  const auto require_usable = [&](const char* name, std::span<const double> variances) {
    if (std::ranges::any_of(variances, [](double variance) { return variance < kLeastNoise; }))
      file.refuse(name, "holds a variance that is too small");
  };
  require_usable("noise", noise.values);
  require_usable("own_noise", own_noise);
  return std::make_shared<ExactCentres>(std::move(map), std::move(targets),
                                        std::move(weights.values), std::move(noise.values),
                                        std::move(own_noise), ridge);
}

}  // namespace kindred
