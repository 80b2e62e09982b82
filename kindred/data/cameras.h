// What the cameras of a dataset saw, as small pictures for a page: of robomimic and Minari files
// the arrays of pixels, of LeRobot folders pictures in the data and frames of the videos.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/formats.h"

namespace kindred {

inline constexpr std::int64_t kPictureWidth = 160;

class Cameras {
 public:
  virtual ~Cameras() = default;

  /// What they are called; at least one.
  virtual const std::vector<std::string>& names() const = 0;
  /// Whether the dataset has an episode with this id.
  virtual bool has(const std::string& episode) const = 0;
  /// A JPEG at most kPictureWidth pixels wide for each of the steps, which increase; empty where
  /// there is none. Throws IoError or DataFormatError when the dataset does not give them,
  /// InvalidArgument when ffmpeg is needed and there is none.
  virtual std::vector<std::string> look(std::size_t camera, const std::string& episode,
                                        std::span<const std::int64_t> steps) = 0;
};

/// Null where the dataset has no pictures or its format none that are known. `ffmpeg` reads videos;
/// empty: it is not there. Throws as readers do.
std::unique_ptr<Cameras> open_cameras(const std::filesystem::path& dataset, Format format,
                                      const std::filesystem::path& ffmpeg);

/// The same of one format. Internal.
std::unique_ptr<Cameras> open_hdf5_cameras(const std::filesystem::path& file, Format format);
std::unique_ptr<Cameras> open_lerobot_cameras(const std::filesystem::path& folder,
                                              const std::filesystem::path& ffmpeg);

}  // namespace kindred
