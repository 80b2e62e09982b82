#include "kindred/dist/common_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace kindred {
namespace {

/// Where the first rank's file in memory is found by the others.
struct Whereabouts {
  int process = 0;
  int file = -1;            // -1: there is none
  std::uint64_t token = 0;  // so that no other file is taken for it

  std::string name() const { return fmt::format("kindred-{:016x}", token); }
  std::string path() const { return fmt::format("/proc/{}/fd/{}", process, file); }
};

class File {
 public:
  explicit File(int file) : file_(file) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const { return file_; }

 private:
  int file_;
};

int make_file(std::size_t bytes, Whereabouts& where) {
  std::random_device random;
  where.token = (std::uint64_t{random()} << 32U) | random();
  where.process = ::getpid();
  const int file = ::memfd_create(where.name().c_str(), MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0) where.file = file;
  return file;
}

/// Of another machine, or where processes do not see each other, the path leads elsewhere.
int open_file(const Whereabouts& where) {
  std::array<char, 256> target = {};
  if (where.file < 0 || ::readlink(where.path().c_str(), target.data(), target.size() - 1) < 0)
    return -1;
  if (!std::string(target.data()).starts_with("/memfd:" + where.name())) return -1;
  return ::open(where.path().c_str(), O_RDWR | O_CLOEXEC);
}

// Linux 6.1 has it; headers may be older. Unlike other ways to large pages in common memory it does
// not depend on what the system's owner has set.
constexpr int kCollapse = 25;  // MADV_COLLAPSE

/// At an address where large pages can be.
std::shared_ptr<std::byte> map(int file, std::size_t bytes) {
  if (file < 0) return nullptr;
  const auto room = bytes + kLargePage;
  void* const somewhere =
      ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (somewhere == MAP_FAILED) return nullptr;
  const auto let_go = [=](std::byte*) { ::munmap(somewhere, room); };
  const auto address = reinterpret_cast<std::uintptr_t>(somewhere);
  auto* const aligned = static_cast<std::byte*>(somewhere) + (kLargePage - address % kLargePage);
  std::shared_ptr<std::byte> memory(aligned, let_go);
  if (::mmap(aligned, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return nullptr;
  ::madvise(aligned, bytes, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

std::shared_ptr<std::byte> share_memory(Communicator& ranks, std::size_t bytes) {
  if (ranks.size() == 1 || bytes == 0) return nullptr;
  if (bytes >= kLargePage) bytes = whole_large_pages(bytes);
  Whereabouts where;
  const File made(ranks.is_first() ? make_file(bytes, where) : -1);
  ranks.broadcast(std::as_writable_bytes(std::span(&where, 1)), 0);
  const File opened(ranks.is_first() ? -1 : open_file(where));
  auto memory = map(ranks.is_first() ? where.file : opened.get(), bytes);
  std::int64_t have_it = memory ? 1 : 0;
  ranks.all_reduce({&have_it, 1});  // and the first keeps its file open until all have
  return have_it == ranks.size() ? memory : nullptr;
}

void claim_memory(std::span<std::byte> part) {
  // Large pages that begin in the part; the last may reach into another rank's.
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const auto first = (kLargePage - begin % kLargePage) % kLargePage;
  if (first >= part.size() || part.size() < kLargePage) return;
  const auto pages = (part.size() - first + kLargePage - 1) / kLargePage;
  // Each has to be there, if only a bit of it.
  for (std::size_t page = 0; page < pages; ++page) part[first + page * kLargePage] = std::byte{0};
  ::madvise(part.data() + first, pages * kLargePage, kCollapse);
}

}  // namespace kindred
