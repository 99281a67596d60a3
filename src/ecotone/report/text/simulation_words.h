#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/label/simulate.h"

/// What the text and the page of a simulated labelling have in common.
namespace ecotone {

/// "accuracy", "RMSE".
std::string simulated_metric(const LabelSimulation& simulation);
/// "95% of the accuracy with all labels", "1.05 times the RMSE with all labels".
std::string simulated_goal(const LabelSimulation& simulation);
/// The answer in a sentence: which strategy needs the fewest labels for the goal, and how many `random` needs; or that
/// the goal is reached from the start.
std::string simulation_summary(const LabelSimulation& simulation);
/// Three digits after the point for an accuracy, four significant digits for an RMSE.
std::string simulated_value(const LabelSimulation& simulation, double value);
/// A number of labels, with a half if it is the middle of two.
std::string label_count(double labels);
/// About `count` of the numbers of labels at which the curve of `random` has points, the first and the last among them.
std::vector<Index> shown_label_counts(const LabelSimulation& simulation, std::size_t count);
/// The point at this number of labels; null if the curve has none there.
const CurvePoint* point_at(const StrategyCurve& curve, Index labels);
/// How many runs reached the goal.
Index runs_that_reached(const StrategyCurve& curve);
/// Whether any point has an audit's interval.
bool has_audits(const LabelSimulation& simulation);

}  // namespace ecotone
