#include "kindred/nn/kmeans.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/core/vectorise.h"

namespace kindred {
namespace {

constexpr std::int64_t kChunk = 1024;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Of n points from one, all their first numbers side by side, then the second, `stride` further
/// on.
KINDRED_VECTORISE_ALIKE
void squared_distances(std::int64_t n, std::int64_t dim, const double* __restrict columns,
                       std::int64_t stride, const double* __restrict from, double* __restrict out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = 0.0;
  for (std::int64_t d = 0; d < dim; ++d)
    for (std::int64_t i = 0; i < n; ++i) {
      const double apart = columns[d * stride + i] - from[d];
      out[i] += apart * apart;
    }
}

struct Problem {
  std::span<const double> points;
  std::int64_t dim;
  std::int64_t k;
  const Workers& workers;
  std::vector<double> columns = turned();  // [dim, rows]

  std::int64_t rows() const { return static_cast<std::int64_t>(points.size()) / dim; }
  std::int64_t chunks() const { return (rows() + kChunk - 1) / kChunk; }
  const double* point(std::int64_t i) const { return points.data() + i * dim; }
  std::vector<double> turned() const {
    std::vector<double> result(points.size());
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t d = 0; d < dim; ++d)
        result[static_cast<std::size_t>(d * rows() + i)] = point(i)[d];
    return result;
  }
  /// Of points [begin, end), at most kChunk, from one.
  void distances(std::int64_t begin, std::int64_t end, const double* from, double* out) const {
    squared_distances(end - begin, dim, columns.data() + begin, rows(), from, out);
  }

  /// Calls body(chunk, begin, end) for every chunk of rows.
  template <class Body>
  void for_each_chunk(Body body) const {
    workers.chunks(rows(), kChunk, [&](std::int64_t begin, std::int64_t end) {
      body(static_cast<std::size_t>(begin / kChunk), begin, end);
    });
  }
};

/// One start on its way.
struct Run {
  KMeansResult result;
  std::vector<double> distances;  // [rows], squared, to the centre of the label
};

/// k-means++: each further centre is a point drawn with probability proportional to its squared
/// distance from the centres chosen so far.
std::vector<double> spread_centres(const Problem& p, Random& random) {
  std::vector<double> centres;
  std::vector<double> nearest(static_cast<std::size_t>(p.rows()), kInfinity);
  std::vector<double> totals(static_cast<std::size_t>(p.chunks()));
  auto chosen = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(p.rows())));
  for (std::int64_t c = 0; c < p.k; ++c) {
    centres.insert(centres.end(), p.point(chosen), p.point(chosen) + p.dim);
    p.for_each_chunk([&](std::size_t chunk, std::int64_t begin, std::int64_t end) {
      totals[chunk] = 0.0;
      double apart[kChunk];
      p.distances(begin, end, p.point(chosen), apart);
      for (auto i = begin; i < end; ++i) {
        auto& distance = nearest[static_cast<std::size_t>(i)];
        distance = std::min(distance, apart[i - begin]);
        totals[chunk] += distance;
      }
    });
    double left = random.uniform() * std::accumulate(totals.begin(), totals.end(), 0.0);
    for (chosen = 0; chosen + 1 < p.rows(); ++chosen) {
      left -= nearest[static_cast<std::size_t>(chosen)];
      if (left < 0.0) break;
    }
  }
  return centres;
}

/// Labels every point by its nearest centre; returns whether a label changed.
bool assign(const Problem& p, Run& run) {
  std::vector<double> costs(static_cast<std::size_t>(p.chunks()), 0.0);
  std::vector<std::uint8_t> changed(costs.size(), 0);
  p.for_each_chunk([&](std::size_t chunk, std::int64_t begin, std::int64_t end) {
    double apart[kChunk];
    std::int32_t nearest[kChunk] = {};
    double* const best = run.distances.data() + begin;
    const auto n = end - begin;
    std::fill_n(best, n, kInfinity);
    for (std::int32_t c = 0; c < p.k; ++c) {
      p.distances(begin, end, run.result.centres.data() + c * p.dim, apart);
      for (std::int64_t i = 0; i < n; ++i)
        if (apart[i] < best[i]) best[i] = apart[i], nearest[i] = c;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      auto& label = run.result.labels[static_cast<std::size_t>(begin + i)];
      changed[chunk] |= label != nearest[i];
      label = nearest[i];
      costs[chunk] += best[i];
    }
  });
  run.result.cost = std::accumulate(costs.begin(), costs.end(), 0.0);
  return std::ranges::count(changed, 1) > 0;
}

