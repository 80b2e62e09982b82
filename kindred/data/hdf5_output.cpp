#include "kindred/data/hdf5_output.h"

#include <algorithm>
#include <utility>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

constexpr hsize_t kAlignment = 64;  // a mapped column starts on a cache line

std::vector<hsize_t> extents(const std::vector<std::int64_t>& shape) {
  return {shape.begin(), shape.end()};
}

Handle text_type(std::size_t size, H5T_cset_t characters = H5T_CSET_UTF8) {
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), std::max<std::size_t>(size, 1));
  H5Tset_cset(type.get(), characters);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

Handle flag_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8));
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

}  // namespace

Writer::Writer(const std::filesystem::path& path, std::string known_as)
    : known_as_(std::move(known_as)), disk_(std::make_shared<DiskFile>(path, known_as_)) {
  silence_errors();
}

Writer::~Writer() {
  if (file_) disk_->abandon();
}

void Writer::check(bool done, const std::string& what) const {
  if (!disk_->problem().empty()) throw IoError(disk_->problem());
  if (!done) throw IoError("cannot write {} to '{}' (HDF5: {})", what, known_as_, last_error());
}

void Writer::close(Handle dataset, const std::string& name) const {
  check(dataset.reset(), fmt::format("dataset '{}'", name));
}

void Writer::close_file() { check(file_.reset(), "the last changes"); }

OutputFile::OutputFile(const std::filesystem::path& target)
    : StagedFile(target), Writer(path(), name()) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  // The 1.8 format checksums its metadata and is read by every HDF5 since; only what is copied from
  // a newer file is newer.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  H5Pset_alignment(access.get(), kAlignment, kAlignment);
  set_disk(access, disk_);
  const Handle creation(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(creation.get(), false);  // of the root group
  file_ = Handle(H5Fcreate(path().c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
  check(static_cast<bool>(file_), "a new file");
}

void OutputFile::commit() {
  close_file();
  StagedFile::commit();
}

ChangedFile::ChangedFile(const std::filesystem::path& path, const std::filesystem::path& known_as)
    : Writer(path, known_as.string()) {
  const Handle access = file_access();
  set_disk(access, disk_);
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()));
  check(static_cast<bool>(file_), "changes");
}

void ChangedFile::remove(const std::string& name) {
  check(H5Ldelete(file_.get(), name.c_str(), H5P_DEFAULT) >= 0,
        fmt::format("the removal of '{}'", name));
}

void ChangedFile::remove_attribute(const std::string& object, const std::string& name) {
  check(H5Adelete_by_name(file_.get(), object.empty() ? "/" : object.c_str(), name.c_str(),
                          H5P_DEFAULT) >= 0,
        fmt::format("the removal of attribute '{}' of '{}'", name, object));
}

Handle Writer::create_dataset(const std::string& name, hid_t type,
                              const std::vector<std::int64_t>& shape) {
  const auto dims = extents(shape);
  const Handle space(shape.empty()
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  const Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_layout(creation.get(), H5D_CONTIGUOUS);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation.get(), false);  // the same data makes the same bytes
  Handle dataset(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), links.get(),
                            creation.get(), H5P_DEFAULT));
  check(static_cast<bool>(dataset), fmt::format("dataset '{}'", name));
  return dataset;
}

void Writer::put(Handle dataset, const std::string& name, hid_t type, const void* values) const {
  check(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
        fmt::format("dataset '{}'", name));
  close(std::move(dataset), name);
}

void Writer::make_group(const std::string& name) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle group(H5Gcreate2(file_.get(), name.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT));
  check(static_cast<bool>(group), fmt::format("group '{}'", name));
}

template <class T>
void Writer::write(const std::string& name, std::span<const T> values,
                   const std::vector<std::int64_t>& shape) {
  Handle dataset = create_dataset(name, native_type<T>(), shape);
  if (!values.empty()) put(std::move(dataset), name, native_type<T>(), values.data());
}

