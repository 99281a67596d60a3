# One object library per layer of src/ecotone/layers.txt, and the library `ecotone` of them all.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/ecotone/layers.txt layers REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ecotone/layers.txt)

add_library(ecotone_settings INTERFACE)
target_include_directories(ecotone_settings INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(ecotone_settings INTERFACE cxx_std_20)
# The BLAS behind Eigen's products; our pool gives the parallelism, so Eigen's own is off.
target_compile_definitions(ecotone_settings INTERFACE EIGEN_USE_BLAS EIGEN_DONT_PARALLELIZE)
target_link_libraries(ecotone_settings INTERFACE ${dependency_targets})

add_library(ecotone STATIC)
add_library(ecotone::ecotone ALIAS ecotone)
foreach(layer IN LISTS layers)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ecotone/${layer}/*.cpp)
  if(sources)
    add_library(ecotone_${layer} OBJECT ${sources})
    ecotone_batches(ecotone_${layer} ${sources})
    target_link_libraries(ecotone_${layer} PRIVATE ecotone_settings)
    target_sources(ecotone PRIVATE $<TARGET_OBJECTS:ecotone_${layer}>)
  endif()
endforeach()
target_link_libraries(ecotone PUBLIC ecotone_settings)
