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
#include "kindred/data/npz.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> kFormatNames{"auto",      "d4rl", "minari",
                                            "robomimic", "npz",  "kindred"};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// A list of names, typed with commas between them.
Option names(std::string name, std::vector<std::string>& field, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kText,
          {},
          [&field] { return json(fmt::format("{}", fmt::join(field, ","))); },
          [&field, name](const json& value) {
            if (!value.is_string())
              throw InvalidArgument("option '{}' takes names separated by commas, not '{}'", name,
                                    value.dump());
            field = split(value.get<std::string>());
          }};
}

Format recognise_hdf5(const fs::path& path) {
  const hdf5::InputFile file(path);
  if (file.text_attribute("", "format") == kKindredFormat) return Format::kKindred;
  if (file.has_group("data") && !hdf5::numbered_children(file, "data", "demo_").empty())
    return Format::kRobomimic;
  if (!hdf5::numbered_children(file, "", "episode_").empty()) return Format::kMinari;
  const hdf5::StepLayout flat;
  if (file.has_dataset(flat.actions) || file.has_dataset(flat.observations)) return Format::kD4rl;
  throw DataFormatError(
      "'{}' is an HDF5 file, but not of a format Kindred knows: expected "
      "'observations' and 'actions' (D4RL), groups 'episode_0', … (Minari), "
      "'data/demo_0', … (robomimic) or a Kindred dataset; it holds: {}",
      path.string(), fmt::join(file.children(), ", "));
}

Trajectories read_as(Format format, const fs::path& path, const ReadOptions& options) {
  switch (format) {
    case Format::kD4rl:
      return read_d4rl(path, options);
    case Format::kMinari:
      return read_minari(path, options);
    case Format::kRobomimic:
      return read_robomimic(path, options);
    case Format::kNpz:
      return read_npz(path, options);
    default:
      return read_kindred(path, options);
  }
}

}  // namespace

OptionTable ReadOptions::describe() {
  return {
      choice("format", format, kFormatNames,
             "The layout of the file; auto recognises it from the content."),
      integer("episode-cap", episode_cap, 1, std::numeric_limits<std::int64_t>::max(),
              "The longest episode, in steps, where a file marks terminal steps but not timeouts."),
      flag("keep-partial", keep_partial,
           "Keep the steps after the last marked end of an episode as one more episode."),
      names("observation-keys", observation_keys,
            "Which parts of dictionary observations to join, in this order; by default every "
            "numeric part that is not an image."),
      choice("actions", actions, {"auto", "discrete", "continuous"},
             "What actions are; auto takes integers as discrete and floats as continuous."),
      text("label-key", label_key,
           "Name of the attribute or infos column that holds each episode's true policy."),
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

Format recognise(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (!minari_main_file(path).empty()) return Format::kMinari;
    throw IoError(
        "'{}' is a directory, expected a file or the folder of a Minari dataset "
        "(with data/main_data.hdf5)",
        path.string());
  }
  // The HDF5 reader also says what is wrong with a file that is missing, empty or no file at all.
  if (is_npz(path)) return Format::kNpz;
  return recognise_hdf5(path);
}

Trajectories read_trajectories(const fs::path& path, ReadOptions options) {
  if (options.format == Format::kAuto) options.format = recognise(path);
  try {
    Trajectories data = read_as(options.format, path, options);
    if (options.interning == Interning::kAuto)
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

void write_trajectories(const Trajectories& data, const fs::path& path, Format format) {
  data.validate(fmt::format("trajectories for '{}'", path.string()));
  switch (format) {
    case Format::kD4rl:
      return write_d4rl(data, path);
    case Format::kMinari:
      return write_minari(data, path);
    case Format::kRobomimic:
      return write_robomimic(data, path);
    case Format::kNpz:
      return write_npz(data, path);
    case Format::kKindred:
      return write_kindred(data, path);
    default:
      throw InvalidArgument("a format must be named to write '{}'; the formats are {}",
                            path.string(), fmt::join(kFormatNames, ", "));
  }
}

}  // namespace kindred
