#include "kindred/data/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "kindred/core/error.h"

namespace kindred::npy {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie here");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kMaxHeader = 1 << 16;    // NumPy itself refuses more than 10,000.
constexpr std::size_t kBlock = 1 << 20;          // Bytes; a multiple of every item's size.
constexpr std::uint64_t kMaxTextItem = 1 << 16;  // Bytes of one text.
constexpr std::uint64_t kUsualRatio = 16;        // What data seldom deflate better than.

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;

  explicit operator double() const {
    const int exponent = (bits >> 10) & 31;
    const double fraction = bits & 1023;
    const double sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == 31)
      return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024.0 + fraction, exponent - 25);
  }
};

/// Calls visit with a value of the C++ type that holds the header's numbers.
template <class Visit>
void visit_type(const Header& header, Visit visit) {
  switch (header.type) {
    case 'f':
      if (header.item_size == 2) return visit(Half{});
      if (header.item_size == 4) return visit(float{});
      return visit(double{});
    case 'i':
      if (header.item_size == 1) return visit(std::int8_t{});
      if (header.item_size == 2) return visit(std::int16_t{});
      if (header.item_size == 4) return visit(std::int32_t{});
      return visit(std::int64_t{});
    default:
      if (header.item_size == 1) return visit(std::uint8_t{});
      if (header.item_size == 2) return visit(std::uint16_t{});
      if (header.item_size == 4) return visit(std::uint32_t{});
      return visit(std::uint64_t{});
  }
}

template <class T, class Source>
T converted(Source value) {
  if constexpr (std::same_as<Source, Half>) {
    return static_cast<T>(static_cast<double>(value));
  } else if constexpr (std::integral<T> && std::unsigned_integral<Source> &&
                       sizeof(Source) >= sizeof(T)) {
    return static_cast<T>(
        std::min<std::uint64_t>(value, static_cast<std::uint64_t>(std::numeric_limits<T>::max())));
  } else {
    return static_cast<T>(value);
  }
}

/// From the order in which the first index runs fastest to that in which the last one does.
template <class Items>
Items to_row_major(const Items& values, const std::vector<std::int64_t>& shape) {
  Items result;
  result.reserve(values.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  while (result.size() < values.size()) {
    std::int64_t from = 0;
    for (std::size_t d = shape.size(); d-- > 0;) from = from * shape[d] + index[d];
    result.push_back(values[static_cast<std::size_t>(from)]);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

/// The few Python literals a header is made of. Each function takes what it is called after, or
/// returns nothing.
class Literals {
 public:
  explicit Literals(std::string_view text) : rest_(text) {}

  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<std::string> take_text() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const auto end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<std::int64_t> take_number() {
    skip_space();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc{} || number < 0) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take("L");  // As Python 2 wrote them.
    return number;
  }

  std::optional<bool> take_bool() {
    if (take("True")) return true;
    if (take("False")) return false;
    return std::nullopt;
  }

  std::optional<std::vector<std::int64_t>> take_shape() {
    if (!take("(")) return std::nullopt;
    std::vector<std::int64_t> shape;
    while (!take(")")) {
      const auto number = take_number();
      if (!number) return std::nullopt;
      shape.push_back(*number);
      if (take(",")) continue;
      if (!take(")")) return std::nullopt;
      break;
    }
    return shape;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

/// Reads a type such as "<f4" into `header`; false when it is none we take.
bool parse_dtype(const std::string& dtype, Header& header) {
  header.dtype = dtype;
  std::string_view rest = dtype;
  if (rest.size() < 3 || std::string_view("<>=|").find(rest[0]) == std::string_view::npos)
    return false;
  header.big_endian = rest[0] == '>';
  header.type = rest[1];
  rest.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), header.item_size);
  if (error != std::errc{} || end != rest.data() + rest.size()) return false;
  const auto is_one_of = [](std::uint64_t size, std::initializer_list<std::uint64_t> sizes) {
    return std::ranges::find(sizes, size) != sizes.end();
  };
  switch (header.type) {
    case 'b':
      return header.item_size == 1;
    case 'f':
      return is_one_of(header.item_size, {2, 4, 8});
    case 'i':
    case 'u':
      return is_one_of(header.item_size, {1, 2, 4, 8});
    case 'U':
      header.item_size = header.item_size <= kMaxTextItem ? 4 * header.item_size : 0;
      [[fallthrough]];
    case 'S':
      return header.item_size > 0 && header.item_size <= kMaxTextItem;
    default:
      return false;
  }
}

[[noreturn]] void bad_header(const std::string& where) {
  throw DataFormatError(
      "{} has a damaged header, expected NumPy's type, order and shape; save the "
      "array again",
      where);
}

Header read_header(zip::EntryReader& bytes, const std::string& where) {
  const auto take = [&](std::uint64_t count) {
    if (count > bytes.remaining() || count > kMaxHeader) bad_header(where);
    std::string text(static_cast<std::size_t>(count), '\0');
    bytes.read(std::as_writable_bytes(std::span(text)));
    return text;
  };
  const std::string start = take(kMagic.size() + 2);
  const int version = static_cast<unsigned char>(start[kMagic.size()]);
  if (!start.starts_with(kMagic) || version < 1 || version > 3)
    throw DataFormatError(
        "{} is not an array of NumPy's format 1, 2 or 3; save it with "
        "numpy.savez",
        where);
  std::uint64_t size = 0;
  const std::string size_bytes = take(version == 1 ? 2 : 4);
  for (std::size_t i = size_bytes.size(); i-- > 0;)
    size = (size << 8) | static_cast<unsigned char>(size_bytes[i]);
  return parse_header(take(size), where);
}

/// How many items an array of this shape has; nothing when it is more than can be.
std::optional<std::int64_t> item_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const auto extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return count;
}

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr std::array<unsigned, 4> kLead = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLead[static_cast<std::size_t>(more)] | (c >> (6 * more)));
  for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f));
}

