// The kindred program: parse, call, print. Exit codes: 0 done, 2 bad input, 1 our fault.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/core/version.h"
#include "kindred/core/words.h"
#include "lost_mapping.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kOurFault = 1;

int run(const std::vector<std::string>& arguments) {
  using namespace kindred::app;
  CLI::App app{"Which trajectories of an offline-RL dataset were produced by the same policy?",
               "kindred"};
  app.set_version_flag("--version", std::string("kindred ") + kindred::kVersion);
  app.require_subcommand(1);
  app.footer(
      "Start here:\n"
      "  kindred generate diagonal -o diagonal.h5\n"
      "  kindred cluster diagonal.h5 -k 7 --merge-to 5 -o run\n"
      "  kindred report run\n"
      "  kindred info your-own-data.hdf5\n"
      "Each command has examples of its own: kindred cluster --help");
  add_generate(app, arguments);
  add_info(app);
  add_cluster(app, arguments);
  add_assign(app);
  add_score(app);
  add_report(app);
  add_compare(app);
  add_label(app);
  add_split(app);
  add_filter(app);
  add_evaluate(app, arguments);
  add_export(app);
  add_render(app);
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
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    throw kindred::InvalidArgument("{}; see 'kindred{} --help'", error.what(),
                                   arguments.empty() ? "" : " " + arguments.front());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  kindred::app::explain_lost_mappings();
  try {
    return run({argv + 1, argv + argc});
  } catch (const kindred::app::Exit& exit) {
    return exit.code;
  } catch (const kindred::NumericError& error) {
    fmt::print(stderr, "kindred: {}\n", kindred::printable(error.what()));
    return kOurFault;
  } catch (const kindred::Error& error) {
    fmt::print(stderr, "kindred: {}\n", kindred::printable(error.what()));
    return kBadInput;
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "kindred: cannot use '{}': {}\n", kindred::printable(error.path1().string()),
               error.code().message());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "kindred: out of memory\n");
    return kOurFault;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kindred: internal error, please report it: {}\n",
               kindred::printable(error.what()));
    return kOurFault;
  }
}
