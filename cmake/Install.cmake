# `cmake --install`: the library for find_package(ecotone) and pkg-config, its headers, the program with its man page
# and completions, the licence.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ecotone)
install(TARGETS ecotone ecotone_settings EXPORT ecotone ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ecotone_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ecotone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${PROJECT_BINARY_DIR}/generated/ecotone/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ecotone)

install(EXPORT ecotone NAMESPACE ecotone:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ecotone-config.cmake.in ${PROJECT_BINARY_DIR}/ecotone-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ecotone-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ecotone-config.cmake ${PROJECT_BINARY_DIR}/ecotone-config-version.cmake DESTINATION ${package_dir})

# Paths in ecotone.pc start from where it lies, so that the prefix may be chosen at install time.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_pc /${pc_dir} /)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
list(JOIN dependency_modules " " pc_requires)
get_target_property(definitions ecotone_settings INTERFACE_COMPILE_DEFINITIONS)
list(TRANSFORM definitions PREPEND " -D")
list(JOIN definitions "" pc_definitions)
configure_file(${PROJECT_SOURCE_DIR}/cmake/ecotone.pc.in ${PROJECT_BINARY_DIR}/ecotone.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ecotone.pc DESTINATION ${pc_dir})

install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${completion_bash} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ecotone)
install(FILES ${completion_zsh} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _ecotone)
install(FILES ${completion_fish} DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME ecotone.fish)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
