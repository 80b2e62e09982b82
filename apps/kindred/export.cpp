// kindred export: the policies behind a run's clusters, as files for Python.
#include "kindred/runs/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "kindred/core/error.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  std::string run_folder;
  std::string output;
  std::string data;
  PolicySource source = PolicySource::kCentres;
  bool check = true;
  Common common;
  Flags flags;

  OptionTable describe() {
    return {choice("policies", source, {"centres", "evaluated"},
                   "The run's own centres, by which it labelled; or the policies that 'kindred "
                   "evaluate' let act: trained further, or cloned, they usually act better."),
            text("data", data, "The dataset the run was made from, where it was moved."),
            flag("check", check, "Write check.npz, by which anybody can verify the files.")};
  }

  void run() {
    flags.apply();
    const RunFolder folder(run_folder);
    const LoadedRun fitted = load_run(folder);
    const auto policies = policies_of(folder, fitted, source);
    std::error_code hidden;
    const bool found =
        !data.empty() || fs::exists(fitted.record.dataset.at("path").get<std::string>(), hidden);
    const auto observations = check && found
                                  ? check_observations(*policies, load_dataset(fitted.record, data))
                                  : std::vector<float>();
    export_policies(*policies, origin(fitted), observations, output);
    const auto checked = static_cast<std::int64_t>(observations.size()) / policies->obs_dim();
    tell_result(folder, fitted, *policies, checked);
    emit(common, {{"folder", output},
                  {"method", fitted.record.method},
                  {"policies", policies->count()},
                  {"obs_dim", policies->obs_dim()},
                  {"discrete", policies->discrete()},
                  {"actions", policies->actions()},
                  {"check_observations", checked}});
  }

  ExportOrigin origin(const LoadedRun& fitted) const {
    return {fs::absolute(run_folder).lexically_normal().string(), fitted.record.method, source,
            fitted.record.result.at("sizes").get<std::vector<std::int64_t>>()};
  }

  void tell_result(const RunFolder& folder, const LoadedRun& fitted, const PolicyCentres& policies,
                   std::int64_t checked) const {
    say(fmt::format(
        "{}: {}, {} to {}", fitted.record.method, counted(policies.count(), "policy", "policies"),
        counted(policies.obs_dim(), "observation number", "observation numbers"),
        policies.discrete() ? counted(policies.actions(), "action", "actions")
                            : counted(policies.actions(), "action number", "action numbers")));
    tell("policies", source == PolicySource::kCentres ? "the run's own centres" : "as evaluated");
    if (source == PolicySource::kCentres && fs::exists(folder.policies()))
      tell("", "(--policies evaluated: those that 'kindred evaluate' let act)");
    tell("folder", output);
    if (checked > 0)
      tell("check", fmt::format("python3 {} --check", (fs::path(output) / "example.py").string()));
    else
      tell("check.npz", check ? "left out: the dataset is not there; name it with --data"
                              : "left out, as asked");
  }
};

}  // namespace

void add_export(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred export hopper-run -o policies\n"
      "  kindred export caae-run --policies evaluated -o policies\n"
      "  python3 policies/example.py --check\n"
      "The folder holds policy_0.pt (torch.jit.load), policy_0.npz (numpy.load), … and\n"
      "policies.json, which says in words how to compute with the arrays. Policies take\n"
      "raw observations and scale them themselves.");
  const auto state = std::make_shared<ExportCommand>();
  command.add_option("RUN", state->run_folder, "A finished run folder")->required();
  command.add_option("-o,--output", state->output, "The new folder to write")
      ->required()
      ->type_name("DIR");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Export");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
