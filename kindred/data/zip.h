// Zip archives, as far as NPZ files need them: entries stored or deflated, zip64 included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/core/staged_file.h"

namespace kindred::zip {

struct Entry {
  std::string name;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated.
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  ///< Of its local header.
};

/// The table of contents of an archive. Throws IoError when the file cannot be read and
/// DataFormatError when it is not a sound archive: every offset is checked against its size.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t file_size() const { return file_size_; }
  const std::vector<Entry>& entries() const { return entries_; }
  /// nullptr when there is none of that name.
  const Entry* find(std::string_view name) const;

 private:
  std::filesystem::path path_;
  std::uint64_t file_size_ = 0;
  std::vector<Entry> entries_;
};

/// The bytes of one entry, from first to last. Throws DataFormatError when they end early, cannot
/// be inflated or, once the last one is read, do not match their checksum.
class EntryReader {
 public:
  EntryReader(const Archive& archive, const Entry& entry);
  ~EntryReader();
  EntryReader(EntryReader&&) noexcept;

  /// Bytes not read yet.
  std::uint64_t remaining() const { return remaining_; }
  /// Fills `out`, which must not be longer than what remains.
  void read(std::span<std::byte> out);

 private:
  struct Inflater;

  void read_packed(std::span<std::byte> out);
  void read_inflated(std::span<std::byte> out);
  [[noreturn]] void fail(std::string_view problem) const;

  std::string where_;
  std::ifstream file_;
  std::uint64_t packed_remaining_;
  std::uint64_t remaining_;
  std::uint32_t expected_crc_;
  std::uint32_t crc_ = 0;
  std::unique_ptr<Inflater> inflater_;  // Empty when stored.
};

/// Writes a new archive with stored entries: begin, write all bytes, and so on; it is in place when
/// close() has succeeded. The same entries give the same bytes: no time is recorded. Throws
/// IoError.
class Writer {
 public:
  /// Sizes and offsets from `zip64_from` on are written in their 64-bit form (a test lowers it).
  explicit Writer(const std::filesystem::path& path, std::uint64_t zip64_from = 0xffffffff);

  void begin(const std::string& name, std::uint64_t size);
  void write(std::span<const std::byte> bytes);
  void close();

 private:
  void end_entry();
  void put(std::string_view bytes);

  std::uint64_t zip64_from_;
  StagedFile file_;
  std::uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace kindred::zip
