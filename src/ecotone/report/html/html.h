#pragma once

#include <string>

#include "ecotone/report/report.h"

namespace ecotone {

/// One self-contained HTML page: no outside requests, a strict content-security policy, light and dark, for screens,
/// phones and paper.
std::string html_report(const Report& report);
/// The same of one result.
std::string html_report(const Evaluation& evaluation, const std::string& title);
std::string html_report(const LabelSimulation& simulation, const std::string& title);

}  // namespace ecotone
