#include "kindred/findings/pictures.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/cameras.h"
#include "kindred/data/join.h"

namespace kindred::findings {
namespace {

constexpr std::size_t kMostCameras = 2;
constexpr std::size_t kMostBytes = 3'000'000;  // in the page
constexpr std::int64_t kManyEpisodes = 500'000;
constexpr std::size_t kMostBytesOfMany = 1'000'000;  // where their columns fill the page

/// Adds the first of every list, then the second of every list, …, where they are not there yet.
void add_by_turns(const Members& lists, std::vector<std::int64_t>& order) {
  std::size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  for (std::size_t i = 0; i < longest; ++i)
    for (const auto& list : lists)
      if (i < list.size() && std::ranges::find(order, list[i]) == order.end())
        order.push_back(list[i]);
}

/// Those of the lists, then the others of the shown ones, of every cluster alike.
std::vector<std::int64_t> most_notable_first(const RunData& found,
                                             const std::vector<NotableList>& lists,
                                             const std::vector<std::int64_t>& shown) {
  Members listed, others(static_cast<std::size_t>(found.k()));
  for (const auto& list : lists) listed.push_back(list.episodes);
  for (const auto episode : shown)
    others[static_cast<std::size_t>(found.label(episode))].push_back(episode);
  std::vector<std::int64_t> order;
  add_by_turns(listed, order);
  add_by_turns(others, order);
  return order;
}

std::string address(const std::string& jpeg) {
  return "data:image/jpeg;base64," + base64(std::as_bytes(std::span(jpeg)));
}

/// The cameras of all files of a dataset as one: those that the first file with any has.
class Album {
 public:
  explicit Album(const PictureOptions& options) : prefixes_(id_prefixes(options.files)) {
    for (const auto& file : options.files) {
      try {
        files_.push_back(open_cameras(file, options.format, options.ffmpeg));
      } catch (const Error& error) {
        files_.push_back(nullptr);
        note(error);
      }
      if (names_.empty() && files_.back()) names_ = files_.back()->names();
    }
    names_.resize(std::min(names_.size(), kMostCameras));
    works_.assign(names_.size(), true);
  }

  const std::vector<std::string>& names() const { return names_; }
  const std::string& problem() const { return problem_; }

  /// [cameras, steps]: addresses, null where there is no picture. A camera that fails is not asked
  /// again.
  Json look(const std::string& id, const std::vector<std::int64_t>& steps) {
    auto all = Json::array();
    for (std::size_t camera = 0; camera < names_.size(); ++camera) {
      auto row = Json::array();
      for (const auto& jpeg : pictures(camera, id, steps))
        row.push_back(jpeg.empty() ? Json() : Json(address(jpeg)));
      all.push_back(row);
    }
    return all;
  }

  bool any_works() const { return std::ranges::find(works_, true) != works_.end(); }

 private:
  std::vector<std::string> pictures(std::size_t camera, const std::string& id,
                                    const std::vector<std::int64_t>& steps) {
    std::vector<std::string> none(steps.size());
    if (!works_[camera]) return none;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto prefix = prefixes_[i] + "/";
      const auto own = id.starts_with(prefix) ? id.substr(prefix.size()) : id;
      if (!files_[i] || !files_[i]->has(own)) continue;
      const auto& here = files_[i]->names();
      const auto number = std::ranges::find(here, names_[camera]) - here.begin();
      if (number == std::ssize(here)) return none;
      try {
        return files_[i]->look(static_cast<std::size_t>(number), own, steps);
      } catch (const Error& error) {
        works_[camera] = false;
        note(error);
        return none;
      }
    }
    return none;
  }

  void note(const Error& error) {
    if (problem_.empty()) problem_ = printable(error.what());
  }

  std::vector<std::string> prefixes_;
  std::vector<std::unique_ptr<Cameras>> files_;
  std::vector<std::string> names_;
  std::vector<bool> works_;  ///< [cameras]
  std::string problem_;
};

std::size_t size_of(const Json& pictures) {
  std::size_t bytes = 0;
  for (const auto& row : pictures)
    for (const auto& one : row)
      if (one.is_string()) bytes += one.get_ref<const std::string&>().size();
  return bytes;
}

}  // namespace

std::vector<std::int64_t> evenly_pictured(std::int64_t length) {
  std::set<std::int64_t> steps;
  for (std::int64_t quarter = 0; quarter <= 4; ++quarter)
    steps.insert((quarter * (length - 1) + 2) / 4);
  return {steps.begin(), steps.end()};
}

Json take_pictures(const Trajectories& data, const PictureOptions& options,
                   const std::vector<PicturedEpisode>& episodes,
                   const std::function<void(std::int64_t, Json)>& keep) {
  if (options.most_episodes == 0) return nullptr;
  Album album(options);
  if (album.names().empty() && album.problem().empty()) return nullptr;
  const auto room = data.episodes() > kManyEpisodes ? kMostBytesOfMany : kMostBytes;
  std::size_t filled = 0;
  std::int64_t kept = 0;
  for (const auto& [episode, steps] : episodes) {
    if (kept == options.most_episodes || !album.any_works()) break;
    auto pictures = album.look(data.ids[static_cast<std::size_t>(episode)], steps);
    const auto size = size_of(pictures);
    if (size == 0) continue;
    if (filled + size > room) break;
    filled += size;
    ++kept;
    keep(episode, {{"steps", steps}, {"cameras", std::move(pictures)}});
  }
  return {{"cameras", album.names()},
          {"episodes", kept},
          {"problem", album.problem().empty() ? Json() : Json(album.problem())}};
}

Json add_pictures(const RunData& found, const std::vector<NotableList>& lists,
                  const PictureOptions& options, Json& trajectories) {
  std::map<std::int64_t, Json*> place;
  std::vector<std::int64_t> shown;
  for (auto& one : trajectories) {
    shown.push_back(one.at("episode"));
    place[shown.back()] = &one;
  }
  std::vector<PicturedEpisode> episodes;
  for (const auto episode : most_notable_first(found, lists, shown))
    episodes.push_back({episode, evenly_pictured(found.data.length(episode))});
  return take_pictures(found.data, options, episodes, [&](std::int64_t episode, Json pictures) {
    (*place.at(episode))["pictures"] = std::move(pictures);
  });
}

}  // namespace kindred::findings
