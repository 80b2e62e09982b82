// kindred methods, kindred envs: what there is to choose from.
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "kindred/envs/registry.h"
#include "kindred/methods/method.h"
#include "streams.h"

namespace kindred::app {
namespace {

/// A command that prints `entries`, each with a name and a summary.
template <class Entries>
void add_list(CLI::App& command, const std::string& footer, Entries entries) {
  command.footer(footer);
  const auto common = std::make_shared<Common>();
  common->add_json(command);
  command.callback([=, name = command.get_name()] {
    Json json = Json::array();
    for (const auto& entry : entries()) {
      if (!common->json) write_to_programs(fmt::format("{:<18} {}\n", entry.name, entry.summary));
      json.push_back({{"name", entry.name}, {"summary", entry.summary}});
    }
    emit(*common, {{name, json}});
  });
}

}  // namespace

void add_methods(CLI::App& command) {
  add_list(command, "Options of one method: kindred cluster --method pg-kmeans --help", methods);
}

void add_envs(CLI::App& command) {
  add_list(command, "Options of one environment: kindred generate diagonal --help", environments);
}

}  // namespace kindred::app
