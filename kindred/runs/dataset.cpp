#include "kindred/runs/dataset.h"

#include <filesystem>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/data/select.h"
#include "kindred/data/truth.h"

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

}  // namespace

Json Dataset::describe() const {
  const auto& observations = data.observations;
  return {{"path", path},
          {"format", name_of(format)},
          {"episodes", data.episodes()},
          {"steps", data.steps()},
          {"obs_dim", observations.dim()},
          {"action", data.actions.is_discrete()
                         ? Json{{"kind", "discrete"}, {"count", data.actions.count()}}
                         : Json{{"kind", "continuous"}, {"dim", data.actions.dim()}}},
          {"distinct_observations",
           observations.is_interned() ? Json(observations.distinct()) : Json(nullptr)}};
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
  if (data.empty()) throw InvalidArgument("no dataset was named; give a FILE (see --help)");
  const auto format = read.format == Format::kAuto ? recognise(data, read) : read.format;
  return {data, format, read_trajectories(data, read)};
}

Dataset DatasetOptions::load() const {
  Dataset loaded = load_everything();
  if (!truth.empty())
    loaded.data = label_from_csv(loaded.data, truth);
  else if (!truth_boundary.empty())
    loaded.data = label_by_boundaries(loaded.data, truth_boundary);
  else if (truth_return_change)
    loaded.data = label_by_return_change(loaded.data);
  loaded.data = select(std::move(loaded.data));
  return loaded;
}

Trajectories DatasetOptions::select(Trajectories loaded) const {
  if (min_length > 1 || max_length > 0)
    loaded = filter_by_length(loaded, min_length, max_length > 0 ? max_length : kMany);
  if (sample > 0) loaded = sample_episodes(loaded, sample, static_cast<std::uint64_t>(sample_seed));
  return loaded;
}

}  // namespace kindred
