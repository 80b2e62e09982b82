// An open file or folder that closes itself and says why the system refused what was asked of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kindred {

/// Reads and writes whole stretches at given places. Throws IoError with the system's reason.
class Descriptor {
 public:
  /// Opens `path` with the flags of open(2). Messages call it `known_as`.
  Descriptor(const std::filesystem::path& path, int flags, std::string known_as);
  Descriptor(const std::filesystem::path& path, int flags)
      : Descriptor(path, flags, path.string()) {}
  /// Takes over a descriptor that is open already.
  Descriptor(int id, std::string known_as) : known_as_(std::move(known_as)), id_(id) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// Closes it before its time.
  void close();
  int id() const { return id_; }
  std::uint64_t size() const;
  /// Reads up to out.size() bytes at `offset`; fewer only at the end of the file.
  std::size_t read(std::uint64_t offset, std::span<char> out) const;
  void write(std::uint64_t offset, std::string_view bytes) const;
  void truncate(std::uint64_t size) const;
  /// Returns when everything written is on the disk.
  void flush() const;

 private:
  [[noreturn]] void fail(const char* doing) const;

  std::string known_as_;
  int id_;
};

}  // namespace kindred
