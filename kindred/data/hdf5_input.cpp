#include "kindred/data/hdf5_input.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "kindred/core/error.h"
#include "kindred/data/hdf5_header.h"
#include "kindred/data/hdf5_read_driver.h"

namespace kindred::hdf5 {
namespace {

// A compressed dataset may be larger than its file, but deflate cannot shrink more than 1032 to 1;
// the floor leaves room for constant columns under stronger compressors.
constexpr std::uintmax_t kLargestCompression = 1100;
constexpr std::uintmax_t kCompressedFloor = 64 << 20;

std::uintmax_t saturating_product(std::uintmax_t a, std::uintmax_t b) {
  std::uintmax_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINTMAX_MAX : product;
}

/// A float of 16 bits as h5py describes it, in the byte order of `like`; HDF5 has no name for one
/// before 1.14. Its identifiers live as long as HDF5 itself.
hid_t make_float16(hid_t like, std::size_t exponent_bits) {
  const std::size_t fraction_bits = 15 - exponent_bits;
  const hid_t type = H5Tcopy(like);
  H5Tset_fields(type, 15, fraction_bits, exponent_bits, 0, fraction_bits);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, (std::size_t{1} << (exponent_bits - 1)) - 1);
  return type;
}

bool is_standard_float(hid_t type) {
  constexpr std::size_t kHalf = 5, kBrain = 8;  // bits of the exponent in float16 and bfloat16
  static const std::array standards = {H5T_IEEE_F32LE,
                                       H5T_IEEE_F64LE,
                                       H5T_IEEE_F32BE,
                                       H5T_IEEE_F64BE,
                                       make_float16(H5T_IEEE_F32LE, kHalf),
                                       make_float16(H5T_IEEE_F32BE, kHalf),
                                       make_float16(H5T_IEEE_F32LE, kBrain),
                                       make_float16(H5T_IEEE_F32BE, kBrain)};
  return std::ranges::any_of(standards,
                             [&](hid_t standard) { return H5Tequal(type, standard) > 0; });
}

bool is_standard_integer(hid_t type) {
  return std::ranges::any_of(std::array{H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE,
                                        H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE,
                                        H5T_STD_I8BE, H5T_STD_I16BE, H5T_STD_I32BE, H5T_STD_I64BE,
                                        H5T_STD_U8BE, H5T_STD_U16BE, H5T_STD_U32BE, H5T_STD_U64BE},
                             [&](hid_t standard) { return H5Tequal(type, standard) > 0; });
}

std::string type_text(hid_t type) {
  const auto bits = H5Tget_size(type) * 8;
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return fmt::format("{}-bit floats of an unusual kind", bits);
    case H5T_INTEGER:
      return fmt::format("{}-bit integers of an unusual kind", bits);
    case H5T_ENUM:
      return "an enumeration";
    case H5T_COMPOUND:
      return "compound records";
    case H5T_ARRAY:
      return "array elements";
    case H5T_VLEN:
      return "variable-length lists";
    case H5T_STRING:
      return "variable-length text";
    case H5T_OPAQUE:
      return "opaque bytes";
    case H5T_REFERENCE:
      return "references";
    case H5T_BITFIELD:
      return "bit fields";
    default:
      return "an unknown type";
  }
}

/// Copies `size` characters up to the padding.
std::string trim_padding(const char* text, std::size_t size) {
  std::string result(text, size);
  result.erase(std::min(result.find('\0'), result.size()));
  return result;
}

/// Fixed-length text. HDF5 keeps text of variable length in heaps, and following a damaged one it
/// crashes or never returns (docs/decisions/0004-hdf5-corrupt-files.md).
bool is_fixed_text(hid_t type) {
  return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
}

/// Why something that is there cannot be opened. A part whose version HDF5 does not know comes from
/// a later HDF5, or from damage.
std::string explain(const std::string& cause) {
  if (cause.find("version number") == std::string::npos)
    return fmt::format("it is truncated or corrupt (HDF5: {}); fetch or write it again", cause);
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format(
      "it was written for a newer HDF5 than this {}.{}.{}, or is corrupt (HDF5: {}); write it with "
      "h5py's libver='v110' or 'earliest', or copy it with h5repack",
      major, minor, release, cause);
}

