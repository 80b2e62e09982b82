// Starts of the search from what single episodes show of their policies.
#pragma once

#include "kindred/methods/policy_search/evidence/feature_evidence.h"
#include "kindred/methods/policy_search/partitions/descents.h"

namespace kindred::policy_search {

/// The partitions that Ward's linkage of the episodes' own policies gives, after rounds. The
/// evidence must pool.
Descent descend_by_ward(const SearchContext& search, const FeatureEvidence& evidence,
                        std::int64_t most);

}  // namespace kindred::policy_search
