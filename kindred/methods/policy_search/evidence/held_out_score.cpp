#include "kindred/methods/policy_search/evidence/held_out_score.h"

#include <algorithm>
#include <cmath>

#include "kindred/clustering/clustering.h"
#include "kindred/core/vectorise.h"
#include "kindred/policies/piece_cost.h"

namespace kindred::policy_search {
namespace {

constexpr int kRounds = 10;                                    // in which the usual error is found
constexpr std::size_t kMostRemembered = std::size_t{1} << 22;  // numbers: 32 MiB

/// out = errors · weights / steps, piece by piece.
KINDRED_VECTORISE
void weigh(std::size_t n, const double* __restrict errors, const double* __restrict weights,
           double steps, double* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = weights[i] * errors[i] / steps;
}

/// Weights with which no piece counts more than kMostUnusual; errors are [targets, n], `usual` is
/// what a piece has where its errors are the noise.
KINDRED_VECTORISE
void limit_unusual(std::size_t n, std::span<const double> noise, const double* __restrict errors,
                   const double* __restrict usual, double* __restrict weights) {
  for (std::size_t i = 0; i < n; ++i) weights[i] = 0.0;
  for (std::size_t d = 0; d < noise.size(); ++d)
    for (std::size_t i = 0; i < n; ++i) weights[i] += errors[d * n + i] / noise[d];
  for (std::size_t i = 0; i < n; ++i)
    weights[i] = std::min(1.0, kMostUnusual / (weights[i] / usual[i]));
}

}  // namespace

HeldOut::HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids,
                 double ridge, const FoldPlan& plan)
    : statistics_(statistics),
      ridge_(ridge),
      folds_(plan.folds),
      fold_of_(draw_folds(ids, plan.folds, plan.draws)) {
  if (statistics.pooled().empty()) return;
  const auto size = static_cast<std::size_t>(statistics.layout().size());
  for (const auto& folds : fold_of_) {
    auto& sums = pooled_.emplace_back(statistics.cluster_sums(folds, folds_));
    std::vector<double> whole(size, 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) whole[i % size] += sums[i];
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = whole[i % size] - sums[i];
    for (std::size_t fold = 0; fold * size < sums.size(); ++fold) {
      const auto own = std::span(sums).subspan(fold * size, size);
      const double share = statistics.pooled_steps() / std::max(1.0, own.back());
      for (auto& sum : own) sum *= share;
    }
  }
}

std::span<const double> HeldOut::pooled_without(std::size_t draw, std::int32_t fold) const {
  if (pooled_.empty()) return {};
  const auto size = static_cast<std::size_t>(statistics_.layout().size());
  return std::span(pooled_[draw]).subspan(static_cast<std::size_t>(fold) * size, size);
}

void HeldOut::predict(std::span<const std::int32_t> labels, std::int64_t k, std::size_t draws,
                      std::vector<double>& errors) const {
  const auto targets = static_cast<std::size_t>(statistics_.layout().targets);
  errors.resize(static_cast<std::size_t>(statistics_.pieces()) * targets, 0.0);
  std::vector<Members> clusters(static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0)
      clusters[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::int64_t>(i));
  statistics_.workers().chunks(k, 1, [&](std::int64_t j, std::int64_t) {
    const auto& members = clusters[static_cast<std::size_t>(j)];
    const auto own = cluster_errors(members, draws);
    std::size_t from = 0;
    for (const auto i : members) {
      const auto count =
          static_cast<std::size_t>(statistics_.last_piece(i) - statistics_.first_piece(i)) *
          targets;
      double* to = errors.data() + static_cast<std::size_t>(statistics_.first_piece(i)) * targets;
      for (std::size_t n = 0; n < count; ++n, ++from) {
        to[n] = 0.0;
        for (std::size_t draw = 0; draw < draws; ++draw)
          to[n] += (*own)[draw][from] / static_cast<double>(draws);
      }
    }
  });
}

std::shared_ptr<const HeldOut::ByDraw> HeldOut::cluster_errors(const Members& members,
                                                               std::size_t draws) const {
  auto result = std::make_shared<ByDraw>();
  {
    const std::lock_guard lock(memory_->mutex);
    const auto known = memory_->errors.find(members);
    if (known != memory_->errors.end()) {
      if (known->second->size() >= draws) return known->second;
      *result = *known->second;
    }
  }
  for (auto& errors : predict_cluster(members, result->size(), draws))
    result->push_back(std::move(errors));
  const std::lock_guard lock(memory_->mutex);
  const auto numbers = members.size() + draws * result->front().size();
  if (memory_->numbers + numbers > kMostRemembered) return result;
  memory_->numbers += numbers;
  auto& kept = memory_->errors[members];
  if (!kept || kept->size() < draws) kept = result;  // another thread may know more by now
  return result;
}

