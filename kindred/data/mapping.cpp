#include "kindred/data/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>

#include "kindred/core/words.h"
#include "kindred/data/memory_promise.h"

namespace kindred {
namespace {

/// One mapping that exists. The name is set last and cleared first: who finds one may use the rest.
struct LiveMapping {
  std::atomic<bool> taken = false;
  std::atomic<const char*> name = nullptr;
  std::atomic<std::uintptr_t> begin = 0, end = 0;
};

// Fixed, and of lock-free atomics: a signal handler looks in here.
std::array<LiveMapping, 256> places;
static_assert(std::atomic<const char*>::is_always_lock_free);
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

std::optional<std::size_t> take_place() {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!places[i].taken.exchange(true)) return i;
  return std::nullopt;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, std::uintmax_t size)
    : name_(printable(path.string())), size_(size) {
  const auto free = take_place();
  if (!free) return;  // a mapping nobody knows of would end the program without a word
  place_ = *free;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const mapped =
      descriptor < 0 ? MAP_FAILED : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  if (descriptor >= 0) ::close(descriptor);
  LiveMapping& place = places[place_];
  if (mapped == MAP_FAILED) {
    place.taken = false;
    return;
  }
  data_ = mapped;
  lend_pages(data_, size_);
  place.begin = reinterpret_cast<std::uintptr_t>(mapped);
  place.end = place.begin + size_;
  place.name = name_.c_str();
}

MappedFile::~MappedFile() {
  if (!data_) return;
  LiveMapping& place = places[place_];
  place.name = nullptr;
  place.begin = place.end = 0;
  place.taken = false;
  take_back_pages(data_);
  ::munmap(data_, size_);
}

const char* mapped_file_at(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const LiveMapping& place : places)
    if (const char* name = place.name; name && at >= place.begin && at < place.end) return name;
  return nullptr;
}

}  // namespace kindred
