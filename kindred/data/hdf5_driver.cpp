#include "kindred/data/hdf5_driver.h"

#include <fcntl.h>

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/data/hdf5_driver_base.h"

namespace kindred::hdf5 {
namespace {

constexpr std::uint64_t kPage = 4096;

/// What a property list carries; it is copied byte by byte.
struct DriverInfo {
  const std::shared_ptr<DiskFile>* disk;
};

/// What HDF5 writes through: it shares the disk with whoever asks for errors.
struct Written {
  std::shared_ptr<DiskFile> disk;
  std::uint64_t size() const { return disk->size(); }
  void read(std::uint64_t offset, std::span<char> out) const { disk->read(offset, out); }
};
using WrittenFile = DriverFile<Written>;

// What HDF5's own driver for POSIX has, so that both lay out a file alike.
constexpr unsigned long kPosixFeatures =
    H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
    H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;

H5FD_t* open_to_write(const char* /*name*/, unsigned flags, hid_t access, haddr_t /*most*/) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  WrittenFile* file = nullptr;
  guarded([&] {
    if ((flags & H5F_ACC_TRUNC) != 0) (*info->disk)->truncate(0);
    file = new WrittenFile(*info->disk);
  });
  return file;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, haddr_t offset,
                   std::size_t size, const void* bytes) {
  return guarded([&] {
    WrittenFile::of(file).below.disk->write(offset, {static_cast<const char*>(bytes), size},
                                            type == H5FD_MEM_DRAW);
  });
}

herr_t truncate_file(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  return guarded([&] {
    const auto& [disk] = WrittenFile::of(file).below;
    if (WrittenFile::of(file).end != disk->size()) disk->truncate(WrittenFile::of(file).end);
  });
}

H5FD_class_t writing_driver() {
  auto driver = driver_that_reads<WrittenFile, kPosixFeatures>("kindred", 75);
  driver.fc_degree = H5F_CLOSE_SEMI;  // to close a file with something open in it is an error
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_to_write;
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
  static const H5FD_class_t driver = writing_driver();
  static const hid_t registered = H5FDregister(&driver);
  const DriverInfo info{&disk};
  if (H5Pset_driver(access.get(), registered, &info) < 0)
    throw IoError("HDF5 cannot be made to write (HDF5: {})", last_error());
}

}  // namespace kindred::hdf5
