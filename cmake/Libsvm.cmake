# LIBSVM, which the support vector machine is compared with: for tests and benchmarks, never for the library.
find_path(LIBSVM_INCLUDE libsvm/svm.h REQUIRED)
find_library(LIBSVM_LIBRARY svm REQUIRED)
if(NOT TARGET libsvm)
  add_library(libsvm INTERFACE)
  target_include_directories(libsvm SYSTEM INTERFACE ${LIBSVM_INCLUDE})
  target_link_libraries(libsvm INTERFACE ${LIBSVM_LIBRARY})
endif()
