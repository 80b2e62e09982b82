// Other answers that predict as well: when there are any, no single one may be claimed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/methods/policy_search/partitions/descents.h"

namespace kindred::policy_search {

/// How much of what k clusters gain over one an answer may miss and still be as good.
inline constexpr double kAsGood = 0.03;

/// What other starts lead to with k clusters; where some of it is as good as the answer, or nothing
/// is like it, also partitions that can be put in words.
std::vector<Answer> other_answers(const SearchContext& search, const Evidence& evidence,
                                  std::span<const Descent> descents, const Answer& answer,
                                  std::int64_t k, double v_of_one);

/// Those into k clusters, unlike the answer and each other, that predict as well as far as the
/// folds can tell, the best first.
std::vector<Answer> as_good(const Evidence& evidence, std::vector<Answer> tried,
                            const Answer& answer, std::int64_t k, double v_of_one);

/// Which smaller numbers of clusters predict almost as well as k: their V misses that of k by no
/// more than an answer may miss and still be as good. An error is known for the next smaller only.
std::vector<std::int64_t> fewer_almost_as_good(std::span<const Considered> considered,
                                               std::int64_t k);

/// Partitions into two that would predict far better than one policy, were it not that their labels
/// say as much as they gain: such episodes are too short to tell two policies from one that does
/// now this, now that.
std::vector<Answer> told_by_labels_alone(const SearchContext& search, const Evidence& evidence,
                                         std::span<const Descent> descents,
                                         std::span<const Answer> answers);

}  // namespace kindred::policy_search
