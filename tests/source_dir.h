#pragma once

#include <filesystem>

namespace ecotone {

/// The root of the source tree. One source knows it, so that all others compile to the same objects in any clone.
std::filesystem::path source_dir();

}  // namespace ecotone
