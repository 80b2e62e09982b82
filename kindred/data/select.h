// New stores made from some episodes of another, or from all of them in another order.
//
// Every column, id, label and oracle label travels with its episode; interned observations stay
// interned and share the table. Each function throws InvalidArgument when nothing would be left.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred {

/// Steps [begin, end) of an episode, counted from 0 in it.
struct Stretch {
  std::int64_t episode = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Whether it is all of its episode.
bool is_whole(const Trajectories& data, const Stretch& stretch);

/// What a stretch of the episode `id` is called as an episode of its own: one that begins later is
/// called after the step, "12@340".
std::string name_of_stretch(const std::string& id, const Stretch& stretch);

/// What formats that have room for it say of a stretch: the name of its episode, and where in it
/// the stretch begins.
inline constexpr const char* kCutFrom = "cut_from";
inline constexpr const char* kFirstStep = "first_step";

/// Stretches of episodes as episodes of their own, in the given order. Where it is known who acts,
/// a part's label is that of who acts most in it. Throws InvalidArgument when one does not exist or
/// is empty.
Trajectories select_stretches(const Trajectories& data, std::span<const Stretch> stretches);

/// Timeouts of the stretches' steps: each ends with one, unless it ends terminal.
std::vector<std::uint8_t> timeouts_of(const Trajectories& data, std::span<const Stretch> stretches);

/// A stretch in which all steps have one label.
struct LabelledStretch : Stretch {
  std::int32_t label = 0;
};

/// The stretches of labels of steps, in order; those with labels below 0 are left out.
std::vector<LabelledStretch> labelled_stretches(std::span<const std::int32_t> labels,
                                                std::span<const std::int64_t> offsets);

/// The given episodes in the given order; one may be named several times. Throws InvalidArgument
/// when one does not exist.
Trajectories select_episodes(const Trajectories& data, std::span<const std::int64_t> episodes);

/// Consecutive episodes, of which nothing is copied.
Trajectories slice_episodes(const Trajectories& data, const EpisodeRange& range);

/// The episodes whose steps this process holds, as a dataset of their own; nothing is copied.
Trajectories own_part(const Trajectories& data);

/// Bounds of `parts` runs of consecutive episodes with about as many steps each: [parts + 1].
std::vector<std::int64_t> equal_parts(std::span<const std::int64_t> offsets, std::int64_t parts);

/// The episodes of which those functions make a new store, in order, by offsets alone.
std::vector<std::int64_t> episodes_by_length(std::span<const std::int64_t> offsets,
                                             std::int64_t min, std::int64_t max);
std::vector<std::int64_t> sampled_episodes(std::int64_t episodes, std::int64_t n,
                                           std::uint64_t seed);

/// Episodes of at least `min` and at most `max` steps.
Trajectories filter_by_length(const Trajectories& data, std::int64_t min, std::int64_t max);

/// All episodes in a random order, from the stream Random(seed, "shuffle").
Trajectories shuffle_episodes(const Trajectories& data, std::uint64_t seed);

/// The first `n` episodes; all of them when there are fewer.
Trajectories take_first(const Trajectories& data, std::int64_t n);

/// `n` different random episodes in their present order, from the stream Random(seed, "sample");
/// all of them when there are fewer.
Trajectories sample_episodes(const Trajectories& data, std::int64_t n, std::uint64_t seed);

}  // namespace kindred
