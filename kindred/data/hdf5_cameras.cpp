// Pictures in HDF5 files with a group per episode: arrays of bytes [steps, height, width, colours].
#include "kindred/core/error.h"
#include "kindred/data/cameras.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/image.h"

namespace kindred {
namespace {

constexpr std::int64_t kSmallestSide = 8, kLargestPictureSide = 1 << 14;

bool is_picture_shape(const std::vector<std::int64_t>& shape) {
  const auto is_side = [](std::int64_t side) {
    return side >= kSmallestSide && side <= kLargestPictureSide;
  };
  return shape.size() == 4 && is_side(shape[1]) && is_side(shape[2]) &&
         (shape[3] == 1 || shape[3] == 3 || shape[3] == 4);
}

bool holds_pictures(const hdf5::InputFile& file, const std::string& name) {
  if (!file.has_dataset(name)) return false;
  try {
    const auto array = file.dataset(name);
    return array.is_byte() && !array.is_bool() && is_picture_shape(array.shape());
  } catch (const DataFormatError&) {
    return false;  // nor does anything else that cannot be read
  }
}

/// "agentview" for "agentview_image".
std::string camera_name(const std::string& array) {
  const auto name = array.substr(array.rfind('/') + 1);
  for (const std::string suffix : {"_image", "_rgb"})
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

class Hdf5Cameras : public Cameras {
 public:
  Hdf5Cameras(const std::filesystem::path& path, Format format)
      : file_(path), robomimic_(format == Format::kRobomimic) {
    const auto groups = robomimic_ ? hdf5::numbered_children(file_, "data", "demo_")
                                   : hdf5::numbered_children(file_, "", "episode_");
    if (!groups.empty()) find_cameras(groups[0]);
  }

  const std::vector<std::string>& names() const override { return names_; }

  bool has(const std::string& episode) const override { return file_.has_group(group(episode)); }

  std::vector<std::string> look(std::size_t camera, const std::string& episode,
                                std::span<const std::int64_t> steps) override {
    std::vector<std::string> pictures(steps.size());
    const auto name = hdf5::join(group(episode), arrays_[camera]);
    if (!holds_pictures(file_, name)) return pictures;
    const auto array = file_.dataset(name);
    const auto& shape = array.shape();
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(array.row_size()));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] >= array.rows()) continue;
      array.read_row(steps[i], pixels.data());
      pictures[i] =
          encode_jpeg(shrunk(image_of(pixels.data(), shape[2], shape[1], shape[3]), kPictureWidth));
    }
    return pictures;
  }

 private:
  std::string group(const std::string& episode) const {
    return robomimic_ ? hdf5::join("data", episode) : episode;
  }

  void find_cameras(const std::string& first) {
    const std::string dictionary = robomimic_ ? "obs" : "observations";
    const auto place = hdf5::join(first, dictionary);
    if (holds_pictures(file_, place)) arrays_ = {dictionary};
    if (file_.has_group(place))
      for (const auto& child : file_.children(place))
        if (holds_pictures(file_, hdf5::join(place, child)))
          arrays_.push_back(hdf5::join(dictionary, child));
    for (const auto& array : arrays_) names_.push_back(camera_name(array));
  }

  hdf5::InputFile file_;
  bool robomimic_;
  std::vector<std::string> arrays_, names_;
};

}  // namespace

std::unique_ptr<Cameras> open_hdf5_cameras(const std::filesystem::path& file, Format format) {
  auto cameras = std::make_unique<Hdf5Cameras>(file, format);
  return cameras->names().empty() ? nullptr : std::move(cameras);
}

}  // namespace kindred
