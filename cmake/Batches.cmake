# Which sources a target compiles together in a unity build. CMake's own batches follow the order of the sources, so that a new
# one moves all that come after it into other batches, and these are compiled again. Here a source's batch follows from its
# path: a new source changes its own batch alone. The number of batches is a power of two, for 6 to 11 sources each on
# average, because it then changes seldom.
function(ecotone_batches target)
  list(LENGTH ARGN size)
  set(batches 1)
  while(size GREATER 11)
    math(EXPR size "${size} / 2")
    math(EXPR batches "${batches} * 2")
  endwhile()
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    string(MD5 hash ${path})
    string(SUBSTRING ${hash} 0 2 digits)
    math(EXPR batch "0x${digits} % ${batches}")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP batch_${batch})
  endforeach()
  set_property(TARGET ${target} PROPERTY UNITY_BUILD_MODE GROUP)
endfunction()
