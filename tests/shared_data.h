#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "source_dir.h"

namespace ecotone {

/// The shared data sets: $ECOTONE_DATA, or shared/data beside the source tree.
inline std::filesystem::path shared_data() {
  if (const char* path = std::getenv("ECOTONE_DATA")) return path;
  return source_dir().parent_path() / "shared" / "data";
}

}  // namespace ecotone

/// Skips the test where the shared data are absent: they are large, belong to others and are never committed.
#define ECOTONE_SKIP_WITHOUT(path)    \
  if (!std::filesystem::exists(path)) \
  GTEST_SKIP() << (path) << " is not there; the shared data are looked for in ECOTONE_DATA"
