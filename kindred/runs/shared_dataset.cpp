#include "kindred/runs/shared_dataset.h"

#include <algorithm>
#include <limits>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/error.h"
#include "kindred/data/interning.h"
#include "kindred/data/select.h"
#include "kindred/data/sparse.h"
#include "kindred/dist/packing.h"
#include "kindred/runs/dataset.h"

namespace kindred {
namespace {

/// One number of every rank.
std::vector<std::int64_t> gather_numbers(std::int64_t own, Communicator& ranks) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(ranks.size()), 0);
  numbers[static_cast<std::size_t>(ranks.rank())] = own;
  ranks.all_reduce(numbers);
  return numbers;
}

void count_actions(Trajectories& data, Communicator& ranks) {
  if (!data.actions.is_discrete()) return;
  const auto counts = gather_numbers(data.actions.count(), ranks);
  data.actions = Actions::discrete(data.actions.ints(), std::ranges::max(counts));
}

/// The tables of all ranks one after the other hold every observation, in order of first
/// appearance: the distinct ones among them are those of the whole dataset.
void intern_together(Trajectories& data, Communicator& ranks) {
  if (data.observations.is_interned()) return;
  const auto own = data.own();
  const auto begin = data.offsets[own.begin], end = data.offsets[own.end];
  const auto limit = most_distinct(data.steps());
  const auto dim = data.observations.dim();
  const auto here = distinct_rows(data.observations, begin, end, limit);
  const auto too_many = gather_numbers(here ? 0 : 1, ranks);
  if (std::ranges::max(too_many) > 0) return;
  std::vector<float> rows;
  std::int64_t first = 0;  // of the own rows among all
  const auto tables = ranks.gather(std::as_bytes(std::span(here->table)));
  for (std::size_t r = 0; r < tables.size(); ++r) {
    if (static_cast<std::int64_t>(r) == ranks.rank()) first = std::ssize(rows) / dim;
    const auto* table = reinterpret_cast<const float*>(tables[r].data());
    rows.insert(rows.end(), table, table + tables[r].size() / sizeof(float));
  }
  auto all = distinct_rows(rows, dim, limit);
  if (!all) return;
  NewColumn<std::int32_t> index(data.steps(), true);
  for (auto t = begin; t < end; ++t)
    index.data()[t] = all->index[static_cast<std::size_t>(
        first + here->index[static_cast<std::size_t>(t - begin)])];
  data.observations = Observations::interned(std::move(all->table), dim, index.column());
}

/// Which episodes to hold, so that every rank has about as many steps of those that are selected.
/// Together the ranks hold all, as one process would: what is not selected can repeat, too.
EpisodeRange own_episodes(std::span<const std::int64_t> offsets, const DatasetOptions& options,
                          const Communicator& ranks) {
  const auto selected = options.selected(offsets);
  std::vector<std::int64_t> kept{0};
  for (const auto i : selected)
    kept.push_back(kept.back() + offsets[static_cast<std::size_t>(i) + 1] -
                   offsets[static_cast<std::size_t>(i)]);
  const auto bounds = equal_parts(kept, kEpisodeParts);
  const auto parts = own_parts(ranks.rank(), ranks.size());
  const auto in_file = [&](std::int64_t i) {
    return i == 0                      ? 0
           : i == std::ssize(selected) ? std::ssize(offsets) - 1
                                       : selected[static_cast<std::size_t>(i)];
  };
  return {in_file(bounds[static_cast<std::size_t>(parts.begin)]),
          in_file(bounds[static_cast<std::size_t>(parts.end)])};
}

/// The part of a range that lies in one of several files, counted from its first episode.
EpisodeRange inside(const EpisodeRange& range, std::int64_t first, std::int64_t episodes) {
  const auto begin = std::clamp<std::int64_t>(range.begin - first, 0, episodes);
  return {begin, std::clamp<std::int64_t>(range.end - first, begin, episodes)};
}

}  // namespace

Fingerprint fingerprint_of(const Trajectories& data, Communicator& ranks, ThreadPool* pool) {
  auto result = fingerprint_of(data, pool);
  if (ranks.size() == 1 || !data.held) return result;
  std::int64_t hashes[] = {static_cast<std::int64_t>(result.observation_hash),
                           static_cast<std::int64_t>(result.action_hash)};
  ranks.all_reduce(hashes);
  result.observation_hash = static_cast<std::uint64_t>(hashes[0]);
  result.action_hash = static_cast<std::uint64_t>(hashes[1]);
  return result;
}

void complete(Trajectories& data, bool interning, Communicator& ranks) {
  count_actions(data, ranks);
  if (interning) intern_together(data, ranks);
}

Dataset DatasetOptions::load(Communicator& ranks) const {
  if (ranks.size() == 1) return load();
  DatasetOptions shared = *this;
  shared.read.interning = Interning::kNever;
  if (files.size() > 1) {
    // First without steps, to know which episodes are in which file.
    std::vector<std::int64_t> offsets{0}, first{0};
    shared.read.own = [](std::span<const std::int64_t>) { return EpisodeRange{0, 0}; };
    for (const auto& file : files) {
      shared.files = {file};
      const auto part = shared.load_everything().data;
      for (std::int64_t i = 0; i < part.episodes(); ++i)
        offsets.push_back(offsets.back() + part.length(i));
      first.push_back(std::ssize(offsets) - 1);
    }
    shared.files = files;
    const auto own = own_episodes(offsets, *this, ranks);
    std::size_t file = 0;  // files are read in order
    shared.read.own = [&](std::span<const std::int64_t> of_file) {
      return inside(own, first[file++], std::ssize(of_file) - 1);
    };
    auto loaded = shared.load_everything();
    complete(loaded.data, read.interning == Interning::kAuto, ranks);
    return label_and_select(std::move(loaded));
  }
  shared.read.own = [&](std::span<const std::int64_t> offsets) {
    return own_episodes(offsets, *this, ranks);
  };
  auto loaded = shared.load_everything();
  complete(loaded.data, read.interning == Interning::kAuto, ranks);
  return label_and_select(std::move(loaded));
}

}  // namespace kindred
