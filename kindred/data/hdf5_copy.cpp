#include "kindred/data/hdf5_copy.h"

#include <algorithm>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

constexpr std::size_t kLeastCache = 1 << 20;  // what HDF5 takes by itself

/// Memory for values as HDF5 gives them; frees what values of variable length point to.
class Buffer {
 public:
  Buffer(hid_t type, const Handle& space) : type_(type), space_(space) {
    bytes_.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())) *
                  H5Tget_size(type));
  }
  ~Buffer() {
    if (filled_) H5Dvlen_reclaim(type_, space_.get(), H5P_DEFAULT, bytes_.data());
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() { return bytes_.data(); }
  void set_filled() { filled_ = true; }

 private:
  hid_t type_;
  const Handle& space_;
  std::vector<char> bytes_;
  bool filled_ = false;
};

[[noreturn]] void fail_reading(const InputFile& from, const std::string& name) {
  throw DataFormatError("{} cannot be copied: it is damaged, or needs a newer HDF5 (HDF5: {})",
                        from.where(name), last_error());
}

Handle require(const InputFile& file, const std::string& name) {
  Handle object = file.open(name);
  if (!object) fail_reading(file, name);
  return object;
}

std::vector<hsize_t> extents(const Handle& space, bool largest = false) {
  std::vector<hsize_t> sizes(
      static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
  H5Sget_simple_extent_dims(space.get(), largest ? nullptr : sizes.data(),
                            largest ? sizes.data() : nullptr);
  return sizes;
}

Handle groups_as_needed() {
  Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.get(), 1);
  return links;
}

Handle rows_of(const Handle& space, std::int64_t begin, std::int64_t count) {
  auto sizes = extents(space);
  std::vector<hsize_t> start(sizes.size(), 0);
  start[0] = static_cast<hsize_t>(begin);
  sizes[0] = static_cast<hsize_t>(count);
  Handle rows(H5Scopy(space.get()));
  H5Sselect_hyperslab(rows.get(), H5S_SELECT_SET, start.data(), nullptr, sizes.data(), nullptr);
  return rows;
}

/// Room for the rows of all ranges; it can grow where the original can.
Handle space_for(const Handle& source, std::span<const RowRange> ranges) {
  auto sizes = extents(source), most = extents(source, true);
  sizes[0] = 0;
  for (const auto& range : ranges) sizes[0] += static_cast<hsize_t>(range.end - range.begin);
  if (most[0] != H5S_UNLIMITED) most[0] = sizes[0];
  return Handle(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), most.data()));
}

/// How the copy is stored: as the original, with chunks that fit into the smaller space. What lies
/// in other files, which writing would change, comes into this one.
Handle storage_of(const Handle& source, const Handle& space) {
  Handle storage(H5Dget_create_plist(source.get()));
  const auto layout = H5Pget_layout(storage.get());
  if (layout == H5D_VIRTUAL || H5Pget_external_count(storage.get()) > 0)
    return Handle(H5Pcreate(H5P_DATASET_CREATE));
  if (layout != H5D_CHUNKED) return storage;
  const auto most = extents(space, true);
  std::vector<hsize_t> chunk(most.size());
  H5Pget_chunk(storage.get(), static_cast<int>(chunk.size()), chunk.data());
  for (std::size_t i = 0; i < chunk.size(); ++i)
    chunk[i] = std::min(chunk[i], std::max<hsize_t>(most[i], 1));
  H5Pset_chunk(storage.get(), static_cast<int>(chunk.size()), chunk.data());
  return storage;
}

/// We can read h5py's LZF without HDF5, but not write it.
void require_filters(const InputFile& from, const std::string& name, const Handle& storage) {
  const int filters = std::max(H5Pget_nfilters(storage.get()), 0);
  for (unsigned i = 0; i < static_cast<unsigned>(filters); ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const auto filter =
        H5Pget_filter2(storage.get(), i, &flags, &values, nullptr, 0, nullptr, &config);
    if (H5Zfilter_avail(filter) <= 0)
      throw DataFormatError(
          "{} cannot be copied in part: it is compressed with filter {}{}, which this HDF5 library "
          "does not have; write the dataset again with gzip first",
          from.where(name), filter, filter == kLzfFilter ? " (LZF)" : "");
  }
}

