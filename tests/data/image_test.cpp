// Pictures made smaller and encoded. What others make of our JPEG is seen in
// python/check_pictures.py.
#include "kindred/data/image.h"

#include <zlib.h>

#include <cstdlib>

#include "test_files.h"

namespace kindred {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

Image plain(std::int64_t width, std::int64_t height, std::uint8_t level) {
  return {width, height,
          std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), level)};
}

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string chunk(const std::string& name, const std::string& content) {
  return number(static_cast<std::uint32_t>(content.size())) + name + content + number(0);
}

/// `rows`: each with the number of its filter in front.
std::string png(std::uint32_t width, std::uint32_t height, char colour, const std::string& rows,
                char depth = 8, char interlaced = 0) {
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(size);
  const std::string header =
      number(width) + number(height) + depth + colour + std::string(2, '\0') + interlaced;
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("tEXt", "a note") +
         chunk("IDAT", packed.substr(0, 3)) + chunk("IDAT", packed.substr(3)) + chunk("IEND", "");
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

TEST(Image, IsShrunkToTheMeansOfItsParts) {
  Image image = plain(4, 2, 0);
  for (std::size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<std::uint8_t>(i);
  const auto small = shrunk(image, 2);
  EXPECT_EQ(small.width, 2);
  EXPECT_EQ(small.height, 1);
  EXPECT_THAT(small.rgb, ElementsAre(8, 9, 10, 14, 15, 16));  // of 0, 3, 12 and 15, rounded
  EXPECT_EQ(shrunk(image, 160).rgb, image.rgb);
}

TEST(Image, OfAnySizeKeepsItsColourWhenShrunk) {
  for (const auto& [width, height] : {std::pair{1000, 1}, {161, 7}, {640, 480}, {1, 1000}}) {
    const auto small = shrunk(plain(width, height, 77), 160);
    EXPECT_EQ(small.width, std::min(width, 160));
    EXPECT_EQ(small.rgb.size(), static_cast<std::size_t>(3 * small.width * small.height));
    EXPECT_GE(small.height, 1);
    EXPECT_THAT(small.rgb, Each(77));
  }
}

TEST(Png, IsReadWithEveryFilter) {
  const auto rows = bytes({0, 10, 20, 30, 40, 50, 60}) + bytes({1, 10, 20, 30, 5, 5, 5}) +
                    bytes({2, 1, 1, 1, 1, 1, 1}) + bytes({3, 5, 5, 5, 5, 5, 5}) +
                    bytes({4, 1, 2, 3, 250, 0, 0});
  const auto image = decode_png(png(2, 5, 2, rows));
  ASSERT_TRUE(image);
  EXPECT_EQ(image->width, 2);
  EXPECT_EQ(image->height, 5);
  EXPECT_THAT(image->rgb, ElementsAre(10, 20, 30, 40, 50, 60,  //
                                      10, 20, 30, 15, 25, 35,  //
                                      11, 21, 31, 16, 26, 36,  //
                                      10, 15, 20, 18, 25, 33,  //
                                      11, 17, 23, 12, 25, 33));
}

TEST(Png, IsReadInGreyAndWithOpacity) {
  EXPECT_THAT(decode_png(png(2, 1, 0, bytes({0, 7, 9})))->rgb, ElementsAre(7, 7, 7, 9, 9, 9));
  EXPECT_THAT(decode_png(png(1, 1, 4, bytes({0, 7, 255})))->rgb, ElementsAre(7, 7, 7));
  EXPECT_THAT(decode_png(png(1, 1, 6, bytes({0, 1, 2, 3, 255})))->rgb, ElementsAre(1, 2, 3));
}

TEST(Png, ThatIsNoneIsNothing) {
  const auto sound = png(2, 1, 0, bytes({0, 7, 9}));
  for (std::size_t size = 0; size < sound.size(); ++size)
    EXPECT_FALSE(decode_png(std::string_view(sound).substr(0, size))) << size;
  EXPECT_FALSE(decode_png("\xff\xd8\xff"));
  EXPECT_FALSE(decode_png(png(2, 1, 0, bytes({5, 7, 9})))) << "no such filter";
  EXPECT_FALSE(decode_png(png(2, 2, 0, bytes({0, 7, 9})))) << "too few rows";
  EXPECT_FALSE(decode_png(png(16'000, 16'000, 6, bytes({0})))) << "a claim, and nothing behind it";
  EXPECT_FALSE(decode_png(png(0, 1, 0, "")));
  EXPECT_FALSE(decode_png(png(1, 1, 3, bytes({0, 7})))) << "a palette";
  EXPECT_FALSE(decode_png(png(1, 1, 0, bytes({0, 7, 7}), 16))) << "16 bits";
  EXPECT_FALSE(decode_png(png(1, 1, 0, bytes({0, 7}), 8, 1))) << "interlaced";
}

TEST(Jpeg, IsSmallAndSaysItsSize) {
  const auto jpeg = encode_jpeg(plain(160, 117, 100));
  EXPECT_TRUE(jpeg.starts_with("\xff\xd8\xff"));
  EXPECT_TRUE(jpeg.ends_with("\xff\xd9"));
  const auto frame = jpeg.find(bytes({0xff, 0xc0}));
  EXPECT_EQ(jpeg.substr(frame + 5, 4), bytes({0, 117, 0, 160}));
  EXPECT_LT(jpeg.size(), 1500u);
}

}  // namespace
}  // namespace kindred
