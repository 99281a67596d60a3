# What `ecotone --version` says: the release and the commit of the build.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty
                OUTPUT_VARIABLE ECOTONE_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT ECOTONE_COMMIT)
  set(ECOTONE_COMMIT "no commit")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${PROJECT_BINARY_DIR}/generated/ecotone/version.h)