/// A dataset is one self-contained file: opening it never leads to another.
herr_t refuse_external_link(const char*, const char*, const char*, const char*, unsigned*, hid_t,
                            void*) {
  return -1;
}

/// Refuses what HDF5 would describe poorly or wait for: nothing there, a folder, a pipe, no bytes.
std::uintmax_t check_plain_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw IoError("cannot open '{}': {}", path.string(), std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    throw IoError("cannot open '{}': it is a directory, expected an HDF5 file", path.string());
  if (!S_ISREG(status.st_mode))
    throw IoError("cannot open '{}': it is not a regular file", path.string());
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
    throw IoError("cannot open '{}': {}", path.string(), std::strerror(errno));
  if (status.st_size == 0)
    throw DataFormatError(
        "'{}' is empty (0 bytes), expected an HDF5 file; was its copy or "
        "download interrupted?",
        path.string());
  return static_cast<std::uintmax_t>(status.st_size);
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kFloat:
      return "floats";
    case Kind::kInteger:
      return "integers";
    default:
      return "text";
  }
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto take_number = [&](std::string_view& text) {
    const std::size_t length =
        static_cast<std::size_t>(std::ranges::find_if_not(text, digit) - text.begin());
    std::string_view number = text.substr(0, length);
    text.remove_prefix(length);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
  };
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (digit(a[0]) && digit(b[0])) {
      const auto x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.size() != b.size()) return a.size() < b.size();
  return whole_a < whole_b;
}

Dataset::Dataset(Handle handle, std::string where, std::uintmax_t file_size,
                 std::shared_ptr<ThreadPool> pool)
    : handle_(std::move(handle)),
      type_(H5Dget_type(handle_.get())),
      where_(std::move(where)),
      file_size_(file_size) {
  const Handle space(H5Dget_space(handle_.get()));
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 0 || !type_ || H5Sget_simple_extent_type(space.get()) == H5S_NULL)
    throw DataFormatError("{}: cannot read its shape and type, expected an array (HDF5: {})",
                          where_, last_error());
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  shape_.assign(dims.begin(), dims.end());
  check_type();
  Handle creation(H5Dget_create_plist(handle_.get()));
  check_storage(creation);
  packed_ = PackedChunks::find(description(), std::move(creation), std::move(pool));
}

std::int64_t Dataset::row_size() const {
  std::int64_t size = 1;
  for (std::size_t i = 1; i < shape_.size(); ++i) size *= shape_[i];
  return size;
}

void Dataset::check_type() {
  // Only the standard types go on: a damaged header can describe numbers HDF5 cannot convert.
  const H5T_class_t type_class = H5Tget_class(type_.get());
  if (is_fixed_text(type_.get())) {
    kind_ = Kind::kText;
  } else if (is_standard_float(type_.get())) {
    kind_ = Kind::kFloat;
  } else if (is_standard_integer(type_.get())) {
    kind_ = Kind::kInteger;
    is_byte_ = H5Tequal(type_.get(), H5T_NATIVE_UINT8) > 0;
  } else if (const Handle base(type_class == H5T_ENUM ? H5Tget_super(type_.get()) : -1);
             base && is_standard_integer(base.get())) {
    kind_ = Kind::kInteger;
    is_bool_ = is_byte_ = H5Tget_size(type_.get()) == 1;
  } else {
    throw DataFormatError(
        "{} holds {}, expected 16-, 32- or 64-bit floats, integers, booleans or "
        "fixed-length text; convert it first",
        where_, type_text(type_.get()));
  }
}

void Dataset::check_values() const {
  if (values_checked_) return;
  check_chunks(description(), 0, rows());
  values_checked_ = true;
}

