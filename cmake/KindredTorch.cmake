# Finds LibTorch: Debian's 1.13 (CPU), the package inside a Python Torch 2.x
# (-DTorch_ROOT=$(python3 -c "import torch; print(torch.utils.cmake_prefix_path)")/Torch), or, with
# KINDRED_TORCH_OF_PYTHON, the libraries of the torch that Python_EXECUTABLE imports. Torch's own CMake
# package wants a CUDA toolkit wherever torch was built with CUDA; for what Kindred links it needs none.
option(KINDRED_TORCH_OF_PYTHON "Link the LibTorch of Python_EXECUTABLE's torch package" OFF)
if(KINDRED_TORCH_OF_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
            "import os, torch; print(os.path.dirname(torch.__file__)); print(int(torch.compiled_with_cxx11_abi()))"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" found "${found}")
  list(GET found 0 KINDRED_TORCH_FOLDER)
  list(GET found 1 abi)
  set(TORCH_INCLUDE_DIRS ${KINDRED_TORCH_FOLDER}/include
                         ${KINDRED_TORCH_FOLDER}/include/torch/csrc/api/include)
  add_library(torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_compile_definitions(torch INTERFACE _GLIBCXX_USE_CXX11_ABI=${abi})
  foreach(name torch_cpu c10)
    add_library(${name} SHARED IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES
      IMPORTED_LOCATION ${KINDRED_TORCH_FOLDER}/lib/lib${name}.so)
    target_link_libraries(torch INTERFACE ${name})
  endforeach()
else()
  find_package(Torch REQUIRED)
endif()

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
