#include "kindred/runs/dataset.h"

#include <limits>
#include <optional>
#include <type_traits>

#include "kindred/core/error.h"
#include "kindred/core/thread_pool.h"
#include "kindred/data/fingerprint.h"
#include "kindred/data/interning.h"
#include "kindred/data/join.h"
#include "kindred/data/select.h"
#include "kindred/data/truth.h"
#include "kindred/runs/shared_dataset.h"

namespace kindred {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kMany = std::numeric_limits<std::int64_t>::max();

OptionTable all_options(DatasetOptions& options) {
  auto table = options.describe_reading();
  for (auto& option : options.describe_selection()) table.push_back(std::move(option));
  for (auto& option : options.describe_truth()) table.push_back(std::move(option));
  return table;
}

std::string absolute_name(const std::string& file) {
  return std::filesystem::absolute(file).lexically_normal().string();
}

}  // namespace

Json Dataset::describe() const {
  const auto& observations = data.observations;
  Json json = {{"path", path},
               {"format", name_of(format)},
               {"episodes", data.episodes()},
               {"steps", data.steps()},
               {"obs_dim", observations.dim()},
               {"action", data.actions.is_discrete()
                              ? Json{{"kind", "discrete"}, {"count", data.actions.count()}}
                              : Json{{"kind", "continuous"}, {"dim", data.actions.dim()}}},
               {"distinct_observations",
                observations.is_interned() ? Json(observations.distinct()) : Json(nullptr)}};
  if (files.size() > 1) json["files"] = files;
  if (!data.observation_names.empty()) json["observation_names"] = data.observation_names;
  if (!data.action_names.empty()) json["action_names"] = data.action_names;
  return json;
}

OptionTable DatasetOptions::describe_reading() { return read.describe(); }

OptionTable DatasetOptions::describe_selection() {
  return {
      integer("min-length", min_length, 1, kMany, "Leave out episodes with fewer steps."),
      integer("max-length", max_length, 0, kMany, "Leave out episodes with more steps; 0: none."),
      integer("sample", sample, 0, kMany, "Use this many random episodes; 0: all."),
      integer("sample-seed", sample_seed, 0, kMany, "Seed of the sample."),
  };
}

OptionTable DatasetOptions::describe_truth() {
  return {
      text("truth", truth, "CSV file with columns episode and label: the true policies."),
      text("truth-column", truth_column, "The column of that file with the true policies."),
      text("truth-episode-column", truth_episode_column, "Its column that names the episodes."),
      integers("truth-boundary", truth_boundary,
               "Step numbers where one policy's part of the file ends and the next begins."),
      flag("truth-return-change", truth_return_change,
           "Take the jump in episode returns as the border between two policies."),
  };
}

Json DatasetOptions::to_json() const {
  DatasetOptions copy = *this;  // a table refers to fields it may change
  return kindred::to_json(all_options(copy));
}

void DatasetOptions::restore(const Json& saved, const std::string& where) {
  try {
    from_json(all_options(*this), saved, where);
  } catch (const InvalidArgument& error) {
    throw DataFormatError("'{}' is damaged: {}", where, error.what());
  }
}

Dataset DatasetOptions::load_everything() const {
  if (files.empty()) throw InvalidArgument("no dataset was named; give a FILE (see --help)");
  const auto format_of = [&](const std::string& file) {
    return read.format == Format::kAuto ? recognise(file, read) : read.format;
  };
  const auto format = format_of(files[0]);
  ReadOptions how = read;
  if (!how.pool) how.pool = std::make_shared<ThreadPool>();
  const auto promise = limit.promise(std::filesystem::path(files[0]).parent_path());
  if (files.size() == 1) return {files[0], format, read_trajectories(files[0], how), {}, promise};
  ReadOptions apart = how;
  apart.interning = Interning::kNever;  // all together, in the end
  std::vector<Trajectories> parts;
  for (const auto& file : files) {
    if (format_of(file) != format)
      throw DataFormatError("'{}' is a {} file and '{}' a {} file; files of one dataset are alike",
                            file, name_of(format_of(file)), files[0], name_of(format));
    parts.push_back(read_trajectories(file, apart));
  }
  Dataset joined{files[0], format, join_episodes(parts, files), files, promise};
  if (read.interning == Interning::kAuto)
    joined.data.observations = intern(std::move(joined.data.observations));
  return joined;
}

