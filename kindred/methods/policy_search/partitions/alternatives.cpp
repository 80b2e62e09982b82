#include "kindred/methods/policy_search/partitions/alternatives.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "kindred/core/random.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/evidence/exact_fits.h"
#include "kindred/methods/policy_search/evidence/sparse_statistics.h"
#include "kindred/methods/policy_search/partitions/packed_answers.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/plane_view.h"

namespace kindred::policy_search {
namespace {

constexpr std::size_t kMostAlternatives = 6;
constexpr double kFarBetter = 0.1;  // nats per step
constexpr std::int64_t kSimpleStarts = 4;
constexpr int kIndependentRounds = 10;  // with each number of clusters
constexpr int kPriceRounds = 30;
constexpr std::int64_t kSpareSimple = 4;  // clusters more than wanted, to begin with

/// Each episode to the cluster where it costs least ([episodes, k]), so that every cluster takes
/// the same share of each group, as far as prices for clusters, a list per group, can bring that
/// about.
std::vector<std::int32_t> assign_independently(const Matrix& costs,
                                               std::span<const std::int32_t> groups) {
  const auto k = costs.columns;
  const auto count = 1 + *std::ranges::max_element(groups);
  std::vector<std::int32_t> labels(groups.size());
  Matrix prices(count, k);
  double spread = 0.0;  // between the best cluster of an episode and the worst
  for (std::int64_t i = 0; i < costs.rows; ++i) {
    const auto [least, most] = std::ranges::minmax(costs.row(i));
    spread += (most - least) / static_cast<double>(costs.rows);
  }
  for (int round = 0; round < kPriceRounds; ++round) {
    Matrix sizes(count, k);
    std::vector<double> of_group(static_cast<std::size_t>(count), 0.0),
        of_cluster(static_cast<std::size_t>(k), 0.0);
    for (std::int64_t i = 0; i < costs.rows; ++i) {
      const auto group = groups[static_cast<std::size_t>(i)];
      std::int64_t best = 0;
      for (std::int64_t j = 1; j < k; ++j)
        if (costs(i, j) + prices(group, j) < costs(i, best) + prices(group, best)) best = j;
      labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(best);
      sizes(group, best) += 1.0;
      of_group[static_cast<std::size_t>(group)] += 1.0;
      of_cluster[static_cast<std::size_t>(best)] += 1.0;
    }
    for (std::int64_t g = 0; g < count; ++g)
      for (std::int64_t j = 0; j < k; ++j)
        prices(g, j) += spread / (1.0 + 0.1 * round) *
                        (sizes(g, j) / std::max(1.0, of_group[static_cast<std::size_t>(g)]) -
                         of_cluster[static_cast<std::size_t>(j)] / static_cast<double>(costs.rows));
  }
  return consecutive_labels(std::move(labels));
}

/// A partition into k clusters that says nothing of the given one: from a random start with more
/// clusters, rounds that keep it so and joinings.
ExactFit independent_of(const std::vector<std::int32_t>& other, std::int64_t k,
                        const EpisodeStatistics& statistics, double ridge, Random random) {
  ExactFit fit;
  fit.labels = random_partition(statistics.episodes(), k + kSpareSimple, random);
  for (fit.k = k + kSpareSimple;;) {
    for (int round = 0; round < kIndependentRounds; ++round) {
      const auto policies = solve_policies(statistics, fit.labels, fit.k, ridge);
      fit.rounds.emplace_back().objective = policies.objective;
      auto labels = assign_independently(
          statistics.episode_costs(policies.weights, fit.k, policies.noise), other);
      if (labels == fit.labels) break;
      fit.labels = std::move(labels);
      fit.k = 1 + *std::ranges::max_element(fit.labels);
    }
    if (fit.k <= k) return fit;
    join_closest(closest_pairs(statistics, fit.labels, fit.k, ridge, 1), {}, fit.labels);
    --fit.k;
  }
}

/// Tables know nothing of how observations resemble each other, so where several answers are as
/// good most of them mean nothing to anybody. Policies that are linear in the cells of planes, as
/// they lie or as seen from the acting one, have answers that can be put in words.
std::vector<std::vector<std::int32_t>> simple_partitions(const SearchContext& search,
                                                         std::int64_t k) {
  const auto& data = search.data;
  std::vector<PlaneView> views;
  if (const auto raw = search.options.tables ? PlaneView::raw(data) : std::nullopt) {
    views.push_back(*raw);
    if (const auto egocentric = raw->egocentric(data)) views.push_back(*egocentric);
  }
  std::vector<std::vector<std::int32_t>> result;
  const ActionTargets targets(data.actions);
  for (const auto& view : views) {
    const SparseStatistics statistics(data, view, targets, search.run);
    std::vector<ExactFit> fits(kSimpleStarts);
    search.run.chunks(kSimpleStarts, 1, [&](std::int64_t start, std::int64_t) {
      fits[static_cast<std::size_t>(start)] =
          fit_down_to(k, statistics,
                      random_partition(data.episodes(), k + kSpareSimple,
                                       Random(static_cast<std::uint64_t>(search.options.seed),
                                              "simple", static_cast<std::uint64_t>(start))),
                      search.options.ridge, {});
    });
    const auto best = std::ranges::max_element(fits, {}, [&](const ExactFit& fit) {
      return fit.k == k ? fit.objective() : -std::numeric_limits<double>::infinity();
    });
    if (best->k != k) continue;
    result.push_back(best->labels);
    search.run.chunks(kSimpleStarts, 1, [&](std::int64_t start, std::int64_t) {
      fits[static_cast<std::size_t>(start)] =
          independent_of(result.back(), k, statistics, search.options.ridge,
                         Random(static_cast<std::uint64_t>(search.options.seed), "independent",
                                static_cast<std::uint64_t>(start)));
    });
    const auto other = std::ranges::max_element(fits, {}, &ExactFit::objective);
    if (other->k == k) result.push_back(other->labels);
  }
  return result;
}

/// Rounds from given labels, judged.
std::vector<Answer> refined(const SearchContext& search, const Evidence& evidence, std::int64_t k,
                            std::vector<Answer> answers) {
  spread(search.run, answers, [&](std::int64_t i) {
    auto& answer = answers[static_cast<std::size_t>(i)];
    answer.fit = evidence.fit(std::move(answer.fit.labels), search.links_for(k));
    answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
  });
  return answers;
}

bool alike(const Answer& a, const Answer& b) {
  return normalized_mutual_information(a.fit.labels, b.fit.labels) > kAlike;
}

}  // namespace

std::vector<Answer> other_answers(const SearchContext& search, const Evidence& evidence,
                                  std::span<const Descent> descents, const Answer& answer,
                                  std::int64_t k, double v_of_one) {
  std::vector<Answer> tried;
  for (const auto start : distinct_starts(descents, k, kMostAlternatives)) {
    auto& other = tried.emplace_back();
    other.start = start;
    other.fit.labels = descents[static_cast<std::size_t>(start)].fits.at(k).labels;
  }
  tried = refined(search, evidence, k, std::move(tried));
  const auto agree = agreements(descents, answer);
  const bool found_again = std::ranges::any_of(agree, [](double nmi) { return nmi > kAlike; });
  if (found_again && as_good(evidence, tried, answer, k, v_of_one).empty()) return tried;
  std::vector<Answer> simple;
  for (auto& labels : simple_partitions(search, k)) {
    search.links_for(k).enforce(labels, k);
    auto& other = simple.emplace_back();
    other.start = answer.start;
    other.simple = true;
    other.fit.labels = std::move(labels);
  }
  for (auto& other : refined(search, evidence, k, std::move(simple)))
    tried.push_back(std::move(other));
  return tried;
}

std::vector<Answer> as_good(const Evidence& evidence, std::vector<Answer> tried,
                            const Answer& answer, std::int64_t k, double v_of_one) {
  std::ranges::stable_sort(tried, std::greater<>(), [](const Answer& a) { return a.held_out.v; });
  std::vector<Answer> result;
  for (auto& other : tried) {
    const auto lost = evidence.gain(other.held_out, answer.held_out);
    const bool is_as_good =
        answer.held_out.v - other.held_out.v <
        std::max(kAsGood * (answer.held_out.v - v_of_one), kErrors * lost.error);
    if (other.fit.k == k && is_as_good && !alike(other, answer) &&
        std::ranges::none_of(result, [&](const Answer& kept) { return alike(other, kept); }))
      result.push_back(std::move(other));
  }
  return result;
}

std::vector<std::int64_t> fewer_almost_as_good(std::span<const Considered> considered,
                                               std::int64_t k) {
  const auto chosen = std::ranges::find(considered, k, &Considered::k);
  if (chosen == considered.end() || considered.front().k != 1) return {};
  const double share = kAsGood * (chosen->v - considered.front().v);
  std::vector<std::int64_t> result;
  for (auto one = considered.begin(); one != chosen; ++one) {
    const double error = std::next(one) == chosen ? kErrors * chosen->gain_error : 0.0;
    if (chosen->v - one->v < std::max(share, error)) result.push_back(one->k);
  }
  return result;
}

std::vector<Answer> told_by_labels_alone(const SearchContext& search, const Evidence& evidence,
                                         std::span<const Descent> descents,
                                         std::span<const Answer> answers) {
  if (search.options.k == 1 || answers.size() < 2 || answers[1].fit.k != 2) return {};
  const auto free_of_charge = [&](const Answer& answer) {
    double paid = 0.0;
    for (const double nats : answer.held_out.naming) paid += nats;
    return answer.held_out.v + paid / evidence.steps();
  };
  const auto& one = answers[0];
  auto result = as_good(evidence, other_answers(search, evidence, descents, one, 2, one.held_out.v),
                        one, 2, one.held_out.v);
  std::erase_if(result, [&](const Answer& other) {
    return free_of_charge(other) < one.held_out.v + kFarBetter;
  });
  return result;
}

}  // namespace kindred::policy_search
