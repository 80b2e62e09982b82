# Finds LibTorch: Debian's 1.13 (CPU) or the package inside a Python Torch 2.x
# (-DTorch_ROOT=$(python3 -c "import torch; print(torch.utils.cmake_prefix_path)")/Torch).
find_package(Torch REQUIRED)

# Torch's headers are not warning-clean, so they are system headers to us.
add_library(kindred_torch INTERFACE)
add_library(kindred::torch ALIAS kindred_torch)
target_link_libraries(kindred_torch INTERFACE torch)

# Torch 2.x carries fmt headers of its own, which hide the system's from files that include Torch:
# compiled-in fmt works with either, the shared library only with its own version.
set(KINDRED_FMT fmt::fmt)
get_target_property(fmt_folder fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
foreach(folder IN LISTS TORCH_INCLUDE_DIRS)
  if(EXISTS ${folder}/fmt/format.h AND NOT folder STREQUAL fmt_folder)
    set(KINDRED_FMT fmt::fmt-header-only)
  endif()
endforeach()
