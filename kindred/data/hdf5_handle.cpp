#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

std::string last_error() {
  std::string cause;
  // Upward: the first entry is where the failure happened, the rest are its callers.
  const auto take_first = [](unsigned depth, const H5E_error2_t* entry, void* out) -> herr_t {
    if (depth == 0 && entry->desc) *static_cast<std::string*>(out) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &cause);
  return cause.empty() ? "no further detail" : cause;
}

}  // namespace kindred::hdf5
