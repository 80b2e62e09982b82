#include "kindred/clustering/clustering.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/metrics/clustering_scores.h"

namespace kindred {
namespace {

/// The least objective that is near the best.
double least_good_objective(const Clustering& clustering, double tolerance) {
  const double best = clustering.objective;
  // Near means near on the way from where the restarts began: deterministic policies have
  // objectives close to 0, where a share of the objective itself means nothing.
  double begin = best - std::abs(best);
  std::vector<double> first;
  for (const auto& entry : clustering.trace) {
    const auto& restart = clustering.restarts.at(static_cast<std::size_t>(entry.restart));
    if (entry.iteration == restart.objective_since) first.push_back(entry.objective);
  }
  if (!first.empty()) {
    const auto middle = first.begin() + std::ssize(first) / 2;
    std::ranges::nth_element(first, middle);
    if (std::isfinite(*middle)) begin = std::min(begin, *middle);
  }
  return std::isfinite(begin) ? best - tolerance * (best - begin) : best;
}

}  // namespace

void require_same_dimensions(const Trajectories& data, std::int64_t obs_dim, bool discrete,
                             std::int64_t actions) {
  const auto describe = [](std::int64_t obs, bool is_discrete, std::int64_t width) {
    return fmt::format("{} observation numbers and {} {}", obs, width,
                       is_discrete ? "discrete actions" : "action numbers");
  };
  const auto width = data.actions.is_discrete() ? data.actions.count() : data.actions.dim();
  // Discrete data may simply not use the highest actions.
  const bool fits = data.observations.dim() == obs_dim && data.actions.is_discrete() == discrete &&
                    (discrete ? width <= actions : width == actions);
  if (!fits)
    throw DataFormatError("the centres were fitted on data with {}, this data has {}",
                          describe(obs_dim, discrete, actions),
                          describe(data.observations.dim(), data.actions.is_discrete(), width));
}

void require_cpu(const RunContext& run, const std::string& what) {
  if (run.device != "cpu")
    throw InvalidArgument("{} runs on the CPU only; leave out --device {}", what, run.device);
}

std::int64_t resolve_merge_to(std::int64_t k, std::int64_t merge_to, const Trajectories& data) {
  if (data.episodes() == 0) throw InvalidArgument("there are no trajectories to cluster");
  if (k > data.episodes())
    throw InvalidArgument("k is {} but there are only {} trajectories; choose a smaller k", k,
                          data.episodes());
  if (merge_to > k)
    throw InvalidArgument("merge-to is {} but k is {}; merging can only lower the number", merge_to,
                          k);
  return merge_to == 0 ? k : merge_to;
}

void adopt_best(std::vector<RestartSummary> restarts, Clustering& result) {
  const auto best = std::ranges::max_element(restarts, {}, &RestartSummary::objective);
  result.best_restart = best - restarts.begin();
  result.labels = best->labels;
  result.objective = best->objective;
  result.iterations = best->iterations;
  result.converged = best->converged;
  result.restarts = std::move(restarts);
}

RelationCounts RelationCounts::of(std::span<const PairVerdict> pairs) {
  RelationCounts counts;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& pair : pairs) {
    counts.different += pair.relation == Relation::kDifferent;
    counts.same += pair.relation == Relation::kSame;
    counts.never_met += pair.relation == Relation::kNeverMet;
    counts.undecided += pair.relation == Relation::kUndecided;
    if (pair.relation != Relation::kNeverMet) least = std::min(least, pair.z);
  }
  if (std::isfinite(least)) counts.least_z = least;
  return counts;
}

const char* name_of(Relation relation) {
  switch (relation) {
    case Relation::kDifferent:
      return "different";
    case Relation::kSame:
      return "same";
    case Relation::kNeverMet:
      return "never met";
    case Relation::kUndecided:
      return "undecided";
  }
  return "";
}

std::vector<std::int32_t> best_columns(const Matrix& scores) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(scores.rows));
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    const auto row = scores.row(i);
    labels[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
  }
  return labels;
}

std::vector<std::int32_t> consecutive_labels(std::vector<std::int32_t> labels) {
  auto used = labels;
  std::ranges::sort(used);
  used.erase(std::ranges::unique(used).begin(), used.end());
  for (auto& label : labels)
    label = static_cast<std::int32_t>(std::ranges::lower_bound(used, label) - used.begin());
  return labels;
}

std::vector<double> margins(const Matrix& scores, std::span<const std::int32_t> labels) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> result(static_cast<std::size_t>(scores.rows), kInfinity);
  for (std::int64_t i = 0; i < scores.rows && scores.columns > 1; ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    const double own = scores(i, label);
    double other = -kInfinity;
    for (std::int64_t c = 0; c < scores.columns; ++c)
      if (c != label) other = std::max(other, scores(i, c));
    // Two impossibilities are a tie; their difference would not be a number.
    result[static_cast<std::size_t>(i)] = own == other ? 0.0 : own - other;
  }
  return result;
}

Agreement restart_agreement(const Clustering& clustering, double tolerance) {
  if (clustering.agreement) return *clustering.agreement;
  const auto& restarts = clustering.restarts;
  if (restarts.size() < 2) return {.verdict = "single", .good = 1, .same = 1};
  const double least = least_good_objective(clustering, tolerance);
  const auto& best = restarts.at(static_cast<std::size_t>(clustering.best_restart));

  std::vector<const RestartSummary*> good, same;
  for (const auto& restart : restarts) {
    if (restart.objective >= least) good.push_back(&restart);
    if (normalized_mutual_information(restart.labels, best.labels) >= kSameLabels)
      same.push_back(&restart);
  }
  Agreement result;
  result.good = static_cast<std::int64_t>(good.size());
  result.same = static_cast<std::int64_t>(same.size());

  double sum = 0.0;
  std::int64_t pairs = 0;
  const auto& compared = good.size() > 1 ? good : same;
  for (std::size_t i = 0; i < compared.size(); ++i)
    for (std::size_t j = 0; j < i; ++j, ++pairs) {
      const double nmi = normalized_mutual_information(compared[i]->labels, compared[j]->labels);
      sum += nmi;
      result.least_nmi = std::min(result.least_nmi, nmi);
    }
  if (pairs > 0) result.mean_nmi = sum / static_cast<double>(pairs);

  if (good.size() > 1)
    result.verdict = result.least_nmi >= kSameLabels ? "unique" : "several";
  else
    result.verdict = 2 * same.size() > restarts.size() ? "unique" : "unstable";
  return result;
}

}  // namespace kindred
