#include "kindred/envs/registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/envs/bandit.h"
#include "kindred/envs/diagonal.h"
#include "kindred/envs/mujoco/locomotion.h"
#include "kindred/envs/takeball.h"

namespace kindred {
namespace {

template <class Made>
class OptionsOf final : public EnvironmentOptions {
 public:
  OptionTable describe() override { return options_.describe(); }
  std::unique_ptr<Environment> make() const override { return std::make_unique<Made>(options_); }

 private:
  typename Made::Options options_;
};

template <class Made>
EnvironmentInfo info() {
  return {Made::kName, Made::kSummary, []() -> std::unique_ptr<EnvironmentOptions> {
            return std::make_unique<OptionsOf<Made>>();
          }};
}

class OptionsOfTask final : public EnvironmentOptions {
 public:
  explicit OptionsOfTask(const LocomotionTask& task) : task_(task) {}
  OptionTable describe() override { return options_.describe(task_); }
  std::unique_ptr<Environment> make() const override { return make_locomotion(task_, options_); }

 private:
  const LocomotionTask& task_;
  LocomotionOptions options_;
};

std::vector<EnvironmentInfo> list_environments() {
  std::vector all = {info<Diagonal>(), info<Takeball>(), info<TakeballPermuted>(), info<Bandit>()};
  for (const auto& task : locomotion_tasks())
    all.push_back({task.name, task.summary,
                   [&task] { return std::make_unique<OptionsOfTask>(task); }, has_mujoco()});
  return all;
}

}  // namespace

std::span<const EnvironmentInfo> environments() {
  static const auto all = list_environments();
  return all;
}

const EnvironmentInfo& find_environment(std::string_view name) {
  const auto all = environments();
  const auto found = std::ranges::find(all, name, &EnvironmentInfo::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const auto& known : all) names.push_back(known.name);
  throw InvalidArgument("unknown environment '{}'; there are {}", name, fmt::join(names, ", "));
}

std::unique_ptr<Environment> make_environment(std::string_view name,
                                              const nlohmann::json& options) {
  const auto chosen = find_environment(name).make_options();
  from_json(chosen->describe(), options, name);
  return chosen->make();
}

}  // namespace kindred
