#include "kindred/runs/run.h"

#include <cstdlib>
#include <filesystem>

#include "bindings.h"
#include "kindred/core/child_process.h"
#include "kindred/core/error.h"
#include "kindred/findings/findings.h"
#include "kindred/report/report.h"
#include "kindred/runs/assign.h"
#include "kindred/runs/export.h"

namespace kindred::python {
namespace {

nb::ndarray<nb::numpy, double> to_array(Matrix matrix) {
  return owned_array(std::move(matrix.values), {static_cast<std::size_t>(matrix.rows),
                                                static_cast<std::size_t>(matrix.columns)});
}

template <class T>
nb::ndarray<nb::numpy, T> to_array(std::vector<T> values) {
  const auto n = values.size();
  return owned_array(std::move(values), {n});
}

/// A finished run, read back.
class PyRun {
 public:
  explicit PyRun(const std::string& folder) : folder_(folder), run_(load_run(folder_)) {}

  std::string folder() const { return folder_.path().string(); }
  std::vector<std::string> episodes() const { return run_.episodes; }
  auto labels() const { return to_array(run_.labels); }
  auto margins() const { return to_array(run_.margins); }
  bool can_act() const { return policies() != nullptr; }

  auto labels_of_alternative(std::int64_t number) const {
    return to_array(with_alternative(run_, folder_, number).labels);
  }

  /// [episodes, k]: higher means the centre explains the episode better.
  auto score(const PyDataset& data, int threads) const {
    Matrix scores;
    {
      const nb::gil_scoped_release released;
      scores = run_.centres->score(data.dataset.data, context(threads));
    }
    return to_array(std::move(scores));
  }

  nb::tuple assign(const PyDataset& data, double false_alarms, int threads) const {
    Assignment found;
    {
      const nb::gil_scoped_release released;
      found = kindred::assign(run_, data.dataset.data, false_alarms, context(threads));
    }
    return nb::make_tuple(to_array(std::move(found.labels)), to_array(std::move(found.margins)),
                          to_array(std::move(found.fits)), to_array(std::move(found.posteriors)),
                          to_array(std::move(found.surprises)), to_array(std::move(found.misfit)));
  }

  /// Chances [n, actions], or means and deviations [n, 2, actions].
  nb::ndarray<nb::numpy, float> distribution(
      std::int64_t centre, const nb::ndarray<const float, nb::ndim<2>, nb::c_contig>& rows) const {
    const auto* own = policies();
    if (own == nullptr) throw InvalidArgument("the centres of {} cannot act", run_.record.method);
    if (static_cast<std::int64_t>(rows.shape(1)) != own->obs_dim())
      throw InvalidArgument("observations have {} numbers, the policies take {}", rows.shape(1),
                            own->obs_dim());
    if (centre < 0 || centre >= own->count())
      throw InvalidArgument("there is no policy {}; there are 0 to {}", centre, own->count() - 1);
    const auto n = rows.shape(0), width = static_cast<std::size_t>(own->actions());
    std::vector<float> out(n * (own->discrete() ? 1 : 2) * width);
    {
      const nb::gil_scoped_release released;
      own->distribution(centre, {rows.data(), rows.size()}, out);
    }
    return own->discrete() ? owned_array(std::move(out), {n, width})
                           : owned_array(std::move(out), {n, 2, width});
  }

  void export_to(const std::string& folder) const {
    const auto policies = policies_of(folder_, run_, PolicySource::kCentres);
    ExportOrigin origin{folder_.path().string(), run_.record.method, PolicySource::kCentres, {}};
    origin.episodes.resize(static_cast<std::size_t>(policies->count()));
    for (const auto label : run_.labels) ++origin.episodes[static_cast<std::size_t>(label)];
    export_policies(*policies, origin, {}, folder);
  }

  /// The page; `data` is the dataset of the run where it has no file.
  std::string report(const PyDataset* data) const {
    const nb::gil_scoped_release released;
    if (data) return report_page(report_record(folder_, data->dataset.data, pictures_of(*data)));
    const auto found = load_dataset(run_.record, "");
    return report_page(report_record(folder_, found, pictures_of_record()));
  }

 private:
  static std::filesystem::path ffmpeg() {
    const char* search_path = std::getenv("PATH");
    return find_program("ffmpeg", search_path ? search_path : "");
  }
  PictureOptions pictures_of_record() const {
    return {.files = dataset_files(run_.record, "", "data"),
            .format = format_named(run_.record.dataset.at("format").get<std::string>()),
            .ffmpeg = ffmpeg()};
  }
  /// None where the dataset is arrays of the caller's.
  static PictureOptions pictures_of(const PyDataset& data) {
    auto files = data.dataset.files;
    if (files.empty() && std::filesystem::exists(data.dataset.path)) files = {data.dataset.path};
    return {.files = std::move(files), .format = data.dataset.format, .ffmpeg = ffmpeg()};
  }
  static RunContext context(int threads) {
    RunContext run;
    run.pool = std::make_shared<ThreadPool>(threads);
    return run;
  }
  const PolicyCentres* policies() const {
    return dynamic_cast<const PolicyCentres*>(run_.centres.get());
  }

  RunFolder folder_;
  LoadedRun run_;
};

}  // namespace

void bind_run(nb::module_& module) {
  nb::class_<PyRun>(module, "Run")
      .def(nb::init<const std::string&>(), nb::arg("folder"))
      .def_prop_ro("folder", &PyRun::folder)
      .def_prop_ro("episodes", &PyRun::episodes)
      .def_prop_ro("can_act", &PyRun::can_act)
      .def("labels", &PyRun::labels)
      .def("margins", &PyRun::margins)
      .def("labels_of_alternative", &PyRun::labels_of_alternative, nb::arg("number"))
      .def("score", &PyRun::score, nb::arg("data"), nb::arg("threads"))
      .def("assign", &PyRun::assign, nb::arg("data"), nb::arg("false_alarms"), nb::arg("threads"))
      .def("distribution", &PyRun::distribution, nb::arg("centre"), nb::arg("observations"))
      .def("export", &PyRun::export_to, nb::arg("folder"))
      .def("report", &PyRun::report, nb::arg("data").none());
}

}  // namespace kindred::python
