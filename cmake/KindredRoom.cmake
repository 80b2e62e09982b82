# kindred_room(<name> SOURCES <files> [USES <public libraries>] [OWNS <private libraries>])
#
# One library target per room of the house (docs/house.md): what a room may use is what it links. Each
# room's headers are found through a folder of its own, so that a file cannot even include a header of
# a room it does not link.
add_library(kindred_warnings INTERFACE)
target_compile_options(kindred_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${KINDRED_WERROR}>:-Werror>)
# GCC 13 mistakes a vector<bool> in Torch 2's autograd for one that is too short.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(kindred_warnings INTERFACE -Wno-error=array-bounds)
endif()

# Makes build/<preset>/include/<name>, in which nothing but <folder> of the source tree is found.
function(kindred_include_folder name folder)
  set(link ${PROJECT_BINARY_DIR}/include/${name}/${folder})
  get_filename_component(parent ${link} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${link} SYMBOLIC)
endfunction()

function(kindred_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;OWNS" ${ARGN})
  add_library(kindred_${name} STATIC ${ARG_SOURCES})
  add_library(kindred::${name} ALIAS kindred_${name})
  set_target_properties(kindred_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(kindred_${name} PUBLIC cxx_std_20)
  kindred_include_folder(${name} kindred/${name})
  target_include_directories(kindred_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include/${name}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(kindred_${name}
    PUBLIC ${ARG_USES}
    PRIVATE $<BUILD_INTERFACE:kindred_warnings> ${ARG_OWNS})
  set_property(GLOBAL APPEND PROPERTY KINDRED_ROOMS kindred_${name})
  # nlohmann's header is in nearly every file: core compiles it once and lends it to the rooms that
  # have no precompiled header of their own (nn, methods).
  if(name STREQUAL core)
    target_precompile_headers(kindred_core PRIVATE <fmt/format.h> <nlohmann/json.hpp>)
  elseif(NOT kindred::torch IN_LIST ARG_USES AND NOT kindred::nn IN_LIST ARG_USES)
    target_precompile_headers(kindred_${name} REUSE_FROM kindred_core)
  endif()
endfunction()
