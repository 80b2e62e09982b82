// Baseline JPEG (ITU T.81): three components of the same resolution, one pair of Huffman codes.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <span>

#include "kindred/data/image.h"

namespace kindred {
namespace {

constexpr int kSide = 8, kBlock = kSide * kSide;

/// The places of a block, row by row, in the order in which they are written: along diagonals.
std::array<int, kBlock> zigzag() {
  std::array<int, kBlock> order{};
  std::size_t next = 0;
  for (int diagonal = 0; diagonal < 2 * kSide - 1; ++diagonal)
    for (int i = 0; i <= diagonal; ++i) {
      const int row = diagonal % 2 ? i : diagonal - i, column = diagonal - row;
      if (row < kSide && column < kSide) order[next++] = kSide * row + column;
    }
  return order;
}

/// In which steps a frequency is kept: coarser where the eye sees less.
int quantum(bool colour, int place) {
  const int frequency = place / kSide + place % kSide;
  return colour ? 10 + 7 * frequency : 6 + 3 * frequency;
}

/// A code as a file describes it: how many words of each length from 1 to 16, and what they mean.
struct HuffmanCode {
  std::array<std::uint8_t, 16> counts;
  std::vector<std::uint8_t> symbols;
  std::array<std::uint32_t, 256> word{};
  std::array<int, 256> length{};

