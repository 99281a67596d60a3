# Adds a generated source to a layer: `variable` names the text. The file is written only if its text is another, so that
# a configuration run does not compile it again.
function(ecotone_generate layer name variable)
  set(file ${PROJECT_BINARY_DIR}/generated/${name})
  set(before "")
  if(EXISTS ${file})
    file(READ ${file} before)
  endif()
  if(NOT before STREQUAL "${${variable}}")
    file(WRITE ${file} "${${variable}}")
  endif()
  target_sources(ecotone_${layer} PRIVATE ${file})
endfunction()
