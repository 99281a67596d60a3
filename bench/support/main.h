#pragma once

#include <fmt/format.h>

#include <exception>
#include <filesystem>

#include "ecotone/base/memory.h"

/// The main function that all benchmarks share: checks the number of arguments, keeps freed memory as the program does,
/// and prints errors as one line.
inline int bench_main(int argc, char** argv, int least, int most, const char* arguments, int (*run)(int, char**)) {
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  if (argc - 1 < least || argc - 1 > most) {
    fmt::print(stderr, "usage: {} {}\n", name, arguments);
    return 2;
  }
  ecotone::keep_freed_memory();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  }
}
