#include "kindred/policies/alternatives.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "kindred/core/random.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/exact_policies.h"
#include "kindred/policies/plane_view.h"
#include "kindred/policies/separation.h"
#include "kindred/policies/sparse_statistics.h"

namespace kindred {
namespace {

constexpr std::size_t kMostAlternatives = 6;
constexpr double kFarBetter = 0.1;  // nats per step
constexpr std::int64_t kSimpleStarts = 4;
constexpr std::int64_t kSpareSimple = 4;  // clusters more than wanted, to begin with

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
    if (best->k == k) result.push_back(best->labels);
  }
  return result;
}

/// Rounds from given labels, judged.
std::vector<Answer> refined(const SearchContext& search, const Evidence& evidence, std::int64_t k,
                            std::vector<Answer> answers) {
  search.run.chunks(std::ssize(answers), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      auto& answer = answers[i];
      answer.fit = evidence.fit(std::move(answer.fit.labels), search.links_for(k));
      answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
    }
  });
  return answers;
}

bool alike(const Answer& a, const Answer& b) {
  return normalized_mutual_information(a.fit.labels, b.fit.labels) > kAlike;
}

/// Those that predict as well as the answer, and are unlike it and each other.
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

}  // namespace

std::vector<Answer> alternatives(const SearchContext& search, const Evidence& evidence,
                                 std::span<const Descent> descents, const Answer& answer,
                                 std::int64_t k, double v_of_one) {
  std::vector<Answer> tried;
  for (const auto start : distinct_starts(descents, k, kMostAlternatives)) {
    auto& other = tried.emplace_back();
    other.start = start;
    other.fit.labels = descents[static_cast<std::size_t>(start)].fits.at(k).labels;
  }
  auto result =
      as_good(evidence, refined(search, evidence, k, std::move(tried)), answer, k, v_of_one);
  if (result.empty()) return result;
  std::vector<Answer> simple;
  for (auto& labels : simple_partitions(search, k))
    simple.emplace_back().fit.labels = std::move(labels);
  for (auto& other : refined(search, evidence, k, std::move(simple)))
    result.push_back(std::move(other));
  return as_good(evidence, std::move(result), answer, k, v_of_one);
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
  auto result = alternatives(search, evidence, descents, answers[0], 2, answers[0].held_out.v);
  std::erase_if(result, [&](const Answer& other) {
    return free_of_charge(other) < answers[0].held_out.v + kFarBetter;
  });
  return result;
}

}  // namespace kindred
