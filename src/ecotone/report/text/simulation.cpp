#include <fmt/format.h>

#include <algorithm>

#include "ecotone/label/simulate.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/simulation_words.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

constexpr std::size_t shown_points = 9;
constexpr std::size_t strategies_in_a_row = 4;

std::string simulation_facts(const LabelSimulation& simulation) {
  std::string text = wrapped(simulation_summary(simulation), page_width, "") + "\n";
  text += fmt::format("pipeline   {}\n", display_text(simulation.pipeline, page_width - 11));
  std::string rows =
      fmt::format("{} may be asked, {} held out to measure", counted(simulation.pool, "row"), simulation.held_out);
  if (!simulation.targets.empty()) rows += fmt::format(" (target {})", fmt::join(simulation.targets, ", "));
  if (simulation.known > 0) rows += fmt::format(", {} known before", counted(simulation.known, "label"));
  text += wrapped(one_line(rows), page_width, "rows       ");
  const CurvePoint& first = simulation.curves.front().points.front();
  return text + fmt::format("{}   {} {}, {} with all labels of the pool\n\n",
                            pad_right(simulated_metric(simulation), 8), simulated_value(simulation, simulation.start),
                            first.labels == 0 ? "before the first question"
                                              : fmt::format("after the first {}", counted(first.labels, "label")),
                            simulated_value(simulation, simulation.full));
}

std::string strategy_legend(const LabelSimulation& simulation) {
  std::string text;
  for (std::size_t s = 0; s < simulation.curves.size(); ++s)
    text += fmt::format("  {}  {}\n", letter_name(s), simulation.curves[s].strategy);
  return text + "\n";
}

/// Means and ranges of some of the strategies.
std::string value_table(const LabelSimulation& simulation, std::size_t first, std::size_t end) {
  TextTable table{.columns = {{"labels"}}, .lines = {}};
  for (std::size_t s = first; s < end; ++s) {
    table.columns.push_back({letter_name(s)});
    table.columns.push_back({"5% to 95%"});
  }
  for (const Index labels : shown_label_counts(simulation, shown_points)) {
    std::vector<std::string> line = {fmt::to_string(labels)};
    for (std::size_t s = first; s < end; ++s) {
      const CurvePoint* point = point_at(simulation.curves[s], labels);
      line.push_back(point ? simulated_value(simulation, point->mean) : "-");
      line.push_back(point ? fmt::format("{} {}", simulated_value(simulation, point->low),
                                         simulated_value(simulation, point->high))
                           : "");
    }
    table.lines.push_back(std::move(line));
  }
  return table.text() + "\n";
}

std::string goal_table(const LabelSimulation& simulation) {
  TextTable table{.columns = {{"strategy", true}, {"median"}, {"5%"}, {"95%"}, {"runs that reach it"}}, .lines = {}};
  const auto cell = [](const std::optional<double>& labels) { return labels ? label_count(*labels) : "-"; };
  for (std::size_t s = 0; s < simulation.curves.size(); ++s) {
    const StrategyCurve& curve = simulation.curves[s];
    table.lines.push_back({fmt::format("{}  {}", letter_name(s), display_text(curve.strategy, 48)),
                           cell(curve.median_reached), cell(curve.low_reached), cell(curve.high_reached),
                           fmt::format("{} of {}", runs_that_reached(curve), curve.reached.size())});
  }
  return fmt::format("labels to reach {}\n\n{}", simulated_goal(simulation), table.text());
}

std::string coverage_table(const LabelSimulation& simulation) {
  if (!has_audits(simulation)) return "";
  TextTable table{.columns = {{"labels"}, {"audits"}}, .lines = {}};
  for (std::size_t s = 0; s < simulation.curves.size(); ++s) table.columns.push_back({letter_name(s)});
  for (const Index labels : shown_label_counts(simulation, shown_points)) {
    Index audits = 0;
    std::vector<std::string> line = {fmt::to_string(labels), ""};
    for (const StrategyCurve& curve : simulation.curves) {
      const CurvePoint* point = point_at(curve, labels);
      if (point) audits = std::max(audits, point->audits);
      line.push_back(point && point->coverage ? fmt::format("{:.0f}%", 100 * *point->coverage) : "-");
    }
    line[1] = fmt::to_string(audits);
    if (audits > 0) table.lines.push_back(std::move(line));
  }
  return fmt::format("\nruns in which the audit's 90% interval holds the {} on the held-out rows\n\n{}",
                     simulated_metric(simulation), table.text());
}

}  // namespace

std::string simulation_text(const LabelSimulation& simulation) {
  std::string text = simulation_facts(simulation);
  text += fmt::format("{} on held-out rows, mean over {} and the range of 90% of them\n\n",
                      simulated_metric(simulation), counted(simulation.options.repeat, "run"));
  text += strategy_legend(simulation);
  for (std::size_t s = 0; s < simulation.curves.size(); s += strategies_in_a_row)
    text += value_table(simulation, s, std::min(s + strategies_in_a_row, simulation.curves.size()));
  return text + goal_table(simulation) + coverage_table(simulation);
}

}  // namespace ecotone
