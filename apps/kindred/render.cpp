// kindred render: pictures of episodes.
#include "kindred/render/render.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "command.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/runs/run.h"

namespace kindred::app {
namespace {

constexpr std::int64_t kMostEpisodes = 100;

struct RenderCommand {
  std::string output;
  std::string run_folder;
  std::vector<std::int64_t> episodes;
  std::int64_t count = 0;
  Common common;
  DatasetOptions dataset;
  RenderOptions options;
  Flags flags;

  OptionTable describe_episodes() {
    return {integers("episode", episodes,
                     "Numbers of the episodes to draw, such as 0,5,9; by default 0."),
            integer("count", count, 0, kMostEpisodes,
                    "Draw this many episodes, the first of each group; 0: those of --episode."),
            text("run", run_folder, "A run folder: show and choose by the clusters it found.")};
  }

  void run() {
    flags.apply();
    const Trajectories data = dataset.load().data;
    if (!run_folder.empty()) options.clusters = clusters_of(data);
    const auto chosen = choose(data);
    const auto kind =
        options.as == Drawing::kAuto ? choose_drawing(data, chosen.front()) : options.as;
    const std::string picture = draw_trajectories(data, chosen, options);
    write_text(output, picture);

    say(fmt::format("{}: drawn as {}", dataset.files[0], name_of(kind)));
    tell("episodes", fmt::format("{}", fmt::join(chosen, ", ")));
    tell("picture",
         fmt::format("{}  ({} bytes)", output, grouped(static_cast<std::int64_t>(picture.size()))));
    emit(common, {{"picture", output},
                  {"drawn_as", name_of(kind)},
                  {"episodes", chosen},
                  {"bytes", picture.size()}});
  }

  std::vector<std::int32_t> clusters_of(const Trajectories& data) const {
    const auto run = load_run(RunFolder(run_folder));
    require_same_data(run.record.fingerprint(), fingerprint_of(data), dataset.files[0]);
    return run.labels;
  }

  std::vector<std::int64_t> choose(const Trajectories& data) const {
    if (count > 0 && !episodes.empty())
      throw InvalidArgument("--episode and --count both say what to draw; give one of them");
    if (episodes.size() > kMostEpisodes)
      throw InvalidArgument("one picture holds {} episodes, not {}", kMostEpisodes,
                            episodes.size());
    if (count > 0) {
      const std::span groups = options.clusters;
      return representative_episodes(data.episodes(), groups.empty() ? data.labels.span() : groups,
                                     count);
    }
    return episodes.empty() ? std::vector<std::int64_t>{0} : episodes;
  }
};

}  // namespace

void add_render(CLI::App& command) {
  command.footer(
      "Examples:\n"
      "  kindred render takeball.h5 --episode 12 -o walk.svg\n"
      "  kindred render takeball.h5 --episode 12 --frames --dark -o frames.svg\n"
      "  kindred render diagonal.h5 --run run --count 6 -o clusters.svg\n"
      "  kindred render hopper.hdf5 --episode 0,150 --dimensions 0,1,5 -o curves.svg\n"
      "Gridworlds are drawn as ways on their map, path-following as ways in the plane,\n"
      "and all else as curves over time.");
  const auto state = std::make_shared<RenderCommand>();
  command.add_option("FILE", state->dataset.files, "The dataset")->required()->expected(1);
  command.add_option("-o,--output", state->output, "The SVG file to write")
      ->required()
      ->type_name("SVG");
  state->common.add_json(command);
  state->flags.add(command, state->describe_episodes(), "Episodes");
  state->flags.add(command, state->options.describe(), "Picture");
  state->flags.add(command, state->dataset.describe_reading(), "Reading");
  state->flags.add(command, state->dataset.describe_truth(), "Truth");
  state->flags.add_uniform(command);
  state->flags.add_config(command);
  command.callback([state] { state->run(); });
}

}  // namespace kindred::app
