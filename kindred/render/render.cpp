#include "kindred/render/render.h"

#include <algorithm>
#include <map>
#include <memory>

#include "kindred/core/error.h"
#include "kindred/render/dimension_names.h"
#include "kindred/render/episode.h"
#include "kindred/render/grid_scene.h"
#include "kindred/render/pictures.h"
#include "kindred/render/theme.h"

namespace kindred {
namespace {

const std::vector<std::string> kDrawingNames = {"auto", "grid", "path", "curves"};

Drawing drawing_for(const render::Episode& episode, const std::string& environment) {
  if (environment == "path-following" && render::shows_path(episode)) return Drawing::kPath;
  if (episode.is_discrete() && episode.action_width <= kMoves &&
      find_grid_shape(episode.observation(0)))
    return Drawing::kGrid;
  return Drawing::kCurves;
}

std::unique_ptr<render::Picture> make_picture(const Trajectories& data,
                                              std::span<const render::Episode> episodes,
                                              const RenderOptions& options) {
  const auto& theme = render::theme(options.dark);
  const auto environment = environment_of(data);
  const auto as =
      options.as == Drawing::kAuto ? drawing_for(episodes.front(), environment) : options.as;
  if (options.frames && as != Drawing::kGrid)
    throw InvalidArgument("frames can be drawn of gridworlds only, and this is drawn as {}",
                          name_of(as));
  if (!options.dimensions.empty() && as != Drawing::kCurves)
    throw InvalidArgument("dimensions can be chosen for curves only, and this is drawn as {}",
                          name_of(as));
  switch (as) {
    case Drawing::kGrid:
      return options.frames ? render::make_frames_picture(episodes, theme, object_in(environment))
                            : render::make_grid_picture(episodes, theme, object_in(environment));
    case Drawing::kPath:
      return render::make_path_picture(episodes, theme);
    default:
      return render::make_curves_picture(episodes, theme, environment, options.dimensions);
  }
}

}  // namespace

std::string environment_of(const Trajectories& data) {
  const auto said = [&](const char* key) {
    const auto found = data.provenance.find(key);
    return found != data.provenance.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto named = said("environment");
  return named.empty() ? std::string(render::environment_in(said("source"))) : named;
}

std::string object_in(const std::string& environment) {
  if (environment.starts_with("takeball")) return "ball";
  return environment == "extra" ? "special cell" : "object";
}

OptionTable RenderOptions::describe() {
  return {
      choice("as", as, kDrawingNames, "What to draw; auto chooses it from the data."),
      flag("frames", frames, "Draw every step of a gridworld as a small map of its own."),
      flag("dark", dark, "Draw on a dark ground."),
      integers("dimensions", dimensions,
               "Which dimensions of the observations to draw as curves, such as 0,1,5; by default "
               "the first twelve."),
  };
}

std::string_view name_of(Drawing drawing) {
  return kDrawingNames[static_cast<std::size_t>(drawing)];
}

Drawing choose_drawing(const Trajectories& data, std::int64_t episode) {
  return drawing_for(render::take_episode(data, episode, {}), environment_of(data));
}

std::string draw_trajectory(const Trajectories& data, std::int64_t episode,
                            const RenderOptions& options) {
  return draw_trajectories(data, {&episode, 1}, options);
}

std::string draw_trajectories(const Trajectories& data, std::span<const std::int64_t> episodes,
                              const RenderOptions& options) {
  if (episodes.empty()) throw InvalidArgument("there is no episode to draw");
  const auto clusters = static_cast<std::int64_t>(options.clusters.size());
  if (clusters > 0 && clusters != data.episodes())
    throw InvalidArgument("clusters of {} episodes were given, but the dataset holds {}", clusters,
                          data.episodes());
  std::vector<render::Episode> taken;
  for (const auto episode : episodes)
    taken.push_back(render::take_episode(data, episode, options.clusters));
  return render::draw_sheet(*make_picture(data, taken, options), taken,
                            render::theme(options.dark));
}

std::vector<std::int64_t> representative_episodes(std::int64_t episodes,
                                                  std::span<const std::int32_t> groups,
                                                  std::int64_t count) {
  struct Candidate {
    std::int64_t place, group, episode;  // the place within its group
  };
  std::map<std::int64_t, std::int64_t> seen;
  std::vector<Candidate> candidates;
  for (std::int64_t i = 0; i < episodes; ++i) {
    const std::int64_t group = groups.empty() ? 0 : groups[static_cast<std::size_t>(i)];
    candidates.push_back({seen[group]++, group, i});
  }
  std::ranges::stable_sort(candidates, {},
                           [](const auto& c) { return std::pair(c.place, c.group); });
  candidates.resize(static_cast<std::size_t>(std::min(count, episodes)));
  std::ranges::stable_sort(candidates, {}, &Candidate::group);
  std::vector<std::int64_t> chosen;
  for (const auto& candidate : candidates) chosen.push_back(candidate.episode);
  return chosen;
}

}  // namespace kindred
