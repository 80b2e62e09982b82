#include <fmt/format.h>

#include <optional>

#include "bindings.h"
#include "kindred/nn/device.h"
#include "kindred/runs/cluster.h"
#include "task.h"

namespace kindred::python {
namespace {

const char* name_of(OptionKind kind) {
  switch (kind) {
    case OptionKind::kFlag:
      return "flag";
    case OptionKind::kInteger:
      return "integer";
    case OptionKind::kReal:
      return "real";
    case OptionKind::kChoice:
      return "choice";
    case OptionKind::kTexts:
      return "texts";
    case OptionKind::kText:
      break;
  }
  return "text";
}

nlohmann::ordered_json described(const OptionTable& table) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& option : table)
    json.push_back({{"name", option.name},
                    {"help", option.help},
                    {"kind", name_of(option.kind)},
                    {"choices", option.choices},
                    {"default", option.get()}});
  return json;
}

/// Every method with its options, as they are described to the command line.
std::string describe_methods() {
  auto json = nlohmann::ordered_json::array();
  for (const auto& method : methods())
    json.push_back({{"name", method.name},
                    {"summary", method.summary},
                    {"options", described(method.make()->describe())}});
  return json.dump();
}

/// How a dataset can be read, and which of its episodes are taken.
std::string describe_loading() {
  DatasetOptions options;
  OptionTable table;
  for (auto part : {options.describe_reading(), options.describe_selection(),
                    options.describe_truth(), options.describe_memory()})
    table.insert(table.end(), part.begin(), part.end());
  return described(table).dump();
}

/// A clustering on a thread of its own.
class Job {
 public:
  Job(const PyDataset& data, const std::string& method, const std::string& options,
      const std::string& preset, const std::string& folder, int threads, const std::string& device,
      bool resume, bool force)
      : data_(data), method_(find_method(method).make()) {
    require_device(device);
    if (!preset.empty()) method_->use_preset(preset);
    const auto table = method_->describe();
    from_json(table, nlohmann::json::parse(options), method);
    request_.dataset = data_.options;
    request_.method = method_.get();
    request_.folder = RunFolder(folder);
    request_.force = force;
    request_.command = "kindred (Python)";
    request_.config = fmt::format("method = \"{}\"\n{}", method, to_toml(table));
    RunContext run;
    run.pool = std::make_shared<ThreadPool>(threads);
    run.device = device;
    run.resume = resume;
    task_.emplace(std::move(run), [this](const RunContext& context) {
      outcome_ = cluster(request_, data_.dataset, context);
    });
  }

  bool wait(double seconds) { return task_->wait(seconds); }
  void stop() { task_->stop(); }
  auto progress() { return task_->progress(); }

  /// "finished", "stopped" or "was finished". Throws what ended it.
  std::string result() {
    task_->check();
    switch (outcome_.end) {
      case ClusterOutcome::End::kStopped:
        return "stopped";
      case ClusterOutcome::End::kWasFinished:
        return "was finished";
      case ClusterOutcome::End::kFinished:
        break;
    }
    return "finished";
  }

  std::int64_t rounds() const { return outcome_.rounds; }

 private:
  PyDataset data_;
  std::unique_ptr<ConfiguredMethod> method_;
  ClusterRequest request_;
  ClusterOutcome outcome_;
  std::optional<Task> task_;  // the last: it ends before what it uses
};

}  // namespace

void bind_fitting(nb::module_& module) {
  module.def("describe_methods", &describe_methods);
  module.def("describe_loading", &describe_loading);
  nb::class_<Job>(module, "Job")
      .def(nb::init<const PyDataset&, const std::string&, const std::string&, const std::string&,
                    const std::string&, int, const std::string&, bool, bool>(),
           nb::arg("data"), nb::arg("method"), nb::arg("options"), nb::arg("preset"),
           nb::arg("folder"), nb::arg("threads"), nb::arg("device"), nb::arg("resume"),
           nb::arg("force"))
      .def("wait", &Job::wait, nb::arg("seconds"))
      .def("stop", &Job::stop)
      .def("progress", &Job::progress)
      .def("result", &Job::result)
      .def("rounds", &Job::rounds);
}

}  // namespace kindred::python
