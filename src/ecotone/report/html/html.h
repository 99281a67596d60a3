#pragma once

#include <string>

#include "ecotone/report/report.h"

namespace ecotone {

/// One self-contained HTML page: no outside requests, a strict content-security policy, light and dark, for screens,
/// phones and paper.
std::string html_report(const Report& report);

}  // namespace ecotone
