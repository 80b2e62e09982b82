#include "kindred/clustering/over_ranks.h"

#include <algorithm>
#include <numeric>

#include "kindred/data/select.h"
#include "kindred/dist/common_memory.h"

namespace kindred {
namespace {

/// Steps of selected episodes: everybody has filled in those of the episodes it holds.
class SharedSteps {
 public:
  SharedSteps(const Trajectories& data, std::span<const std::int64_t> episodes, Communicator& ranks)
      : data_(data), episodes_(episodes), ranks_(ranks), offsets_{0} {
    for (const auto episode : episodes) offsets_.push_back(offsets_.back() + data.length(episode));
    for (const auto& held : held_by(data, ranks.size())) {
      const auto first = std::ranges::lower_bound(episodes, held.begin) - episodes.begin();
      const auto last = std::ranges::lower_bound(episodes, held.end) - episodes.begin();
      shares_.push_back(
          {offsets_[static_cast<std::size_t>(first)], offsets_[static_cast<std::size_t>(last)]});
    }
  }

  const std::vector<std::int64_t>& offsets() const { return offsets_; }

  template <class T>
  Column<T> of(const Column<T>& column, std::int64_t width = 1) const {
    if (column.empty()) return {};
    const CommonArray<T> values(ranks_, shares_, width);
    const auto own = data_.own();
    for (std::size_t i = 0; i < episodes_.size(); ++i) {
      const auto episode = episodes_[i];
      if (episode < own.begin || episode >= own.end) continue;
      std::copy_n(column.data() + data_.offsets[episode] * width, data_.length(episode) * width,
                  values.data() + offsets_[i] * width);
    }
    values.complete(ranks_);
    return {values.span(), values.owner()};
  }

 private:
  const Trajectories& data_;
  std::span<const std::int64_t> episodes_;
  Communicator& ranks_;
  std::vector<std::int64_t> offsets_;  // of the selected episodes
  std::vector<Share> shares_;          // steps, of the selected episodes
};

Observations fetch_observations(const Observations& rows, const SharedSteps& steps) {
  if (rows.is_interned())
    return Observations::interned(rows.table(), rows.dim(), steps.of(rows.index()));
  if (rows.is_bytes()) return Observations::dense(steps.of(rows.bytes(), rows.dim()), rows.dim());
  return Observations::dense(steps.of(rows.floats(), rows.dim()), rows.dim());
}

Actions fetch_actions(const Actions& actions, const SharedSteps& steps) {
  return actions.is_discrete()
             ? Actions::discrete(steps.of(actions.ints()), actions.count())
             : Actions::continuous(steps.of(actions.floats(), actions.dim()), actions.dim());
}

}  // namespace

Share own_parts(std::int64_t rank, std::int64_t ranks) {
  return share_of(kEpisodeParts, rank, ranks);
}

std::vector<Share> held_by(const Trajectories& data, std::int64_t ranks) {
  const auto bounds = equal_parts(data.offsets.span(), kEpisodeParts);
  std::vector<Share> shares;
  for (std::int64_t r = 0; r < ranks; ++r) {
    const auto parts = own_parts(r, ranks);
    shares.push_back({bounds[static_cast<std::size_t>(parts.begin)],
                      bounds[static_cast<std::size_t>(parts.end)]});
  }
  return shares;
}

Matrix score_in_shares(
    const Trajectories& data, std::int64_t columns, const RunContext& run,
    const std::function<Matrix(const Trajectories& part, const EpisodeRange& episodes)>& score) {
  auto& ranks = ranks_of(run);
  if (ranks.size() == 1) return score(data, {0, data.episodes()});
  const auto shares = held_by(data, ranks.size());
  const auto& own = shares[static_cast<std::size_t>(ranks.rank())];
  Matrix scores(data.episodes(), columns);
  if (own.size() > 0) {
    const EpisodeRange episodes{own.begin, own.end};
    const auto part = score(slice_episodes(data, episodes), episodes);
    std::ranges::copy(part.values, scores.values.begin() + own.begin * columns);
  }
  exchange(ranks, shares, columns, std::span(scores.values));
  return scores;
}

Matrix score_everywhere(const Centres& centres, const Trajectories& data, const RunContext& run) {
  return score_in_shares(
      data, centres.count(), run,
      [&](const Trajectories& part, const EpisodeRange&) { return centres.score(part, run); });
}

Trajectories fetch_episodes(const Trajectories& data, std::span<const std::int64_t> episodes,
                            const RunContext& run) {
  auto& ranks = ranks_of(run);
  if (ranks.size() == 1)
    return std::ssize(episodes) == data.episodes() ? data : select_episodes(data, episodes);
  const SharedSteps steps(data, episodes, ranks);
  Trajectories result;
  result.offsets = steps.offsets();
  result.observations = fetch_observations(data.observations, steps);
  result.actions = fetch_actions(data.actions, steps);
  for (const auto episode : episodes)
    result.ids.push_back(data.ids[static_cast<std::size_t>(episode)]);
  result.observation_names = data.observation_names;
  result.action_names = data.action_names;
  result.provenance = data.provenance;
  return result;
}

Trajectories fetch_all(const Trajectories& data, const RunContext& run) {
  if (!data.held) return data;
  std::vector<std::int64_t> episodes(static_cast<std::size_t>(data.episodes()));
  std::iota(episodes.begin(), episodes.end(), 0);
  const SharedSteps steps(data, episodes, ranks_of(run));
  Trajectories result = data;
  result.observations = fetch_observations(data.observations, steps);
  result.actions = fetch_actions(data.actions, steps);
  result.held = std::nullopt;
  return result;
}

}  // namespace kindred
