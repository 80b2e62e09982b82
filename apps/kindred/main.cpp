// The kindred program: parse, call, print. Exit codes: 0 done, 2 bad input, 1 our fault, 3 another
// process of the run was lost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/core/version.h"
#include "kindred/core/words.h"
#include "kindred/core/workers.h"
#include "lost_mapping.h"
#include "ranks.h"
#include "stop_signal.h"
#include "streams.h"

namespace {

using kindred::app::kBadInput;
using kindred::app::kOurFault;

int end_with(int code, const std::string& sentence) {
  kindred::app::write_to_people("kindred: " + kindred::printable(sentence) + "\n");
  return code;
}

struct Command {
  const char* name;
  const char* summary;
  std::function<void(CLI::App&, const std::vector<std::string>&)> add_flags;
};

/// In the order of the help.
std::vector<Command> commands() {
  using namespace kindred::app;
  const auto plain = [](void (*add)(CLI::App&)) {
    return [add](CLI::App& command, const std::vector<std::string>&) { add(command); };
  };
  return {
      {"generate", "Make a labelled dataset from known policies", add_generate},
      {"info", "Show what a dataset holds, and what looks odd", plain(add_info)},
      {"cluster", "Group trajectories by the policy behind them", add_cluster},
      {"assign", "Label new trajectories with a run's centres", plain(add_assign)},
      {"convert", "Write a dataset of any format as a Kindred file", plain(add_convert)},
      {"score", "How well a run predicts and matches the truth", plain(add_score)},
      {"segment", "Find who acted when within episodes", add_segment},
      {"conflicts", "Prove which trajectories differ in policy", plain(add_conflicts)},
      {"report", "Write a page that shows what a run found", plain(add_report)},
      {"compare", "Write a page that shows runs side by side", plain(add_compare)},
      {"label", "Write labels or segments into their dataset", plain(add_label)},
      {"split", "Make one dataset per cluster of a run", plain(add_split)},
      {"filter", "Make a dataset of some clusters or segments", plain(add_filter)},
      {"evaluate", "Roll out the policies behind a run's clusters", add_evaluate},
      {"export", "Write a run's policies for Python: torch and numpy", plain(add_export)},
      {"render", "Draw episodes of a dataset as an SVG picture", plain(add_render)},
      {"colouring", "Make a dataset of a graph to be coloured", plain(add_colouring)},
      {"reproduce", "Measure again what the paper reports, and show it", plain(add_reproduce)},
      {"methods", "List the clustering methods", plain(add_methods)},
      {"envs", "List environments to generate datasets from", plain(add_envs)},
      {"experts", "List or train the policies behind datasets", add_experts},
  };
}

/// The flags of all commands take longer than a short command: only one that is named gets its own.
void add_commands(CLI::App& app, const std::vector<std::string>& arguments) {
  for (const auto& [name, summary, add_flags] : commands()) {
    auto* command = app.add_subcommand(name, summary);
    if (std::ranges::find(arguments, name) != arguments.end()) add_flags(*command, arguments);
  }
  // The library would only say that a command is missing.
  if (!arguments.empty() && !arguments.front().starts_with("-") &&
      app.get_subcommands(
             [&](const CLI::App* command) { return command->get_name() == arguments.front(); })
          .empty())
    throw kindred::InvalidArgument("there is no command '{}'; see 'kindred --help'",
                                   arguments.front());
}

int run(const std::vector<std::string>& arguments) {
  using namespace kindred::app;
  CLI::App app{"Which trajectories of an offline-RL dataset were produced by the same policy?",
               "kindred"};
  app.set_version_flag("--version", std::string("kindred ") + kindred::kVersion);
  app.require_subcommand(1);
  app.footer(
      "Start here:\n"
      "  kindred generate diagonal -o diagonal.h5\n"
      "  kindred cluster diagonal.h5 -o run\n"
      "  kindred report run\n"
      "  kindred info your-own-data.hdf5\n"
      "Each command has examples of its own: kindred cluster --help");
  add_commands(app, arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream asked;
      app.exit(error, asked, asked);
      write_to_programs(asked.str());
      return 0;
    }
    throw kindred::InvalidArgument("{}; see 'kindred{} --help'", error.what(),
                                   arguments.empty() ? "" : " " + arguments.front());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  kindred::app::prepare_streams();
  kindred::app::explain_lost_mappings();
  try {
    return run({argv + 1, argv + argc});
  } catch (const kindred::app::Exit& exit) {
    return exit.code;
  } catch (const kindred::Interrupted&) {
    return end_with(kindred::app::stop_exit_code(), "stopped as asked; nothing was written");
  } catch (const kindred::PeerLost& error) {
    return end_with(kindred::app::kLostPeer, error.what());
  } catch (const kindred::NumericError& error) {
    return end_with(kOurFault, error.what());
  } catch (const kindred::Error& error) {
    return end_with(kBadInput, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return end_with(kBadInput, fmt::format("cannot use '{}': {}", error.path1().string(),
                                           error.code().message()));
  } catch (const nlohmann::json::exception& error) {
    return end_with(
        kBadInput,
        fmt::format("a file does not hold what Kindred once wrote into it: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return end_with(kOurFault, "out of memory");
  } catch (const std::exception& error) {
    return end_with(kOurFault, fmt::format("internal error, please report it: {}", error.what()));
  }
}