/// The episodes in one fold are predicted by the others.
HeldOut::ByDraw HeldOut::predict_cluster(const Members& members, std::size_t first_draw,
                                         std::size_t draws) const {
  const auto& layout = statistics_.layout();
  const auto size = static_cast<std::size_t>(layout.size());
  struct Part {  // the episodes of a fold
    std::size_t draw;
    std::size_t number;  // among those of the draw
    std::int32_t fold;
    std::vector<std::int64_t> rows;  // where their pieces are among those of the cluster
  };
  std::vector<Part> parts;
  std::vector<PiecesOfPolicy> asked;
  // By the parts of each draw; last, all of them together.
  const std::vector<std::int32_t> none(static_cast<std::size_t>(statistics_.episodes()), -1);
  std::vector<Labelling> labellings(draws - first_draw + 1, {none, 0});
  labellings.back().k = 1;
  std::map<std::pair<std::size_t, std::int32_t>, std::size_t> part_of;  // by draw and fold
  std::int64_t row = 0;
  for (const auto i : members) {
    const auto episode = static_cast<std::size_t>(i);
    const auto first_row = row;
    row += statistics_.last_piece(i) - statistics_.first_piece(i);
    labellings.back().labels[episode] = 0;
    for (std::size_t draw = 0; draw + first_draw < draws; ++draw) {
      auto& by_draw = labellings[draw];
      const auto [found, is_new] =
          part_of.try_emplace({draw, fold_of_[first_draw + draw][episode]}, parts.size());
      if (is_new) {
        parts.push_back({draw,
                         static_cast<std::size_t>(by_draw.k++),
                         fold_of_[first_draw + draw][episode],
                         {}});
        asked.emplace_back();
      }
      auto& part = parts[found->second];
      by_draw.labels[episode] = static_cast<std::int32_t>(part.number);
      add_pieces(i, asked[found->second].pieces);
      for (auto n = first_row; n < row; ++n) part.rows.push_back(n);
    }
  }
  auto sums = statistics_.sums_by(labellings);
  const auto& whole = sums.back();
  statistics_.workers().chunks(std::ssize(parts), 1, [&](std::int64_t n, std::int64_t) {
    const auto& part = parts[static_cast<std::size_t>(n)];
    const auto others = std::span(sums[part.draw]).subspan(part.number * size, size);
    for (std::size_t p = 0; p < size; ++p) others[p] = whole[p] - others[p];
    const auto pooled = pooled_without(first_draw + part.draw, part.fold);
    for (std::size_t p = 0; p < pooled.size(); ++p) others[p] += pooled[p];
    asked[static_cast<std::size_t>(n)].policy = solve_policy(layout, others, ridge_);
  });
  const auto missed = statistics_.errors_under(asked);
  ByDraw errors(draws - first_draw);
  for (auto& one : errors) one.resize(static_cast<std::size_t>(row * layout.targets));
  for (std::size_t at = 0; at < parts.size(); ++at)
    for (std::size_t n = 0; n < parts[at].rows.size(); ++n)
      std::ranges::copy(missed[at].row(static_cast<std::int64_t>(n)),
                        errors[parts[at].draw].begin() + parts[at].rows[n] * layout.targets);
  return errors;
}

void HeldOut::add_pieces(std::int64_t episode, std::vector<std::int64_t>& pieces) const {
  for (auto p = statistics_.first_piece(episode); p < statistics_.last_piece(episode); ++p)
    pieces.push_back(p);
}

