# kindred_room(<name> SOURCES <files> [TORCH <files>] [PARQUET <files>] [MUJOCO <files>]
#              [USES <public libraries>] [OWNS <private libraries>])
#
# One library target per room of the house (docs/house.md): what a room may use is what it links. Each
# room's headers are found through a folder of its own, so that a file cannot even include a header of
# a room it does not link.
#
# Files that need LibTorch stand under TORCH, those that need Arrow under PARQUET, those that need MuJoCo
# under MUJOCO. They are no part of the room's library: those of all rooms together become
# libkindred_torch.so and so on (cmake/KindredLibrary.cmake), each opened on first use
# (kindred/core/late_part.h). What they need is kindred::torch and so on; where that was not found the
# files are left out. kindred::<name>_torch links the room with them, and LibTorch, into a program that
# cannot wait: a test.
set(KINDRED_LATE_PARTS torch parquet mujoco)

add_library(kindred_warnings INTERFACE)
# CUDA's compiler has flags of its own.
target_compile_options(kindred_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wconversion;-Wshadow;$<$<BOOL:${KINDRED_WERROR}>:-Werror>>")
# GCC 13 mistakes a vector<bool> in Torch 2's autograd for one that is too short.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(kindred_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wno-error=array-bounds>)
endif()

# Makes build/<preset>/include/<name>, in which nothing but <folder> of the source tree is found.
function(kindred_include_folder name folder)
  set(link ${PROJECT_BINARY_DIR}/include/${name}/${folder})
  get_filename_component(parent ${link} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${link} SYMBOLIC)
endfunction()

function(kindred_room name)
  string(TOUPPER "${KINDRED_LATE_PARTS}" late)
  cmake_parse_arguments(ARG "" "" "SOURCES;${late};USES;OWNS" ${ARGN})
  add_library(kindred_${name} STATIC ${ARG_SOURCES})
  add_library(kindred::${name} ALIAS kindred_${name})
  set_target_properties(kindred_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(kindred_${name} PUBLIC cxx_std_20)
  kindred_include_folder(${name} kindred/${name})
  target_include_directories(kindred_${name} PUBLIC ${PROJECT_BINARY_DIR}/include/${name}
                             ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(kindred_${name} PUBLIC ${ARG_USES} PRIVATE kindred_warnings ${ARG_OWNS})
  set_property(GLOBAL APPEND PROPERTY KINDRED_ROOMS ${name})
  # nlohmann's header is in nearly every file: core compiles it once and lends it to the others.
  if(name STREQUAL core)
    target_precompile_headers(kindred_core PRIVATE <fmt/format.h> <nlohmann/json.hpp>)
  else()
    target_precompile_headers(kindred_${name} REUSE_FROM kindred_core)
  endif()
  foreach(part IN LISTS KINDRED_LATE_PARTS)
    string(TOUPPER ${part} files)
    if(ARG_${files})
      kindred_late_part(${name} ${part} "${ARG_${files}}" "${ARG_USES}")
    endif()
  endforeach()
endfunction()

function(kindred_late_part name part sources uses)
  add_library(kindred_${name}_${part} INTERFACE)
  add_library(kindred::${name}_${part} ALIAS kindred_${name}_${part})
  target_link_libraries(kindred_${name}_${part} INTERFACE kindred_${name})
  if(NOT TARGET kindred::${part})
    return()
  endif()
  set(objects kindred_${name}_${part}_objects)
  add_library(${objects} OBJECT ${sources})
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${objects} PRIVATE kindred_${name} kindred::${part} kindred_warnings)
  target_sources(kindred_${name}_${part} INTERFACE $<TARGET_OBJECTS:${objects}>)
  target_link_libraries(kindred_${name}_${part} INTERFACE kindred::${part})
  foreach(used IN LISTS uses)
    if(TARGET ${used}_${part})
      target_link_libraries(kindred_${name}_${part} INTERFACE ${used}_${part})
    endif()
  endforeach()
  # ATen and autograd cost about 10 s per file (all of <torch/torch.h> twice that): nn pays once and
  # lends the result to the others.
  if(NOT part STREQUAL torch)
    target_precompile_headers(${objects} REUSE_FROM kindred_core)
  elseif(name STREQUAL nn)
    target_precompile_headers(${objects} PRIVATE <ATen/ATen.h> <c10/core/GradMode.h>
                              <torch/csrc/autograd/autograd.h>)
  else()
    target_precompile_headers(${objects} REUSE_FROM kindred_nn_torch_objects)
  endif()
  set_property(GLOBAL APPEND PROPERTY KINDRED_ROOMS_WITH_${part} ${name})
endfunction()
