#pragma once

#include <string>

#include "ecotone/base/json.h"
#include "ecotone/data/dataset.h"

namespace ecotone::cli {

/// "920 rows, 13 features, 4 domains (cleveland 303, hungarian 294, switzerland 123, va 200), label 'label' (classify:
/// 0, 1)"
std::string data_summary(const Dataset& data);

/// {"rows", "features", "task", "classes", "domains": [{"domain", "rows", "role"}]}
Json data_json(const Dataset& data);

/// "1 row", "2 rows"
std::string counted(Index count, const std::string& one);

}  // namespace ecotone::cli
