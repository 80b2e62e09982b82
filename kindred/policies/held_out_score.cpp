#include "kindred/policies/held_out_score.h"

#include <algorithm>
#include <cmath>

#include "kindred/clustering/clustering.h"

namespace kindred {
namespace {

constexpr std::int64_t kFew = 60;  // episodes
constexpr int kRounds = 10;        // in which the usual error is found

/// Σ_d errors_d / noise_d, per step and target: 1 is usual.
double unusual(std::span<const double> errors, std::span<const double> noise, double steps) {
  double sum = 0.0;
  for (std::size_t d = 0; d < noise.size(); ++d) sum += errors[d] / noise[d];
  return sum / (steps * static_cast<double>(noise.size()));
}

}  // namespace

double piece_cost(std::span<const double> errors, std::span<const double> noise, double steps) {
  return 0.5 * steps * static_cast<double>(noise.size()) *
         std::min(kMostUnusual, unusual(errors, noise, steps));
}

HeldOut::HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids,
                 double ridge, const FoldPlan& plan)
    : statistics_(statistics),
      ridge_(ridge),
      folds_(plan.folds),
      fold_of_(draw_folds(ids, plan.folds, plan.draws)) {}

void HeldOut::predict(std::span<const std::int32_t> labels, std::int64_t k, std::size_t draws,
                      std::vector<double>& errors) const {
  const auto& layout = statistics_.layout();
  const auto size = static_cast<std::size_t>(layout.size());
  const auto targets = static_cast<std::size_t>(layout.targets);
  errors.resize(static_cast<std::size_t>(statistics_.pieces()) * targets, 0.0);
  const auto clusters = statistics_.cluster_sums(labels, k);
  std::vector<double> others(size), own(targets);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto& folds = fold_of_[draw];
    // The episodes of one cluster in one fold are a part, and predicted by the rest of the cluster.
    std::vector<std::int32_t> parts(labels.size(), -1);
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] >= 0) parts[i] = static_cast<std::int32_t>(labels[i] * folds_ + folds[i]);
    const auto sums = statistics_.cluster_sums(parts, k * folds_);
    std::vector<std::vector<double>> policies(static_cast<std::size_t>(k * folds_));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] < 0) continue;
      const auto part = static_cast<std::size_t>(parts[i]);
      auto& policy = policies[part];
      if (policy.empty()) {
        statistics_.throw_if_stopped();
        const double* whole = clusters.data() + static_cast<std::size_t>(labels[i]) * size;
        for (std::size_t p = 0; p < size; ++p) others[p] = whole[p] - sums[part * size + p];
        policy = solve_policy(layout, others, ridge_);
      }
      const auto episode = static_cast<std::int64_t>(i);
      for (auto p = statistics_.first_piece(episode); p < statistics_.last_piece(episode); ++p) {
        statistics_.piece_errors(p, policy, own);
        for (std::size_t d = 0; d < targets; ++d) {
          auto& error = errors[static_cast<std::size_t>(p) * targets + d];
          error = (draw == 0 ? 0.0 : error) + own[d] / static_cast<double>(draws);
        }
      }
    }
  }
}

/// The noise for which pieces, none counting more than kMostUnusual, have the usual errors on
/// average.
void HeldOut::set_noise(HeldOutScore& score) const {
  const auto targets = static_cast<std::size_t>(statistics_.layout().targets);
  const auto pieces = static_cast<std::size_t>(statistics_.pieces());
  const auto errors_of = [&](std::size_t p) {
    return std::span(score.errors).subspan(p * targets, targets);
  };
  std::vector<double> weights(pieces, 1.0);
  for (int round = 0; round < kRounds; ++round) {
    score.noise.assign(targets, 0.0);
    for (std::size_t p = 0; p < pieces; ++p)
      for (std::size_t d = 0; d < targets; ++d)
        score.noise[d] += weights[p] * errors_of(p)[d] / statistics_.total_steps();
    for (auto& variance : score.noise) variance = std::max(kLeastNoise, variance);
    for (std::size_t p = 0; p < pieces; ++p)
      weights[p] = std::min(
          1.0, kMostUnusual / unusual(errors_of(p), score.noise,
                                      statistics_.piece_steps(static_cast<std::int64_t>(p))));
  }
  score.v = 0.0;
  for (const double variance : score.noise) score.v -= 0.5 * std::log(variance);
  for (const double nats : score.naming) score.v -= nats / statistics_.total_steps();
}

HeldOutScore HeldOut::score(std::span<const std::int32_t> labels, std::int64_t k) const {
  HeldOutScore result;
  result.naming = naming_costs(labels);
  predict(labels, k, fold_of_.size(), result.errors);
  set_noise(result);
  return result;
}

double HeldOut::quick_score(std::span<const std::int32_t> labels, std::int64_t k) const {
  HeldOutScore result;
  result.naming = naming_costs(labels);
  predict(labels, k, 1, result.errors);
  set_noise(result);
  return result.v;
}

HeldOutScore HeldOut::score_joined(const HeldOutScore& score, std::span<const std::int32_t> labels,
                                   ClusterPair pair) const {
  auto result = score;
  result.naming = naming_costs(joined_labels(labels, pair));
  predict(only_of(labels, pair), 1, fold_of_.size(), result.errors);
  set_noise(result);
  return result;
}

Matrix HeldOut::costs_everywhere(std::span<const std::int32_t> labels, std::int64_t k,
                                 std::span<const double> noise) const {
  const auto& layout = statistics_.layout();
  const auto size = static_cast<std::size_t>(layout.size());
  const auto& folds = fold_of_.front();
  std::vector<double> others(size), errors(noise.size());
  std::vector<std::int32_t> parts(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    parts[i] = static_cast<std::int32_t>(labels[i] * folds_ + folds[i]);
  const auto whole = statistics_.cluster_sums(labels, k);
  const auto held_out = statistics_.cluster_sums(parts, k * folds_);
  Matrix result(statistics_.pieces(), k);
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t fold = 0; fold < folds_; ++fold) {
      statistics_.throw_if_stopped();
      const auto part = static_cast<std::size_t>(j * folds_ + fold);
      for (std::size_t p = 0; p < size; ++p)
        others[p] = whole[static_cast<std::size_t>(j) * size + p] - held_out[part * size + p];
      const auto policy = solve_policy(layout, others, ridge_);
      for (std::int64_t i = 0; i < statistics_.episodes(); ++i) {
        if (folds[static_cast<std::size_t>(i)] != fold) continue;
        for (auto p = statistics_.first_piece(i); p < statistics_.last_piece(i); ++p) {
          statistics_.piece_errors(p, policy, errors);
          result(p, j) = piece_cost(errors, noise, statistics_.piece_steps(p));
        }
      }
    }
  return result;
}

std::vector<double> HeldOut::costs(const HeldOutScore& score, std::span<const double> noise) const {
  std::vector<double> result;
  for (std::int64_t i = 0; i < statistics_.episodes(); ++i) {
    double nats = score.naming[static_cast<std::size_t>(i)];
    for (auto p = statistics_.first_piece(i); p < statistics_.last_piece(i); ++p) {
      const double steps = statistics_.piece_steps(p);
      const auto errors =
          std::span(score.errors).subspan(static_cast<std::size_t>(p) * noise.size(), noise.size());
      nats += piece_cost(errors, noise, steps);
    }
    result.push_back(nats);
  }
  return result;
}

}  // namespace kindred
