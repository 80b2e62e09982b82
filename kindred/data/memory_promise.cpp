#include "kindred/data/memory_promise.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/resources.h"
#include "kindred/data/mind_memory.h"

namespace kindred {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{2};
constexpr int kLooksInVain = 5;
constexpr std::int64_t kMega = 1'000'000;

/// What threads may map between two looks, and while pages are given back.
std::int64_t reserve(std::int64_t budget) {
  return std::clamp(budget / 6, 48 * kMega, 512 * kMega);
}

struct LentPages {
  void* begin;
  std::size_t size;
};

struct Standing {
  const MemoryPromise* promise;
  std::int64_t bytes;
  std::filesystem::path scratch;
};

/// The one who looks. The resident set is the whole process's, so there is one for all promises,
/// and the smallest budget counts.
class Keeper {
 public:
  void stand(Standing promise) {
    const std::lock_guard alone(starting_);
    const std::lock_guard lock(mutex_);
    if (promises_.empty()) most_needed_ = 0;
    promises_.push_back(std::move(promise));
    standing_ = true;
    for (const auto& pages : lent_) map_small(pages);
    if (!watch_.joinable()) {
      ending_ = false;
      watch_ = std::thread([this] { watch(); });
    }
  }

  void release(const MemoryPromise* promise) {
    const std::lock_guard alone(starting_);
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(promises_, [&](const Standing& one) { return one.promise == promise; });
      if (!promises_.empty()) return;
      standing_ = false;
      ending_ = true;
    }
    over_.notify_all();
    watch_.join();
  }

  void lend(const LentPages& pages) {
    const std::lock_guard lock(mutex_);
    lent_.push_back(pages);
    if (standing_) map_small(pages);
  }

  void take_back(void* begin) {
    const std::lock_guard lock(mutex_);
    std::erase_if(lent_, [&](const LentPages& pages) { return pages.begin == begin; });
  }

  std::filesystem::path scratch() {
    const std::lock_guard lock(mutex_);
    return promises_.empty() ? std::filesystem::path() : promises_.back().scratch;
  }

  bool stands() const { return standing_; }

  std::int64_t budget() {
    const std::lock_guard lock(mutex_);
    return promises_.empty() ? 0 : least_budget();
  }

  void mind() {
    if (!standing_) return;
    const std::lock_guard lock(mutex_);
    if (!promises_.empty()) look();
  }

  std::int64_t most_needed() const { return most_needed_; }

 private:
  /// Else touching a byte would map two megabytes.
  static void map_small(const LentPages& pages) {
    ::madvise(pages.begin, pages.size, MADV_NOHUGEPAGE);
  }

  std::int64_t least_budget() const {
    return std::ranges::min(promises_, {}, &Standing::bytes).bytes;
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!over_.wait_for(lock, kBetweenLooks, [&] { return ending_; }))
      if (!promises_.empty()) look();
  }

  /// With the mutex held: nobody may unmap what is being given back.
  void look() {
    const auto budget = least_budget();
    const auto mark = budget - reserve(budget);
    if (memory_.look() <= mark) return void(in_vain_ = 0);
    for (const auto& pages : lent_) ::madvise(pages.begin, pages.size, MADV_DONTNEED);
    if (memory_.look() <= mark) return void(in_vain_ = 0);
    ::malloc_trim(0);  // what was freed need not stay
    const auto left = memory_.look();
    if (left > mark && ++in_vain_ >= kLooksInVain)
      most_needed_ = std::max(most_needed_.load(), left);
  }

  std::mutex starting_;  ///< While the thread begins or ends.
  std::mutex mutex_;
  std::condition_variable over_;
  std::vector<LentPages> lent_;
  std::vector<Standing> promises_;
  int in_vain_ = 0;  ///< Looks in a row after which too much was left: others map pages meanwhile.
  std::atomic<std::int64_t> most_needed_ = 0;  ///< Beside what is lent, where that was too much.
  ResidentMemory memory_;
  std::atomic<bool> standing_ = false;  ///< Whether there are promises.
  bool ending_ = false;
  std::thread watch_;
};

Keeper& keeper() {
  static auto* const one = new Keeper;  // columns may be freed when the program ends
  return *one;
}

void require_disk(const std::filesystem::path& folder) {
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0)
    throw IoError("the folder '{}' for scratch files cannot be used; name another with --scratch",
                  folder.string());
  if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)
    throw InvalidArgument(
        "'{}' keeps its files in memory, so no scratch file there saves any; name a folder on a "
        "disk with --scratch",
        folder.string());
}

}  // namespace

MemoryPromise::MemoryPromise(std::int64_t bytes, std::filesystem::path scratch) : bytes_(bytes) {
  if (scratch.empty()) scratch = ".";
  require_disk(scratch);
  const auto now = ResidentMemory().look();
  if (now > bytes - reserve(bytes))
    throw InvalidArgument(
        "{} of memory are too little: the program alone takes {}; give --memory at least {}",
        size_words(bytes), size_words(now), size_words(now + 2 * reserve(now)));
  keeper().stand({this, bytes, std::move(scratch)});
}

MemoryPromise::~MemoryPromise() { keeper().release(this); }

void mind_memory() { keeper().mind(); }

bool MemoryPromise::broken() const { return keeper().most_needed() > bytes_ - reserve(bytes_); }

void MemoryPromise::require_kept() const {
  if (!broken()) return;
  const auto needed = keeper().most_needed();
  throw InvalidArgument(
      "{} of memory are too little: {} had to be there at once beside the steps themselves; give "
      "--memory at least {}",
      size_words(bytes_), size_words(needed), size_words(needed + 2 * reserve(needed)));
}

bool memory_is_promised() { return !scratch_folder().empty(); }

std::int64_t promised_memory() { return keeper().budget(); }

std::filesystem::path scratch_folder() { return keeper().scratch(); }

void lend_pages(void* begin, std::size_t size) { keeper().lend({begin, size}); }

void take_back_pages(void* begin) { keeper().take_back(begin); }

void expect_pages(const void* begin, std::size_t size) {
  if (!keeper().stands()) return;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(begin), first = from / page * page;
  ::madvise(reinterpret_cast<void*>(first), from + size - first, MADV_WILLNEED);
}

std::string size_words(std::int64_t bytes) {
  if (bytes >= 10'000 * kMega || (bytes >= 1'000 * kMega && bytes % (100 * kMega) == 0))
    return fmt::format("{:.3g} GB", static_cast<double>(bytes) / 1e9);
  return fmt::format("{} MB", (bytes + kMega - 1) / kMega);
}

}  // namespace kindred