Dataset DatasetOptions::load() const { return label_and_select(load_everything()); }

Dataset DatasetOptions::label_and_select(Dataset loaded) const {
  if (!truth.empty())
    loaded.data = label_from_csv(loaded.data, truth,
                                 {.episode = truth_episode_column, .label = truth_column});
  else if (!truth_boundary.empty())
    loaded.data = label_by_boundaries(loaded.data, truth_boundary);
  else if (truth_return_change)
    loaded.data = label_by_return_change(loaded.data);
  loaded.data = select(std::move(loaded.data));
  return loaded;
}

std::vector<std::int64_t> DatasetOptions::selected(std::span<const std::int64_t> offsets) const {
  auto kept = episodes_by_length(offsets, min_length, max_length > 0 ? max_length : kMany);
  if (sample == 0 || kept.empty()) return kept;
  std::vector<std::int64_t> drawn;
  for (const auto i :
       sampled_episodes(std::ssize(kept), sample, static_cast<std::uint64_t>(sample_seed)))
    drawn.push_back(kept[static_cast<std::size_t>(i)]);
  return drawn;
}

Trajectories DatasetOptions::select(Trajectories loaded) const {
  if (min_length > 1 || max_length > 0)
    loaded = filter_by_length(loaded, min_length, max_length > 0 ? max_length : kMany);
  if (sample > 0) loaded = sample_episodes(loaded, sample, static_cast<std::uint64_t>(sample_seed));
  return loaded;
}

Json describe_dataset(const DatasetOptions& options, const Dataset& dataset, Communicator& ranks) {
  Json json = dataset.describe();
  if (!dataset.path.empty()) json["path"] = absolute_name(dataset.path);  // else never in a file
  if (dataset.files.size() > 1) {
    json["files"] = Json::array();
    for (const auto& file : dataset.files) json["files"].push_back(absolute_name(file));
  }
  json["reading"] = options.to_json();
  json["fingerprint"] = to_json(fingerprint_of(dataset.data, ranks, options.read.pool.get()));
  json["provenance"] = dataset.data.provenance;
  json["doctor"] = nullptr;
  return json;
}

std::vector<LabelledFile> write_labels(const DatasetOptions& options, const Dataset& everything,
                                       const EpisodeLabels& labels, const LabelOptions& how) {
  if (everything.files.size() < 2)
    return write_labels(everything.path, everything.format, everything.data, labels, how);
  std::vector<LabelledFile> written;
  std::int64_t begin = 0;
  for (const auto& file : everything.files) {
    DatasetOptions alone = options;
    alone.files = {file};
    const auto part = alone.load_everything();
    const auto slice = [](const auto& all, std::int64_t first, std::int64_t count) {
      const auto from = all.begin() + (all.empty() ? 0 : first);
      return std::decay_t<decltype(all)>(from, from + (all.empty() ? 0 : count));
    };
    const auto episodes = part.data.episodes();
    const EpisodeLabels own{slice(labels.labels, begin, episodes),
                            slice(labels.margins, begin, episodes),
                            slice(labels.steps, everything.data.offsets[begin], part.data.steps())};
    for (auto& one : write_labels(file, part.format, part.data, own, how))
      written.push_back(std::move(one));
    begin += episodes;
  }
  return written;
}

std::vector<std::filesystem::path> undo_labels(std::span<const std::string> files, Format format) {
  std::vector<std::filesystem::path> undone;
  std::optional<InvalidArgument> nothing;
  for (const auto& file : files) try {
      for (auto& one : undo_labels(file, format)) undone.push_back(std::move(one));
    } catch (const InvalidArgument& error) {
      nothing = error;
    }
  if (undone.empty() && nothing) throw InvalidArgument(*nothing);
  return undone;
}

void require_one_file(const Dataset& dataset) {
  if (dataset.files.size() > 1)
    throw InvalidArgument(
        "the dataset is {} files, of which no new one can be made; write the labels into them with "
        "'kindred label', or cluster one file",
        dataset.files.size());
}

}  // namespace kindred
