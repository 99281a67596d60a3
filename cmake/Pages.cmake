# What the program says of itself, as files to install: the man page and completions for three shells.
set(man_page ${PROJECT_BINARY_DIR}/pages/ecotone.1)
set(pages ${man_page})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${man_page} DEPENDS ecotone_program ${PROJECT_SOURCE_DIR}/tools/man VERBATIM
  COMMAND ${PROJECT_SOURCE_DIR}/tools/man $<TARGET_FILE:ecotone_program> > ${man_page})
foreach(shell bash zsh fish)
  set(completion_${shell} ${PROJECT_BINARY_DIR}/pages/completion.${shell})
  list(APPEND pages ${completion_${shell}})
  add_custom_command(OUTPUT ${completion_${shell}} DEPENDS ecotone_program VERBATIM
    COMMAND ecotone_program completion ${shell} > ${completion_${shell}})
endforeach()
add_custom_target(ecotone_pages ALL DEPENDS ${pages})
