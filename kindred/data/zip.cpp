#include "kindred/data/zip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "kindred/core/error.h"

namespace kindred::zip {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kZip64End = 0x06064b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kZip64EndSize = 56;
constexpr std::size_t kZip64LocatorSize = 20;
constexpr std::size_t kMaxComment = 0xffff;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint64_t kIn64Bits = 0xffffffff;  // Stands where a number is in its 64-bit form.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

[[noreturn]] void unsound(const fs::path& path, std::string_view problem) {
  throw DataFormatError("'{}' is not a complete NPZ file: {}; copy or save it again", path.string(),
                        problem);
}

/// Little-endian numbers, one after the other; asking for more than there are is an error.
class Numbers {
 public:
  Numbers(std::string_view bytes, const fs::path& path) : rest_(bytes), path_(path) {}

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) unsound(path_, "its table of contents is cut short");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t take_number(std::size_t width) {
    const auto bytes = take(width);
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;)
      value = (value << 8) | static_cast<unsigned char>(bytes[i]);
    return value;
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(take_number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(take_number(4)); }
  std::uint64_t u64() { return take_number(8); }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  const fs::path& path_;
};

std::ifstream open(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot read '{}': is it there and readable?", path.string());
  return file;
}

/// `count` bytes at `offset`, which the caller knows to lie inside the file.
std::string read_at(std::ifstream& file, const fs::path& path, std::uint64_t offset,
                    std::uint64_t count) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  if (!file) throw IoError("cannot read {} bytes of '{}'", count, path.string());
  return bytes;
}

bool lies_within(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return offset <= size && count <= size - offset;
}

/// Where the table of contents lies and how many entries it lists.
struct Contents {
  std::uint64_t entries, size, offset;
};

Contents find_contents(std::ifstream& file, const fs::path& path, std::uint64_t file_size) {
  const auto tail_size = std::min<std::uint64_t>(file_size, kEndSize + kMaxComment);
  const std::string tail = read_at(file, path, file_size - tail_size, tail_size);
  const auto end = tail.rfind("PK\5\6");
  if (end == std::string::npos || tail.size() - end < kEndSize)
    unsound(path, "its table of contents is missing");
  Numbers numbers(std::string_view(tail).substr(end), path);
  numbers.take(10);  // Signature, disk numbers, entries on this disk.
  Contents contents{numbers.u16(), 0, 0};
  contents.size = numbers.u32();
  contents.offset = numbers.u32();

  if (end >= kZip64LocatorSize) {
    Numbers locator(std::string_view(tail).substr(end - kZip64LocatorSize), path);
    if (locator.u32() == kZip64Locator) {
      locator.u32();
      const std::uint64_t offset = locator.u64();
      if (!lies_within(offset, kZip64EndSize, file_size))
        unsound(path, "its table of contents lies outside the file");
      const std::string record = read_at(file, path, offset, kZip64EndSize);
      Numbers zip64(record, path);
      if (zip64.u32() != kZip64End) unsound(path, "its table of contents is damaged");
      zip64.take(28);  // Sizes, versions, disk numbers, entries on this disk.
      contents = {zip64.u64(), 0, 0};
      contents.size = zip64.u64();
      contents.offset = zip64.u64();
    }
  }
  if (!lies_within(contents.offset, contents.size, file_size))
    unsound(path, "its table of contents lies outside the file");
  return contents;
}

/// Replaces the numbers that stand in the zip64 part of an entry's extra field.
void read_zip64_sizes(std::string_view extra, Entry& entry, const fs::path& path) {
  Numbers fields(extra, path);
  while (!fields.empty()) {
    const auto id = fields.u16();
    const auto bytes = fields.take(fields.u16());
    if (id != kZip64Extra) continue;
    Numbers values(bytes, path);
    for (auto* number : {&entry.size, &entry.packed_size, &entry.offset})
      if (*number == kIn64Bits) *number = values.u64();
    return;
  }
}