template <class T>
constexpr const char* kDtype = nullptr;
template <>
constexpr const char* kDtype<float> = "<f4";
template <>
constexpr const char* kDtype<double> = "<f8";
template <>
constexpr const char* kDtype<std::int32_t> = "<i4";
template <>
constexpr const char* kDtype<std::int64_t> = "<i8";
template <>
constexpr const char* kDtype<std::uint8_t> = "|u1";
template <>
constexpr const char* kDtype<bool> = "|b1";

}  // namespace

Header parse_header(std::string_view text, const std::string& where) {
  Header header;
  std::optional<std::string> dtype;
  std::optional<bool> order;
  std::optional<std::vector<std::int64_t>> shape;

  Literals literals(text);
  if (!literals.take("{")) bad_header(where);
  while (!literals.take("}")) {
    const auto key = literals.take_text();
    if (!key || !literals.take(":")) bad_header(where);
    if (*key == "descr") {
      if (literals.take("["))
        throw DataFormatError(
            "{} holds records of several fields, expected plain numbers; save "
            "each field as an array of its own",
            where);
      dtype = literals.take_text();
    } else if (*key == "fortran_order") {
      order = literals.take_bool();
    } else if (*key == "shape") {
      shape = literals.take_shape();
    } else {
      bad_header(where);
    }
    if (literals.take(",")) continue;
    if (!literals.take("}")) bad_header(where);
    break;
  }
  if (!dtype || !order || !shape) bad_header(where);
  if (!parse_dtype(*dtype, header))
    throw DataFormatError(
        "{} has type '{}'{}, expected floats (f2, f4, f8), integers or booleans; "
        "convert it with astype",
        where, *dtype, dtype->ends_with("O") ? " (Python objects)" : "");
  header.fortran_order = *order;
  header.shape = *shape;
  return header;
}

ArrayReader::ArrayReader(const zip::Archive& archive, const zip::Entry& entry, std::string where)
    : where_(std::move(where)),
      bytes_(archive, entry),
      packed_size_(entry.packed_size),
      header_(read_header(bytes_, where_)) {
  const auto count = item_count(header_.shape);
  const auto possible = bytes_.remaining() / header_.item_size;
  const bool fits = count && static_cast<std::uint64_t>(*count) == possible &&
                    bytes_.remaining() % header_.item_size == 0;
  if (!fits)
    throw DataFormatError("{} says it has type {} and shape {}, but holds {} bytes; save it again",
                          where_, dtype(), shape_text(), bytes_.remaining());
  count_ = *count;
}

std::string ArrayReader::shape_text() const {
  return fmt::format("[{}]", fmt::join(header_.shape, ", "));
}

std::int64_t ArrayReader::row_size() const { return rows() > 0 ? count_ / rows() : 0; }