void Dataset::check_storage(const Handle& creation) const {
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  const std::uintmax_t element = H5Tget_size(type_.get());
  std::uintmax_t claimed = element;
  for (const auto extent : shape_)  // an extent of 0 must not excuse an absurd one beside it
    claimed = saturating_product(claimed,
                                 std::max<std::uintmax_t>(static_cast<std::uintmax_t>(extent), 1));
  if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.get()) > 0)
    throw DataFormatError(
        "{} keeps its values in other files; copy it into one self-contained "
        "file first (h5repack does)",
        where_);

  // A compact dataset lies in its header; HDF5 would read on beyond one that is too small.
  const bool too_small = layout == H5D_COMPACT && H5Dget_storage_size(handle_.get()) < claimed;
  std::uintmax_t limit = too_small ? 0 : file_size_;
  if (layout == H5D_CHUNKED) {
    limit = std::max(kCompressedFloor, saturating_product(file_size_, kLargestCompression));
    std::vector<hsize_t> chunk(shape_.size());
    if (H5Pget_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()) !=
        static_cast<int>(chunk.size()))
      throw DataFormatError("{} has chunks of another rank than its shape {}; the file is corrupt",
                            where_, shape_text(shape_));
    std::uintmax_t chunk_bytes = element;
    for (const auto extent : chunk) chunk_bytes = saturating_product(chunk_bytes, extent);
    claimed = std::max(claimed, chunk_bytes);
  }
  if (claimed > limit)
    throw DataFormatError(
        "{} claims shape {} ({} bytes), more than its file of {} bytes can hold; "
        "the file is truncated or corrupt",
        where_, shape_text(shape_), claimed, file_size_);

  check_filters(creation);
}

void Dataset::check_filters(const Handle& creation) const {
  if (own_filters(creation)) return;
  const int filters = H5Pget_nfilters(creation.get());
  for (unsigned i = 0; i < static_cast<unsigned>(std::max(filters, 0)); ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const auto filter = H5Pget_filter2(creation.get(), i, &flags, &values, nullptr, name.size() - 1,
                                       name.data(), &config);
    if (H5Zfilter_avail(filter) <= 0)
      throw DataFormatError(
          "{} is compressed with filter {} ('{}'), which this HDF5 library does "
          "not have; write it again with gzip or without compression",
          where_, filter, name.data());
  }
}

template <class T>
void Dataset::read(std::int64_t begin, std::int64_t end, T* out) const {
  if (begin == end) return;
  if (!is_number())
    throw DataFormatError("{} holds text, expected numbers; convert it first", where_);
  if (packed_) return packed_->read(description(), begin, end, out);
  check_values();
  read_by_hdf5(begin, end, out);
}

void Dataset::read_row(std::int64_t row, std::uint8_t* out) const {
  if (packed_) return packed_->read(description(), row, row + 1, out);
  check_chunks(description(), row, row + 1);
  read_by_hdf5(row, row + 1, out);
}

template <class T>
void Dataset::read_by_hdf5(std::int64_t begin, std::int64_t end, T* out) const {
  herr_t status = -1;
  if (begin == 0 && end == rows()) {
    status = H5Dread(handle_.get(), native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  } else {
    std::vector<hsize_t> start(shape_.size(), 0), count(shape_.begin(), shape_.end());
    start[0] = static_cast<hsize_t>(begin);
    count[0] = static_cast<hsize_t>(end - begin);
    const Handle file_space(H5Dget_space(handle_.get()));
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr) >= 0)
      status = H5Dread(handle_.get(), native_type<T>(), memory.get(), file_space.get(), H5P_DEFAULT,
                       out);
  }
  if (status < 0)
    throw DataFormatError(
        "{}: cannot read rows {} to {} of {}; the file is truncated or corrupt "
        "(HDF5: {})",
        where_, begin, end - 1, rows(), last_error());
}

std::int64_t Dataset::rows_at_once(std::int64_t usual, std::int64_t row_size) const {
  constexpr std::int64_t kMostNumbers = 8 << 20;  // unless one chunk has more rows
  if (!packed_) return usual;
  const std::int64_t most = kMostNumbers / std::max<std::int64_t>(1, row_size) / packed_->rows();
  const std::int64_t chunks = std::max<std::int64_t>(usual / packed_->rows(), packed_->threads());
  return std::max<std::int64_t>(1, std::min(chunks, most)) * packed_->rows();
}

template <class T>
void Dataset::for_each_block(
    std::int64_t begin, std::int64_t end,
    const std::function<void(std::int64_t, std::span<const T>)>& take) const {
  const std::int64_t width = std::max<std::int64_t>(1, row_size());
  const auto row_bytes = width * static_cast<std::int64_t>(sizeof(T));
  const auto step = rows_at_once(std::max<std::int64_t>(1, kBlockBytes / row_bytes), width);
  std::vector<T> block(static_cast<std::size_t>(std::min(step, end - begin) * width));
  for (std::int64_t row = begin; row < end; row += step) {
    const std::int64_t stop = std::min(row + step, end);
    read(row, stop, block.data());
    take(row, std::span<const T>(block).first(static_cast<std::size_t>((stop - row) * width)));
  }
}

