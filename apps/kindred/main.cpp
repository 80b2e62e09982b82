// The kindred program: parse, call, print. Exit codes: 0 done, 2 bad input, 1 our fault, 3 another
// process of the run was lost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
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
  add_generate(app, arguments);
  add_info(app);
  add_cluster(app, arguments);
  add_assign(app);
  add_convert(app);
  add_score(app);
  add_segment(app, arguments);
  add_conflicts(app);
  add_report(app);
  add_compare(app);
  add_label(app);
  add_split(app);
  add_filter(app);
  add_evaluate(app, arguments);
  add_export(app);
  add_render(app);
  add_colouring(app);
  add_reproduce(app);
  add_methods(app);
  add_envs(app);
  add_experts(app, arguments);
  // The library would only say that a command is missing.
  if (!arguments.empty() && !arguments.front().starts_with("-") &&
      app.get_subcommands(
             [&](const CLI::App* command) { return command->get_name() == arguments.front(); })
          .empty())
    throw kindred::InvalidArgument("there is no command '{}'; see 'kindred --help'",
                                   arguments.front());
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
