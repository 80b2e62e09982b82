#include "kindred/policies/episode_statistics.h"

#include <algorithm>

#include "kindred/nn/vectorise.h"

namespace kindred {
namespace {

constexpr std::int64_t kRows = 64;    // features of so many steps stay in the cache
constexpr std::int64_t kPiece = 200;  // steps, about

/// Adds Σφφᵀ (lower triangle), Σφaᵀ and Σa² of n rows. Four rows at a time: each sum is then loaded
/// and stored once for four products.
KINDRED_VECTORISE
void add_rows(std::int64_t n, std::int64_t features, const double* __restrict phi,
              std::int64_t targets, const double* __restrict actions, double* __restrict gram,
              double* __restrict cross, double* __restrict squares) {
  std::int64_t t = 0;
  for (; t + 4 <= n; t += 4) {
    const double* p0 = phi + t * features;
    const double *p1 = p0 + features, *p2 = p1 + features, *p3 = p2 + features;
    const double* a0 = actions + t * targets;
    const double *a1 = a0 + targets, *a2 = a1 + targets, *a3 = a2 + targets;
    double* row = gram;
    for (std::int64_t m = 0; m < features; ++m) {
      for (std::int64_t l = 0; l <= m; ++l)
        row[l] += p0[m] * p0[l] + p1[m] * p1[l] + p2[m] * p2[l] + p3[m] * p3[l];
      row += m + 1;
      for (std::int64_t d = 0; d < targets; ++d)
        cross[m * targets + d] += p0[m] * a0[d] + p1[m] * a1[d] + p2[m] * a2[d] + p3[m] * a3[d];
    }
    for (std::int64_t d = 0; d < targets; ++d)
      squares[d] += a0[d] * a0[d] + a1[d] * a1[d] + a2[d] * a2[d] + a3[d] * a3[d];
  }
  for (; t < n; ++t) {
    const double* p = phi + t * features;
    const double* a = actions + t * targets;
    double* row = gram;
    for (std::int64_t m = 0; m < features; ++m) {
      for (std::int64_t l = 0; l <= m; ++l) row[l] += p[m] * p[l];
      row += m + 1;
      for (std::int64_t d = 0; d < targets; ++d) cross[m * targets + d] += p[m] * a[d];
    }
    for (std::int64_t d = 0; d < targets; ++d) squares[d] += a[d] * a[d];
  }
}

}  // namespace

EpisodeStatistics::EpisodeStatistics(const Trajectories& data, const FeatureMap& map,
                                     const ActionTargets& targets, const Workers& workers)
    : layout_{map.count(), targets.count()},
      episodes_(data.episodes()),
      total_steps_(static_cast<double>(data.steps())),
      workers_(workers),
      values_(static_cast<std::size_t>(episodes_ * layout_.size()), 0.0) {
  for (std::int64_t i = 0; i < episodes_; ++i)
    first_piece_.push_back(first_piece_.back() +
                           std::max<std::int64_t>(1, (data.length(i) + kPiece / 2) / kPiece));
  if (first_piece_.back() > episodes_)
    pieces_.assign(static_cast<std::size_t>(first_piece_.back() * layout_.size()), 0.0);
  workers.chunks(episodes_, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> rows(static_cast<std::size_t>(kRows * map.obs_dim()));
    std::vector<double> phi(static_cast<std::size_t>(kRows * layout_.features));
    std::vector<double> actions(static_cast<std::size_t>(kRows * layout_.targets));
    const auto add_steps = [&](std::int64_t begin, std::int64_t end, double* sums) {
      for (auto from = begin; from < end; from += kRows) {
        const auto n = std::min(kRows, end - from);
        data.observations.copy(from, from + n, rows.data());
        map.apply(std::span(rows).first(static_cast<std::size_t>(n * map.obs_dim())), phi);
        targets.copy(data.actions, from, from + n, actions);
        add_rows(n, layout_.features, phi.data(), layout_.targets, actions.data(), sums,
                 sums + layout_.cross(), sums + layout_.squares());
      }
      sums[layout_.steps()] = static_cast<double>(end - begin);
    };
    for (auto i = first; i < last; ++i) {
      double* whole = values_.data() + i * layout_.size();
      const auto pieces = last_piece(i) - first_piece(i);
      if (pieces_.empty()) {
        add_steps(data.offsets[i], data.offsets[i + 1], whole);
        continue;
      }
      for (std::int64_t p = 0; p < pieces; ++p) {
        double* own = pieces_.data() + (first_piece(i) + p) * layout_.size();
        add_steps(data.offsets[i] + data.length(i) * p / pieces,
                  data.offsets[i] + data.length(i) * (p + 1) / pieces, own);
        for (std::int64_t n = 0; n < layout_.size(); ++n) whole[n] += own[n];
      }
    }
  });
}

EpisodeStatistics EpisodeStatistics::subset(std::span<const std::int64_t> episodes) const {
  EpisodeStatistics result(layout_, workers_);
  result.episodes_ = std::ssize(episodes);
  for (const auto i : episodes) {
    const auto whole = of(i);
    result.values_.insert(result.values_.end(), whole.begin(), whole.end());
    result.total_steps_ += whole.back();
    result.first_piece_.push_back(result.first_piece_.back() + last_piece(i) - first_piece(i));
  }
  if (result.pieces() == result.episodes()) return result;
  for (const auto i : episodes)
    for (auto p = first_piece(i); p < last_piece(i); ++p) {
      const auto own = piece(p);
      result.pieces_.insert(result.pieces_.end(), own.begin(), own.end());
    }
  return result;
}

}  // namespace kindred
