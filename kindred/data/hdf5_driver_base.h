// What HDF5's drivers of ours have in common: functions of C around a C++ object. Internal.
#pragma once

#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace kindred::hdf5 {

/// Calls `action` for HDF5, which is C: -1 stands for an exception.
template <class Action>
herr_t guarded(const Action& action) {
  try {
    action();
    return 0;
  } catch (...) {
    return -1;
  }
}

/// An open file as HDF5's functions know it. `Below` has size() and read(offset, span); what they
/// throw HDF5 takes for failure.
template <class Below>
struct DriverFile : H5FD_t {
  Below below;
  haddr_t end = 0;  ///< Of what HDF5 takes to be the file.

  template <class... Parts>
  explicit DriverFile(Parts&&... parts) : H5FD_t{}, below{std::forward<Parts>(parts)...} {}
  static DriverFile& of(H5FD_t* file) { return *static_cast<DriverFile*>(file); }
  static const DriverFile& of(const H5FD_t* file) { return *static_cast<const DriverFile*>(file); }
};

/// A driver that reads, in need of `open`, `write` and what else it can. Its fields differ between
/// versions of HDF5, so they are named; those left out are zero. `number` tells drivers apart.
template <class File, unsigned long features>
H5FD_class_t driver_that_reads(const char* name, [[maybe_unused]] int number) {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5FD_VFD_RESERVED + number);
#endif
  driver.name = name;
  driver.maxaddr = static_cast<haddr_t>(INT64_MAX);
  driver.close = [](H5FD_t* file) -> herr_t {
    delete &File::of(file);
    return 0;
  };
  driver.query = [](const H5FD_t*, unsigned long* flags) -> herr_t {
    if (flags) *flags = features;
    return 0;
  };
  driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t) { return File::of(file).end; };
  driver.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t end) -> herr_t {
    File::of(file).end = end;
    return 0;
  };
  driver.get_eof = [](const H5FD_t* file, H5FD_mem_t) -> haddr_t {
    return File::of(file).below.size();
  };
  driver.read = [](H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t size, void* out) {
    return guarded([&] { File::of(file).below.read(offset, {static_cast<char*>(out), size}); });
  };
  std::ranges::fill(driver.fl_map, H5FD_MEM_DEFAULT);
  return driver;
}

}  // namespace kindred::hdf5
