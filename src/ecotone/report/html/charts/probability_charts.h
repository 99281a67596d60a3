#pragma once

#include <optional>
#include <string>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/report/html/charts/curve_chart.h"
#include "ecotone/report/html/page.h"

/// What charts of probabilities have in common.
namespace ecotone::report {

/// A small chart whose axes go from 0 to 1, without lines.
CurveChart square_chart(std::string x_title, std::string y_title, std::string description);
ChartLine empty_line(std::size_t number, std::string name);
/// The pipeline that the charts are of: the best, if it has probabilities.
std::optional<std::size_t> curved_pipeline(const Results& results, const Evaluation& evaluation);

}  // namespace ecotone::report
