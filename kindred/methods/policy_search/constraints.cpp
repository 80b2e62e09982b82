#include "kindred/methods/policy_search/constraints.h"

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/data/truth.h"

namespace kindred::policy_search {

std::vector<std::int32_t> Constraints::numbers(std::span<const std::int32_t> found,
                                               std::span<const std::int64_t> episodes,
                                               std::int64_t k) const {
  std::vector<std::int32_t> number(static_cast<std::size_t>(k), -1);
  std::vector<std::uint8_t> taken(number.size(), 0);
  for (std::size_t i = 0; i < found.size() && !labels.empty(); ++i) {
    const auto known = labels[static_cast<std::size_t>(episodes[i])];
    if (known < 0 || known >= k) continue;
    number[static_cast<std::size_t>(found[i])] = known;
    taken[static_cast<std::size_t>(known)] = 1;
  }
  for (auto& n : number) {
    if (n >= 0) continue;
    const auto free = std::ranges::find(taken, std::uint8_t{0});
    n = static_cast<std::int32_t>(free - taken.begin());
    *free = 1;
  }
  return number;
}

Constraints load_constraints(const Trajectories& data, const Options& options) {
  if (options.constraints.empty()) return {};
  auto known = read_seeds(data, options.constraints);
  Constraints result{Links(data.episodes(), known.together, known.apart), std::move(known.labels)};
  const auto least = result.links.least_clusters();
  const auto most = options.k > 0 ? options.k : options.k_max;
  if (least > most)
    throw InvalidArgument("'{}' keeps {} groups of episodes apart, but {} is {}",
                          options.constraints, least,
                          options.k > 0 ? "the number of clusters" : "k-max", most);
  return result;
}

}  // namespace kindred::policy_search
