# Installs the program, the headers and the libraries: find_package(kindred) gives kindred::kindred,
# and kindred::<room> for each room, which is the same by another name.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY KINDRED_ROOMS)
set_target_properties(kindred_library PROPERTIES EXPORT_NAME kindred)
add_library(kindred::kindred ALIAS kindred_library)
set(exported kindred_library)
foreach(room IN LISTS rooms)
  add_library(kindred_${room}_installed INTERFACE)
  target_link_libraries(kindred_${room}_installed INTERFACE kindred_library)
  set_target_properties(kindred_${room}_installed PROPERTIES EXPORT_NAME ${room})
  list(APPEND exported kindred_${room}_installed)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kindred)
install(TARGETS ${exported} EXPORT kindredTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${KINDRED_LATE_LIBRARIES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT kindredTargets NAMESPACE kindred:: DESTINATION ${package_dir})
if(TARGET kindred)
  file(RELATIVE_PATH to_libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_property(TARGET kindred APPEND PROPERTY INSTALL_RPATH $ORIGIN/${to_libraries})
  install(TARGETS kindred RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/kindred ${PROJECT_BINARY_DIR}/generated/kindred
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h"
        PATTERN "*_internal.h" EXCLUDE
        PATTERN "hdf5_*.h" EXCLUDE
        PATTERN "parquet_arrow.h" EXCLUDE)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kindredConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kindredConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kindredConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kindredConfig.cmake
              ${PROJECT_BINARY_DIR}/kindredConfigVersion.cmake
        DESTINATION ${package_dir})
