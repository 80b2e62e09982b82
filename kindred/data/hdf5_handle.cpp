#include "kindred/data/hdf5_handle.h"

#include <algorithm>

namespace kindred::hdf5 {

Handle file_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
#if H5_VERSION_GE(1, 14, 0) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0)) || \
    (H5_VERSION_GE(1, 12, 1) && !H5_VERSION_GE(1, 13, 0))
  H5Pset_file_locking(access.get(), false, true);
#endif
  return access;
}

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string last_error() {
  std::string cause;
  // Upward: the first entry is where the failure happened, the rest are its callers.
  const auto take_first = [](unsigned depth, const H5E_error2_t* entry, void* out) -> herr_t {
    if (depth == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &cause);
  cause.erase(std::min(cause.find(": time = "), cause.size()));  // pages of detail, over two lines
  return cause.empty() ? "no further detail" : cause;
}

}  // namespace kindred::hdf5
