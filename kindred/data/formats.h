// Reading and writing datasets of trajectories in every format Kindred knows.
//
// The format is recognised from the content of a file, never from its name. Opening a file never
// changes it; a file written appears whole or not at all. Bad input ends in one sentence: IoError
// when the system refuses, DataFormatError when the content is not what its format requires,
// InvalidArgument when an option cannot be met.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/data/trajectories.h"

namespace kindred {

enum class Format { kAuto, kD4rl, kMinari, kRobomimic, kNpz, kKindred };
enum class ReadActionsAs { kAuto, kDiscrete, kContinuous };
enum class Interning { kAuto, kNever };

struct ReadOptions {
  /// The layout of the file; auto recognises it from the content.
  Format format = Format::kAuto;
  /// The longest episode, in steps, where a file marks terminal steps but not timeouts.
  std::int64_t episode_cap = 1000;
  /// Whether the steps after the last marked end of an episode are kept as one more episode.
  bool keep_partial = true;
  /// Which parts of dictionary observations to join, in this order; empty joins every numeric
  /// part that is not an image, sorted by name.
  std::vector<std::string> observation_keys;
  /// What actions are; auto takes integers as discrete and floats as continuous.
  ReadActionsAs actions = ReadActionsAs::kAuto;
  /// Name of the attribute or infos column that holds each episode's true policy.
  std::string label_key = "policy_id";
  /// Whether observations that repeat are kept once; auto does so when few are distinct.
  Interning interning = Interning::kAuto;
  /// Reads what only the doctor can work with, so that it can say all of it: numbers that are not
  /// finite stay, and empty groups are left out and named in provenance["empty_episodes"].
  bool lenient = false;

  OptionTable describe();
};

/// "d4rl", "minari", "robomimic", "npz", "kindred"; "auto" for kAuto.
std::string_view name_of(Format format);
/// The inverse. Throws InvalidArgument listing the names.
Format format_named(std::string_view name);

/// Finds out what `path` holds; a Minari dataset may be given as its folder.
Format recognise(const std::filesystem::path& path);

Trajectories read_trajectories(const std::filesystem::path& path, ReadOptions options = {});

/// Writes `path`, replacing a file of that name; Minari makes a folder, which must not exist yet.
/// Throws DataFormatError when the format cannot hold the data.
void write_trajectories(const Trajectories& data, const std::filesystem::path& path, Format format);

}  // namespace kindred
