// The order in which networks go through episodes. Where data is larger than memory that is a
// shuffled buffer of blocks: runs of neighbouring episodes come in random order, and are mixed a
// buffer at a time, so that a disk reads them side by side and once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/core/random.h"
#include "kindred/data/select.h"

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

/// What one policy draws its steps from: the stretches of episodes that are its own, or, with a
/// buffer, as many of them at a time as that has room for.
class DrawBuffer {
 public:
  /// For one of `sharers` policies, which have `steps` of a buffer together; 0: no buffer. `random`
  /// says in which order stretches come into it: those who bring the same read the same places.
  /// `data` must outlive this.
  DrawBuffer(const Trajectories& data, std::vector<Stretch> own, std::int64_t steps,
             std::int64_t sharers, Random random);

  /// Gets the next stretches if as many steps were drawn as those before have; returns whether it
  /// did. To be called before drawing.
  bool refill();
  /// A step of those in the buffer.
  std::int64_t draw(Random& random) const;
  /// That so many steps were taken.
  void drawn(std::int64_t steps) { left_ -= steps; }

  std::span<const Stretch> held() const { return held_; }
  std::int64_t held_steps() const { return ends_.back(); }
  bool holds_all() const { return held_.size() == own_.size(); }
  /// How often all of its own went through the buffer before those that are in it.
  std::int64_t passes() const {
    return static_cast<std::int64_t>((next_ - held_.size()) / own_.size());
  }
  /// Has a disk read stretches that are about to be looked at, where there is a buffer.
  void expect(std::span<const Stretch> stretches) const;
  std::int64_t room() const { return room_; }

 private:
  const Trajectories& data_;
  DrawOrder draws_;
  std::vector<Stretch> own_;  // in the order they come into the buffer
  std::int64_t room_;         // steps
  std::size_t next_ = 0;      // of own_
  std::int64_t left_ = 0;     // steps to draw until the buffer is filled again
  std::vector<Stretch> held_;
  std::vector<std::int64_t> ends_;  // running sum of their lengths
};

}  // namespace kindred
