#include "kindred/methods/policy_search/partitions/descents.h"

#include <algorithm>
#include <functional>

#include "kindred/core/random.h"
#include "kindred/core/shared_progress.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/partitions/packed_answers.h"
#include "kindred/metrics/clustering_scores.h"

namespace kindred::policy_search {
namespace {

constexpr double kSame = 0.9999;  // NMI from which two partitions are one

/// A random partition into more clusters than wanted, and from there down to one.
Descent descend_from(std::int64_t start, const SearchContext& search, const Evidence& evidence,
                     std::int64_t most) {
  const auto clusters = std::min(evidence.episodes(), most);
  auto labels = random_partition(evidence.episodes(), clusters,
                                 Random(static_cast<std::uint64_t>(search.options.seed), "init",
                                        static_cast<std::uint64_t>(start)));
  search.options.links.enforce(labels, clusters);
  Descent result;
  for (auto k = clusters;;) {
    auto fit = evidence.fit(std::move(labels), search.links_for(k));
    k = fit.k;
    labels = fit.labels;
    if (k <= search.most()) result.v[k] = evidence.quick_score(fit.labels, k);
    result.fits[k] = std::move(fit);
    if (k == 1) return result;
    const auto& links = search.links_for(--k);
    join_closest(evidence.closest_pairs(labels, k + 1, pairs_to_try(links, k + 1)), links, labels);
  }
}

}  // namespace

const Links& SearchContext::links_for(std::int64_t k) const {
  static const Links kNone;
  return k < fewest ? kNone : options.links;
}

std::vector<Descent> descend(const SearchContext& search, const Evidence& evidence,
                             std::int64_t starts, std::int64_t most) {
  std::vector<Descent> descents(static_cast<std::size_t>(starts));
  const auto ranks = ranks_of(search.run).size();
  SharedProgress done((starts + ranks - 1) / ranks, [&](double fraction) {
    search.run.report({.stage = "searching", .fraction = fraction, .sizes = {}});
  });
  spread(
      search.run, descents,
      [&](std::int64_t r) {
        descents[static_cast<std::size_t>(r)] = descend_from(r, search, evidence, most);
        done.add();
      },
      [&] { done.tell(); });
  return descents;
}

std::vector<std::int64_t> distinct_starts(std::span<const Descent> descents, std::int64_t k,
                                          std::size_t most) {
  std::vector<std::int64_t> order;
  for (std::size_t r = 0; r < descents.size(); ++r)
    if (descents[r].v.contains(k)) order.push_back(static_cast<std::int64_t>(r));
  const auto of = [&](std::int64_t r) -> const Descent& {
    return descents[static_cast<std::size_t>(r)];
  };
  std::ranges::stable_sort(order, std::greater<>(), [&](std::int64_t r) { return of(r).v.at(k); });
  std::vector<std::int64_t> distinct;
  for (const auto r : order) {
    const bool known = std::ranges::any_of(distinct, [&](std::int64_t other) {
      return normalized_mutual_information(of(r).fits.at(k).labels, of(other).fits.at(k).labels) >
             kSame;
    });
    if (!known) distinct.push_back(r);
    if (distinct.size() == most) break;
  }
  return distinct;
}

std::vector<double> agreements(std::span<const Descent> descents, const Answer& answer) {
  std::vector<double> result;
  for (std::size_t r = 0; r < descents.size(); ++r) {
    const auto found = descents[r].fits.find(answer.fit.k);
    if (found != descents[r].fits.end() && static_cast<std::int64_t>(r) != answer.start)
      result.push_back(normalized_mutual_information(found->second.labels, answer.fit.labels));
  }
  return result;
}

}  // namespace kindred::policy_search
