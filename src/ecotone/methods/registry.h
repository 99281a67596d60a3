#pragma once

#include <string_view>
#include <vector>

#include "ecotone/methods/method.h"

namespace ecotone {

/// All methods, in the order of methods.def.
const std::vector<Method>& methods();
/// Their names.
std::vector<std::string> method_names();
/// By name; an option error (`unknown_method`: "unknown method 'logitic'; did you mean 'logistic'?") otherwise.
const Method& method(std::string_view name);

}  // namespace ecotone
