#include "source_dir.h"

namespace ecotone {

std::filesystem::path source_dir() { return ECOTONE_SOURCE_DIR; }

}  // namespace ecotone
