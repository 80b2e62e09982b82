#include "kindred/nn/kmeans.h"

#include <algorithm>
#include <limits>

#include "kindred/core/error.h"

namespace kindred {
namespace {

double squared_distance(const double* a, const double* b, std::int64_t dim) {
  double sum = 0.0;
  for (std::int64_t d = 0; d < dim; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

struct Problem {
  std::span<const double> points;
  std::int64_t dim;
  std::int64_t k;

  std::int64_t rows() const { return static_cast<std::int64_t>(points.size()) / dim; }
  const double* point(std::int64_t i) const { return points.data() + i * dim; }
};

/// k-means++: each further centre is a point drawn with probability proportional to its squared
/// distance from the centres chosen so far.
std::vector<double> spread_centres(const Problem& p, Random& random) {
  std::vector<double> centres;
  std::vector<double> nearest(static_cast<std::size_t>(p.rows()),
                              std::numeric_limits<double>::infinity());
  auto chosen = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(p.rows())));
  for (std::int64_t c = 0; c < p.k; ++c) {
    centres.insert(centres.end(), p.point(chosen), p.point(chosen) + p.dim);
    double total = 0.0;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      auto& distance = nearest[static_cast<std::size_t>(i)];
      distance = std::min(distance, squared_distance(p.point(i), p.point(chosen), p.dim));
      total += distance;
    }
    double left = random.uniform() * total;
    for (chosen = 0; chosen + 1 < p.rows(); ++chosen)
      if ((left -= nearest[static_cast<std::size_t>(chosen)]) < 0.0) break;
  }
  return centres;
}

/// Labels every point by its nearest centre; returns whether a label changed.
bool assign(const Problem& p, KMeansResult& run) {
  bool changed = false;
  run.cost = 0.0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    double best = std::numeric_limits<double>::infinity();
    std::int32_t label = 0;
    for (std::int64_t c = 0; c < p.k; ++c) {
      const double distance = squared_distance(p.point(i), run.centres.data() + c * p.dim, p.dim);
      if (distance < best) best = distance, label = static_cast<std::int32_t>(c);
    }
    changed |= run.labels[static_cast<std::size_t>(i)] != label;
    run.labels[static_cast<std::size_t>(i)] = label;
    run.cost += best;
  }
  return changed;
}

/// Moves every centre to the mean of its points; a centre without points stays.
void move_centres(const Problem& p, KMeansResult& run) {
  std::vector<double> sums(run.centres.size(), 0.0);
  std::vector<double> sizes(static_cast<std::size_t>(p.k), 0.0);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const auto c = run.labels[static_cast<std::size_t>(i)];
    sizes[static_cast<std::size_t>(c)] += 1.0;
    for (std::int64_t d = 0; d < p.dim; ++d)
      sums[static_cast<std::size_t>(c * p.dim + d)] += p.point(i)[d];
  }
  for (std::size_t j = 0; j < sums.size(); ++j)
    if (const double size = sizes[j / static_cast<std::size_t>(p.dim)]; size > 0.0)
      run.centres[j] = sums[j] / size;
}

}  // namespace

KMeansResult kmeans(std::span<const double> points, std::int64_t dim, std::int64_t k,
                    std::int64_t starts, Random& random, std::int64_t max_iterations) {
  const Problem problem{points, dim, k};
  if (k < 1 || k > problem.rows())
    throw InvalidArgument("k-means with k = {} needs at least that many points, there are {}", k,
                          problem.rows());
  KMeansResult best;
  best.cost = std::numeric_limits<double>::infinity();
  for (std::int64_t s = 0; s < starts; ++s) {
    KMeansResult run;
    run.labels.assign(static_cast<std::size_t>(problem.rows()), -1);
    run.centres = spread_centres(problem, random);
    for (std::int64_t i = 0; i < max_iterations && assign(problem, run); ++i)
      move_centres(problem, run);
    if (run.cost < best.cost) best = std::move(run);
  }
  return best;
}

}  // namespace kindred
