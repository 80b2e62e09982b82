#include "kindred/data/storage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <unordered_set>

#include "kindred/core/error.h"
#include "kindred/data/memory_promise.h"

namespace kindred {
namespace {

constexpr std::size_t kLeastScratch = 1 << 16;  // less is not worth a file

/// Which values lie in scratch files: a promise may end before they do.
struct ScratchFiles {
  std::mutex mutex;
  std::unordered_set<void*> mapped;
};

ScratchFiles& scratch_files() {
  static auto* const files = new ScratchFiles;  // columns may be freed when the program ends
  return *files;
}

[[noreturn]] void fail(const std::filesystem::path& folder, std::size_t bytes, int error) {
  throw IoError(
      "no scratch file of {} can be made in '{}' ({}); name another folder with --scratch, or give "
      "more --memory",
      size_words(static_cast<std::int64_t>(bytes)), folder.string(),
      std::generic_category().message(error));
}

/// A file that has no name any more; its blocks are taken, so that writing cannot fail later.
int open_scratch(const std::filesystem::path& folder, std::size_t bytes) {
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    auto name = (folder / ".kindred-scratch-XXXXXX").string();
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) ::unlink(name.c_str());
  }
  if (descriptor < 0) fail(folder, bytes, errno);
  if (const int error = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes))) {
    ::close(descriptor);
    fail(folder, bytes, error);
  }
  return descriptor;
}

void* map_scratch(const std::filesystem::path& folder, std::size_t bytes) {
  const int descriptor = open_scratch(folder, bytes);
  void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (place == MAP_FAILED) throw std::bad_alloc();
  lend_pages(place, bytes);
  auto& files = scratch_files();
  const std::lock_guard lock(files.mutex);
  files.mapped.insert(place);
  return place;
}

/// Steps are many: in large pages there are fewer to touch for the first time, and to give back.
void ask_for_large_pages(void* values, std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{1} << 21;
  void* begin = values;
  std::size_t whole = bytes;
  if (!std::align(kLargePage, kLargePage, begin, whole)) return;
  ::madvise(begin, whole / kLargePage * kLargePage, MADV_HUGEPAGE);
}

}  // namespace

void* allocate_values(std::size_t bytes) {
  if (bytes >= kLeastScratch)
    if (const auto folder = scratch_folder(); !folder.empty()) return map_scratch(folder, bytes);
  void* const values = std::calloc(std::max<std::size_t>(bytes, 1), 1);
  if (!values) throw std::bad_alloc();
  ask_for_large_pages(values, bytes);
  return values;
}

void free_values(void* values, std::size_t bytes) noexcept {
  bool mapped = false;
  if (bytes >= kLeastScratch) {
    auto& files = scratch_files();
    const std::lock_guard lock(files.mutex);
    mapped = files.mapped.erase(values) > 0;
  }
  if (!mapped) return std::free(values);
  take_back_pages(values);
  ::munmap(values, bytes);
}

}  // namespace kindred
