// Steps from one answer to another that rounds do not take.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/methods/policy_search/partitions/descents.h"

namespace kindred::policy_search {

/// The labels with one of the clusters in two, as the best of a few random starts would have it.
std::vector<std::int32_t> split_cluster(const SearchContext& search, const Evidence& evidence,
                                        const Answer& answer, std::int32_t cluster);

/// Moves episodes between clusters, by policies that have not seen them, as long as V rises.
void improve(const SearchContext& search, const Evidence& evidence, Answer& answer);

}  // namespace kindred::policy_search
