// PNG as cameras' frames are kept in: 8 bits, no palette, not interlaced.
#include <zlib.h>

#include <array>
#include <cstdlib>

#include "kindred/data/image.h"

namespace kindred {
namespace {

constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";
constexpr std::int64_t kLargestSide = 1 << 14;
constexpr std::array<int, 7> kPngChannels = {1, 0, 3, 0, 2, 0, 4};  // by the type of colour

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

struct PngParts {
  std::string_view header;
  std::string compressed;
};

/// The two chunks that matter; nothing where the file is cut short.
std::optional<PngParts> png_parts(std::string_view rest) {
  if (!rest.starts_with(kPngSignature)) return std::nullopt;
  rest.remove_prefix(kPngSignature.size());
  PngParts parts;
  while (rest.size() >= 12) {
    const std::size_t size = big_endian(rest);
    if (size > rest.size() - 12) return std::nullopt;
    const auto name = rest.substr(4, 4), content = rest.substr(8, size);
    if (name == "IHDR") parts.header = content;
    if (name == "IDAT") parts.compressed += content;
    if (name == "IEND") return parts.header.size() == 13 ? std::optional(parts) : std::nullopt;
    rest.remove_prefix(12 + size);
  }
  return std::nullopt;
}

/// Of left, above and left above, the one nearest to left + above - left above.
int paeth(int left, int above, int corner) {
  const int guess = left + above - corner;
  const int a = std::abs(guess - left), b = std::abs(guess - above), c = std::abs(guess - corner);
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

/// What the filter of a row takes for the byte at hand; -1 for a filter there is none of.
int predicted(int filter, int left, int above, int corner) {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) / 2;
    case 4:
      return paeth(left, above, corner);
    default:
      return -1;
  }
}

/// `raw`: rows of a filter's number and `row` bytes.
std::optional<std::vector<std::uint8_t>> unfiltered(const std::vector<std::uint8_t>& raw,
                                                    std::size_t row, std::size_t channels) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size(); at += row + 1)
    for (std::size_t i = 0; i < row; ++i) {
      const auto here = pixels.size();
      const bool inside = i >= channels, below = here >= row;
      const int guess =
          predicted(raw[at], inside ? pixels[here - channels] : 0, below ? pixels[here - row] : 0,
                    inside && below ? pixels[here - row - channels] : 0);
      if (guess < 0) return std::nullopt;
      pixels.push_back(static_cast<std::uint8_t>(raw[at + 1 + i] + guess));
    }
  return pixels;
}

}  // namespace

std::optional<Image> decode_png(std::string_view bytes) {
  const auto parts = png_parts(bytes);
  if (!parts) return std::nullopt;
  const std::int64_t width = big_endian(parts->header),
                     height = big_endian(parts->header.substr(4));
  const auto depth = parts->header[8], colour = parts->header[9], interlaced = parts->header[12];
  const int channels = colour >= 0 && colour < std::ssize(kPngChannels)
                           ? kPngChannels[static_cast<std::size_t>(colour)]
                           : 0;
  if (channels == 0 || depth != 8 || interlaced != 0) return std::nullopt;
  if (width < 1 || height < 1 || width > kLargestSide || height > kLargestSide) return std::nullopt;
  const auto row = static_cast<std::size_t>(width * channels);
  const auto size = (row + 1) * static_cast<std::size_t>(height);
  if (size / 1032 > parts->compressed.size()) return std::nullopt;  // deflate cannot do that
  std::vector<std::uint8_t> raw(size);
  uLongf made = size;
  if (uncompress(raw.data(), &made, reinterpret_cast<const Bytef*>(parts->compressed.data()),
                 parts->compressed.size()) != Z_OK ||
      made != size)
    return std::nullopt;
  const auto pixels = unfiltered(raw, row, static_cast<std::size_t>(channels));
  if (!pixels) return std::nullopt;
  return image_of(pixels->data(), width, height, channels);
}

}  // namespace kindred
