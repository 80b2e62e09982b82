// From flat columns to episodes: the step shared by formats that mark where episodes end by flags.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/formats.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Offsets of the episodes in `rows` steps: one ends after a set flag and, where there are no
/// timeouts, after `cap` steps. Either flag column may be empty. Steps after the last end are
/// one more episode with `keep_partial`, else they lie beyond the last offset.
std::vector<std::int64_t> cut_episodes(std::int64_t rows, std::span<const std::uint8_t> terminals,
                                       std::span<const std::uint8_t> timeouts, std::int64_t cap,
                                       bool keep_partial);

/// Cuts `flat`, which has its step columns and nothing else, and names the episodes 0, 1, 2, ….
/// `step_labels` holds the policy of every step (or is empty); it becomes the labels when it is
/// constant within each episode. `where` names the file in messages. Throws DataFormatError.
Trajectories cut_into_episodes(Trajectories flat, std::span<const std::int64_t> step_labels,
                               const ReadOptions& options, const std::string& where);

/// Sets data.labels when every episode has a usable one, else says in the provenance why not.
void set_labels(Trajectories& data, std::span<const std::int64_t> labels);

/// The flags a format that marks ends needs to find the episodes of `data` again: `timeouts` is
/// set at every last step that is not terminal. Throws DataFormatError when a flag is set before
/// the end of an episode; `what` names the format in the message.
struct EndFlags {
  std::vector<std::uint8_t> terminals;
  std::vector<std::uint8_t> timeouts;
};
EndFlags end_flags(const Trajectories& data, const std::string& what);

}  // namespace kindred
