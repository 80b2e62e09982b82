#include "kindred/methods/policy_search/conflicts/partition_conflicts.h"

#include <algorithm>

#include "kindred/methods/policy_search/evidence/table_evidence.h"
#include "kindred/metrics/clustering_scores.h"

namespace kindred::policy_search {
namespace {

/// The label of every episode by the policies of its group in one half, fitted to other episodes.
std::vector<std::int32_t> labels_in(const Evidence& half, std::span<const std::int32_t> labels,
                                    std::int64_t k) {
  const auto costs = half.costs_everywhere(labels, k, half.score(labels, k));
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < half.episodes(); ++i) {
    std::vector<double> sums(static_cast<std::size_t>(k), 0.0);
    for (auto p = half.first_piece(i); p < half.first_piece(i + 1); ++p)
      for (std::int64_t j = 0; j < k; ++j) sums[static_cast<std::size_t>(j)] += costs(p, j);
    result.push_back(static_cast<std::int32_t>(std::ranges::min_element(sums) - sums.begin()));
  }
  return result;
}

}  // namespace

bool none_same(const Answer& answer, const Rules& rules) {
  const bool persists = answer.is_learned || answer.persistence >= rules.persists;
  return !answer.pairs.empty() && persists &&
         std::ranges::none_of(answer.pairs, [](const PairVerdict& pair) {
           return pair.relation == Relation::kSame;
         });
}

bool is_partition_of_policies(const Answer& answer, const Rules& rules) {
  return rules.conflict(answer.conflict, answer.foretold) && none_same(answer, rules) &&
         !answer.is_one_policy_as_well;
}

PartitionConflicts::PartitionConflicts(Background background, const Trajectories& seen,
                                       const EvidenceOf& evidence_of, const Rules& rules,
                                       const Workers& workers)
    : halves_(seen), test_(in_near_states(std::move(background), seen, halves_, rules, workers)) {
  for (const std::size_t which : {0UL, 1UL})
    half_[which] = evidence_of(halves_.half(seen, static_cast<int>(which)));
}

PartitionConflicts::PartitionConflicts(const Trajectories& data, const Rules& rules,
                                       const Workers& workers)
    : halves_(data), test_(in_same_states(data, halves_, rules)) {
  for (const std::size_t which : {0UL, 1UL})
    half_[which] =
        std::make_shared<TableEvidence>(halves_.half(data, static_cast<int>(which)), workers);
}

void PartitionConflicts::judge(Answer& answer) const {
  const auto& labels = answer.fit.labels;
  HalvedLabels partition{.k = answer.fit.k, .labels = {}, .policies = {}};
  for (const std::size_t which : {0UL, 1UL}) {
    partition.labels[which] = labels_in(*half_[which], labels, partition.k);
    partition.policies[which] = std::dynamic_pointer_cast<const ExactCentres>(
        half_[which]->centres(partition.labels[which], partition.k, answer.held_out));
  }
  auto verdict = test_->judge(partition);
  answer.persistence = normalized_mutual_information(partition.labels[0], partition.labels[1]);
  answer.pairs = std::move(verdict.pairs);
  for (std::int32_t group = 0; group < answer.fit.k; ++group)
    if (std::ranges::count(labels, group) < kEpisodesForAnError) return;  // too few to judge
  answer.conflict = verdict.z;
  answer.foretold = verdict.foretold;
}

}  // namespace kindred::policy_search
