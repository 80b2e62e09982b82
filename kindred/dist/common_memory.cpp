#include "kindred/dist/common_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace kindred {
namespace {

constexpr std::size_t kFilesAtOnce = 16;  // more than most runs need

/// Where the first rank's files in memory are found by the others.
struct Whereabouts {
  int process = 0;
  std::uint64_t token = 0;  // so that no other file is taken for one of them
  std::array<int, kFilesAtOnce> files = {};

  std::string name() const { return fmt::format("kindred-{:016x}", token); }
  std::string path(int file) const { return fmt::format("/proc/{}/fd/{}", process, file); }
};

/// A limit on the size of files would be met only when one rank takes memory, too late for all to
/// send instead.
bool files_have_limit() {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/// Of another machine, or where processes do not see each other, the path leads elsewhere.
int open_file(const Whereabouts& where, int file) {
  const auto path = where.path(file);
  std::array<char, 256> target = {};
  if (file < 0 || ::readlink(path.c_str(), target.data(), target.size() - 1) < 0) return -1;
  if (!std::string(target.data()).starts_with("/memfd:" + where.name())) return -1;
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

// Linux 6.1 has it; headers may be older. Unlike other ways to large pages in common memory it does
// not depend on what the system's owner has set.
constexpr int kCollapse = 25;  // MADV_COLLAPSE

/// At an address where large pages can be.
std::shared_ptr<std::byte> map(int file, std::size_t bytes) {
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

CommonMemory::~CommonMemory() { close_files(); }

void CommonMemory::close_files() {
  for (const int file : files_) ::close(file);
  files_.clear();
}

bool CommonMemory::make_files(Communicator& ranks) {
  Whereabouts where;
  if (ranks.is_first()) {
    std::random_device random;
    where.token = (std::uint64_t{random()} << 32U) | random();
    where.process = ::getpid();
    for (auto& file : where.files) file = ::memfd_create(where.name().c_str(), MFD_CLOEXEC);
  }
  ranks.broadcast(std::as_writable_bytes(std::span(&where, 1)), 0);
  for (const int told : where.files)
    if (const int file = ranks.is_first() ? told : open_file(where, told); file >= 0)
      files_.push_back(file);
  std::int64_t have_all = files_.size() == kFilesAtOnce && !files_have_limit() ? 1 : 0;
  ranks.all_reduce({&have_all, 1});  // and the first keeps its files until all have opened them
  if (have_all < ranks.size()) close_files();
  return !files_.empty();
}

std::shared_ptr<std::byte> CommonMemory::take(Communicator& ranks, std::size_t bytes) {
  if (ranks.size() == 1 || bytes == 0) return nullptr;
  if (files_.empty() && !make_files(ranks)) return nullptr;
  if (bytes >= kLargePage) bytes = whole_large_pages(bytes);
  const int file = files_.back();
  // Every rank says how large it is, so that nobody has to wait for the first.
  auto memory = ::ftruncate(file, static_cast<off_t>(bytes)) == 0 ? map(file, bytes) : nullptr;
  if (!memory)
    throw IoError("{} bytes of memory that processes share cannot be mapped on rank {}", bytes,
                  ranks.rank());
  files_.pop_back();
  ::close(file);
  return memory;
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