template <class T>
void Writer::write_blocks(const std::string& name, const std::vector<std::int64_t>& shape,
                          const std::function<void(std::int64_t, std::int64_t, T*)>& fill) {
  Handle dataset = create_dataset(name, native_type<T>(), shape);
  auto count = extents(shape);
  std::int64_t row_size = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) row_size *= shape[i];
  const auto row_bytes = row_size * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t rows = std::max<std::int64_t>(1, kBlockBytes / row_bytes);
  std::vector<T> block(static_cast<std::size_t>(std::min(rows, shape[0]) * row_size));
  std::vector<hsize_t> start(shape.size(), 0);
  const Handle file_space(H5Dget_space(dataset.get()));
  for (std::int64_t begin = 0; begin < shape[0]; begin += rows) {
    const std::int64_t end = std::min(begin + rows, shape[0]);
    fill(begin, end, block.data());
    start[0] = static_cast<hsize_t>(begin);
    count[0] = static_cast<hsize_t>(end - begin);
    H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                        nullptr);
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
    check(H5Dwrite(dataset.get(), native_type<T>(), memory.get(), file_space.get(), H5P_DEFAULT,
                   block.data()) >= 0,
          fmt::format("dataset '{}'", name));
  }
  close(std::move(dataset), name);
}

void Writer::write_flags(const std::string& name, std::span<const std::uint8_t> flags) {
  const Handle type = flag_type();
  Handle dataset = create_dataset(name, type.get(), {static_cast<std::int64_t>(flags.size())});
  if (!flags.empty()) put(std::move(dataset), name, type.get(), flags.data());
}

void Writer::write_text(const std::string& name, const std::string& text) {
  const Handle type = text_type(text.size());
  put(create_dataset(name, type.get(), {}), name, type.get(), text.c_str());
}

void Writer::write_strings(const std::string& name, const std::vector<std::string>& strings) {
  std::size_t width = 1;
  for (const auto& string : strings) width = std::max(width, string.size());
  std::string packed(width * strings.size(), '\0');
  for (std::size_t i = 0; i < strings.size(); ++i)
    std::ranges::copy(strings[i], packed.begin() + static_cast<std::ptrdiff_t>(i * width));
  const bool ascii = std::ranges::none_of(packed, [](char c) { return (c & 0x80) != 0; });
  const Handle type = text_type(width, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  Handle dataset = create_dataset(name, type.get(), {static_cast<std::int64_t>(strings.size())});
  if (!strings.empty()) put(std::move(dataset), name, type.get(), packed.data());
}

Handle Writer::create_attribute(const std::string& object, const std::string& name, hid_t type) {
  const Handle space(H5Screate(H5S_SCALAR));
  const char* owner = object.empty() ? "/" : object.c_str();
  if (H5Aexists_by_name(file_.get(), owner, name.c_str(), H5P_DEFAULT) > 0)
    H5Adelete_by_name(file_.get(), owner, name.c_str(), H5P_DEFAULT);
  Handle attribute(H5Acreate_by_name(file_.get(), owner, name.c_str(), type, space.get(),
                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  check(static_cast<bool>(attribute), fmt::format("attribute '{}' of '{}'", name, object));
  return attribute;
}

void Writer::write_attribute(const std::string& object, const std::string& name,
                             std::int64_t value) {
  const Handle attribute = create_attribute(object, name, H5T_NATIVE_INT64);
  check(H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value) >= 0,
        fmt::format("attribute '{}' of '{}'", name, object));
}

void Writer::write_attribute(const std::string& object, const std::string& name,
                             const std::string& value) {
  const Handle type = text_type(value.size());
  const Handle attribute = create_attribute(object, name, type.get());
  check(H5Awrite(attribute.get(), type.get(), value.c_str()) >= 0,
        fmt::format("attribute '{}' of '{}'", name, object));
}

#define KINDRED_INSTANTIATE(T)                                                             \
  template void Writer::write(const std::string&, std::span<const T>,                      \
                              const std::vector<std::int64_t>&);                           \
  template void Writer::write_blocks(const std::string&, const std::vector<std::int64_t>&, \
                                     const std::function<void(std::int64_t, std::int64_t, T*)>&);
KINDRED_INSTANTIATE(float)
KINDRED_INSTANTIATE(double)
KINDRED_INSTANTIATE(std::uint8_t)
KINDRED_INSTANTIATE(std::int32_t)
KINDRED_INSTANTIATE(std::int64_t)
#undef KINDRED_INSTANTIATE

}  // namespace kindred::hdf5