void ArrayReader::read_items(std::span<std::byte> out) {
  bytes_.read(out);
  // A text's items are characters of 4 bytes each.
  const std::size_t width = header_.type == 'U' ? 4 : static_cast<std::size_t>(header_.item_size);
  if (header_.big_endian && header_.type != 'S')
    for (std::size_t i = 0; i < out.size(); i += width) std::ranges::reverse(out.subspan(i, width));
}

template <class T>
StepValues<T> ArrayReader::read() {
  StepValues<T> values;
  // A deflated entry may claim far more than it holds: beyond the usual, memory grows with the
  // data.
  values.reserve(static_cast<std::size_t>(std::min(
      static_cast<std::uint64_t>(count_), kUsualRatio * packed_size_ / header_.item_size)));
  std::vector<std::byte> block(
      static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, bytes_.remaining())));
  while (bytes_.remaining() > 0) {
    const auto items = std::span(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), bytes_.remaining())));
    read_items(items);
    visit_type(header_, [&]<class Source>(Source source) {
      for (std::size_t i = 0; i < items.size(); i += sizeof(Source)) {
        std::memcpy(&source, items.data() + i, sizeof(Source));
        values.push_back(converted<T>(source));
      }
    });
  }
  const bool reorder = header_.fortran_order && header_.shape.size() > 1;
  return reorder ? to_row_major(values, header_.shape) : values;
}

template StepValues<float> ArrayReader::read();
template StepValues<double> ArrayReader::read();
template StepValues<std::int64_t> ArrayReader::read();
template StepValues<std::uint8_t> ArrayReader::read();

std::vector<std::string> ArrayReader::read_text() {
  std::vector<std::string> texts;
  std::vector<std::byte> item(static_cast<std::size_t>(header_.item_size));
  while (bytes_.remaining() > 0) {
    read_items(item);
    std::string text;
    if (header_.type == 'S') {
      text.assign(reinterpret_cast<const char*>(item.data()), item.size());
    } else {
      for (std::size_t i = 0; i < item.size(); i += 4) {
        std::uint32_t c = 0;
        std::memcpy(&c, item.data() + i, 4);
        if (c > 0x10ffff)
          throw DataFormatError("{} holds a character numbered {}, expected Unicode", where_, c);
        append_utf8(text, c);
      }
    }
    text.resize(text.find_last_not_of('\0') + 1);  // NumPy pads with zeros.
    texts.push_back(std::move(text));
  }
  return header_.fortran_order ? to_row_major(texts, header_.shape) : texts;
}

void ArrayWriter::begin(const std::string& name, const std::string& dtype, std::uint64_t item_size,
                        const std::vector<std::int64_t>& shape) {
  std::string extents;
  std::uint64_t size = item_size;
  for (const auto extent : shape) {
    extents += fmt::format("{}, ", extent);
    size *= static_cast<std::uint64_t>(extent);
  }
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, extents);
  // NumPy pads the header so that the values begin at a multiple of 64 bytes.
  const std::size_t before = kMagic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string start(kMagic);
  start += '\1';
  start += '\0';
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  start += header;
  archive_.begin(name + ".npy", start.size() + size);
  archive_.write(std::as_bytes(std::span(start)));
}

template <class T>
void ArrayWriter::begin(const std::string& name, const std::vector<std::int64_t>& shape) {
  begin(name, kDtype<T>, sizeof(T), shape);
}

template void ArrayWriter::begin<float>(const std::string&, const std::vector<std::int64_t>&);
template void ArrayWriter::begin<double>(const std::string&, const std::vector<std::int64_t>&);
template void ArrayWriter::begin<std::int32_t>(const std::string&,
                                               const std::vector<std::int64_t>&);
template void ArrayWriter::begin<std::int64_t>(const std::string&,
                                               const std::vector<std::int64_t>&);
template void ArrayWriter::begin<std::uint8_t>(const std::string&,
                                               const std::vector<std::int64_t>&);
template void ArrayWriter::begin<bool>(const std::string&, const std::vector<std::int64_t>&);

void ArrayWriter::write_text(const std::string& name, std::span<const std::string> values) {
  std::size_t width = 1;
  for (const auto& value : values) width = std::max(width, value.size());
  begin(name, fmt::format("|S{}", width), width, {static_cast<std::int64_t>(values.size())});
  for (std::string value : values) {
    value.resize(width, '\0');
    append(std::span<const char>(value));
  }
}

}  // namespace kindred::npy