  HuffmanCode(std::array<std::uint8_t, 16> the_counts, std::vector<std::uint8_t> the_symbols)
      : counts(the_counts), symbols(std::move(the_symbols)) {
    std::uint32_t next = 0;
    std::size_t symbol = 0;
    for (std::size_t bits = 0; bits < counts.size(); ++bits, next <<= 1)
      for (int i = 0; i < counts[bits]; ++i, ++next) {
        word[symbols[symbol]] = next;
        length[symbols[symbol++]] = static_cast<int>(bits) + 1;
      }
  }
};

/// Annex K.3.1 of the standard: sizes of differences between mean values.
HuffmanCode mean_code() {
  return {{0, 1, 5, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
}

/// Annex K.3.2: zeros before a value and its size, 4 bits each. The rare ones are in their order.
HuffmanCode detail_code() {
  std::vector<std::uint8_t> symbols = {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31,
                                       0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71, 0x14, 0x32,
                                       0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52,
                                       0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72, 0x82};
  const std::vector<std::uint8_t> common = symbols;
  for (int zeros = 0; zeros < 16; ++zeros)
    for (int size = 1; size <= 10; ++size) {
      const auto symbol = static_cast<std::uint8_t>(16 * zeros + size);
      if (std::ranges::find(common, symbol) == common.end()) symbols.push_back(symbol);
    }
  return {{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125}, std::move(symbols)};
}

class JpegWriter {
 public:
  explicit JpegWriter(const Image& image) : image_(image) {
    for (int u = 0; u < kSide; ++u)
      for (int x = 0; x < kSide; ++x)
        wave_[u][x] =
            std::cos((2 * x + 1) * u * std::numbers::pi / 16) * (u ? .5 : std::sqrt(.125));
  }

  std::string write() {
    write_head();
    std::array<int, 3> means{};
    for (std::int64_t y = 0; y < image_.height; y += kSide)
      for (std::int64_t x = 0; x < image_.width; x += kSide)
        for (std::size_t component = 0; component < 3; ++component)
          write_block(block_at(x, y, component), component > 0, means[component]);
    put_bits(0x7f, 7);  // the last byte is filled with ones
    return out_ + "\xff\xd9";
  }

 private:
  using Block = std::array<double, kBlock>;

  void put(std::initializer_list<int> bytes) {
    for (const int byte : bytes) out_ += static_cast<char>(byte);
  }

  void write_head() {
    const auto w = static_cast<int>(image_.width), h = static_cast<int>(image_.height);
    put({0xff, 0xd8});
    for (const int colour : {0, 1}) {
      put({0xff, 0xdb, 0, 67, colour});
      for (const int place : order_) put({quantum(colour == 1, place)});
    }
    put({0xff, 0xc0, 0, 17, 8, h >> 8, h, w >> 8, w, 3});
    for (const int component : {1, 2, 3}) put({component, 0x11, component > 1});
    for (const auto* code : {&means_, &details_}) {
      put({0xff, 0xc4, 0, static_cast<int>(19 + code->symbols.size()), code == &details_ ? 16 : 0});
      out_.append(code->counts.begin(), code->counts.end());
      out_.append(code->symbols.begin(), code->symbols.end());
    }
    put({0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0});
  }

  /// Brightness, blueness or redness of a pixel around 0; those beyond the edge are like the edge.
  double level(std::int64_t x, std::int64_t y, std::size_t component) const {
    const auto* p = image_.pixel(std::min(x, image_.width - 1), std::min(y, image_.height - 1));
    const double r = p[0], g = p[1], b = p[2];
    if (component == 0) return .299 * r + .587 * g + .114 * b - 128;
    if (component == 1) return -.168736 * r - .331264 * g + .5 * b;
    return .5 * r - .418688 * g - .081312 * b;
  }

  /// The frequencies in the block whose corner is there.
  Block block_at(std::int64_t x, std::int64_t y, std::size_t component) const {
    Block levels{}, rows{}, both{};
    const auto at = [](int row, int column) {
      return static_cast<std::size_t>(kSide * row + column);
    };
    for (int v = 0; v < kSide; ++v)
      for (int u = 0; u < kSide; ++u) levels[at(v, u)] = level(x + u, y + v, component);
    for (int v = 0; v < kSide; ++v)
      for (int u = 0; u < kSide; ++u)
        for (int i = 0; i < kSide; ++i) rows[at(v, u)] += wave_[u][i] * levels[at(v, i)];
    for (int v = 0; v < kSide; ++v)
      for (int u = 0; u < kSide; ++u)
        for (int i = 0; i < kSide; ++i) both[at(v, u)] += wave_[v][i] * rows[at(i, u)];
    return both;
  }

  void write_block(const Block& frequencies, bool colour, int& mean) {
    int zeros = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto kept = static_cast<int>(std::lround(
          frequencies[static_cast<std::size_t>(order_[i])] / quantum(colour, order_[i])));
      if (i == 0) {
        write_value(means_, 0, kept - mean);
        mean = kept;
      } else if (kept == 0) {
        ++zeros;
      } else {
        for (; zeros > 15; zeros -= 16) put_word(details_, 0xf0);
        write_value(details_, 16 * zeros, kept);
        zeros = 0;
      }
    }
    if (zeros > 0) put_word(details_, 0);
  }

  /// The number of its bits, coded, and these; of a negative one those of the value less one.
  void write_value(const HuffmanCode& code, int zeros, int value) {
    const int size = std::bit_width(static_cast<unsigned>(std::abs(value)));
    put_word(code, zeros + size);
    put_bits(static_cast<std::uint32_t>(value < 0 ? value - 1 : value) & ((1u << size) - 1), size);
  }

  void put_word(const HuffmanCode& code, int symbol) {
    const auto at = static_cast<std::size_t>(symbol);
    put_bits(code.word[at], code.length[at]);
  }

  void put_bits(std::uint32_t bits, int count) {
    for (int i = count - 1; i >= 0; --i) {
      byte_ = byte_ << 1 | (bits >> i & 1);
      if (++held_ < 8) continue;
      put({byte_});
      if (byte_ == 0xff) put({0});  // or it would be taken for a mark
      byte_ = held_ = 0;
    }
  }

  const Image& image_;
  const std::array<int, kBlock> order_ = zigzag();
  const HuffmanCode means_ = mean_code(), details_ = detail_code();
  double wave_[kSide][kSide];
  std::string out_;
  int byte_ = 0, held_ = 0;
};

}  // namespace

std::string encode_jpeg(const Image& image) { return JpegWriter(image).write(); }

}  // namespace kindred
