// What the processes of a run do together with episodes, of which each process holds some.
#pragma once

#include <functional>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/dist/communicator.h"

namespace kindred {

/// Sums over all episodes are added in so many parts, whatever the number of ranks; each part is
/// with one rank.
inline constexpr std::int64_t kEpisodeParts = 64;

/// Which parts the rank holds, of so many ranks.
Share own_parts(std::int64_t rank, std::int64_t ranks);

/// The episodes that each rank holds, [ranks]: whole parts, of about as many steps each.
std::vector<Share> held_by(const Trajectories& data, std::int64_t ranks);

/// The rows of all episodes, [episodes, columns], where each rank computes those of its share: the
/// episodes it holds, or as many of those that all hold. Collective.
Matrix score_in_shares(
    const Trajectories& data, std::int64_t columns, const RunContext& run,
    const std::function<Matrix(const Trajectories& part, const EpisodeRange& episodes)>& score);

/// The scores of all episodes under centres, likewise.
Matrix score_everywhere(const Centres& centres, const Trajectories& data, const RunContext& run);

/// The given episodes, in order, as one dataset on every rank, whoever holds them. Collective.
Trajectories fetch_episodes(const Trajectories& data, std::span<const std::int64_t> episodes,
                            const RunContext& run);

/// All episodes on every rank. Collective.
Trajectories fetch_all(const Trajectories& data, const RunContext& run);

}  // namespace kindred
