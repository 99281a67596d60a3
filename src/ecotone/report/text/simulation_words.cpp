#include "ecotone/report/text/simulation_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/text/line.h"

namespace ecotone {

namespace {

/// The strategy, `random` aside, whose median run reaches the goal first; null if none does.
const StrategyCurve* quickest(const LabelSimulation& simulation) {
  const StrategyCurve* best = nullptr;
  for (const StrategyCurve& curve : simulation.curves) {
    if (&curve == &simulation.curves.back() || !curve.median_reached) continue;
    if (!best || *curve.median_reached < *best->median_reached) best = &curve;
  }
  return best;
}

}  // namespace

std::string simulated_metric(const LabelSimulation& simulation) {
  return simulation.task == Task::classify ? "accuracy" : "RMSE";
}

std::string simulated_goal(const LabelSimulation& simulation) {
  if (simulation.task == Task::classify)
    return fmt::format("{:.4g}% of the accuracy with all labels", 100 * simulation.options.reach);
  return fmt::format("{:.3g} times the RMSE with all labels", 1 / simulation.options.reach);
}

std::string simulation_summary(const LabelSimulation& simulation) {
  const StrategyCurve& random = simulation.curves.back();
  const std::string goal = simulated_goal(simulation);
  const Index budget = random.points.back().labels;
  const auto median = fmt::format("(median of {})", counted(std::ssize(random.reached), "run"));
  const auto after = [](const StrategyCurve& curve) {
    return fmt::format("after {} labels", label_count(*curve.median_reached));
  };
  const CurvePoint& first = random.points.front();
  if (random.median_reached && *random.median_reached <= static_cast<double>(first.labels))
    return fmt::format("Labels gain little here: {} is reached {} {}.", goal,
                       first.labels == 0 ? "before the first question"
                                         : fmt::format("after the first {}", counted(first.labels, "label")),
                       median);
  const StrategyCurve* best = quickest(simulation);
  if (!best && !random.median_reached)
    return fmt::format("No strategy reaches {} within {} labels in half of its runs.", goal, budget);
  if (!best)
    return fmt::format("{} reaches {} {} {}{}.", random.strategy, goal, after(random), median,
                       simulation.curves.size() > 1 ? ", no other strategy within the budget" : "");
  if (!random.median_reached)
    return fmt::format("{} reaches {} {} {}, {} not within {}.", best->strategy, goal, after(*best), median,
                       random.strategy, budget);
  if (*best->median_reached < *random.median_reached)
    return fmt::format("{} reaches {} {} {}, {} {}.", best->strategy, goal, after(*best), median, random.strategy,
                       fmt::format("after {}", label_count(*random.median_reached)));
  return fmt::format("Rows at random do as well as chosen ones: {} reaches {} {} {}, {} after {}.", random.strategy,
                     goal, after(random), median, best->strategy, label_count(*best->median_reached));
}

std::string simulated_value(const LabelSimulation& simulation, double value) {
  return simulation.task == Task::classify ? fmt::format("{:.3f}", value) : fmt::format("{:.4g}", value);
}

std::string label_count(double labels) { return fmt::format("{:.10g}", labels); }

std::vector<Index> shown_label_counts(const LabelSimulation& simulation, std::size_t count) {
  const std::vector<CurvePoint>& points = simulation.curves.back().points;
  std::vector<Index> shown;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = count < 2 ? 0 : (i * (points.size() - 1) + (count - 1) / 2) / (count - 1);
    if (shown.empty() || points[place].labels != shown.back()) shown.push_back(points[place].labels);
  }
  return shown;
}

const CurvePoint* point_at(const StrategyCurve& curve, Index labels) {
  const auto found = std::ranges::find(curve.points, labels, &CurvePoint::labels);
  return found == curve.points.end() ? nullptr : &*found;
}

Index runs_that_reached(const StrategyCurve& curve) {
  return std::ranges::count_if(curve.reached, [](const auto& labels) { return labels.has_value(); });
}

bool has_audits(const LabelSimulation& simulation) {
  return std::ranges::any_of(simulation.curves, [](const StrategyCurve& curve) {
    return std::ranges::any_of(curve.points, [](const CurvePoint& point) { return point.coverage.has_value(); });
  });
}

}  // namespace ecotone
