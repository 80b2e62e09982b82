// Starts of the search from what single episodes show of their policies.
#pragma once

#include "kindred/policies/descents.h"
#include "kindred/policies/feature_evidence.h"

namespace kindred::policy_search {

/// The partitions that Ward's linkage of the episodes' own policies gives, after rounds. The
/// evidence must pool.
Descent descend_by_ward(const SearchContext& search, const FeatureEvidence& evidence,
                        std::int64_t most);

}  // namespace kindred::policy_search
