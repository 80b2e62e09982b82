// Numbers as a file has them, turned into ours. Internal.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

/// To T, with the outcome HDF5 itself has: what T cannot hold becomes the nearest it can, or, as a
/// float, infinite. What is exact or plain rounding is done here, by any thread at any time; for
/// the rest HDF5 is asked, by one thread at a time (library_mutex).
template <class T>
class Conversion {
 public:
  /// `type`, of the numbers in the file, must outlive it; messages begin with `where`.
  Conversion(const Handle& type, std::string where);

  /// Whether the file has T itself, with nothing to convert.
  bool is_copy() const { return is_copy_; }
  std::size_t size() const { return size_; }  ///< Bytes of a number in the file.
  /// Writes as many numbers as there are in `values`.
  void operator()(std::span<const char> values, T* out) const;

 private:
  const Handle& type_;
  std::string where_;
  std::size_t size_;
  void (*convert_)(std::span<const char> values, T* out) = nullptr;  ///< None: HDF5 is asked.
  bool is_copy_ = false;
};

}  // namespace kindred::hdf5
