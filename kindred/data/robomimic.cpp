// robomimic: one group data/demo_i per episode, and lists of demos under mask/.
#include <charconv>
#include <map>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_labels.h"
#include "kindred/data/hdf5_steps.h"

namespace kindred {
namespace {

const hdf5::StepLayout kRobomimicLayout{
    .observations = "obs", .terminals = "dones", .length_attribute = "num_samples"};

/// Label i for the demos that mask/policy_i lists, -1 for those in no such list; nothing where
/// there are no lists. Throws DataFormatError when a demo is in two.
std::vector<std::int64_t> read_mask_labels(const hdf5::InputFile& file,
                                           const std::vector<std::string>& ids) {
  if (!file.has_group("mask")) return {};
  std::map<std::string, std::int64_t> label_of;
  for (const auto& mask : hdf5::numbered_children(file, "mask", kMaskPrefix)) {
    std::int64_t label = -2;  // stays so, and makes no label, for a number beyond 64 bits
    std::from_chars(mask.data() + mask.rfind('_') + 1, mask.data() + mask.size(), label);
    for (const auto& demo : file.dataset(mask).read_strings())
      if (!label_of.emplace(demo, label).second)
        throw DataFormatError("{} lists '{}', which it or another mask of a policy lists too",
                              file.where(mask), printable(demo));
  }
  std::vector<std::int64_t> labels;
  for (const auto& id : ids) {
    const auto found = label_of.find(id);
    labels.push_back(found == label_of.end() ? -1 : found->second);
  }
  return label_of.empty() ? std::vector<std::int64_t>() : labels;
}

}  // namespace

Trajectories read_robomimic(const std::filesystem::path& path, const ReadOptions& options) {
  const hdf5::InputFile file(path, options.pool);
  auto groups = hdf5::numbered_children(file, "data", "demo_");
  std::vector<std::string> empty;
  if (options.lenient) empty = hdf5::remove_empty(file, groups, kRobomimicLayout);
  if (groups.empty())
    throw DataFormatError(
        "'{}' group 'data' has no groups 'demo_0', 'demo_1', …, expected the "
        "episodes of a robomimic dataset",
        path.string());
  if (options.obs_keys.empty() &&
      !file.has_group(hdf5::join(groups[0], kRobomimicLayout.observations)))
    throw DataFormatError(
        "'{}' group '{}' has no group 'obs', expected observations; extract them "
        "from the states first (robomimic's dataset_states_to_obs.py)",
        path.string(), groups[0]);
  Trajectories data = hdf5::read_steps(file, groups, kRobomimicLayout, options);
  if (!empty.empty()) data.provenance["empty_episodes"] = empty;
  for (const auto& group : groups) data.ids.push_back(group.substr(group.find('/') + 1));
  if (file.has_attribute("", found_mark(options.label_key))) {
    data.provenance["labels"] = kFoundLabels;
    return data;
  }
  if (const auto found = hdf5::read_group_labels(file, groups, options.label_key);
      found.size() > 0) {
    set_labels(data, found, file.where(options.label_key));
    return data;
  }
  if (file.has_attribute("", found_mark(hdf5::join("mask", kMaskPrefix)))) {
    data.provenance["labels"] = kFoundLabels;
    return data;
  }
  try {
    if (const auto labels = read_mask_labels(file, data.ids); !labels.empty())
      set_labels(data, labels);
  } catch (const DataFormatError& error) {  // a mask is no reason to refuse the demos
    data.provenance["labels"] = fmt::format("ignored: {}", printable(error.what()));
  }
  return data;
}

void write_robomimic(const Trajectories& data, const std::filesystem::path& path) {
  hdf5::OutputFile file(path);
  std::map<std::int32_t, std::vector<std::string>> masks;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const std::int64_t begin = data.offsets[i], end = data.offsets[i + 1];
    const std::string demo = fmt::format("demo_{}", i);
    const std::string group = hdf5::join("data", demo);
    const auto part = [&](const auto& column) {
      return column.span().subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(end - begin));
    };
    hdf5::write_observations(file, hdf5::join(group, "obs/flat"), data.observations, begin, end);
    hdf5::write_actions(file, hdf5::join(group, kRobomimicLayout.actions), data.actions, begin,
                        end);
    if (!data.rewards.empty())
      file.write(hdf5::join(group, kRobomimicLayout.rewards), part(data.rewards), {end - begin});
    if (!data.terminals.empty())
      file.write_flags(hdf5::join(group, kRobomimicLayout.terminals), part(data.terminals));
    if (!data.timeouts.empty())
      file.write_flags(hdf5::join(group, kRobomimicLayout.timeouts), part(data.timeouts));
    file.write_attribute(group, kRobomimicLayout.length_attribute, end - begin);
    if (!data.labels.empty() && data.labels[i] >= 0) masks[data.labels[i]].push_back(demo);
  }
  file.write_attribute("data", "total", data.steps());
  file.write_attribute("data", "env_args", R"({"env_name": "", "type": 2, "env_kwargs": {}})");
  for (const auto& [label, demos] : masks)
    file.write_strings(fmt::format("mask/{}{}", kMaskPrefix, label), demos);
  file.commit();
}

}  // namespace kindred
