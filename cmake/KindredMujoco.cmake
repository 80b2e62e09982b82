# Finds MuJoCo 2.x and tinyxml2 by header and library: Debian's, or a copy anywhere
# (-DCMAKE_PREFIX_PATH=<folder with include/ and lib/>; the libraries MuJoCo itself needs must then be
# found at run time, through LD_LIBRARY_PATH). No CMake package of theirs is needed.
set(KINDRED_MUJOCO AUTO CACHE STRING "MuJoCo environments: ON, OFF, or AUTO (where MuJoCo is found)")
set_property(CACHE KINDRED_MUJOCO PROPERTY STRINGS AUTO ON OFF)

set(KINDRED_HAS_MUJOCO OFF)
if(NOT KINDRED_MUJOCO)
  return()
endif()

find_path(MUJOCO_INCLUDE_DIR mujoco/mujoco.h HINTS ${mujoco_ROOT} PATH_SUFFIXES include)
find_library(MUJOCO_LIBRARY mujoco HINTS ${mujoco_ROOT} PATH_SUFFIXES lib)
find_path(TINYXML2_INCLUDE_DIR tinyxml2.h HINTS ${mujoco_ROOT} PATH_SUFFIXES include)
find_library(TINYXML2_LIBRARY tinyxml2 HINTS ${mujoco_ROOT} PATH_SUFFIXES lib)
mark_as_advanced(MUJOCO_INCLUDE_DIR MUJOCO_LIBRARY TINYXML2_INCLUDE_DIR TINYXML2_LIBRARY)

set(problem "")
if(NOT MUJOCO_INCLUDE_DIR OR NOT MUJOCO_LIBRARY)
  set(problem "MuJoCo was not found (Debian: libmujoco-dev)")
elseif(NOT TINYXML2_INCLUDE_DIR OR NOT TINYXML2_LIBRARY)
  set(problem "MuJoCo is there, but tinyxml2 is not (Debian: libtinyxml2-dev)")
else()
  file(STRINGS ${MUJOCO_INCLUDE_DIR}/mujoco/mujoco.h version REGEX "#define mjVERSION_HEADER")
  string(REGEX MATCH "[0-9]+" version "${version}")
  if(NOT version MATCHES "^2..$")
    set(problem "MuJoCo in ${MUJOCO_INCLUDE_DIR} has version number ${version}; 2.x is needed")
  endif()
endif()

if(NOT problem)
  set(KINDRED_HAS_MUJOCO ON)
  add_library(kindred_mujoco INTERFACE)
  add_library(kindred::mujoco ALIAS kindred_mujoco)
  target_include_directories(kindred_mujoco SYSTEM INTERFACE
    ${MUJOCO_INCLUDE_DIR} ${TINYXML2_INCLUDE_DIR})
  target_link_libraries(kindred_mujoco INTERFACE ${MUJOCO_LIBRARY} ${TINYXML2_LIBRARY})
  message(STATUS "MuJoCo environments: with ${MUJOCO_LIBRARY} (version number ${version})")
elseif(KINDRED_MUJOCO STREQUAL AUTO)
  message(STATUS "MuJoCo environments: none. ${problem}; without it hopper, halfcheetah, walker2d "
                 "and ant cannot be made")
else()
  message(FATAL_ERROR "KINDRED_MUJOCO is ${KINDRED_MUJOCO}, but ${problem}.")
endif()
