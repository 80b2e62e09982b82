#include "kindred/data/hdf5_driver.h"

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif
#include <fcntl.h>

#include <algorithm>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

constexpr std::uint64_t kPage = 4096;

/// An open file as HDF5's functions know it.
struct OpenFile : H5FD_t {
  std::shared_ptr<DiskFile> disk;
  haddr_t end = 0;  ///< Of what HDF5 has allocated.
};

/// What a property list carries; it is copied byte by byte.
struct DriverInfo {
  const std::shared_ptr<DiskFile>* disk;
};

OpenFile& of(H5FD_t* file) { return *static_cast<OpenFile*>(file); }
const OpenFile& of(const H5FD_t* file) { return *static_cast<const OpenFile*>(file); }

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

H5FD_t* open_file(const char* /*name*/, unsigned flags, hid_t access, haddr_t /*most*/) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  OpenFile* file = nullptr;
  guarded([&] {
    if ((flags & H5F_ACC_TRUNC) != 0) (*info->disk)->truncate(0);
    file = new OpenFile();
    file->disk = *info->disk;
  });
  return file;
}

herr_t close_file(H5FD_t* file) {
  delete &of(file);
  return 0;
}

herr_t query_features(const H5FD_t* /*file*/, unsigned long* flags) {
  // What HDF5's own driver for POSIX has, so that both lay out a file alike.
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t /*type*/) { return of(file).end; }

herr_t set_end(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  of(file).end = end;
  return 0;
}

haddr_t get_size(const H5FD_t* file, H5FD_mem_t /*type*/) { return of(file).disk->size(); }

herr_t read_bytes(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t offset,
                  std::size_t size, void* out) {
  return guarded([&] { of(file).disk->read(offset, {static_cast<char*>(out), size}); });
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, haddr_t offset,
                   std::size_t size, const void* bytes) {
  return guarded([&] {
    of(file).disk->write(offset, {static_cast<const char*>(bytes), size}, type == H5FD_MEM_DRAW);
  });
}

herr_t truncate_file(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  return guarded([&] {
    if (of(file).end != of(file).disk->size()) of(file).disk->truncate(of(file).end);
  });
}

/// The fields differ between versions of HDF5, so they are named; those left out are zero.
H5FD_class_t make_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 14, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 75);
#endif
  driver.name = "kindred";
  driver.maxaddr = static_cast<haddr_t>(INT64_MAX);
  driver.fc_degree = H5F_CLOSE_SEMI;  // to close a file with something open in it is an error
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query_features;
  driver.get_eoa = get_end;
  driver.set_eoa = set_end;
  driver.get_eof = get_size;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = truncate_file;
  const H5FD_mem_t values_apart[] = H5FD_FLMAP_DICHOTOMY;
  std::ranges::copy(values_apart, driver.fl_map);
  return driver;
}

}  // namespace

DiskFile::DiskFile(const std::filesystem::path& path, const std::string& known_as)
    : file_(path, O_RDWR, known_as), size_(file_.size()) {}

void DiskFile::read(std::uint64_t offset, std::span<char> out) const {
  const auto found = file_.read(offset, out);
  std::ranges::fill(out.subspan(found), '\0');
  const auto end = offset + out.size();
  for (auto page = kept_.lower_bound(offset / kPage);
       page != kept_.end() && page->first * kPage < end; ++page) {
    const auto first = page->first * kPage;
    const auto from = std::max(offset, first), to = std::min(end, first + kPage);
    std::copy_n(page->second.data() + (from - first), to - from, out.data() + (from - offset));
  }
}

/// Whether the disk let it happen; after the first refusal nothing more is tried.
template <class Change>
bool DiskFile::try_to(const Change& change) {
  if (abandoned_ || !problem_.empty()) return false;
  try {
    change();
    return true;
  } catch (const IoError& error) {
    problem_ = error.what();
    return false;
  }
}

void DiskFile::write(std::uint64_t offset, std::string_view bytes, bool raw_values) {
  // HDF5 finds its way by everything but the values, which may be larger than memory.
  if (!try_to([&] { file_.write(offset, bytes); }) && !raw_values) keep(offset, bytes);
  size_ = std::max<std::uint64_t>(size_, offset + bytes.size());
}

void DiskFile::keep(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto number = offset / kPage, at = offset % kPage;
    const auto count = std::min<std::uint64_t>(kPage - at, bytes.size());
    auto [page, is_new] = kept_.try_emplace(number);
    if (is_new) {
      page->second.resize(kPage);
      file_.read(number * kPage, page->second);
    }
    page->second.replace(at, count, bytes.substr(0, count));
    offset += count;
    bytes.remove_prefix(count);
  }
}

void DiskFile::truncate(std::uint64_t size) {
  try_to([&] { file_.truncate(size); });
  size_ = size;
}

void set_disk(const Handle& access, const std::shared_ptr<DiskFile>& disk) {
  static const H5FD_class_t driver = make_driver();
  static const hid_t registered = H5FDregister(&driver);
  const DriverInfo info{&disk};
  if (H5Pset_driver(access.get(), registered, &info) < 0)
    throw IoError("HDF5 cannot be made to write (HDF5: {})", last_error());
}

}  // namespace kindred::hdf5
