#include "kindred/data/hdf5_read_driver.h"

#include <fcntl.h>

#include "kindred/core/descriptor.h"
#include "kindred/core/error.h"
#include "kindred/data/hdf5_driver_base.h"

namespace kindred::hdf5 {
namespace {

/// A file with the size it had when it was opened; to read beyond it, or beyond what is left of it,
/// is an error.
class ReadFile {
 public:
  explicit ReadFile(const char* name) : file_(name, O_RDONLY, name), size_(file_.size()) {}

  std::uint64_t size() const { return size_; }
  void read(std::uint64_t offset, std::span<char> out) const {
    if (offset > size_ || out.size() > size_ - offset || file_.read(offset, out) != out.size())
      throw IoError("the file ends before byte {}", offset + out.size());
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
