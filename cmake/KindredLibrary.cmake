# Puts the rooms together for the program, the Python module and whoever installs Kindred:
# libkindred.so, and beside it libkindred_torch.so, libkindred_parquet.so and libkindred_mujoco.so, which
# the first opens when LibTorch, Arrow or MuJoCo is needed. KINDRED_LATE_LIBRARIES are the targets of
# those there are.
get_property(rooms GLOBAL PROPERTY KINDRED_ROOMS)

add_library(kindred_library SHARED)
foreach(room IN LISTS rooms)
  # All of a room, as the other libraries may need what this one does not.
  target_sources(kindred_library PRIVATE $<TARGET_OBJECTS:kindred_${room}>)
  target_link_libraries(kindred_library PRIVATE kindred_${room})
  target_include_directories(kindred_library INTERFACE
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include/${room}>)
endforeach()
target_compile_features(kindred_library INTERFACE cxx_std_20)
target_include_directories(kindred_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(kindred_library INTERFACE ${KINDRED_FMT} nlohmann_json::nlohmann_json
                      Threads::Threads)

set(KINDRED_LATE_LIBRARIES "")
foreach(part IN LISTS KINDRED_LATE_PARTS)
  get_property(rooms_with_part GLOBAL PROPERTY KINDRED_ROOMS_WITH_${part})
  if(NOT rooms_with_part)
    continue()
  endif()
  set(library kindred_${part}_library)
  add_library(${library} MODULE)
  foreach(room IN LISTS rooms_with_part)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:kindred_${room}_${part}_objects>)
  endforeach()
  target_link_libraries(${library} PRIVATE kindred_library kindred::${part})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME kindred_${part} PREFIX lib
                        INSTALL_RPATH "$ORIGIN")
  list(APPEND KINDRED_LATE_LIBRARIES ${library})
endforeach()
if(KINDRED_HAS_CUDA)
  target_link_libraries(kindred_torch_library PRIVATE CUDA::cudart_static)
endif()
if(TARGET kindred_parquet_library)
  set_property(TARGET kindred_parquet_library APPEND PROPERTY
               INSTALL_RPATH "$ORIGIN/../pyarrow;${KINDRED_ARROW_WHEEL}")
endif()

set_target_properties(kindred_library PROPERTIES OUTPUT_NAME kindred)
set_target_properties(kindred_library ${KINDRED_LATE_LIBRARIES} PROPERTIES
  LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  INSTALL_RPATH_USE_LINK_PATH ON LINK_OPTIONS -Wl,--no-undefined)
