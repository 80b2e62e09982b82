#include "kindred/data/formats.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <new>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/interning.h"
#include "kindred/data/keyed.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/minari_tables.h"
#include "kindred/data/npz.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFormatNames{"auto",    "d4rl",    "minari",  "robomimic", "npz",
                                            "kindred", "lerobot", "parquet", "hdf5"};

enum class Both { kNo, kYes };

/// Whether a group has observations and actions, or one of them, under their usual names.
bool holds_steps(const hdf5::InputFile& file, const std::string& group, Both both) {
  const auto has = [&](const std::string& name) {
    const auto path = hdf5::join(group, name);
    return file.has_dataset(path) || (!group.empty() && file.has_group(path));
  };
  const hdf5::StepLayout usual;
  return both == Both::kYes ? has(usual.observations) && has(usual.actions)
                            : has(usual.observations) || has(usual.actions);
}

/// Whether arrays have a row for each episode instead of each step.
bool is_padded(const hdf5::InputFile& file, const ReadOptions& options) {
  const auto rank = [&](const std::string& name) {
    return file.has_dataset(name) ? file.dataset(name).shape().size() : 0;
  };
  return !options.mask_key.empty() || rank(hdf5::StepLayout{}.actions) > 2 ||
         (!options.done_keys.empty() && rank(options.done_keys[0]) > 1);
}

Format recognise_folder(const fs::path& path) {
  if (is_lerobot_folder(path)) return Format::kLerobot;
  if (!minari_main_file(path).empty() || !minari_tables_folder(path).empty())
    return Format::kMinari;
  if (is_parquet(path)) return Format::kParquet;
  throw IoError(
      "'{}' is a directory, expected a file or the folder of a Minari dataset (with "
      "data/main_data.hdf5, or data/metadata.json that says arrow or parquet), of a LeRobot "
      "dataset (with meta/info.json) or of Parquet files",
      path.string());
}

Format recognise_hdf5(const fs::path& path, const ReadOptions& options) {
  const hdf5::InputFile file(path);
  if (file.text_attribute("", "format") == kKindredFormat) return Format::kKindred;
  if (file.has_group("data") && !hdf5::numbered_children(file, "data", "demo_").empty())
    return Format::kRobomimic;
  const auto episodes = hdf5::numbered_children(file, "", "episode_");
  if (!episodes.empty() && (!options.names_arrays() || holds_steps(file, episodes[0], Both::kYes)))
    return Format::kMinari;
  if (options.names_arrays())
    return holds_steps(file, "", Both::kYes) && !is_padded(file, options) ? Format::kD4rl
                                                                          : Format::kHdf5;
  if (holds_steps(file, "", Both::kNo)) return Format::kD4rl;
  throw DataFormatError(
      "'{}' is an HDF5 file, but not of a format Kindred knows: expected "
      "'observations' and 'actions' (D4RL), groups 'episode_0', … (Minari), "
      "'data/demo_0', … (robomimic) or a Kindred dataset; {}",
      path.string(), propose_keys(*open_named_arrays(path)));
}

Trajectories read_as(Format format, const fs::path& path, const ReadOptions& options) {
  switch (format) {
    case Format::kHdf5:
      return read_keyed_file(path, options);
    case Format::kD4rl:
      return options.names_arrays() ? read_keyed_file(path, options) : read_d4rl(path, options);
    case Format::kMinari:
      return read_minari(path, options);
    case Format::kRobomimic:
      return read_robomimic(path, options);
    case Format::kNpz:
      return options.names_arrays() ? read_keyed_file(path, options) : read_npz(path, options);
    case Format::kLerobot:
      return read_lerobot(path, options);
    case Format::kParquet:
      return read_parquet(path, options);
    default:
      if (options.names_arrays())
        throw InvalidArgument("'{}' is a Kindred dataset, in which no other arrays can be named",
                              path.string());
      return read_kindred(path, options);
  }
}

}  // namespace

bool ReadOptions::names_arrays() const {
  return !(obs_keys.empty() && action_keys.empty() && reward_key.empty() && done_keys.empty() &&
           episode_key.empty() && mask_key.empty());
}