/// Gives each group without points the point farthest from its centre, never a group's last one.
void fill_empty(const Problem& p, Run& run) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(p.k), 0);
  for (const auto label : run.result.labels) ++sizes[static_cast<std::size_t>(label)];
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (sizes[c] > 0) continue;
    std::size_t farthest = 0;
    double most = 0.0;
    for (std::size_t i = 0; i < run.distances.size(); ++i)
      if (run.distances[i] > most && sizes[static_cast<std::size_t>(run.result.labels[i])] > 1)
        most = run.distances[i], farthest = i;
    if (most == 0.0) return;  // only copies of centres are left to give
    --sizes[static_cast<std::size_t>(run.result.labels[farthest])];
    ++sizes[c];
    run.result.labels[farthest] = static_cast<std::int32_t>(c);
    run.distances[farthest] = 0.0;
  }
}

/// Moves every centre to the mean of its points; a centre without points stays.
void move_centres(const Problem& p, Run& run) {
  const auto width = static_cast<std::size_t>(p.k * (p.dim + 1));  // per group: sums, then its size
  std::vector<double> partial(static_cast<std::size_t>(p.chunks()) * width, 0.0);
  p.for_each_chunk([&](std::size_t chunk, std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto c = run.result.labels[static_cast<std::size_t>(i)];
      double* sums = partial.data() + chunk * width + c * (p.dim + 1);
      for (std::int64_t d = 0; d < p.dim; ++d) sums[d] += p.point(i)[d];
      sums[p.dim] += 1.0;
    }
  });
  for (std::size_t j = width; j < partial.size(); ++j) partial[j % width] += partial[j];
  for (std::int64_t c = 0; c < p.k; ++c) {
    const double* sums = partial.data() + c * (p.dim + 1);
    for (std::int64_t d = 0; d < p.dim && sums[p.dim] > 0.0; ++d)
      run.result.centres[static_cast<std::size_t>(c * p.dim + d)] = sums[d] / sums[p.dim];
  }
}

KMeansResult run_start(const Problem& p, Random random, std::int64_t max_iterations) {
  Run run;
  run.result.labels.assign(static_cast<std::size_t>(p.rows()), -1);
  run.distances.resize(run.result.labels.size());
  run.result.centres = spread_centres(p, random);
  assign(p, run);
  for (std::int64_t i = 0; i < max_iterations; ++i) {
    fill_empty(p, run);
    move_centres(p, run);
    if (!assign(p, run)) break;
  }
  return std::move(run.result);
}

}  // namespace

KMeansResult kmeans(std::span<const double> points, std::int64_t dim, std::int64_t k,
                    std::int64_t starts, Random& random, const Workers& workers,
                    std::int64_t max_iterations) {
  const Problem problem{points, dim, k, workers};
  if (k < 1 || k > problem.rows())
    throw InvalidArgument("k-means with k = {} needs at least that many points, there are {}", k,
                          problem.rows());
  starts = std::max<std::int64_t>(starts, 1);
  const auto seed = random();
  std::vector<KMeansResult> runs(static_cast<std::size_t>(starts));
  workers.chunks(starts, 1, [&](std::int64_t s, std::int64_t) {
    runs[static_cast<std::size_t>(s)] =
        run_start(problem, Random(seed, "k-means", static_cast<std::uint64_t>(s)), max_iterations);
  });
  return std::move(*std::ranges::min_element(runs, {}, &KMeansResult::cost));
}

}  // namespace kindred
