// What cameras saw of the episodes that a page shows step by step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kindred/data/formats.h"
#include "kindred/findings/column.h"
#include "kindred/findings/notable.h"
#include "kindred/findings/run_data.h"

namespace kindred {

/// Where pictures are looked for.
struct PictureOptions {
  std::vector<std::string> files{};  ///< The run's dataset; none: no pictures.
  Format format = Format::kAuto;
  std::filesystem::path ffmpeg{};    ///< What reads videos; empty: they are left alone.
  std::int64_t most_episodes = 200;  ///< As far as the page has room for them.
};

namespace findings {

/// An episode that a page shows, and the steps worth a picture.
struct PicturedEpisode {
  std::int64_t episode = 0;
  std::vector<std::int64_t> steps{};
};

/// First, last, and three between them.
std::vector<std::int64_t> evenly_pictured(std::int64_t length);

/// Gives pictures of the first episodes, as far as the page has room, to `keep`, and returns what
/// the page says of all of them; null where the dataset has none. What cannot be read is no reason
/// to have no page: it is told as `problem`.
Json take_pictures(const Trajectories& data, const PictureOptions& options,
                   const std::vector<PicturedEpisode>& episodes,
                   const std::function<void(std::int64_t episode, Json pictures)>& keep);

/// Adds them to the shown trajectories, of the most notable episodes first.
Json add_pictures(const RunData& found, const std::vector<NotableList>& lists,
                  const PictureOptions& options, Json& trajectories);

}  // namespace findings
}  // namespace kindred