std::vector<std::string> Dataset::read_strings() const {
  if (kind_ != Kind::kText)
    throw DataFormatError("{} holds {}, expected text", where_, to_string(kind_));
  check_values();
  const std::size_t width = H5Tget_size(type_.get());
  const auto count = static_cast<std::size_t>(rows() * row_size());
  std::vector<char> texts(width * count);
  if (count > 0 && packed_)
    packed_->read_bytes(description(), texts.data());
  else if (count > 0 &&
           H5Dread(handle_.get(), type_.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0)
    throw DataFormatError("{}: cannot read its text; the file is truncated or corrupt (HDF5: {})",
                          where_, last_error());
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < count; ++i)
    strings.push_back(trim_padding(texts.data() + i * width, width));
  return strings;
}

template <class T>
std::optional<std::uintmax_t> Dataset::file_offset() const {
  if (H5Tequal(type_.get(), native_type<T>()) <= 0) return std::nullopt;
  const Handle creation(H5Dget_create_plist(handle_.get()));
  if (H5Pget_layout(creation.get()) != H5D_CONTIGUOUS) return std::nullopt;
  const haddr_t offset = H5Dget_offset(handle_.get());
  if (offset == HADDR_UNDEF || offset % alignof(T) != 0) return std::nullopt;
  return offset;
}

InputFile::InputFile(const std::filesystem::path& path, std::shared_ptr<ThreadPool> pool)
    : path_(path), pool_(std::move(pool)), size_(check_plain_file(path)) {
  silence_errors();
  links_ = Handle(H5Pcreate(H5P_LINK_ACCESS));
  H5Pset_elink_cb(links_.get(), refuse_external_link, nullptr);
  const Handle access = file_access();
  read_with_care(access);
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (file_) {
    const Handle creation(H5Fget_create_plist(file_.get()));
    hsize_t user_block = 0;
    std::size_t address = 0, length = 0;
    H5Pget_userblock(creation.get(), &user_block);
    H5Pget_sizes(creation.get(), &address, &length);
    plain_addresses_ = user_block == 0 && address == 8 && length == 8;
    return;
  }
  const std::string cause = last_error();
  if (H5Fis_hdf5(path.c_str()) > 0)
    throw DataFormatError("'{}' is an HDF5 file that cannot be opened: {}", path.string(),
                          explain(cause));
  throw DataFormatError("'{}' is not an HDF5 file: its first bytes are not HDF5's signature",
                        path.string());
}

std::string InputFile::where(const std::string& name) const {
  return fmt::format("'{}' dataset '{}'", path_.string(), name);
}

std::optional<InputFile::Object> InputFile::find(const std::string& name) const {
  // HDF5 wants every group on the way checked before it can answer about the last.
  for (std::size_t slash = name.find('/'); !name.empty(); slash = name.find('/', slash + 1)) {
    if (H5Lexists(file_.get(), name.substr(0, slash).c_str(), links_.get()) <= 0)
      return std::nullopt;
    if (slash == std::string::npos) break;
  }
  const char* path = name.empty() ? "/" : name.c_str();
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  if (H5Oget_info_by_name3(file_.get(), path, &info, H5O_INFO_BASIC, links_.get()) < 0)
    return std::nullopt;
  return Object{info.type, std::nullopt};
#else
  H5O_info_t info;
  if (H5Oget_info_by_name2(file_.get(), path, &info, H5O_INFO_BASIC, links_.get()) < 0)
    return std::nullopt;
  return Object{info.type, info.addr};
#endif
}

bool InputFile::has_group(const std::string& name) const {
  const auto object = find(name);
  return object && object->type == H5O_TYPE_GROUP;
}

bool InputFile::has_dataset(const std::string& name) const {
  const auto object = find(name);
  return object && object->type == H5O_TYPE_DATASET;
}

Handle InputFile::open(const std::string& name) const {
  const auto object = find(name);
  if (!object) return Handle();
  if (object->type == H5O_TYPE_DATASET && object->header && plain_addresses_)
    check_raw_header(path_, *object->header, where(name));
  return Handle(H5Oopen(file_.get(), name.empty() ? "/" : name.c_str(), links_.get()));
}

