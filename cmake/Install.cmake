# `cmake --install`: the library for find_package(ecotone), its headers and the program.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ecotone)
install(TARGETS ecotone ecotone_settings EXPORT ecotone ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ecotone_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ecotone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${PROJECT_BINARY_DIR}/generated/ecotone/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ecotone)
install(EXPORT ecotone NAMESPACE ecotone:: DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ecotone-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/ecotone-config.cmake ${PROJECT_SOURCE_DIR}/cmake/Dependencies.cmake
              ${PROJECT_BINARY_DIR}/ecotone-config-version.cmake DESTINATION ${package_dir})
