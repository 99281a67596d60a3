#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ecotone/base/context.h"

namespace ecotone {

/// The column names of a CSV file, compressed or not, from the beginning of the file alone, however large it is. None
/// if it is anything else or cannot be read: for suggestions, not for reading data.
std::vector<std::string> csv_columns(const std::filesystem::path& path, const Context& context);

}  // namespace ecotone
