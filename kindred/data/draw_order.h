// The order in which networks go through episodes. Where data is larger than memory that is a
// shuffled buffer of blocks: runs of neighbouring episodes come in random order, and are mixed a
// buffer at a time, so that a disk reads them side by side and once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/core/random.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// What methods that draw steps let their user choose; `steps` is 0 until it is resolved.
Option buffer_option(std::int64_t& steps);
/// How many steps are to be drawn from at a time: `requested`, or, where that is 0 and a promise of
/// memory leaves no room for the data, as many as a quarter of it holds. 0: all steps, which fit.
std::int64_t resolve_buffer(std::int64_t requested, const Trajectories& data);

class DrawOrder {
 public:
  /// `data` must outlive this. Without a `buffer`, a number of steps, episodes are drawn from all
  /// over the data.
  DrawOrder(const Trajectories& data, std::int64_t buffer);

  /// Whether only some episodes are drawn from at a time.
  bool is_buffered() const { return !blocks_.empty(); }
  /// Puts every episode into `order`: who goes through it meets one buffer's episodes after the
  /// other's.
  void shuffle(Random& random, std::vector<std::int64_t>& order) const;
  /// Has a disk read episodes that are about to be looked at, neighbours at once.
  void expect(std::span<const std::int64_t> episodes) const;

 private:
  const Trajectories& data_;
  std::int64_t buffer_;
  std::vector<EpisodeRange> blocks_;  // neighbours; empty without a buffer
};

}  // namespace kindred
