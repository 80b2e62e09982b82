// Files mapped into memory, and whose mapping an address lies in.
//
// When somebody shortens a mapped file, touching what is gone raises SIGBUS. The program asks here
// which file it was (mapped_file_at), so that people get a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace kindred {

/// A whole file mapped for reading; false when it could not be mapped, and is to be read.
class MappedFile {
 public:
  MappedFile(const std::filesystem::path& path, std::uintmax_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  explicit operator bool() const { return data_ != nullptr; }
  const std::byte* data() const { return static_cast<const std::byte*>(data_); }

 private:
  std::string name_;  ///< As people are shown it.
  std::uintmax_t size_;
  void* data_ = nullptr;
  std::size_t place_ = 0;
};

/// The name, fit for a terminal, of the file whose mapping holds `address`; nullptr where none
/// does. Safe in a signal handler.
const char* mapped_file_at(const void* address);

}  // namespace kindred
