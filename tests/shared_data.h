#pragma once

#include <cstdlib>
#include <filesystem>

namespace ecotone {

/// The shared data sets: $ECOTONE_DATA, or shared/data beside the source tree.
inline std::filesystem::path shared_data() {
  if (const char* path = std::getenv("ECOTONE_DATA")) return path;
  return std::filesystem::path(ECOTONE_SOURCE_DIR).parent_path() / "shared" / "data";
}

}  // namespace ecotone
