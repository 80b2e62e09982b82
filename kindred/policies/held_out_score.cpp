#include "kindred/policies/held_out_score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/clustering/clustering.h"
#include "kindred/core/random.h"

namespace kindred {
namespace {

constexpr std::int64_t kFew = 60;  // episodes

}  // namespace

HeldOut::HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids,
                 double ridge)
    : HeldOut(statistics, ids, ridge, std::ssize(ids) <= kFew ? std::ssize(ids) : 5,
              std::ssize(ids) <= kFew ? 1 : 3) {}

HeldOut::HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids,
                 double ridge, std::int64_t folds, std::int64_t draws)
    : statistics_(statistics), ridge_(ridge), folds_(folds) {
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    std::vector<std::uint64_t> place;
    for (const auto& id : ids) place.push_back(Random(static_cast<std::uint64_t>(draw), id)());
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair(place[i], std::string_view(ids[i])); });
    auto& fold = fold_of_.emplace_back(ids.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      fold[order[i]] = static_cast<std::int32_t>(i % static_cast<std::size_t>(folds));
  }
}

HeldOutScore HeldOut::score(std::span<const std::int32_t> labels, std::int64_t k) const {
  const auto& layout = statistics_.layout();
  const auto size = static_cast<std::size_t>(layout.size());
  const auto targets = static_cast<std::size_t>(layout.targets);
  HeldOutScore result;
  result.errors.assign(labels.size() * targets, 0.0);
  const auto clusters = cluster_sums(statistics_, labels, k);
  std::vector<double> others(size), errors(targets);
  for (const auto& folds : fold_of_) {
    std::vector<std::int32_t> parts(labels.size());  // the episodes of one cluster in one fold
    for (std::size_t i = 0; i < labels.size(); ++i)
      parts[i] = static_cast<std::int32_t>(labels[i] * folds_ + folds[i]);
    parts = consecutive_labels(std::move(parts));
    const auto count = 1 + *std::ranges::max_element(parts);
    const auto sums = cluster_sums(statistics_, parts, count);
    std::vector<std::vector<double>> policies(static_cast<std::size_t>(count));  // without the part
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto part = static_cast<std::size_t>(parts[i]);
      auto& policy = policies[part];
      if (policy.empty()) {
        statistics_.throw_if_stopped();
        const double* whole = clusters.data() + static_cast<std::size_t>(labels[i]) * size;
        for (std::size_t p = 0; p < size; ++p) others[p] = whole[p] - sums[part * size + p];
        policy = solve_policy(layout, others, ridge_);
      }
      squared_errors(layout, statistics_.of(static_cast<std::int64_t>(i)), policy, errors);
      for (std::size_t d = 0; d < targets; ++d)
        result.errors[i * targets + d] += errors[d] / static_cast<double>(fold_of_.size());
    }
  }
  for (std::size_t d = 0; d < targets; ++d) {
    double sum = 0.0;
    for (std::size_t i = 0; i < labels.size(); ++i) sum += result.errors[i * targets + d];
    result.v -= 0.5 * std::log(std::max(kLeastNoise, sum / statistics_.total_steps()));
  }
  return result;
}

PairedGain HeldOut::gain(const HeldOutScore& from, const HeldOutScore& to) const {
  const auto targets = static_cast<std::size_t>(statistics_.layout().targets);
  const auto episodes = to.errors.size() / targets;
  std::vector<double> noise(targets, 0.0);
  for (std::size_t i = 0; i < to.errors.size(); ++i)
    noise[i % targets] += to.errors[i] / statistics_.total_steps();
  PairedGain result;
  double sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < episodes; ++i) {
    double gained = 0.0;
    for (std::size_t d = 0; d < targets; ++d)
      gained += 0.5 * (from.errors[i * targets + d] - to.errors[i * targets + d]) /
                std::max(kLeastNoise, noise[d]);
    sum += gained;
    squares += gained * gained;
    result.episodes_better += (gained > 0.0 ? 1.0 : 0.0) / static_cast<double>(episodes);
  }
  const auto n = static_cast<double>(episodes);
  const double variance = std::max(0.0, squares / n - sum / n * (sum / n));
  result.mean = sum / statistics_.total_steps();
  result.error = std::sqrt(n * variance) / statistics_.total_steps();
  return result;
}

}  // namespace kindred