OptionTable ReadOptions::describe() {
  auto observed = texts("obs-key", obs_keys,
                        "The arrays that make up an observation, joined in this order; name[0:7] "
                        "and name[3] take part of one. Repeat it or put commas between them.");
  observed.former_name = "observation-keys";
  return {
      choice("format", format, kFormatNames,
             "The layout of the file; auto recognises it from the content."),
      integer("episode-cap", episode_cap, 1, std::numeric_limits<std::int64_t>::max(),
              "The longest episode, in steps, where a file marks terminal steps but not timeouts."),
      flag("keep-partial", keep_partial,
           "Keep the steps after the last marked end of an episode as one more episode."),
      observed,
      texts("action-key", action_keys, "Likewise for actions."),
      text("reward-key", reward_key, "The array of rewards, where it is called otherwise."),
      texts("done-key", done_keys,
            "The arrays of flags, in any numbers, that end an episode where one is set."),
      text("episode-key", episode_key,
           "The array that says of each step which episode it is of, or where episodes end."),
      text("mask-key", mask_key,
           "The array that is 1 where a step of padded episodes, [episodes, time, …], is real."),
      choice("actions", actions, {"auto", "discrete", "continuous"},
             "What actions are; auto takes integers as discrete and floats as continuous."),
      text("label-key", label_key,
           "The array, attribute or infos column that holds the true policies, numbers or text."),
      choice("interning", interning, {"auto", "never"},
             "Whether observations that repeat are kept once; auto does so when few are distinct."),
  };
}

std::string_view name_of(Format format) { return kFormatNames[static_cast<std::size_t>(format)]; }

Format format_named(std::string_view name) {
  const auto found = std::ranges::find(kFormatNames, name);
  if (found == kFormatNames.end())
    throw InvalidArgument("unknown format '{}'; the formats are {}", name,
                          fmt::join(kFormatNames, ", "));
  return static_cast<Format>(found - kFormatNames.begin());
}

Format recognise(const fs::path& path, const ReadOptions& options) {
  std::error_code error;
  if (fs::is_directory(path, error)) return recognise_folder(path);
  // The HDF5 reader also says what is wrong with a file that is missing, empty or no file at all.
  if (is_npz(path)) return Format::kNpz;
  if (is_parquet(path)) return Format::kParquet;
  return recognise_hdf5(path, options);
}

Trajectories read_trajectories(const fs::path& path, ReadOptions options) {
  if (options.format == Format::kAuto) options.format = recognise(path, options);
  try {
    Trajectories data = read_as(options.format, path, options);
    if (options.own && !data.held) data.held = options.own(data.offsets.span());
    if (options.interning == Interning::kAuto && !options.own)
      data.observations = intern(std::move(data.observations));
    if (options.format != Format::kKindred) {  // a Kindred file remembers where it came from
      data.provenance["source"] = printable(path.string());  // JSON must be UTF-8, a path need not
      data.provenance["format"] = name_of(options.format);
    }
    data.validate(fmt::format("'{}'", path.string()));
    return data;
  } catch (const std::bad_alloc&) {
    throw IoError("'{}' does not fit into memory", path.string());
  }
}

void write_trajectories(const Trajectories& data, const fs::path& path, Format format,
                        const std::function<void(double)>& progress) {
  data.validate(fmt::format("trajectories for '{}'", path.string()));
  switch (format) {
    case Format::kHdf5:  // a layout that others read too
    case Format::kD4rl:
      return write_d4rl(data, path);
    case Format::kMinari:
      return write_minari(data, path);
    case Format::kRobomimic:
      return write_robomimic(data, path);
    case Format::kNpz:
      return write_npz(data, path);
    case Format::kKindred:
      return write_kindred(data, path, progress);
    case Format::kLerobot:
    case Format::kParquet:
      throw InvalidArgument("Kindred reads {} but does not write it; write '{}' as another format",
                            name_of(format), path.string());
    default:
      throw InvalidArgument("a format must be named to write '{}'; the formats are {}",
                            path.string(), fmt::join(kFormatNames, ", "));
  }
}

}  // namespace kindred
