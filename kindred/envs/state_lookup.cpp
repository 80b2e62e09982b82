#include "kindred/envs/state_lookup.h"

#include <algorithm>
#include <bit>

#include "kindred/core/error.h"

namespace kindred {
namespace {

std::uint64_t hash_of(std::span<const float> observation) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a, a number at a time
  for (const float value : observation) {
    const float unsigned_zero = value == 0.0f ? 0.0f : value;
    hash = (hash ^ std::bit_cast<std::uint32_t>(unsigned_zero)) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace

StateLookup::StateLookup(const Environment& environment) : environment_(environment) {
  const auto& spec = environment.spec();
  if (!spec.has_states())
    throw InvalidArgument("the states of environment '{}' are not numbered", spec.name);
  std::vector<float> observation(static_cast<std::size_t>(spec.observation_dim()));
  for (std::int32_t state = 0; state < spec.states; ++state) {
    environment.observe_state(state, observation);
    states_by_hash_.emplace(hash_of(observation), state);
  }
}

std::optional<std::int32_t> StateLookup::find(std::span<const float> observation) const {
  const auto dim = environment_.spec().observation_dim();
  if (static_cast<std::int64_t>(observation.size()) != dim) return std::nullopt;
  const auto [begin, end] = states_by_hash_.equal_range(hash_of(observation));
  std::vector<float> candidate(observation.size());
  for (auto entry = begin; entry != end; ++entry) {
    environment_.observe_state(entry->second, candidate);
    if (std::ranges::equal(candidate, observation)) return entry->second;
  }
  return std::nullopt;
}

}  // namespace kindred
