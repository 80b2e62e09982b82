// What tells a dataset from every other: its dimensions, and hashes of its episodes, observations
// and actions. A run and a checkpoint keep the fingerprint of the data they were made from; this is
// the one place that decides whether some data is the same.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "kindred/data/trajectories.h"

namespace kindred {

class ThreadPool;

struct Fingerprint {
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  std::int64_t obs_dim = 0;
  bool discrete = true;
  std::int64_t actions = 0;        ///< How many there are, or numbers per action when continuous.
  std::uint64_t episode_hash = 0;  ///< Of names and lengths.
  std::uint64_t observation_hash = 0;
  std::uint64_t action_hash = 0;

  bool operator==(const Fingerprint&) const = default;
};

/// One pass over the data, by the threads of the pool where there is one. Interned and dense
/// storage of the same observations give the same hash. Rewards, flags and labels do not count: no
/// answer depends on them. Where only some episodes are held, the hashes of observations and
/// actions are those of their steps; added over all who hold some they are those of the dataset.
Fingerprint fingerprint_of(const Trajectories& data, ThreadPool* pool = nullptr);

nlohmann::ordered_json to_json(const Fingerprint& fingerprint);
/// Throws nlohmann::json::exception when a field is missing or of another type, DataFormatError
/// when a hash is not one.
Fingerprint fingerprint_from_json(const nlohmann::ordered_json& json);

/// The first thing in which `found` is not `expected`, in words; empty when they are the same.
std::string difference(const Fingerprint& expected, const Fingerprint& found);

/// Throws InvalidArgument when `found`, the data read from `path`, is not the data a run was made
/// from: in the same words wherever it is asked.
void require_same_data(const Fingerprint& expected, const Fingerprint& found,
                       const std::string& path);

}  // namespace kindred
