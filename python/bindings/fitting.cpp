#include <fmt/format.h>

#include <optional>

#include "bindings.h"
#include "kindred/core/stopwatch.h"
#include "kindred/nn/device.h"
#include "kindred/runs/cluster.h"
#include "kindred/runs/shared_run.h"
#include "ranks.h"
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
class Fit {
 public:
  Fit(const PyDataset& data, const std::string& method, const std::string& options,
      const std::string& preset, const std::string& folder, int threads, const std::string& device,
      bool resume, bool force, Meeting* meeting, const std::shared_ptr<Loss>& loss)
      : data_(data), method_(find_method(method).make()), threads_(threads) {
    require_device(device);
    if (!preset.empty()) method_->use_preset(preset);
    const auto table = method_->describe();
    const auto usual = to_json(table);
    from_json(table, nlohmann::json::parse(options), method);
    request_.dataset = data_.options;
    request_.method = method_.get();
    request_.set_by_user = changed_options(table, usual);
    request_.folder = RunFolder(folder);
    request_.force = force;
    request_.command = "kindred (Python)";
    request_.config = fmt::format("method = \"{}\"\n{}", method, to_toml(table));
    RunContext run;
    run.device = device;
    run.resume = resume;
    if (!meeting) {
      run.pool = std::make_shared<ThreadPool>(threads);
      task_.emplace(std::move(run), [this](const RunContext& context) {
        outcome_ = cluster(request_, data_.dataset, context);
      });
      return;
    }
    invitation_ = meeting->next();
    invitation_.options.on_loss = [loss](const std::string& line) { loss->note(line); };
    task_.emplace(std::move(run), [this, asked = method + " " + request_.config](
                                      const RunContext& context) { share(context, asked); });
  }

  Task& task() { return *task_; }
  const ClusterOutcome& outcome() const { return outcome_; }

 private:
  /// This process's part of a fit that several share; each gets all of the run.
  void share(RunContext run, const std::string& asked) {
    run.communicator = join_group(invitation_.options);
    auto& ranks = *run.communicator;
    try {
      const auto usual = threads_of(ranks);
      run.pool = std::make_shared<ThreadPool>(threads_ > 0 ? threads_ : usual);
      require_alike(asked, "options", ranks);
      require_alike(to_json(fingerprint_of(data_.dataset.data)).dump(), "data", ranks);
      outcome_ = cluster(request_, data_.dataset, run);
      if (outcome_.end == ClusterOutcome::End::kStopped) return ranks.fail("it was asked to stop");
      hand_out(request_.folder, ranks);
      ranks.leave();
    } catch (const PeerLost&) {
      throw;
    } catch (const std::exception& error) {
      ranks.fail(error.what());
      throw;
    }
  }

  PyDataset data_;
  std::unique_ptr<ConfiguredMethod> method_;
  int threads_;
  Meeting::Invitation invitation_;
  ClusterRequest request_;
  ClusterOutcome outcome_;
  std::optional<Task> task_;  // the last: it ends before what it uses
};

/// The fit that Python waits for.
class Job {
 public:
  Job(const PyDataset& data, const std::string& method, const std::string& options,
      const std::string& preset, const std::string& folder, int threads, const std::string& device,
      bool resume, bool force, Meeting* meeting)
      : loss_(meeting ? std::make_shared<Loss>() : nullptr),
        fit_(std::make_unique<Fit>(data, method, options, preset, folder, threads, device, resume,
                                   force, meeting, loss_)) {}
  /// A thread that waits for a process that is gone cannot be woken: it is left behind, with all
  /// that it uses.
  ~Job() {
    if (loss_ && !fit_->task().wait(0.0)) fit_.release();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool wait(double seconds) { return fit_->task().wait(seconds) || is_given_up(); }
  void stop() { fit_->task().stop(); }
  auto progress() { return fit_->task().progress(); }

  /// "finished", "stopped" or "was finished". Throws what ended it.
  std::string result() {
    if (!fit_->task().wait(0.0) && is_given_up()) throw PeerLost("{}", loss_->line());
    fit_->task().check();
    switch (fit_->outcome().end) {
      case ClusterOutcome::End::kStopped:
        return "stopped";
      case ClusterOutcome::End::kWasFinished:
        return "was finished";
      case ClusterOutcome::End::kFinished:
        break;
    }
    return "finished";
  }

  std::int64_t rounds() const { return fit_->outcome().rounds; }

 private:
  /// Another process is gone, and the thread had time enough to notice by itself.
  bool is_given_up() {
    constexpr double kSecondsToNotice = 2.0;
    if (!loss_ || !loss_->known()) return false;
    if (!since_lost_) since_lost_.emplace();
    return since_lost_->seconds() > kSecondsToNotice;
  }

  std::shared_ptr<Loss> loss_;  // none: this process alone
  std::optional<Stopwatch> since_lost_;
  std::unique_ptr<Fit> fit_;
};

}  // namespace

void bind_fitting(nb::module_& module) {
  module.def("describe_methods", &describe_methods);
  module.def("describe_loading", &describe_loading);
  nb::class_<Job>(module, "Job")
      .def(nb::init<const PyDataset&, const std::string&, const std::string&, const std::string&,
                    const std::string&, int, const std::string&, bool, bool, Meeting*>(),
           nb::arg("data"), nb::arg("method"), nb::arg("options"), nb::arg("preset"),
           nb::arg("folder"), nb::arg("threads"), nb::arg("device"), nb::arg("resume"),
           nb::arg("force"), nb::arg("meeting").none())
      .def("wait", &Job::wait, nb::arg("seconds"))
      .def("stop", &Job::stop)
      .def("progress", &Job::progress)
      .def("result", &Job::result)
      .def("rounds", &Job::rounds);
}

}  // namespace kindred::python