std::vector<double> HeldOut::usual_noise(std::span<const double> errors,
                                         const std::function<bool(std::int64_t)>& counts) const {
  const auto targets = static_cast<std::size_t>(statistics_.layout().targets);
  std::vector<std::int64_t> pieces;
  for (std::int64_t i = 0; i < statistics_.episodes(); ++i)
    if (counts(i)) add_pieces(i, pieces);
  const auto count = pieces.size();
  std::vector<double> of_target(targets * count);  // the errors of one, of all pieces, side by side
  std::vector<double> usual(count), weights(count, 1.0), shares(count);
  double steps = 0.0;
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t d = 0; d < targets; ++d)
      of_target[d * count + n] = errors[static_cast<std::size_t>(pieces[n]) * targets + d];
    usual[n] = statistics_.piece_steps(pieces[n]) * static_cast<double>(targets);
    steps += statistics_.piece_steps(pieces[n]);
  }
  std::vector<double> noise;
  for (int round = 0; round < kRounds; ++round) {
    auto before = std::move(noise);
    noise.assign(targets, 0.0);
    for (std::size_t d = 0; d < targets; ++d) {
      weigh(count, of_target.data() + d * count, weights.data(), steps, shares.data());
      for (const double share : shares) noise[d] += share;
    }
    for (auto& variance : noise) variance = std::max(kLeastNoise, variance);
    if (noise == before) break;  // so would all rounds after it
    limit_unusual(count, noise, of_target.data(), usual.data(), weights.data());
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

double HeldOut::v_of(const HeldOutScore& score, std::span<const std::uint8_t> marked) const {
  const auto counts = [&](std::int64_t i) { return marked[static_cast<std::size_t>(i)] != 0; };
  double v = 0.0, nats = 0.0, steps = 0.0;
  for (const double variance : usual_noise(score.errors, counts)) v -= 0.5 * std::log(variance);
  for (std::int64_t i = 0; i < statistics_.episodes(); ++i) {
    if (!counts(i)) continue;
    nats += score.naming[static_cast<std::size_t>(i)];
    for (auto p = statistics_.first_piece(i); p < statistics_.last_piece(i); ++p)
      steps += statistics_.piece_steps(p);
  }
  return v - nats / steps;
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
    const auto pooled = pooled_without(0, static_cast<std::int32_t>(part % folds_));
    for (std::size_t p = 0; p < pooled.size(); ++p) others[p] += pooled[p];
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
  std::vector<std::int32_t> part_of(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    part_of[i] = static_cast<std::int32_t>(labels[i] * folds_ + folds[i]);
  const auto left_out = statistics_.cluster_sums(part_of, k * folds_);
  struct Judged {
    std::int64_t episode;
    double surprise = 0.0, ratio = 0.0;
  };
  std::vector<std::vector<Judged>> parts(static_cast<std::size_t>(k * folds_));
  statistics_.workers().chunks(k * folds_, 1, [&](std::int64_t part, std::int64_t) {
    const auto j = part / folds_;
    auto& held_out = parts[static_cast<std::size_t>(part)];
    for (std::int64_t i = 0; i < statistics_.episodes(); ++i)
      if (part_of[static_cast<std::size_t>(i)] == part) held_out.push_back({.episode = i});
    std::vector<double> others(whole.begin() + j * layout.size(),
                               whole.begin() + (j + 1) * layout.size());
    for (std::size_t n = 0; n < size; ++n)
      others[n] -= left_out[static_cast<std::size_t>(part) * size + n];
    if (others.back() < 0.5) held_out.clear();  // no step is left to fit a policy to
    if (held_out.empty()) return;
    const auto pooled = pooled_without(0, static_cast<std::int32_t>(part % folds_));
    for (std::size_t p = 0; p < pooled.size(); ++p) others[p] += pooled[p];
    const auto policy = solve_policy(layout, others, ridge_);
    const auto noise =
        std::span(judged.own_noise).subspan(static_cast<std::size_t>(j) * targets, targets);
    statistics_.workers().chunks(std::ssize(held_out), 1, [&](std::int64_t n, std::int64_t) {
      auto& one = held_out[static_cast<std::size_t>(n)];
      std::vector<OwnPart> pieces;
      for (auto p = statistics_.first_piece(one.episode); p < statistics_.last_piece(one.episode);
           ++p)
        pieces.push_back(own_part(layout, statistics_.piece_sums(p), policy, ridge_));
      const auto own = least_surprising_quarter(std::move(pieces), noise);
      one.surprise = own.surprise(noise);
      one.ratio = own.ratio(judged.noise);
    });
  });
  HeldOutFit result;
  std::vector<double> ratios;
  for (const auto& part : parts)
    for (const auto& one : part) {
      result.surprises.push_back(one.surprise);
      ratios.push_back(one.ratio);
    }
  if (!ratios.empty()) result.dispersion = median(std::move(ratios));
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

}  // namespace kindred::policy_search
