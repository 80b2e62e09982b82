#include "kindred/policies/episode_statistics.h"

#include <algorithm>

#include "kindred/nn/vectorise.h"

namespace kindred {
namespace {

constexpr std::int64_t kRows = 64;  // features of so many steps stay in the cache

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
  workers.chunks(episodes_, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> rows(static_cast<std::size_t>(kRows * map.obs_dim()));
    std::vector<double> phi(static_cast<std::size_t>(kRows * layout_.features));
    std::vector<double> actions(static_cast<std::size_t>(kRows * layout_.targets));
    for (auto i = first; i < last; ++i) {
      double* sums = values_.data() + i * layout_.size();
      for (auto begin = data.offsets[i]; begin < data.offsets[i + 1]; begin += kRows) {
        const auto n = std::min(kRows, data.offsets[i + 1] - begin);
        data.observations.copy(begin, begin + n, rows.data());
        map.apply(std::span(rows).first(static_cast<std::size_t>(n * map.obs_dim())), phi);
        targets.copy(data.actions, begin, begin + n, actions);
        add_rows(n, layout_.features, phi.data(), layout_.targets, actions.data(), sums,
                 sums + layout_.cross(), sums + layout_.squares());
      }
      sums[layout_.steps()] = static_cast<double>(data.length(i));
    }
  });
}

}  // namespace kindred
