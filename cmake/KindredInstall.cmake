# Installs the program, the headers and one target per room: find_package(kindred) gives
# kindred::<room> for each of them and kindred::kindred for all together.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY KINDRED_ROOMS)
add_library(kindred_all INTERFACE)
add_library(kindred::kindred ALIAS kindred_all)
target_link_libraries(kindred_all INTERFACE ${rooms})
set_target_properties(kindred_all PROPERTIES EXPORT_NAME kindred)
set_target_properties(kindred_torch PROPERTIES EXPORT_NAME torch)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kindred)
install(TARGETS ${rooms} kindred_torch kindred_all EXPORT kindredTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT kindredTargets NAMESPACE kindred:: DESTINATION ${package_dir})
if(TARGET kindred)
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
