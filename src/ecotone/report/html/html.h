#pragma once

#include <string>

#include "ecotone/evaluate/evaluate.h"

namespace ecotone {

/// One self-contained HTML page (no outside requests) of an evaluation: what was asked, the table of
/// pipelines and held-out domains, the paired differences, and how to read them.
std::string html_report(const Evaluation& evaluation, const std::string& title);

}  // namespace ecotone
