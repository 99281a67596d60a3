#pragma once

#include <string_view>
#include <vector>

#include "ecotone/methods/method.h"

namespace ecotone {

/// All methods, in the order of methods.def.
const std::vector<Method>& methods();
/// By name; an option error (`unknown_method`: «unknown method 'logitic'; did you mean 'logistic'?») otherwise.
const Method& method(std::string_view name);

/// One method as JSON: name, family, summary, citation, needs_labels, reads_scores, options [{name, type, default,
/// help, low, high, open_low, open_high, choices}].
Json method_json(const Method& method);

}  // namespace ecotone
