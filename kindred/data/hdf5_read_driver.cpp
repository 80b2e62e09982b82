#include "kindred/data/hdf5_read_driver.h"

#include <fcntl.h>

#include <cstring>
#include <string_view>

#include "kindred/core/descriptor.h"
#include "kindred/core/error.h"
#include "kindred/data/hdf5_driver_base.h"

namespace kindred::hdf5 {
namespace {

template <class T>
T number_at(std::span<const char> bytes, std::size_t at) {
  T number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Whether the objects of a global heap, where texts of variable length lie, follow each other to
/// its end. HDF5 goes from one to the next without a look at how long they are: around in circles,
/// or out of the heap. Everything else is sound.
bool is_sound_heap(std::span<const char> bytes) {
  constexpr std::string_view kBegin("GCOL\x01\0\0\0", 8);
  constexpr std::size_t kHeader = 16;
  if (bytes.size() < kHeader || std::string_view(bytes.data(), kBegin.size()) != kBegin)
    return true;
  const auto size = number_at<std::uint64_t>(bytes, kBegin.size());
  if (size > bytes.size()) return true;  // HDF5 will come back for the rest
  for (std::uint64_t at = kHeader; at + kHeader <= size;) {
    const bool is_free = number_at<std::uint16_t>(bytes, at) == 0;
    const auto length = number_at<std::uint64_t>(bytes, at + 8);
    if (length > size) return false;
    const auto whole = is_free ? length : kHeader + (length + 7) / 8 * 8;
    if (whole < kHeader || whole > size - at) return false;
    at += whole;
  }
  return true;
}

/// A file with the size it had when it was opened; to read beyond it, or beyond what is left of it,
/// is an error.
class ReadFile {
 public:
  explicit ReadFile(const char* name) : file_(name, O_RDONLY, name), size_(file_.size()) {}

  std::uint64_t size() const { return size_; }
  void read(std::uint64_t offset, std::span<char> out) const {
    if (offset > size_ || out.size() > size_ - offset || file_.read(offset, out) != out.size())
      throw IoError("the file ends before byte {}", offset + out.size());
    if (!is_sound_heap(out)) throw IoError("the global heap at byte {} is damaged", offset);
  }

 private:
  Descriptor file_;
  std::uint64_t size_;
};

H5FD_t* open_to_read(const char* name, unsigned flags, hid_t /*access*/, haddr_t /*most*/) {
  if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
  H5FD_t* file = nullptr;
  guarded([&] { file = new DriverFile<ReadFile>(name); });
  return file;
}

herr_t refuse_to_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

H5FD_class_t reading_driver() {
  // The one feature leaves out HDF5's cache of metadata.
  auto driver = driver_that_reads<DriverFile<ReadFile>, H5FD_FEAT_DEFAULT_VFD_COMPATIBLE>(
      "kindred-reading", 76);
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open_to_read;
  driver.write = refuse_to_write;
  return driver;
}

}  // namespace

void read_with_care(const Handle& access) {
  static const H5FD_class_t driver = reading_driver();
  static const hid_t registered = H5FDregister(&driver);
  H5Pset_driver(access.get(), registered, nullptr);
}

}  // namespace kindred::hdf5