Dataset InputFile::dataset(const std::string& name) const {
  Handle object = open(name);
  if (object && H5Iget_type(object.get()) == H5I_DATASET)
    return Dataset(std::move(object), where(name), size_, pool_);
  if (object) throw DataFormatError("{} is a group, expected an array", where(name));
  if (find(name)) {
    const Handle again(H5Oopen(file_.get(), name.c_str(), links_.get()));  // for its cause
    throw DataFormatError("{} cannot be opened: {}", where(name), explain(last_error()));
  }
  const auto slash = name.rfind('/');
  const std::string group = slash == std::string::npos ? "" : name.substr(0, slash);
  if (!has_group(group))
    throw DataFormatError("{} is missing, and so is group '{}'", where(name), group);
  throw DataFormatError("{} is missing or damaged; group '{}' holds: {}", where(name),
                        group.empty() ? "/" : group, fmt::join(children(group), ", "));
}

std::vector<std::string> InputFile::children(const std::string& name) const {
  struct Names {
    std::vector<std::string> list;
    std::uintmax_t limit;  // a damaged index can loop; no file holds more names than bytes
  } names{{}, size_};
  const auto add = [](hid_t, const char* child, const H5L_info_t*, void* out) -> herr_t {
    auto& found = *static_cast<Names*>(out);
    if (found.list.size() >= found.limit) return -1;
    try {
      found.list.emplace_back(child);
    } catch (...) {
      return -1;
    }
    return 0;
  };
  const Handle group = open(name);
  if (!group || H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &names) < 0)
    throw DataFormatError(
        "'{}' group '{}': cannot list what it holds; the file is truncated or "
        "corrupt (HDF5: {})",
        path_.string(), name.empty() ? "/" : name, last_error());
  std::ranges::sort(names.list, natural_less);
  return std::move(names.list);
}

Handle InputFile::attribute(const std::string& object, const std::string& name) const {
  const Handle owner = open(object);
  if (!owner || H5Aexists(owner.get(), name.c_str()) <= 0) return Handle();
  return Handle(H5Aopen(owner.get(), name.c_str(), H5P_DEFAULT));
}

bool InputFile::has_attribute(const std::string& object, const std::string& name) const {
  const Handle owner = open(object);
  return owner && H5Aexists(owner.get(), name.c_str()) > 0;
}

std::optional<std::int64_t> InputFile::integer_attribute(const std::string& object,
                                                         const std::string& name) const {
  const Handle found = attribute(object, name);
  if (!found) return std::nullopt;
  const Handle type(H5Aget_type(found.get()));
  const Handle space(H5Aget_space(found.get()));
  if (!is_standard_integer(type.get()) || H5Sget_simple_extent_npoints(space.get()) != 1)
    return std::nullopt;
  std::int64_t value = 0;
  if (H5Aread(found.get(), H5T_NATIVE_INT64, &value) < 0) return std::nullopt;
  return value;
}

std::optional<std::string> InputFile::text_attribute(const std::string& object,
                                                     const std::string& name) const {
  const Handle found = attribute(object, name);
  if (!found) return std::nullopt;
  const Handle type(H5Aget_type(found.get()));
  const Handle space(H5Aget_space(found.get()));
  const std::size_t width = H5Tget_size(type.get());
  if (!is_fixed_text(type.get()) || H5Sget_simple_extent_npoints(space.get()) != 1 || width > size_)
    return std::nullopt;
  std::vector<char> padded(width);
  if (H5Aread(found.get(), type.get(), padded.data()) < 0) return std::nullopt;
  return trim_padding(padded.data(), width);
}

#define KINDRED_INSTANTIATE(T)                                                                  \
  template void Dataset::read(std::int64_t, std::int64_t, T*) const;                            \
  template void Dataset::for_each_block(                                                        \
      std::int64_t, std::int64_t, const std::function<void(std::int64_t, std::span<const T>)>&) \
      const;                                                                                    \
  template std::optional<std::uintmax_t> Dataset::file_offset<T>() const;
KINDRED_INSTANTIATE(float)
KINDRED_INSTANTIATE(double)
KINDRED_INSTANTIATE(std::uint8_t)
KINDRED_INSTANTIATE(std::int32_t)
KINDRED_INSTANTIATE(std::int64_t)
#undef KINDRED_INSTANTIATE

}  // namespace kindred::hdf5
