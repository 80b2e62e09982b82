// D4RL: flat arrays over all steps, with flags where episodes end.
#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_labels.h"
#include "kindred/data/hdf5_steps.h"

namespace kindred {
namespace {

constexpr const char* kOracle = "oracle_policy_id";  // in infos, where the true policies are known
constexpr std::int64_t kMostLabels = 1 << 20;        // beyond that the column means something else

/// Where the labels are: in infos, or, where somebody asks for a name of his own, anywhere.
std::string label_place(const hdf5::InputFile& file, const std::string& key) {
  const std::string name = "infos/" + key;
  if (file.has_dataset(name)) return name;
  return hdf5::is_asked_for(key) && file.has_dataset(key) ? key : "";
}

void write_step_labels(hdf5::OutputFile& file, const std::string& key, const Trajectories& data,
                       const Column<std::int32_t>& labels) {
  if (labels.empty()) return;
  std::vector<std::int32_t> of_steps;
  of_steps.reserve(static_cast<std::size_t>(data.steps()));
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    of_steps.insert(of_steps.end(), static_cast<std::size_t>(data.length(i)), labels[i]);
  file.write<std::int32_t>("infos/" + key, of_steps, {data.steps()});
}

void read_oracle(const hdf5::InputFile& file, Trajectories& data) {
  const std::string name = std::string("infos/") + kOracle;
  if (!file.has_dataset(name)) return;
  const auto oracle = hdf5::read_labels(file, name, false).numbers;
  if (std::ssize(oracle) < data.steps() || std::ranges::min(oracle) < 0 ||
      std::ranges::max(oracle) > kMostLabels)
    return;
  std::vector<std::int32_t> of_episodes;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    of_episodes.push_back(
        static_cast<std::int32_t>(oracle[static_cast<std::size_t>(data.offsets[i])]));
  data.oracle = std::move(of_episodes);
}

void read_true_labels(const hdf5::InputFile& file, const ReadOptions& options, Trajectories& data) {
  read_oracle(file, data);
  if (file.has_attribute("", found_mark("infos/" + options.label_key))) {
    data.provenance["labels"] = kFoundLabels;
    return;
  }
  const auto place = label_place(file, options.label_key);
  if (!place.empty())
    set_labels(data, hdf5::read_labels(file, place, hdf5::is_asked_for(options.label_key)),
               file.where(place));
}

}  // namespace

Trajectories read_d4rl(const std::filesystem::path& path, const ReadOptions& options) {
  const hdf5::InputFile file(path, options.pool);
  const hdf5::StepLayout layout{.one_episode_each = false};
  if (!file.has_dataset(layout.terminals) && !file.has_dataset(layout.timeouts))
    throw DataFormatError(
        "'{}' has neither dataset 'terminals' nor 'timeouts', expected at least "
        "one to tell where episodes end",
        path.string());
  Trajectories flat = hdf5::read_steps(file, {""}, layout, options);
  auto data = cut_into_episodes(std::move(flat), options, fmt::format("'{}'", path.string()));
  read_true_labels(file, options, data);
  return data;
}

void write_d4rl(const Trajectories& data, const std::filesystem::path& path) {
  const auto flags = end_flags(data, "D4RL's layout");
  hdf5::OutputFile file(path);
  const hdf5::StepLayout layout;
  hdf5::write_observations(file, layout.observations, data.observations, 0, data.steps());
  hdf5::write_actions(file, layout.actions, data.actions, 0, data.steps());
  if (!data.rewards.empty()) file.write(layout.rewards, data.rewards.span(), {data.steps()});
  file.write_flags(layout.terminals, flags.terminals);
  file.write_flags(layout.timeouts, flags.timeouts);
  const auto key = ReadOptions{}.label_key;
  if (data.actors.empty())
    write_step_labels(file, key, data, data.labels);
  else
    file.write("infos/" + key, data.actors.span(), {data.steps()});
  write_step_labels(file, kOracle, data, data.oracle);
  file.commit();
}

}  // namespace kindred