Entry read_entry(Numbers& numbers, const fs::path& path, std::uint64_t file_size) {
  if (numbers.u32() != kCentralHeader) unsound(path, "its table of contents is damaged");
  Entry entry;
  numbers.take(4);  // Versions.
  const bool encrypted = numbers.u16() & 1;
  entry.method = numbers.u16();
  numbers.take(4);  // Time.
  entry.crc = numbers.u32();
  entry.packed_size = numbers.u32();
  entry.size = numbers.u32();
  const auto name_size = numbers.u16(), extra_size = numbers.u16(), comment_size = numbers.u16();
  numbers.take(8);  // Disk, attributes.
  entry.offset = numbers.u32();
  entry.name = numbers.take(name_size);
  read_zip64_sizes(numbers.take(extra_size), entry, path);
  numbers.take(comment_size);

  if (encrypted) unsound(path, fmt::format("'{}' in it is encrypted", entry.name));
  if (entry.method != kStored && entry.method != kDeflated)
    unsound(path, fmt::format("'{}' in it is packed by method {}, expected 0 (stored) or 8 "
                              "(deflated)",
                              entry.name, entry.method));
  const bool size_possible = entry.method == kStored
                                 ? entry.size == entry.packed_size
                                 : entry.size / kMaxDeflateRatio <= entry.packed_size;
  if (!lies_within(entry.offset, kLocalHeaderSize, file_size) ||
      !lies_within(entry.offset + kLocalHeaderSize, entry.packed_size, file_size) || !size_possible)
    unsound(path, fmt::format("'{}' in it claims {} bytes, packed into {} at byte {}, but the file "
                              "has {} bytes",
                              entry.name, entry.size, entry.packed_size, entry.offset, file_size));
  return entry;
}

