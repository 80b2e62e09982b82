#include "kindred/data/image.h"

#include <algorithm>

namespace kindred {

Image image_of(const std::uint8_t* pixels, std::int64_t width, std::int64_t height,
               std::int64_t channels) {
  Image image{width, height, {}};
  image.rgb.resize(static_cast<std::size_t>(3 * width * height));
  const std::int64_t apart = channels < 3 ? 0 : 1;  // grey is all three colours
  for (std::int64_t i = 0; i < width * height; ++i)
    for (std::int64_t c = 0; c < 3; ++c)
      image.rgb[static_cast<std::size_t>(3 * i + c)] = pixels[i * channels + c * apart];
  return image;
}

Image shrunk(const Image& image, std::int64_t width) {
  if (image.width <= width) return image;
  const auto height =
      std::max<std::int64_t>(1, (image.height * width + image.width / 2) / image.width);
  Image small{width, height, {}};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const auto left = x * image.width / width, top = y * image.height / height;
      const auto right = std::max(left + 1, (x + 1) * image.width / width);
      const auto bottom = std::max(top + 1, (y + 1) * image.height / height);
      for (std::int64_t c = 0; c < 3; ++c) {
        std::int64_t sum = 0;
        for (auto v = top; v < bottom; ++v)
          for (auto u = left; u < right; ++u) sum += image.pixel(u, v)[c];
        const auto count = (right - left) * (bottom - top);
        small.rgb.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
      }
    }
  return small;
}

}  // namespace kindred
