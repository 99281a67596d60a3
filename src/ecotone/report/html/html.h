#pragma once

#include <string>

#include "ecotone/base/json.h"

namespace ecotone {

/// One self-contained HTML page (no outside requests) from the JSON of `evaluate`: what was asked, the table of
/// pipelines and held-out domains, the paired differences, and how to read them.
std::string html_report(const Json& evaluation, const std::string& title);

}  // namespace ecotone
