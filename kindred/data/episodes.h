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
/// `where` names the file in messages. Throws DataFormatError.
Trajectories cut_into_episodes(Trajectories flat, const ReadOptions& options,
                               const std::string& where);

/// Sets data.labels, where -1 says that an episode's is unknown, when all are usable and not all
/// unknown; else says in the provenance why not.
void set_labels(Trajectories& data, std::span<const std::int64_t> labels);

/// Sets who acts at each step, [steps], and as an episode's label who does most in it. Where a step
/// has none, or a number no policy has, says in the provenance that they are ignored.
void set_actors(Trajectories& data, std::span<const std::int64_t> of_steps);

/// True policies as a file holds them, for each step or each episode: numbers, or texts.
struct FoundLabels {
  StepValues<std::int64_t> numbers;  ///< -1: unknown.
  std::vector<std::string> texts;    ///< "": unknown.

  std::int64_t size() const { return std::ssize(numbers) + std::ssize(texts); }
};

/// Texts that are all whole numbers or empty become numbers.
FoundLabels labels_from(std::vector<std::string> texts);

/// Sets data.labels, and their names where they are texts. Labels of steps may go on beyond the
/// last episode, and where they change within one become data.actors; of another number than there
/// are steps or episodes they throw DataFormatError that begins with `where`.
void set_labels(Trajectories& data, const FoundLabels& found, const std::string& where);

/// The flags a format that marks ends needs to find the episodes of `data` again: `timeouts` is
/// set at every last step that is not terminal. Throws DataFormatError when a flag is set before
/// the end of an episode; `what` names the format in the message.
struct EndFlags {
  std::vector<std::uint8_t> terminals;
  std::vector<std::uint8_t> timeouts;
};
EndFlags end_flags(const Trajectories& data, const std::string& what);

}  // namespace kindred
