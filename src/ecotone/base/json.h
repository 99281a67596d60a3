#pragma once

#include <nlohmann/json.hpp>

namespace ecotone {

/// JSON whose objects keep the order in which keys were added: equal runs print equal bytes.
using Json = nlohmann::ordered_json;

}  // namespace ecotone
