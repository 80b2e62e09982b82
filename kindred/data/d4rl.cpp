// D4RL: flat arrays over all steps, with flags where episodes end.
#include "kindred/core/error.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_steps.h"

namespace kindred {
namespace {

std::vector<std::int64_t> read_step_labels(const hdf5::InputFile& file, const std::string& key,
                                           std::int64_t steps) {
  const std::string name = "infos/" + key;
  if (!file.has_dataset(name)) return {};
  const auto dataset = file.dataset(name);
  if (dataset.kind() != hdf5::Kind::kInteger || dataset.rows() != steps || dataset.row_size() != 1)
    throw DataFormatError(
        "{} holds {} of shape {}, expected the policy of each of {} steps as "
        "integers",
        dataset.where(), hdf5::to_string(dataset.kind()), hdf5::shape_text(dataset.shape()), steps);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(steps));
  dataset.read(0, steps, labels.data());
  return labels;
}

}  // namespace

Trajectories read_d4rl(const std::filesystem::path& path, const ReadOptions& options) {
  const hdf5::InputFile file(path);
  const hdf5::StepLayout layout;
  if (!file.has_dataset(layout.terminals) && !file.has_dataset(layout.timeouts))
    throw DataFormatError(
        "'{}' has neither dataset 'terminals' nor 'timeouts', expected at least "
        "one to tell where episodes end",
        path.string());
  Trajectories flat = hdf5::read_steps(file, {""}, layout, options);
  const auto labels = read_step_labels(file, options.label_key, flat.steps());
  return cut_into_episodes(std::move(flat), labels, options, fmt::format("'{}'", path.string()));
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
  if (!data.labels.empty()) {
    std::vector<std::int32_t> step_labels;
    step_labels.reserve(static_cast<std::size_t>(data.steps()));
    for (std::int64_t i = 0; i < data.episodes(); ++i)
      step_labels.insert(step_labels.end(), static_cast<std::size_t>(data.length(i)),
                         data.labels[i]);
    file.write<std::int32_t>("infos/" + ReadOptions{}.label_key, step_labels, {data.steps()});
  }
  file.commit();
}

}  // namespace kindred
