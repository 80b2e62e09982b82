// Pictures of LeRobot folders: encoded in the data, or frames of videos, which ffmpeg reads.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kindred/core/child_process.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/words.h"
#include "kindred/data/cameras.h"
#include "kindred/data/image.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/parquet_pictures.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSmallEnough = 48 << 10;  // bytes of a picture that is kept as it is
constexpr std::chrono::seconds kVideoLimit{30};

bool is_jpeg(const std::string& bytes) { return bytes.starts_with("\xff\xd8\xff"); }

/// Where the frames of an episode are.
struct VideoPlace {
  fs::path file;
  double begin = 0.0;  ///< Seconds.
};

/// "front" for "observation.images.front".
std::string short_name(const std::string& feature) {
  for (const std::string prefix : {"observation.images.", "observation."})
    if (feature.size() > prefix.size() && feature.starts_with(prefix))
      return printable(feature.substr(prefix.size()));
  return printable(feature);
}

/// An input for each moment, and an output of its first frame. It reads this file and nothing else.
std::vector<std::string> ffmpeg_arguments(const fs::path& file,
                                          const std::vector<double>& seconds) {
  std::vector<std::string> arguments;
  const auto add = [&](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
  };
  add({"-nostdin", "-loglevel", "quiet"});
  for (const double second : seconds) {
    add({"-protocol_whitelist", "file", "-threads", "1"});
    add({"-ss", fmt::format("{:.6f}", second), "-i", "file:" + file.string()});
  }
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    add({"-map", fmt::format("{}:v:0", i), "-frames:v", "1"});
    add({"-vf", fmt::format("scale='min({},iw)':-2", kPictureWidth), "-pix_fmt", "yuvj420p"});
    add({"-c:v", "mjpeg", "-q:v", "5", "-f", "image2pipe"});
    add({fmt::format("pipe:{}", kFirstChildOutput + i)});
  }
  return arguments;
}

class LerobotCameras : public Cameras {
 public:
  LerobotCameras(const fs::path& path, fs::path ffmpeg)
      : folder_(open_lerobot(path)), ffmpeg_(std::move(ffmpeg)) {
    for (const auto& [name, feature] : folder_.info["features"].items())
      if (feature["dtype"] == "image" || feature["dtype"] == "video") features_.push_back(name);
    for (const auto& feature : features_) names_.push_back(short_name(feature));
    std::vector<std::int64_t> rows(folder_.data_files.size(), 0);
    for (std::size_t i = 0; i < folder_.episodes.size(); ++i) {
      const auto& episode = folder_.episodes[i];
      first_row_.push_back(rows[episode.data_file]);
      rows[episode.data_file] += episode.length;
      number_of_[std::to_string(episode.number)] = i;
    }
  }

  const std::vector<std::string>& names() const override { return names_; }

  bool has(const std::string& episode) const override { return number_of_.contains(episode); }

  std::vector<std::string> look(std::size_t camera, const std::string& episode,
                                std::span<const std::int64_t> steps) override {
    const auto number = number_of_.at(episode);
    const auto& feature = features_[camera];
    return folder_.info["features"][feature]["dtype"] == "video"
               ? video_frames(video_of(feature, number), steps)
               : data_pictures(feature, number, steps);
  }

 private:
  std::vector<std::string> data_pictures(const std::string& feature, std::size_t number,
                                         std::span<const std::int64_t> steps) const {
    std::vector<std::int64_t> rows;
    for (const auto step : steps) rows.push_back(first_row_[number] + step);
    const auto& file = folder_.data_files[folder_.episodes[number].data_file];
    std::vector<std::string> pictures;
    for (const auto& found : read_parquet_pictures(file, feature, rows))
      pictures.push_back(small_picture(found, feature));
    return pictures;
  }

