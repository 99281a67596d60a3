#pragma once

#include <nlohmann/json.hpp>

namespace ecotone {

/// JSON whose objects keep the order in which keys were added, so that identical runs print identical bytes.
using Json = nlohmann::ordered_json;

}  // namespace ecotone