void append(std::string& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::uint32_t update_crc(std::uint32_t crc, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Archive::Archive(const fs::path& path) : path_(path) {
  std::error_code error;
  file_size_ = fs::file_size(path, error);
  if (error) throw IoError("cannot read '{}': {}", path.string(), error.message());
  auto file = open(path);
  const Contents contents = find_contents(file, path, file_size_);
  const std::string table = read_at(file, path, contents.offset, contents.size);
  Numbers numbers(table, path);
  for (std::uint64_t i = 0; i < contents.entries; ++i)
    entries_.push_back(read_entry(numbers, path, file_size_));
}

const Entry* Archive::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

/// zlib's state with the packed bytes it works on.
struct EntryReader::Inflater {
  z_stream stream{};
  std::vector<std::byte> input = std::vector<std::byte>(1 << 16);

  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw IoError("cannot start inflating a file");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

EntryReader::EntryReader(const Archive& archive, const Entry& entry)
    : where_(fmt::format("'{}': '{}' in it", archive.path().string(), entry.name)),
      file_(open(archive.path())),
      packed_remaining_(entry.packed_size),
      remaining_(entry.size),
      expected_crc_(entry.crc) {
  // The local header repeats the central one, but its name and extra field may differ in length.
  const auto header = read_at(file_, archive.path(), entry.offset, kLocalHeaderSize);
  Numbers numbers(header, archive.path());
  if (numbers.u32() != kLocalHeader) fail("does not begin where the table of contents says");
  numbers.take(22);
  const std::uint64_t skipped = std::uint64_t{numbers.u16()} + numbers.u16();
  const std::uint64_t begin = entry.offset + kLocalHeaderSize + skipped;
  if (!lies_within(begin, entry.packed_size, archive.file_size())) fail("is cut short");
  file_.seekg(static_cast<std::streamoff>(begin));
  if (entry.method == kDeflated) inflater_ = std::make_unique<Inflater>();
}

EntryReader::~EntryReader() = default;
EntryReader::EntryReader(EntryReader&&) noexcept = default;

void EntryReader::fail(std::string_view problem) const {
  throw DataFormatError("{} {}; copy or save the file again", where_, problem);
}

void EntryReader::read_packed(std::span<std::byte> out) {
  file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (!file_) fail("is cut short");
  packed_remaining_ -= out.size();
}

void EntryReader::read_inflated(std::span<std::byte> out) {
  auto& [stream, input] = *inflater_;
  while (!out.empty()) {
    if (stream.avail_in == 0 && packed_remaining_ > 0) {
      const auto count = std::min<std::uint64_t>(packed_remaining_, input.size());
      read_packed(std::span(input).first(static_cast<std::size_t>(count)));
      stream.next_in = reinterpret_cast<Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(count);
    }
    const auto wanted = std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(wanted);
    const int status = inflate(&stream, Z_NO_FLUSH);
    out = out.subspan(wanted - stream.avail_out);
    if (status != Z_OK && !(status == Z_STREAM_END && out.empty())) fail("cannot be unpacked");
  }
}

void EntryReader::read(std::span<std::byte> out) {
  if (out.empty()) return;
  if (out.size() > remaining_) fail("is shorter than expected");
  if (inflater_)
    read_inflated(out);
  else
    read_packed(out);
  crc_ = update_crc(crc_, out);
  remaining_ -= out.size();
  if (remaining_ == 0 && crc_ != expected_crc_) fail("does not match its checksum");
}

Writer::Writer(const fs::path& path, std::uint64_t zip64_from)
    : zip64_from_(zip64_from), file_(path) {}

void Writer::put(std::string_view bytes) {
  file_.append(bytes);
  position_ += bytes.size();
}

void Writer::begin(const std::string& name, std::uint64_t size) {
  end_entry();
  entries_.push_back({name, kStored, 0, size, size, position_});
  const bool wide = size >= zip64_from_;
  std::string header;
  append(header, kLocalHeader, 4);
  append(header, wide ? 45 : 20, 2);  // Version needed.
  append(header, 0, 2);               // Flags.
  append(header, kStored, 2);
  append(header, 0x00210000, 4);  // Midnight of 1 January 1980, the format's first.
  append(header, 0, 4);           // The checksum, filled in by end_entry.
  append(header, wide ? kIn64Bits : size, 4);
  append(header, wide ? kIn64Bits : size, 4);
  append(header, name.size(), 2);
  append(header, wide ? 20 : 0, 2);
  header += name;
  if (wide) {
    append(header, kZip64Extra, 2);
    append(header, 16, 2);
    append(header, size, 8);
    append(header, size, 8);
  }
  put(header);
}

void Writer::write(std::span<const std::byte> bytes) {
  entries_.back().crc = update_crc(entries_.back().crc, bytes);
  put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void Writer::end_entry() {
  if (entries_.empty()) return;
  constexpr std::uint64_t kCrcPosition = 14;
  std::string crc;
  append(crc, entries_.back().crc, 4);
  file_.rewrite(entries_.back().offset + kCrcPosition, crc);
}

void Writer::close() {
  end_entry();
  const std::uint64_t contents_offset = position_;
  for (const auto& entry : entries_) {
    std::string extra;
    const auto narrow = [&](std::uint64_t value) {
      if (value < zip64_from_) return value;
      append(extra, value, 8);
      return kIn64Bits;
    };
    const auto size = narrow(entry.size), packed_size = narrow(entry.packed_size);
    const auto offset = narrow(entry.offset);
    const bool wide = !extra.empty();
    std::string header;
    append(header, kCentralHeader, 4);
    append(header, wide ? 45 : 20, 2);  // Made by.
    append(header, wide ? 45 : 20, 2);  // Version needed.
    append(header, 0, 2);               // Flags.
    append(header, entry.method, 2);
    append(header, 0x00210000, 4);
    append(header, entry.crc, 4);
    append(header, packed_size, 4);
    append(header, size, 4);
    append(header, entry.name.size(), 2);
    append(header, wide ? extra.size() + 4 : 0, 2);
    append(header, 0, 6);  // Comment size, disk, internal attributes.
    append(header, 0, 4);  // External attributes.
    append(header, offset, 4);
    header += entry.name;
    if (wide) {
      append(header, kZip64Extra, 2);
      append(header, extra.size(), 2);
      header += extra;
    }
    put(header);
  }
  const std::uint64_t contents_size = position_ - contents_offset;
  const bool wide = contents_offset >= zip64_from_ || contents_size >= zip64_from_;
  std::string end;
  if (wide) {
    append(end, kZip64End, 4);
    append(end, kZip64EndSize - 12, 8);
    append(end, 45, 2);
    append(end, 45, 2);
    append(end, 0, 8);  // Disk numbers.
    append(end, entries_.size(), 8);
    append(end, entries_.size(), 8);
    append(end, contents_size, 8);
    append(end, contents_offset, 8);
    append(end, kZip64Locator, 4);
    append(end, 0, 4);
    append(end, position_, 8);
    append(end, 1, 4);
  }
  append(end, kEnd, 4);
  append(end, 0, 4);  // Disk numbers.
  append(end, entries_.size(), 2);
  append(end, entries_.size(), 2);
  append(end, wide ? kIn64Bits : contents_size, 4);
  append(end, wide ? kIn64Bits : contents_offset, 4);
  append(end, 0, 2);
  put(end);
  file_.commit();
}

}  // namespace kindred::zip
