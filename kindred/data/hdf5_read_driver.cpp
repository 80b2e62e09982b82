#include "kindred/data/hdf5_read_driver.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace kindred::hdf5 {
namespace {

/// An open file as HDF5's functions know it.
struct OpenFile : H5FD_t {
  int descriptor = -1;
  haddr_t size = 0;
  haddr_t end = 0;  ///< Of what HDF5 takes to be the file.
};

OpenFile& of(H5FD_t* file) { return *static_cast<OpenFile*>(file); }
const OpenFile& of(const H5FD_t* file) { return *static_cast<const OpenFile*>(file); }

H5FD_t* open_file(const char* name, unsigned flags, hid_t /*access*/, haddr_t /*most*/) {
  if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
  const int descriptor = ::open(name, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  auto* file = descriptor >= 0 && ::fstat(descriptor, &status) == 0 ? new (std::nothrow) OpenFile()
                                                                    : nullptr;
  if (file) {
    file->descriptor = descriptor;
    file->size = static_cast<haddr_t>(status.st_size);
  } else if (descriptor >= 0) {
    ::close(descriptor);
  }
  return file;
}

herr_t close_file(H5FD_t* file) {
  ::close(of(file).descriptor);
  delete &of(file);
  return 0;
}

herr_t query_features(const H5FD_t* /*file*/, unsigned long* flags) {
  if (flags) *flags = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;  // and no cache of metadata
  return 0;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t /*type*/) { return of(file).end; }

herr_t set_end(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  of(file).end = end;
  return 0;
}

haddr_t get_size(const H5FD_t* file, H5FD_mem_t /*type*/) { return of(file).size; }

herr_t read_bytes(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t offset,
                  std::size_t size, void* out) {
  if (offset > of(file).size || size > of(file).size - offset) return -1;
  for (auto* to = static_cast<char*>(out); size > 0;) {
    const auto got = ::pread(of(file).descriptor, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;  // also when the file became shorter
    to += got;
    offset += static_cast<haddr_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return 0;
}

herr_t refuse_to_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

/// The fields differ between versions of HDF5, so they are named; those left out are zero.
H5FD_class_t make_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5FD_VFD_RESERVED + 76);
#endif
  driver.name = "kindred-reading";
  driver.maxaddr = static_cast<haddr_t>(INT64_MAX);
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query_features;
  driver.get_eoa = get_end;
  driver.set_eoa = set_end;
  driver.get_eof = get_size;
  driver.read = read_bytes;
  driver.write = refuse_to_write;
  std::ranges::fill(driver.fl_map, H5FD_MEM_DEFAULT);
  return driver;
}

}  // namespace

void read_with_care(const Handle& access) {
  static const H5FD_class_t driver = make_driver();
  static const hid_t registered = H5FDregister(&driver);
  H5Pset_driver(access.get(), registered, nullptr);
}

}  // namespace kindred::hdf5
