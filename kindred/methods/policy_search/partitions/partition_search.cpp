#include "kindred/methods/policy_search/partitions/partition_search.h"

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/methods/policy_search/evidence/screening.h"
#include "kindred/policies/episode_statistics.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kMostForTables = 4000;                 // episodes are searched
constexpr std::int64_t kMostForFeatures = 1000;               // a round costs more
constexpr std::int64_t kFewestEpisodes = 100;                 // are worth searching
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;  // of statistics: half a GiB

}  // namespace

std::vector<std::int64_t> episodes_to_search(const Trajectories& data,
                                             const SearchOptions& options) {
  std::int64_t most = options.tables ? kMostForTables : kMostForFeatures;
  if (!options.tables) {
    const auto numbers = [&](std::int64_t cosines) {
      const StatisticsLayout layout{
          1 + std::min(data.observations.dim(), kMostNumbersSeen) + cosines,
          data.actions.is_discrete() ? data.actions.count() : data.actions.dim()};
      const auto pieces = std::ssize(pieces_of(0, data.steps() / data.episodes()));
      return layout.size() * (pieces > 1 ? 1 + pieces : 1);
    };
    most = std::min(most, kMostNumbers / numbers(options.cosines));
    if (most < std::min(data.episodes(), kFewestEpisodes))
      throw InvalidArgument(
          "{} random features are too many for statistics of so many episodes; ask for fewer",
          options.cosines);
  }
  return sample_by_id(data.ids, most, options.links.episodes());
}

}  // namespace kindred::policy_search