/// Keeps all chunks of a row in memory: ranges that share a chunk read and write it once.
Handle cache_for(const Handle& storage, const Handle& space, std::size_t value_bytes) {
  Handle access(H5Pcreate(H5P_DATASET_ACCESS));
  if (H5Pget_layout(storage.get()) != H5D_CHUNKED) return access;
  const auto sizes = extents(space);
  std::vector<hsize_t> chunk(sizes.size());
  H5Pget_chunk(storage.get(), static_cast<int>(chunk.size()), chunk.data());
  std::size_t bytes = value_bytes * chunk[0];
  for (std::size_t i = 1; i < chunk.size(); ++i)
    bytes *= (sizes[i] + chunk[i] - 1) / chunk[i] * chunk[i];
  H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, std::max(bytes, kLeastCache),
                     H5D_CHUNK_CACHE_W0_DEFAULT);
  return access;
}

/// Opens a dataset that is not open anywhere else, which would decide how it is cached.
Handle open_cached(const InputFile& file, const std::string& name) {
  Handle parent, access;
  {
    const Handle dataset = require(file, name);
    const Handle storage(H5Dget_create_plist(dataset.get())), space(H5Dget_space(dataset.get()));
    const Handle type(H5Dget_type(dataset.get()));
    access = cache_for(storage, space, H5Tget_size(type.get()));
    parent = Handle(H5Iget_file_id(dataset.get()));
  }
  Handle dataset(H5Dopen2(parent.get(), name.c_str(), access.get()));
  if (!dataset) fail_reading(file, name);
  return dataset;
}

void copy_attributes(const Handle& from, const Handle& to) {
  const auto copy_one = [](hid_t owner, const char* name, const H5A_info_t*, void* out) -> herr_t {
    const Handle source(H5Aopen(owner, name, H5P_DEFAULT));
    const Handle type(H5Aget_type(source.get()));
    const Handle space(H5Aget_space(source.get()));
    if (!source || !type || !space) return -1;
    const Handle target(H5Acreate2(static_cast<const Handle*>(out)->get(), name, type.get(),
                                   space.get(), H5P_DEFAULT, H5P_DEFAULT));
    if (!target) return -1;
    if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) return 0;
    Buffer values(type.get(), space);
    if (H5Aread(source.get(), type.get(), values.data()) < 0) return -1;
    values.set_filled();
    return H5Awrite(target.get(), type.get(), values.data());
  };
  if (H5Aiterate2(from.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, copy_one,
                  const_cast<Handle*>(&to)) < 0)
    throw DataFormatError("an attribute cannot be copied (HDF5: {})", last_error());
}

}  // namespace

void copy_object(const InputFile& from, const std::string& name, OutputFile& to,
                 const std::string& as) {
  const Handle source = require(from, name);
  const Handle links = groups_as_needed();
  const auto copied =
      H5Ocopy(source.get(), ".", to.handle().get(), as.c_str(), H5P_DEFAULT, links.get());
  to.check(true, as);  // a full disk is not the source's fault
  if (copied < 0) fail_reading(from, name);
}

void copy_attributes(const InputFile& from, const std::string& object, OutputFile& to,
                     const std::string& as) {
  const Handle source = require(from, object);
  const Handle target(H5Oopen(to.handle().get(), as.empty() ? "/" : as.c_str(), H5P_DEFAULT));
  copy_attributes(source, target);
  to.check(true, as);
}

