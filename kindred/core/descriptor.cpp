#include "kindred/core/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "kindred/core/error.h"

namespace kindred {

Descriptor::Descriptor(const std::filesystem::path& path, int flags, std::string known_as)
    : known_as_(std::move(known_as)), id_(::open(path.c_str(), flags | O_CLOEXEC)) {
  if (id_ < 0) fail((flags & O_ACCMODE) == O_RDONLY ? "open" : "write");
}

Descriptor::~Descriptor() { close(); }

void Descriptor::close() {
  if (id_ >= 0) ::close(id_);
  id_ = -1;
}

void Descriptor::fail(const char* doing) const {
  const int reason = errno;
  throw IoError("cannot {} '{}': {}", doing, known_as_, std::generic_category().message(reason));
}

std::uint64_t Descriptor::size() const {
  struct stat status {};
  if (::fstat(id_, &status) != 0) fail("measure");
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t Descriptor::read(std::uint64_t offset, std::span<char> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto n =
        ::pread(id_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void Descriptor::write(std::uint64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto n = ::pwrite(id_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    offset += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void Descriptor::truncate(std::uint64_t size) const {
  if (::ftruncate(id_, static_cast<off_t>(size)) != 0) fail("write");
}

void Descriptor::flush() const {
  // Some file systems cannot flush a file by itself, which is no reason to give up what is written.
  if (::fsync(id_) != 0 && errno != EINVAL && errno != ENOSYS) fail("write");
}

}  // namespace kindred