  std::string small_picture(const ParquetPicture& found, const std::string& feature) const {
    if (found.bytes.empty() && found.path.empty()) return "";
    const auto bytes = found.bytes.empty() ? read_text(inside(found.path)) : found.bytes;
    if (const auto image = decode_png(bytes)) return encode_jpeg(shrunk(*image, kPictureWidth));
    if (is_jpeg(bytes) && bytes.size() <= kSmallEnough) return bytes;
    throw DataFormatError(
        "'{}' has pictures in '{}' that are neither 8-bit PNG nor small JPEG, so they are not "
        "shown",
        folder_.root.string(), printable(feature));
  }

  fs::path inside(const fs::path& path) const {
    if (path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end())
      throw DataFormatError("'{}' has a picture at '{}', expected one inside the folder",
                            folder_.root.string(), printable(path.string()));
    return folder_.root / path;
  }

  VideoPlace video_of(const std::string& feature, std::size_t number) {
    const auto& episode = folder_.episodes[number];
    if (!folder_.many_in_a_file)
      return {folder_.video_path(feature, episode.number / folder_.chunk_size(), episode.number)};
    auto& places = shared_videos_[feature];
    if (places.empty()) places = read_shared_videos(feature);
    return places[number];
  }

  /// [episodes]
  std::vector<VideoPlace> read_shared_videos(const std::string& feature) const {
    const auto table = open_parquet_table(folder_.episode_files);
    const auto column = [&](const char* name) {
      return fmt::format("videos/{}/{}", feature, name);
    };
    const auto chunks = table->read<std::int64_t>(column("chunk_index"), 0, table->rows());
    const auto files = table->read<std::int64_t>(column("file_index"), 0, table->rows());
    const auto begins = table->read<double>(column("from_timestamp"), 0, table->rows());
    std::vector<VideoPlace> places;
    for (std::size_t i = 0; i < chunks.size(); ++i)
      places.push_back({folder_.video_path(feature, chunks[i], files[i]), begins[i]});
    return places;
  }

  std::vector<std::string> video_frames(const VideoPlace& video,
                                        std::span<const std::int64_t> steps) const {
    if (ffmpeg_.empty())
      throw InvalidArgument("'{}' keeps its pictures in videos; install ffmpeg to see some of them",
                            folder_.root.string());
    if (!fs::is_regular_file(video.file))
      throw IoError("there is no video '{}', so there are no pictures", video.file.string());
    const auto stated = folder_.info.value("fps", nlohmann::ordered_json());
    const double fps = stated.is_number() ? stated.get<double>() : 0.0;
    if (!(fps > 0.0))
      throw DataFormatError("'{}' has no fps, expected frames per second of its videos",
                            folder_.info_file().string());
    std::vector<double> seconds;  // half a frame early: the next one is the one that is meant
    for (const auto step : steps)
      seconds.push_back(std::max(0.0, video.begin + (static_cast<double>(step) - 0.5) / fps));
    auto outcome =
        run_program(ffmpeg_, ffmpeg_arguments(video.file, seconds), seconds.size(), kVideoLimit);
    for (auto& picture : outcome.outputs)
      if (!is_jpeg(picture)) picture.clear();
    const bool none = std::ranges::all_of(outcome.outputs, &std::string::empty);
    if (none || outcome.late)
      throw IoError("'{}' {} reading '{}'", ffmpeg_.string(),
                    outcome.problem.empty() ? "found no frame" : outcome.problem,
                    video.file.string());
    return std::move(outcome.outputs);
  }

  LerobotFolder folder_;
  fs::path ffmpeg_;
  std::vector<std::string> features_, names_;
  std::vector<std::int64_t> first_row_;           ///< [episodes], in their data file.
  std::map<std::string, std::size_t> number_of_;  ///< In the folder's episodes, by id.
  std::map<std::string, std::vector<VideoPlace>> shared_videos_;
};

}  // namespace

std::unique_ptr<Cameras> open_lerobot_cameras(const fs::path& folder, const fs::path& ffmpeg) {
  auto cameras = std::make_unique<LerobotCameras>(folder, ffmpeg);
  return cameras->names().empty() ? nullptr : std::move(cameras);
}

}  // namespace kindred
