// An HDF5 identifier that closes itself. Internal to this room, like everything that says HDF5.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace kindred::hdf5 {

/// Values are read, written and copied in blocks of about this size.
inline constexpr std::int64_t kBlockBytes = 1 << 20;

class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }

  /// HDF5 says with a negative number that something could not be opened or made.
  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }

  /// Closes now; false when HDF5 could not (for a file: not everything reached the disk).
  bool reset() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || H5Idec_ref(id) >= 0;  // dec_ref closes any kind of identifier
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// The in-memory HDF5 type of a C++ number.
template <class T>
hid_t native_type();
template <>
inline hid_t native_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
inline hid_t native_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
inline hid_t native_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}
template <>
inline hid_t native_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
inline hid_t native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}

/// HDF5 prints its error stack by default; our messages say the same in one sentence.
inline void silence_errors() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// Held by a thread of a pool while it calls HDF5, which is not made for two at a time.
std::mutex& library_mutex();

/// How existing files are opened: without locks, which not every file system has.
Handle file_access();

/// What HDF5 gave as the innermost cause of its last failure.
std::string last_error();

}  // namespace kindred::hdf5
