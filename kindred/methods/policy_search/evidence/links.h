// What is known beforehand: episodes that belong together, and episodes that do not.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred::policy_search {

/// Episodes joined by links are a group and share their label; labels of groups kept apart differ.
class Links {
 public:
  using Pair = std::pair<std::int64_t, std::int64_t>;  ///< Two episodes.

  /// Nothing is known.
  Links() = default;
  /// Throws InvalidArgument when two episodes would have to be together and apart.
  Links(std::int64_t episodes, std::span<const Pair> together, std::span<const Pair> apart);

  bool empty() const { return groups_.empty(); }
  /// Episodes of which anything is known, in order.
  std::vector<std::int64_t> episodes() const;
  /// What is known of some of the episodes, which are renumbered in the order given.
  Links among(std::span<const std::int64_t> episodes) const;

  /// The fewest clusters with which groups can be kept apart, as far as a greedy choice finds.
  std::int64_t least_clusters() const;
  bool kept(std::span<const std::int32_t> labels) const;
  /// Changes labels until links are kept; needs at least least_clusters() clusters.
  void enforce(std::span<std::int32_t> labels, std::int64_t k) const;
  /// Each episode, and each group as a whole, to where it costs least ([episodes, k]) among the
  /// clusters links allow; it stays on a tie. `labels` keep the links. Returns how many changed.
  std::int64_t assign(const Matrix& costs, std::span<std::int32_t> labels) const;

 private:
  /// Group after group to its present label, or to the first that no group before it has which must
  /// be apart. Whether there always was one.
  bool keep_apart(std::span<std::int32_t> labels, std::int64_t k) const;

  struct Group {
    std::vector<std::int64_t> episodes;
    std::vector<std::size_t> apart;  // groups with other labels
  };
  std::vector<Group> groups_;
  std::vector<std::int64_t> group_of_;  // [episodes]: -1: nothing is known
};

}  // namespace kindred::policy_search
