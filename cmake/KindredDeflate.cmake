# Finds libdeflate by header and library: Debian's has no CMake package.
find_path(KINDRED_DEFLATE_INCLUDE libdeflate.h)
find_library(KINDRED_DEFLATE_LIBRARY deflate)
mark_as_advanced(KINDRED_DEFLATE_INCLUDE KINDRED_DEFLATE_LIBRARY)
if(NOT KINDRED_DEFLATE_INCLUDE OR NOT KINDRED_DEFLATE_LIBRARY)
  message(FATAL_ERROR "libdeflate was not found (Debian: libdeflate-dev)")
endif()
