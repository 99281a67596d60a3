#pragma once

#include <string>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/label/simulate.h"

namespace ecotone {

/// One self-contained HTML page (no outside requests) of an evaluation: what was asked, the table of
/// pipelines and held-out domains, the paired differences, and how to read them.
std::string html_report(const Evaluation& evaluation, const std::string& title);

/// The same of a simulation of labelling: what labels are worth, learning curves of the strategies with their spread,
/// labels to reach the goal, how often the audit's interval was right, and how to read them.
std::string html_report(const LabelSimulation& simulation, const std::string& title);

}  // namespace ecotone
