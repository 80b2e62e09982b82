#include "kindred/policies/held_out_score.h"

#include <algorithm>
#include <cmath>

#include "kindred/clustering/clustering.h"

namespace kindred {
namespace {

constexpr int kRounds = 10;  // in which the usual error is found

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
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto& folds = fold_of_[draw];
    // The episodes of one cluster in one fold are a part, and predicted by the rest of the cluster.
    std::vector<std::int32_t> parts(labels.size(), -1);
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] >= 0) parts[i] = static_cast<std::int32_t>(labels[i] * folds_ + folds[i]);
    const auto sums = statistics_.cluster_sums(parts, k * folds_);
    std::vector<std::vector<std::int64_t>> pieces(static_cast<std::size_t>(k * folds_));
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (parts[i] >= 0)
        add_pieces(static_cast<std::int64_t>(i), pieces[static_cast<std::size_t>(parts[i])]);
    statistics_.workers().chunks(k * folds_, 1, [&](std::int64_t begin, std::int64_t) {
      const auto part = static_cast<std::size_t>(begin);
      if (pieces[part].empty()) return;
      const double* whole = clusters.data() + part / static_cast<std::size_t>(folds_) * size;
      std::vector<double> others(whole, whole + size);
      for (std::size_t p = 0; p < size; ++p) others[p] -= sums[part * size + p];
      const auto own = statistics_.piece_errors(pieces[part], solve_policy(layout, others, ridge_));
      for (std::size_t n = 0; n < pieces[part].size(); ++n)
        for (std::size_t d = 0; d < targets; ++d) {
          auto& error = errors[static_cast<std::size_t>(pieces[part][n]) * targets + d];
          error =
              (draw == 0 ? 0.0 : error) + own.values[n * targets + d] / static_cast<double>(draws);
        }
    });
  }
}

void HeldOut::add_pieces(std::int64_t episode, std::vector<std::int64_t>& pieces) const {
  for (auto p = statistics_.first_piece(episode); p < statistics_.last_piece(episode); ++p)
    pieces.push_back(p);
}

std::vector<double> HeldOut::usual_noise(std::span<const double> errors,
                                         const std::function<bool(std::int64_t)>& counts) const {
  const auto targets = static_cast<std::size_t>(statistics_.layout().targets);
  struct Piece {
    std::span<const double> errors;
    double steps;
    double weight = 1.0;
  };
  std::vector<Piece> pieces;
  double steps = 0.0;
  for (std::int64_t i = 0; i < statistics_.episodes(); ++i) {
    if (!counts(i)) continue;
    for (auto p = statistics_.first_piece(i); p < statistics_.last_piece(i); ++p) {
      pieces.push_back({errors.subspan(static_cast<std::size_t>(p) * targets, targets),
                        statistics_.piece_steps(p)});
      steps += pieces.back().steps;
    }
  }
  std::vector<double> noise;
  for (int round = 0; round < kRounds; ++round) {
    noise.assign(targets, 0.0);
    for (const auto& piece : pieces)
      for (std::size_t d = 0; d < targets; ++d) noise[d] += piece.weight * piece.errors[d] / steps;
    for (auto& variance : noise) variance = std::max(kLeastNoise, variance);
    for (auto& piece : pieces)
      piece.weight = std::min(1.0, kMostUnusual / unusual(piece.errors, noise, piece.steps));
  }
  return noise;
}

void HeldOut::set_noise(HeldOutScore& score) const {
  score.noise = usual_noise(score.errors, [](std::int64_t) { return true; });
  score.v = 0.0;
  for (const double variance : score.noise) score.v -= 0.5 * std::log(variance);
  for (const double nats : score.naming) score.v -= nats / statistics_.total_steps();
}

