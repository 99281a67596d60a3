# Outside libraries, each named once: what find_package is given, the target to link, the pkg-config module (- for none).
# The build, the installed CMake package and ecotone.pc are all made from this table.
set(BLA_VENDOR OpenBLAS)
set(dependencies
  "Eigen3 3.4 NO_MODULE : Eigen3::Eigen                : eigen3"
  "fmt                  : fmt::fmt                     : fmt"
  "nlohmann_json        : nlohmann_json::nlohmann_json : nlohmann_json"
  "ZLIB                 : ZLIB::ZLIB                   : zlib"
  "SQLite3              : SQLite::SQLite3              : sqlite3"
  "Boost                : Boost::headers               : -"
  "LAPACK               : LAPACK::LAPACK               : openblas"
  "BLAS                 : BLAS::BLAS                   : openblas"
  "Threads              : Threads::Threads             : -")

set(dependency_targets "")   # for target_link_libraries
set(dependency_modules "")   # for ecotone.pc
set(find_dependencies "")    # for ecotone-config.cmake
foreach(dependency IN LISTS dependencies)
  string(REGEX MATCH "^(.*[^ ]) +: +([^ ]+) +: +([^ ]+)$" row "${dependency}")
  list(APPEND dependency_targets ${CMAKE_MATCH_2})
  list(APPEND dependency_modules ${CMAKE_MATCH_3})
  string(APPEND find_dependencies "find_dependency(${CMAKE_MATCH_1})\n")
  separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_1}")
  find_package(${arguments} REQUIRED)
endforeach()
list(REMOVE_ITEM dependency_modules -)
list(REMOVE_DUPLICATES dependency_modules)
