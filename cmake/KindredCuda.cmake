# Finds a CUDA compiler for the kernels of kindred/cuda. KINDRED_CUDA: AUTO takes one that is there and
# where LibTorch has CUDA too, ON insists on it, OFF leaves GPUs to LibTorch alone.
set(KINDRED_CUDA AUTO CACHE STRING "Build CUDA kernels: AUTO, ON or OFF")
set_property(CACHE KINDRED_CUDA PROPERTY STRINGS AUTO ON OFF)
set(KINDRED_HAS_CUDA OFF)
if(KINDRED_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER AND (TARGET torch_cuda OR KINDRED_CUDA STREQUAL ON))
    # Clusters of thread blocks came with Hopper; newer GPUs compile what was made for it at start.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES OR CMAKE_CUDA_ARCHITECTURES STREQUAL OFF)
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
    enable_language(CUDA)
    # Torch's package may ask for every GPU it was built for, older ones too.
    string(REGEX REPLACE "-gencode[ =;]*arch=[^ ;]+" "" CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")
    set(CMAKE_CUDA_STANDARD 20)
    find_package(CUDAToolkit REQUIRED)
    set(KINDRED_HAS_CUDA ON)
  elseif(KINDRED_CUDA STREQUAL ON)
    message(FATAL_ERROR "KINDRED_CUDA is ON, but there is no CUDA compiler: set CMAKE_CUDA_COMPILER")
  endif()
endif()
