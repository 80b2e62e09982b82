// kindred colouring: a dataset whose valid clusterings are the colourings of a graph.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "kindred/conflicts/reduction.h"
#include "kindred/core/error.h"
#include "kindred/data/formats.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

struct ColouringCommand {
  std::string graph_name;
  std::string output;
  std::string format = "kindred";
  std::int64_t seed = 0;
  std::int64_t copies = 1;
  EdgeStates states = EdgeStates::kOwn;
  Common common;
  Flags flags;

  OptionTable describe() {
    return {choice("states", states, {"own", "printed"},
                   "A state for each edge; or as the paper prints Algorithm 2, which lets edges "
                   "share states and so makes conflicts that the graph does not have."),
            integer("copies", copies, 1, 10'000, "Trajectories of each vertex, all alike."),
            integer("seed", seed, 0, 1'000'000'000, "Draws a random graph."),
            text("format", format, "Format of the file: kindred, d4rl, minari, robomimic or npz.")};
  }

  void run() {
    flags.apply();
    const auto file_format = format_named(format);
    if (file_format == Format::kAuto)
      throw InvalidArgument("a new file needs a format: kindred, d4rl, minari, robomimic or npz");
    std::error_code error;
    const auto graph = fs::exists(graph_name, error)
                           ? read_dimacs(graph_name)
                           : known_graph(graph_name, static_cast<std::uint64_t>(seed));
    auto data = dataset_of(graph, states, copies);
    data.provenance["graph"] = graph_name;
    write_trajectories(data, output, file_format);
    say(fmt::format("{}: {} for each of {}, a conflict for each of {}", graph_name,
                    copies == 1 ? "a trajectory" : grouped(copies) + " trajectories",
                    counted(graph.vertices, "vertex", "vertices"),
                    counted(std::ssize(graph.edges), "edge", "edges")));
    tell("states", grouped(data.observations.distinct()));
    tell("steps", fmt::format("{} of each trajectory", grouped(data.length(0))));
    tell("file", output);
    emit(common, {{"path", output},
                  {"vertices", graph.vertices},
                  {"edges", graph.edges.size()},
                  {"states", data.observations.distinct()},
                  {"length", data.length(0)}});
  }
};

}  // namespace

void add_colouring(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred colouring petersen -o petersen.h5\n"
      "  kindred colouring queens-8 -o queens.h5\n"
      "  kindred colouring random-100-4.6 --seed 3 -o hard.h5\n"
      "  kindred colouring my-graph.col -o mine.h5\n"
      "GRAPH is a file in DIMACS .col form, or petersen, cycle-N, complete-N, queens-N,\n"
      "mycielski-N, random-VERTICES-DEGREE. A clustering of the dataset without\n"
      "conflicts inside is a colouring: kindred conflicts petersen.h5 finds one.");
  const auto state = std::make_shared<ColouringCommand>();
  command.add_option("GRAPH", state->graph_name, "A .col file or the name of a graph")->required();
  command.add_option("-o,--output", state->output, "The file to write")
      ->required()
      ->type_name("FILE");
  state->common.add_json(command);
  state->flags.add(command, state->describe(), "Dataset");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
