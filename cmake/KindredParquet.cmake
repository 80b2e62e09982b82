# Finds Apache Arrow and Parquet for C++: the system's, a copy anywhere (-DCMAKE_PREFIX_PATH=<folder with
# include/ and lib/>), or what the pyarrow package of a Python brings along (Python_EXECUTABLE, else
# build/venv or build/venv-arrow, which scripts/setup makes). No CMake package of theirs is needed.
set(KINDRED_PARQUET AUTO CACHE STRING "Parquet and LeRobot: ON, OFF, or AUTO (where Arrow is found)")
set_property(CACHE KINDRED_PARQUET PROPERTY STRINGS AUTO ON OFF)

set(KINDRED_HAS_PARQUET OFF)
if(NOT KINDRED_PARQUET)
  return()
endif()

# A system may have several copies; header and libraries must come from one.
function(kindred_find_arrow)
  set(wheel "")
  find_path(include arrow/api.h NO_CACHE)
  find_library(arrow arrow NO_CACHE)
  find_library(parquet parquet NO_CACHE)
  set(pythons ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/build/venv/bin/python
              ${PROJECT_SOURCE_DIR}/build/venv-arrow/bin/python)
  foreach(python IN LISTS pythons)
    if(include AND arrow AND parquet)
      break()
    endif()
    execute_process(
      COMMAND ${python} -c
              "import importlib.util as u; print(u.find_spec('pyarrow').submodule_search_locations[0])"
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
      continue()
    endif()
    set(wheel ${folder})
    set(include ${folder}/include)
    file(GLOB arrow ${folder}/libarrow.so.*)
    file(GLOB parquet ${folder}/libparquet.so.*)
  endforeach()
  if(NOT EXISTS "${include}/parquet/arrow/reader.h" OR NOT arrow OR NOT parquet)
    set(problem "Apache Arrow for C++ was not found (the Python package pyarrow brings it along)"
        PARENT_SCOPE)
    return()
  endif()
  set(problem "" PARENT_SCOPE)
  set(KINDRED_ARROW_INCLUDE ${include} PARENT_SCOPE)
  # Installed programs look there too; CMake adds no folder inside the source tree by itself.
  set(KINDRED_ARROW_WHEEL ${wheel} PARENT_SCOPE)
  # The wheel's libparquet has an OpenSSL inside that anybody sees. A libcrypto that others bring along
  # (HDF5 does, for curl) would call into it and crash, unless it comes first and finds itself.
  find_library(crypto NAMES libcrypto.so.3 crypto NO_CACHE)
  set(first "")
  if(crypto)
    set(first "-Wl,--push-state,--no-as-needed,${crypto},--pop-state")
  endif()
  set(KINDRED_ARROW_LIBRARIES ${first} ${parquet} ${arrow} PARENT_SCOPE)
endfunction()
kindred_find_arrow()

if(NOT problem)
  set(KINDRED_HAS_PARQUET ON)
  add_library(kindred_parquet INTERFACE)
  add_library(kindred::parquet ALIAS kindred_parquet)
  target_include_directories(kindred_parquet SYSTEM INTERFACE ${KINDRED_ARROW_INCLUDE})
  target_link_libraries(kindred_parquet INTERFACE ${KINDRED_ARROW_LIBRARIES})
  list(GET KINDRED_ARROW_LIBRARIES -1 library)
  message(STATUS "Parquet and LeRobot: with ${library}")
elseif(KINDRED_PARQUET STREQUAL AUTO)
  message(STATUS "Parquet and LeRobot: none. ${problem}; without it such datasets cannot be read")
else()
  message(FATAL_ERROR "KINDRED_PARQUET is ${KINDRED_PARQUET}, but ${problem}.")
endif()
