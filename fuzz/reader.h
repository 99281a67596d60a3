#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ecotone/base/context.h"
#include "ecotone/base/error.h"

namespace ecotone::fuzz {

inline const Context& one_thread() {
  static const Context context({.threads = 1});
  return context;
}

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// Runs a reader: it may throw only errors about options, data or files. Returns the code of the error, or "".
template <class Read>
std::string code_of(Read&& read) {
  try {
    read();
    return {};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal || error.kind() == ErrorKind::cancelled) fail(error.what());
    return error.code();
  }
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return std::string(reinterpret_cast<const char*>(data), size);
}

}  // namespace ecotone::fuzz
