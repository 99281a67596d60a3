#pragma once

#include <filesystem>
#include <string_view>

namespace ecotone {

/// A file of a public data set below the folder that --data or ECOTONE_DATA names: as named, gzipped, or under the name
/// of a part of it ("mnist/train10k-..." for "mnist/train-..."). Option error `no_data` if there is no folder, file
/// error `missing_data` if there is no such file; both say where the data are published and in which format.
std::filesystem::path data_file(const std::filesystem::path& folder, std::string_view name);

}  // namespace ecotone
