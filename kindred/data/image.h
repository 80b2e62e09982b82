// Small pictures of what cameras saw: pixels, made smaller, from PNG and to JPEG. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kindred {

struct Image {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  ///< [height, width, 3]

  const std::uint8_t* pixel(std::int64_t x, std::int64_t y) const {
    return rgb.data() + 3 * (y * width + x);
  }
};

/// Pixels with 1 (grey), 2 (grey and opacity), 3 or 4 (colour and opacity) bytes each as an image;
/// opacity is not looked at.
Image image_of(const std::uint8_t* pixels, std::int64_t width, std::int64_t height,
               std::int64_t channels);

/// At most `width` pixels wide, each the mean of those in its place; never larger than it was.
Image shrunk(const Image& image, std::int64_t width);

/// Nothing where it is no PNG of a kind that data have: 8 bits, no palette, not interlaced.
std::optional<Image> decode_png(std::string_view bytes);

/// Baseline JPEG, in good quality for its size.
std::string encode_jpeg(const Image& image);

}  // namespace kindred
