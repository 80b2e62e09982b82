# Puts the rooms together for the program, the Python module and whoever installs Kindred:
# libkindred.so, and beside it libkindred_torch.so, which the first opens when LibTorch is needed.
get_property(rooms GLOBAL PROPERTY KINDRED_ROOMS)
get_property(torch_parts GLOBAL PROPERTY KINDRED_TORCH_PARTS)

add_library(kindred_library SHARED)
foreach(room IN LISTS rooms)
  # All of a room, as the other library may need what this one does not.
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

add_library(kindred_torch_library MODULE)
foreach(room IN LISTS torch_parts)
  target_sources(kindred_torch_library PRIVATE $<TARGET_OBJECTS:kindred_${room}_torch_objects>)
endforeach()
target_link_libraries(kindred_torch_library PRIVATE kindred_library kindred::torch)
if(KINDRED_HAS_CUDA)
  target_link_libraries(kindred_torch_library PRIVATE CUDA::cudart_static)
endif()

set_target_properties(kindred_library kindred_torch_library PROPERTIES
  LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  INSTALL_RPATH_USE_LINK_PATH ON LINK_OPTIONS -Wl,--no-undefined)
set_target_properties(kindred_library PROPERTIES OUTPUT_NAME kindred
  INSTALL_RPATH "$ORIGIN/../pyarrow;${KINDRED_ARROW_WHEEL}")
set_target_properties(kindred_torch_library PROPERTIES OUTPUT_NAME kindred_torch
  PREFIX lib INSTALL_RPATH "$ORIGIN")
