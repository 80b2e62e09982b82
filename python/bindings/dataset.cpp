#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <unordered_map>

#include "bindings.h"
#include "kindred/core/error.h"
#include "kindred/data/checks.h"
#include "kindred/data/doctor.h"
#include "kindred/data/extract.h"
#include "kindred/data/interning.h"
#include "kindred/data/label_writer.h"
#include "kindred/data/select.h"

namespace kindred::python {
namespace {

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

/// The values of an array of Python's, which lives as long as the column does.
template <class T>
Column<T> column_of(const Array<T>& array) {
  auto* kept = new Array<T>(array);
  return {std::span<const T>(array.data(), array.size()),
          std::shared_ptr<const void>(kept, [](Array<T>* p) {
            const nb::gil_scoped_acquire gil;  // the last user may be a thread of Kindred's
            delete p;
          })};
}

template <class T>
Column<T> column_of(const std::optional<Array<T>>& array) {
  return array ? column_of(*array) : Column<T>();
}

/// A view into a column, which `self` keeps alive.
template <class T>
nb::object view(nb::handle self, const Column<T>& column, std::vector<std::size_t> shape) {
  if (column.empty()) return nb::none();
  return nb::cast(nb::ndarray<nb::numpy, const T>(column.data(), shape.size(), shape.data(), self));
}

PyDataset load(const std::vector<std::string>& files, const std::string& options) {
  PyDataset result;
  result.options.files = files;
  const auto asked = nlohmann::json::parse(options);
  OptionTable table;
  for (auto part : {result.options.describe_reading(), result.options.describe_selection(),
                    result.options.describe_truth(), result.options.describe_memory()})
    table.insert(table.end(), part.begin(), part.end());
  from_json(table, asked, "load");
  const nb::gil_scoped_release released;
  result.dataset = result.options.load();
  return result;
}

PyDataset from_arrays(const std::optional<Array<float>>& floats,
                      const std::optional<Array<std::uint8_t>>& bytes,
                      const std::optional<Array<float>>& continuous,
                      const std::optional<Array<std::int32_t>>& discrete, std::int64_t count,
                      const Array<std::int64_t>& offsets,
                      const std::optional<Array<float>>& rewards,
                      const std::optional<Array<std::uint8_t>>& terminals,
                      const std::optional<Array<std::uint8_t>>& timeouts,
                      const std::optional<Array<std::int32_t>>& labels,
                      std::vector<std::string> ids) {
  Trajectories data;
  const auto width = [](const auto& array) { return static_cast<std::int64_t>(array.shape(1)); };
  data.observations = floats ? Observations::dense(column_of(*floats), width(*floats))
                             : Observations::dense(column_of(*bytes), width(*bytes));
  data.actions = continuous ? Actions::continuous(column_of(*continuous), width(*continuous))
                            : Actions::discrete(column_of(*discrete), count);
  data.offsets = column_of(offsets);
  data.rewards = column_of(rewards);
  data.terminals = column_of(terminals);
  data.timeouts = column_of(timeouts);
  data.labels = column_of(labels);
  data.ids = std::move(ids);
  data.validate("the arrays");
  if (floats)
    check_finite(data.observations.floats().span(), 0, data.observations.dim(), "observations");
  if (continuous) check_finite(data.actions.floats().span(), 0, data.actions.dim(), "actions");
  data.observations = intern(std::move(data.observations));  // as every reader does
  PyDataset result;
  result.dataset.data = std::move(data);
  return result;
}

const std::string& file_of(const PyDataset& self) {
  if (self.dataset.path.empty())
    throw InvalidArgument("these trajectories come from arrays, so there is no file to write to");
  return self.dataset.path;
}

std::vector<std::string> write_labels(const PyDataset& self, std::vector<std::int32_t> labels,
                                      const std::string& key, bool replace) {
  file_of(self);
  const auto everything = self.options.load_everything();
  LabelsFile found;
  found.episodes = self.dataset.data.ids;
  found.labels = std::move(labels);
  const auto matched = match_labels(everything.data, found);
  std::vector<std::string> written;
  for (const auto& [file, what] :
       kindred::write_labels(self.options, everything, matched, {.key = key, .replace = replace}))
    written.push_back(file.string());
  return written;
}

std::vector<std::string> undo(const PyDataset& self) {
  std::vector<std::string> changed;
  file_of(self);
  for (const auto& file : undo_labels(self.options.files, self.dataset.format))
    changed.push_back(file.string());
  return changed;
}

/// Trajectories that come from arrays have no format: D4RL's layout, or NPZ where the name says so.
void write_selected(const Trajectories& data, std::span<const std::int64_t> episodes,
                    const std::filesystem::path& target) {
  if (std::filesystem::exists(target))
    throw InvalidArgument("'{}' exists; remove it or choose another name", target.string());
  write_trajectories(select_episodes(data, episodes), target,
                     target.extension() == ".npz" ? Format::kNpz : Format::kD4rl);
}

/// Of the episodes Python sees, by their ids: the file may hold more.
void extract(const PyDataset& self, const std::vector<std::int64_t>& episodes,
             const std::string& target) {
  const nb::gil_scoped_release released;
  if (self.dataset.path.empty()) return write_selected(self.dataset.data, episodes, target);
  require_one_file(self.dataset);
  const auto everything = self.options.load_everything();
  std::unordered_map<std::string_view, std::int64_t> number;
  for (std::size_t i = 0; i < everything.data.ids.size(); ++i)
    number.emplace(everything.data.ids[i], static_cast<std::int64_t>(i));
  std::vector<std::int64_t> wanted;
  for (const auto episode : episodes)
    wanted.push_back(number.at(self.dataset.data.ids.at(static_cast<std::size_t>(episode))));
  std::ranges::sort(wanted);
  extract_episodes(self.dataset.path, self.dataset.format, everything.data, wanted, target);
}

}  // namespace

void bind_dataset(nb::module_& module) {
  nb::class_<PyDataset> dataset(module, "Dataset");
  const auto steps = [](const PyDataset& self) {
    return static_cast<std::size_t>(self.dataset.data.steps());
  };
  dataset.def_prop_ro("path", [](const PyDataset& self) { return self.dataset.path; })
      .def_prop_ro("description",
                   [](const PyDataset& self) { return self.dataset.describe().dump(); })
      .def_prop_ro("episodes", [](const PyDataset& self) { return self.dataset.data.episodes(); })
      .def_prop_ro("steps", [](const PyDataset& self) { return self.dataset.data.steps(); })
      .def_prop_ro("obs_dim",
                   [](const PyDataset& self) { return self.dataset.data.observations.dim(); })
      .def_prop_ro("discrete",
                   [](const PyDataset& self) { return self.dataset.data.actions.is_discrete(); })
      .def_prop_ro("action_count",
                   [](const PyDataset& self) {
                     const auto& actions = self.dataset.data.actions;
                     return actions.is_discrete() ? actions.count() : actions.dim();
                   })
      .def_prop_ro("ids", [](const PyDataset& self) { return self.dataset.data.ids; })
      .def_prop_ro("label_names",
                   [](const PyDataset& self) { return self.dataset.data.label_names; })
      .def_prop_ro("observation_names",
                   [](const PyDataset& self) { return self.dataset.data.observation_names; })
      .def_prop_ro("action_names",
                   [](const PyDataset& self) { return self.dataset.data.action_names; })
      .def("returns",
           [](const PyDataset& self) {
             auto values = episode_returns(self.dataset.data);
             const auto n = values.size();
             return owned_array(std::move(values), {n});
           })
      .def("examine",
           [](const PyDataset& self) {
             const nb::gil_scoped_release released;
             return to_json(examine(self.dataset.data)).dump();
           })
      .def("write_labels", &write_labels, nb::arg("labels"), nb::arg("key"), nb::arg("replace"))
      .def("undo", &undo)
      .def("extract", &extract, nb::arg("episodes"), nb::arg("target"));

  // Views: numpy arrays over Kindred's own memory.
  dataset.def("offsets", [](nb::handle self) {
    const auto& data = nb::cast<const PyDataset&>(self).dataset.data;
    return view(self, data.offsets, {static_cast<std::size_t>(data.offsets.size())});
  });
  const auto def_steps = [&](const char* name, auto column) {
    dataset.def(name, [steps, column](nb::handle self) {
      const auto& of = nb::cast<const PyDataset&>(self);
      return view(self, of.dataset.data.*column, {steps(of)});
    });
  };
  def_steps("rewards", &Trajectories::rewards);
  def_steps("terminals", &Trajectories::terminals);
  def_steps("timeouts", &Trajectories::timeouts);
  dataset.def("labels", [](nb::handle self) {
    const auto& data = nb::cast<const PyDataset&>(self).dataset.data;
    return view(self, data.labels, {static_cast<std::size_t>(data.labels.size())});
  });
  dataset.def("actions", [steps](nb::handle self) {
    const auto& of = nb::cast<const PyDataset&>(self);
    const auto& actions = of.dataset.data.actions;
    if (actions.is_discrete()) return view(self, actions.ints(), {steps(of)});
    return view(self, actions.floats(), {steps(of), static_cast<std::size_t>(actions.dim())});
  });
  // Rows, or (table, index) where observations that repeat are kept once.
  dataset.def("observations", [steps](nb::handle self) -> nb::object {
    const auto& of = nb::cast<const PyDataset&>(self);
    const auto& observations = of.dataset.data.observations;
    const auto dim = static_cast<std::size_t>(observations.dim());
    if (observations.is_interned())
      return nb::make_tuple(view(self, observations.table(),
                                 {static_cast<std::size_t>(observations.distinct()), dim}),
                            view(self, observations.index(), {steps(of)}));
    if (observations.is_bytes()) return view(self, observations.bytes(), {steps(of), dim});
    return view(self, observations.floats(), {steps(of), dim});
  });

  module.def("load", &load, nb::arg("files"), nb::arg("options"));
  module.def("from_arrays", &from_arrays, nb::arg("floats").none(), nb::arg("bytes").none(),
             nb::arg("continuous").none(), nb::arg("discrete").none(), nb::arg("count"),
             nb::arg("offsets"), nb::arg("rewards").none(), nb::arg("terminals").none(),
             nb::arg("timeouts").none(), nb::arg("labels").none(), nb::arg("ids"));
}

}  // namespace kindred::python