void copy_rows(const InputFile& from, const std::string& name, std::span<const RowRange> ranges,
               OutputFile& to, const std::string& as) {
  const Handle source = open_cached(from, name);
  const Handle type(H5Dget_type(source.get()));
  const Handle source_space(H5Dget_space(source.get()));
  const Handle space = space_for(source_space, ranges);
  const Handle storage = storage_of(source, space);
  require_filters(from, name, storage);
  const Handle links = groups_as_needed();
  const Handle access = cache_for(storage, space, H5Tget_size(type.get()));
  Handle target(H5Dcreate2(to.handle().get(), as.c_str(), type.get(), space.get(), links.get(),
                           storage.get(), access.get()));
  to.check(static_cast<bool>(target), fmt::format("dataset '{}'", as));
  copy_attributes(source, target);

  auto block = extents(space);
  std::int64_t row_bytes = static_cast<std::int64_t>(H5Tget_size(type.get()));
  for (std::size_t i = 1; i < block.size(); ++i) row_bytes *= static_cast<std::int64_t>(block[i]);
  if (row_bytes == 0) return to.close(std::move(target), as);
  const std::int64_t step = std::max<std::int64_t>(1, kBlockBytes / row_bytes);
  std::int64_t written = 0;
  for (const auto& range : ranges)
    for (std::int64_t begin = range.begin; begin < range.end; begin += step) {
      const std::int64_t count = std::min(step, range.end - begin);
      block[0] = static_cast<hsize_t>(count);
      const Handle memory(H5Screate_simple(static_cast<int>(block.size()), block.data(), nullptr));
      Buffer values(type.get(), memory);
      if (H5Dread(source.get(), type.get(), memory.get(), rows_of(source_space, begin, count).get(),
                  H5P_DEFAULT, values.data()) < 0)
        fail_reading(from, name);
      values.set_filled();
      to.check(H5Dwrite(target.get(), type.get(), memory.get(),
                        rows_of(space, written, count).get(), H5P_DEFAULT, values.data()) >= 0,
               fmt::format("dataset '{}'", as));
      written += count;
    }
  to.close(std::move(target), as);
}

std::optional<std::vector<std::string>> words_of(const InputFile& file, const std::string& name) {
  if (!file.has_dataset(name)) return std::nullopt;
  const Handle object = require(file, name);
  const Handle type(H5Dget_type(object.get())), space(H5Dget_space(object.get()));
  if (H5Tget_class(type.get()) != H5T_STRING || extents(space).size() != 1) return std::nullopt;
  if (H5Tis_variable_str(type.get()) <= 0) return file.dataset(name).read_strings();
  Buffer values(type.get(), space);
  if (H5Dread(object.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail_reading(file, name);
  values.set_filled();
  const auto* texts = static_cast<const char* const*>(values.data());
  std::vector<std::string> words;
  for (hsize_t i = 0; i < extents(space)[0]; ++i) words.emplace_back(texts[i] ? texts[i] : "");
  return words;
}

bool is_variable_text(const InputFile& file, const std::string& name) {
  const Handle object = file.has_dataset(name) ? file.open(name) : Handle();
  if (!object) return false;
  const Handle type(H5Dget_type(object.get())), space(H5Dget_space(object.get()));
  return H5Tis_variable_str(type.get()) > 0 && extents(space).size() == 1;
}

std::optional<std::string> word_of(const InputFile& file, const std::string& object,
                                   const std::string& attribute) {
  if (auto fixed = file.text_attribute(object, attribute)) return fixed;
  const Handle owner = require(file, object);
  if (H5Aexists(owner.get(), attribute.c_str()) <= 0) return std::nullopt;
  const Handle found(H5Aopen(owner.get(), attribute.c_str(), H5P_DEFAULT));
  const Handle type(H5Aget_type(found.get())), space(H5Aget_space(found.get()));
  if (H5Tis_variable_str(type.get()) <= 0 || H5Sget_simple_extent_npoints(space.get()) != 1)
    return std::nullopt;
  Buffer value(type.get(), space);
  if (H5Aread(found.get(), type.get(), value.data()) < 0) fail_reading(file, object);
  value.set_filled();
  const auto* text = *static_cast<const char* const*>(value.data());
  return text ? text : "";
}

std::vector<std::int64_t> shape_of(const InputFile& file, const std::string& name) {
  const Handle object = require(file, name);
  const auto sizes = extents(Handle(H5Dget_space(object.get())));
  return {sizes.begin(), sizes.end()};
}

}  // namespace kindred::hdf5
