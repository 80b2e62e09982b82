# Finds LibTorch: Debian's 1.13 (CPU) or the package inside a Python Torch 2.x
# (-DTorch_ROOT=$(python3 -c "import torch; print(torch.utils.cmake_prefix_path)")/Torch).
find_package(Torch REQUIRED)

# Torch's headers are not warning-clean, so they are system headers to us.
add_library(kindred_torch INTERFACE)
add_library(kindred::torch ALIAS kindred_torch)
target_link_libraries(kindred_torch INTERFACE torch)
