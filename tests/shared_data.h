#pragma once

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