HeldOutScore HeldOut::score(std::span<const std::int32_t> labels, std::int64_t k) const {
  HeldOutScore result;
  result.naming = naming_costs(labels);
  predict(labels, k, fold_of_.size(), result.errors);
  set_noise(result);
  for (std::int64_t j = 0; j < k; ++j) {
    const auto own = usual_noise(
        result.errors, [&](std::int64_t i) { return labels[static_cast<std::size_t>(i)] == j; });
    result.own_noise.insert(result.own_noise.end(), own.begin(), own.end());
  }
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
  result.own_noise.clear();
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
  std::vector<std::int32_t> parts(labels.size());
  std::vector<std::vector<std::int64_t>> of_fold(static_cast<std::size_t>(folds_));  // pieces
  for (std::size_t i = 0; i < labels.size(); ++i) {
    parts[i] = static_cast<std::int32_t>(labels[i] * folds_ + folds[i]);
    add_pieces(static_cast<std::int64_t>(i), of_fold[static_cast<std::size_t>(folds[i])]);
  }
  const auto whole = statistics_.cluster_sums(labels, k);
  const auto held_out = statistics_.cluster_sums(parts, k * folds_);
  Matrix result(statistics_.pieces(), k);
  statistics_.workers().chunks(k * folds_, 1, [&](std::int64_t part, std::int64_t) {
    statistics_.throw_if_stopped();
    const auto j = part / folds_;
    std::vector<double> others(whole.begin() + j * layout.size(),
                               whole.begin() + (j + 1) * layout.size());
    for (std::size_t p = 0; p < size; ++p)
      others[p] -= held_out[static_cast<std::size_t>(part) * size + p];
    const auto policy = solve_policy(layout, others, ridge_);
    const auto& pieces = of_fold[static_cast<std::size_t>(part % folds_)];
    const auto errors = statistics_.piece_errors(pieces, policy);
    for (std::int64_t n = 0; n < errors.rows; ++n) {
      const auto p = pieces[static_cast<std::size_t>(n)];
      result(p, j) = piece_cost(errors.row(n), noise, statistics_.piece_steps(p));
    }
  });
  return result;
}

HeldOutFit HeldOut::fit(std::span<const std::int32_t> labels, std::int64_t k,
                        const HeldOutScore& judged) const {
  const auto& layout = statistics_.layout();
  const auto size = static_cast<std::size_t>(layout.size());
  const auto targets = judged.noise.size();
  const auto& folds = fold_of_.front();
  const auto whole = statistics_.cluster_sums(labels, k);
  struct Judged {
    std::int64_t episode;
    double surprise = 0.0, ratio = 0.0;
  };
  std::vector<Judged> all;
  std::vector<double> others(size);
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t fold = 0; fold < folds_; ++fold) {
      others.assign(whole.begin() + j * layout.size(), whole.begin() + (j + 1) * layout.size());
      std::vector<Judged> held_out;
      for (std::int64_t i = 0; i < statistics_.episodes(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (labels[at] != j || folds[at] != fold) continue;
        held_out.push_back({.episode = i});
        for (auto p = statistics_.first_piece(i); p < statistics_.last_piece(i); ++p) {
          const auto own = statistics_.piece_sums(p);
          for (std::size_t n = 0; n < size; ++n) others[n] -= own[n];
        }
      }
      if (held_out.empty() || others.back() < 0.5) continue;  // no step is left to fit a policy to
      const auto policy = solve_policy(layout, others, ridge_);
      const auto noise =
          std::span(judged.own_noise).subspan(static_cast<std::size_t>(j) * targets, targets);
      statistics_.workers().chunks(
          std::ssize(held_out), 1, [&](std::int64_t begin, std::int64_t end) {
            for (auto& one : std::span(held_out).subspan(static_cast<std::size_t>(begin),
                                                         static_cast<std::size_t>(end - begin))) {
              std::vector<OwnPart> pieces;
              for (auto p = statistics_.first_piece(one.episode);
                   p < statistics_.last_piece(one.episode); ++p)
                pieces.push_back(own_part(layout, statistics_.piece_sums(p), policy, ridge_));
              const auto own = least_surprising_quarter(std::move(pieces), noise);
              one.surprise = own.surprise(noise);
              one.ratio = own.ratio(judged.noise);
            }
          });
      all.insert(all.end(), held_out.begin(), held_out.end());
    }
  HeldOutFit result;
  std::vector<double> ratios;
  for (const auto& one : all) {
    result.surprises.push_back(one.surprise);
    ratios.push_back(one.ratio);
  }
  if (!all.empty()) result.dispersion = median(std::move(ratios));
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
