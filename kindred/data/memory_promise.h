// The promise that this process stays within a budget of memory, however large its data is.
//
// What is known per step lies in mapped files then: the dataset itself, or scratch files that have
// no name (storage.h). A thread looks at the resident set every few milliseconds and, before the
// budget is reached, gives mapped pages back to the system, which reads them again when they are
// next touched. Nothing is lost by that and no number changes, so nobody else has to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace kindred {

class MemoryPromise {
 public:
  /// `bytes` may be resident at most; scratch files lie in the folder `scratch`. Throws
  /// InvalidArgument when the program alone takes more, or when that folder keeps files in memory.
  MemoryPromise(std::int64_t bytes, std::filesystem::path scratch);
  ~MemoryPromise();
  MemoryPromise(const MemoryPromise&) = delete;
  MemoryPromise& operator=(const MemoryPromise&) = delete;

  std::int64_t bytes() const { return bytes_; }
  /// Whether what cannot be given back has taken the budget. Quick; once true it stays true.
  bool broken() const;
  /// Throws InvalidArgument, with what was needed, when it is broken.
  void require_kept() const;

 private:
  std::int64_t bytes_;
};

/// Whether a promise stands.
bool memory_is_promised();
/// The smallest budget that stands; 0 where none does.
std::int64_t promised_memory();
/// Where scratch files go while a promise stands; empty where none does.
std::filesystem::path scratch_folder();

/// From now on the pages of [begin, begin + size) can be given back at any time: a file holds them.
void lend_pages(void* begin, std::size_t size);
/// No longer; to be called before they are unmapped.
void take_back_pages(void* begin);

/// "2 GB", "350 MB": a size as messages say it.
std::string size_words(std::int64_t bytes);

}  // namespace kindred
