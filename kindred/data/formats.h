// Reading and writing datasets of trajectories in every format Kindred knows.
//
// The format is recognised from the content of a file, never from its name. Opening a file never
// changes it; a file written appears whole or not at all. Bad input ends in one sentence: IoError
// when the system refuses, DataFormatError when the content is not what its format requires,
// InvalidArgument when an option cannot be met.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/data/trajectories.h"

namespace kindred {

class ThreadPool;

enum class Format { kAuto, kD4rl, kMinari, kRobomimic, kNpz, kKindred, kLerobot, kParquet, kHdf5 };
enum class ReadActionsAs { kAuto, kDiscrete, kContinuous };
enum class Interning { kAuto, kNever };

struct ReadOptions {
  /// The layout of the file; auto recognises it from the content.
  Format format = Format::kAuto;
  /// The longest episode, in steps, where a file marks terminal steps but not timeouts.
  std::int64_t episode_cap = 1000;
  /// Whether the steps after the last marked end of an episode are kept as one more episode.
  bool keep_partial = true;
  /// The arrays that make up an observation, joined in this order, each whole or, as `name[0:7]` or
  /// `name[3]`, in part. Empty takes what the format calls observations; of a dictionary every
  /// numeric part that is not an image, sorted by name.
  std::vector<std::string> obs_keys;
  /// Likewise of an action.
  std::vector<std::string> action_keys;
  /// The array of rewards; empty: what the format calls so.
  std::string reward_key;
  /// The arrays of flags that end an episode where one is set; empty: those of the format.
  std::vector<std::string> done_keys;
  /// The array that says of each step which episode it is of; empty: the format says otherwise.
  std::string episode_key;
  /// The array that is 1 where a step of padded episodes is real.
  std::string mask_key;
  /// What actions are; auto takes integers as discrete and floats as continuous.
  ReadActionsAs actions = ReadActionsAs::kAuto;
  /// The array, attribute or infos column that holds each episode's true policy, a number or text.
  std::string label_key = "policy_id";
  /// Whether observations that repeat are kept once; auto does so when few are distinct.
  Interning interning = Interning::kAuto;
  /// Reads what only the doctor can work with, so that it can say all of it: numbers that are not
  /// finite stay, and empty groups are left out and named in provenance["empty_episodes"].
  bool lenient = false;
  /// Says which episodes to hold where episodes have these offsets; empty: all. Observations and
  /// actions of the others are not read where the format can do without (D4RL, Kindred, and HDF5
  /// with a group per episode), and observations are not interned: others may hold more of them.
  std::function<EpisodeRange(std::span<const std::int64_t> offsets)> own;
  /// Its threads unpack what is compressed in HDF5 files; empty: the reading thread alone.
  std::shared_ptr<ThreadPool> pool;

  OptionTable describe();
  /// Whether arrays are named, so that a file need not be of a known format.
  bool names_arrays() const;
};

/// "d4rl", "minari", "robomimic", "npz", "kindred", "lerobot", "parquet", or "hdf5" for a file
/// whose arrays were named; "auto" for kAuto.
std::string_view name_of(Format format);
/// The inverse. Throws InvalidArgument listing the names.
Format format_named(std::string_view name);

/// Finds out what `path` holds; a LeRobot or Minari dataset is given as its folder. A file that is
/// of no known format needs options that name its arrays; without them the error lists what there
/// is.
Format recognise(const std::filesystem::path& path, const ReadOptions& options = {});

Trajectories read_trajectories(const std::filesystem::path& path, ReadOptions options = {});

/// Writes `path`, replacing a file of that name; Minari makes a folder, which must not exist yet.
/// Throws DataFormatError when the format cannot hold the data, InvalidArgument for lerobot and
/// parquet, which are only read. A Kindred file is written block by block and `progress`, which may
/// be empty, is told the share of it that is written; what it throws ends it, with nothing written.
void write_trajectories(const Trajectories& data, const std::filesystem::path& path, Format format,
                        const std::function<void(double)>& progress = {});

}  // namespace kindred
