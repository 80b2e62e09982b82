#include "kindred/data/hdf5_convert.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

/// Whether C++ converts From to To as HDF5 does: every value, or its nearest float.
template <class From, class To>
constexpr bool is_plain() {
  if (std::is_floating_point_v<To>) return true;
  using Source = std::numeric_limits<From>;
  using Target = std::numeric_limits<To>;
  return Source::is_integer && Source::digits <= Target::digits &&
         (Target::is_signed || !Source::is_signed);
}

template <class To, class From>
To as(From value) {
  if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
    constexpr double most = std::numeric_limits<float>::max();
    constexpr float beyond = std::numeric_limits<float>::infinity();
    return value > most ? beyond : value < -most ? -beyond : static_cast<float>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
T reversed(T value) {
  if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  else
    return value;
}

template <class From, class To, bool backwards>
void convert_numbers(std::span<const char> values, To* out) {
  const std::size_t count = values.size() / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, values.data() + i * sizeof(From), sizeof value);
    out[i] = as<To>(backwards ? reversed(value) : value);
  }
}

template <class To>
using Convert = void (*)(std::span<const char>, To*);

/// How numbers of `type` become To, if they are From in either order of bytes.
template <class From, class To>
Convert<To> convert_from(hid_t type, hid_t little, hid_t big) {
  if constexpr (is_plain<From, To>()) {
    constexpr bool is_little = std::endian::native == std::endian::little;
    if (H5Tequal(type, little) > 0) return convert_numbers<From, To, !is_little>;
    if (H5Tequal(type, big) > 0) return convert_numbers<From, To, is_little>;
  }
  return nullptr;
}

template <class To>
Convert<To> find_conversion(hid_t type) {
  const bool is_signed = H5Tget_class(type) == H5T_FLOAT || H5Tget_sign(type) == H5T_SGN_2;
  switch (H5Tget_size(type)) {
    case 1:
      return is_signed ? convert_from<std::int8_t, To>(type, H5T_STD_I8LE, H5T_STD_I8BE)
                       : convert_from<std::uint8_t, To>(type, H5T_STD_U8LE, H5T_STD_U8BE);
    case 2:
      return is_signed ? convert_from<std::int16_t, To>(type, H5T_STD_I16LE, H5T_STD_I16BE)
                       : convert_from<std::uint16_t, To>(type, H5T_STD_U16LE, H5T_STD_U16BE);
    case 4:
      if (H5Tget_class(type) == H5T_FLOAT)
        return convert_from<float, To>(type, H5T_IEEE_F32LE, H5T_IEEE_F32BE);
      return is_signed ? convert_from<std::int32_t, To>(type, H5T_STD_I32LE, H5T_STD_I32BE)
                       : convert_from<std::uint32_t, To>(type, H5T_STD_U32LE, H5T_STD_U32BE);
    case 8:
      if (H5Tget_class(type) == H5T_FLOAT)
        return convert_from<double, To>(type, H5T_IEEE_F64LE, H5T_IEEE_F64BE);
      return is_signed ? convert_from<std::int64_t, To>(type, H5T_STD_I64LE, H5T_STD_I64BE)
                       : convert_from<std::uint64_t, To>(type, H5T_STD_U64LE, H5T_STD_U64BE);
    default:
      return nullptr;
  }
}

}  // namespace

template <class T>
Conversion<T>::Conversion(const Handle& type, std::string where)
    : type_(type), where_(std::move(where)), size_(H5Tget_size(type.get())) {
  const Handle base(H5Tget_class(type.get()) == H5T_ENUM ? H5Tget_super(type.get()) : -1);
  const hid_t number = base ? base.get() : type.get();
  convert_ = find_conversion<T>(number);
  is_copy_ = H5Tequal(number, native_type<T>()) > 0;
}

template <class T>
void Conversion<T>::operator()(std::span<const char> values, T* out) const {
  if (convert_) return convert_(values, out);
  const std::size_t count = values.size() / size_;
  // HDF5 converts in place, where both must fit.
  const auto both = std::make_unique_for_overwrite<char[]>(count * std::max(size_, sizeof(T)));
  std::ranges::copy(values, both.get());
  {
    const std::lock_guard lock(library_mutex());
    if (H5Tconvert(type_.get(), native_type<T>(), count, both.get(), nullptr, H5P_DEFAULT) < 0)
      throw DataFormatError("{}: its numbers cannot be converted (HDF5: {})", where_, last_error());
  }
  std::memcpy(out, both.get(), count * sizeof(T));
}

template class Conversion<float>;
template class Conversion<double>;
template class Conversion<std::uint8_t>;
template class Conversion<std::int32_t>;
template class Conversion<std::int64_t>;

}  // namespace kindred::hdf5
