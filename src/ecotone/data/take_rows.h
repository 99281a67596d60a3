#pragma once

#include <vector>

#include "ecotone/data/dataset.h"

namespace ecotone {

/// The data with these rows alone, at least one, in this order. Classes and domains are those that remain; all domains
/// are sources.
Dataset take_rows(Dataset data, const std::vector<Index>& rows);

}  // namespace ecotone
