#include "kindred/data/cameras.h"

#include "kindred/data/format_readers.h"

namespace kindred {

std::unique_ptr<Cameras> open_cameras(const std::filesystem::path& dataset, Format format,
                                      const std::filesystem::path& ffmpeg) {
  if (format == Format::kLerobot) return open_lerobot_cameras(dataset, ffmpeg);
  if (format == Format::kRobomimic) return open_hdf5_cameras(dataset, format);
  if (format == Format::kMinari) {
    const bool folder = std::filesystem::is_directory(dataset);
    const auto file = folder ? minari_main_file(dataset) : dataset;
    if (!file.empty()) return open_hdf5_cameras(file, format);
  }
  return nullptr;
}

}  // namespace kindred
