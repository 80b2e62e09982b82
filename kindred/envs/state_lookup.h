// From an observation back to the number of its state: how a dataset read from a file, which knows
// observations only, meets policies that are tables over states.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "kindred/envs/environment.h"

namespace kindred {

/// Keeps a hash per state, not the observations. The environment must outlive the lookup.
class StateLookup {
 public:
  /// Throws InvalidArgument when the environment's states are not numbered.
  explicit StateLookup(const Environment& environment);

  /// Nothing when no state looks like this. Safe to call from several threads.
  std::optional<std::int32_t> find(std::span<const float> observation) const;

 private:
  const Environment& environment_;
  std::unordered_multimap<std::uint64_t, std::int32_t> states_by_hash_;
};

}  // namespace kindred
