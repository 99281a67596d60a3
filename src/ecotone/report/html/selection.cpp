#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/charts/curve_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

/// What tells the path of a class from those of others; empty if there is one path.
struct PathLabel {
  std::string of;      ///< HTML: " of setosa against the rest"
  std::string ending;  ///< of the names of files: "-1"
};

/// A column of the table of steps; NaN where a step has no value.
struct StepColumn {
  std::string head;
  std::string name;  ///< in CSV
  std::vector<double> values;
};

std::vector<double> known_or_nan(const std::vector<std::optional<double>>& values) {
  std::vector<double> result;
  for (const auto& value : values) result.push_back(value.value_or(std::nan("")));
  return result;
}

/// The loss on domains left out, after each step; empty without such runs.
std::vector<double> held_out_losses(const FeatureSelection& selection, const PathResult& path) {
  if (const auto* step = std::get_if<StepSelection>(&selection.found)) return step->held_out_loss();
  const auto& left_out = std::get<GreedySelection>(selection.found).run.selection.left_out;
  std::vector<double> losses;
  for (Index k = 0; left_out && k < path.steps(); ++k) losses.push_back(left_out->curve[at(k + 1)]);
  return losses;
}

std::vector<StepColumn> step_columns(const FeatureSelection& selection, const PathResult& path) {
  std::vector<StepColumn> columns;
  if (std::holds_alternative<GreedySelection>(selection.found)) {
    columns.push_back({"T", "T", path.t});
    columns.push_back({"p-value", "p_value", path.pvalue});
  }
  columns.push_back({"gain", "gain", path.gain});
  columns.push_back({"loss", "loss", path.loss});
  columns.push_back({"held-out loss", "held_out_loss", held_out_losses(selection, path)});
  columns.push_back({"source AUROC", "auroc", known_or_nan(selection.source_auroc)});
  columns.push_back({"held-out AUROC", "held_out_auroc", known_or_nan(selection.held_out_auroc)});
  std::erase_if(columns, [&](const StepColumn& column) { return std::ssize(column.values) < path.steps(); });
  return columns;
}

std::string step_table(const FeatureSelection& selection, const PathResult& path,
                       const std::vector<StepColumn>& columns, const PathLabel& label) {
  std::string head, body;
  for (const StepColumn& column : columns) head += fmt::format("<th scope=\"col\" class=\"num\">{}</th>", column.head);
  for (Index k = 0; k < path.steps(); ++k) {
    body +=
        fmt::format("<tr><th scope=\"row\">{}. {}</th>", k + 1, escape(selection.features[at(path.indices[at(k)])]));
    for (const StepColumn& column : columns)
      body += fmt::format("<td class=\"num\">{}</td>",
                          std::isinf(column.values[at(k)]) ? "∞" : number(column.values[at(k)]));
    body += "</tr>\n";
  }
  return framed(
      "Steps of the selection" + label.of,
      fmt::format("<table>\n<caption>The features in the order in which they were taken</caption>\n<thead><tr>"
                  "<th scope=\"col\">feature</th>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
                  head, body));
}

ChartLine step_line(std::size_t line, const std::string& name, const std::vector<double>& values) {
  ChartLine result{.number = line, .name = name, .x = {}, .y = {}, .low = {}, .high = {}};
  for (std::size_t k = 0; k < values.size(); ++k)
    if (std::isfinite(values[k])) {
      result.x.push_back(static_cast<double>(k + 1));
      result.y.push_back(values[k]);
    }
  result.dots = true;
  return result;
}

std::string step_figure(std::string name, std::string caption, CurveChart chart) {
  chart.x_title = "steps";
  chart.width = 420;
  chart.height = 280;
  chart.names = false;
  std::vector<std::vector<std::string>> table = {{"line", "step", "value"}};
  for (const ChartLine& line : chart.lines)
    for (std::size_t i = 0; i < line.x.size(); ++i)
      table.push_back({line.name, plain_number(line.x[i]), plain_number(line.y[i])});
  return figure({.name = std::move(name),
                 .caption = std::move(caption),
                 .wide = curve_chart(chart),
                 .narrow = {},
                 .table = std::move(table)});
}

/// T of each step against the thresholds.
std::string t_figure(const FeatureSelection& selection, const PathResult& path, const PathLabel& label) {
  const auto* greedy = std::get_if<GreedySelection>(&selection.found);
  if (!greedy) return "";
  CurveChart chart;
  chart.y_title = "T";
  chart.description = "T of each step.";
  chart.lines = {step_line(0, "T", path.t)};
  const double threshold = greedy->run.selection.theorem1.threshold;
  if (std::isfinite(threshold)) chart.guides.push_back({threshold, fmt::format("theorem 1: {:.3g}", threshold)});
  chart.cover = {0};
  return step_figure("t-by-step" + label.ending,
                     "<strong>T</strong> of each step, how surely its gain holds across domains", chart);
}

std::string loss_figure(const PathResult& path, const std::vector<double>& held_out, const PathLabel& label) {
  CurveChart chart;
  chart.y_title = "loss";
  chart.description = "Loss after each step on the domains, and on domains left out.";
  chart.lines = {step_line(0, "loss", path.loss)};
  if (!held_out.empty()) chart.lines.push_back(step_line(1, "held-out loss", held_out));
  return step_figure("loss-by-step" + label.ending,
                     fmt::format("<strong>Loss</strong> after each step: {} on the domains{}", line_key(0),
                                 held_out.empty() ? "" : fmt::format(", {} on domains left out", line_key(1))),
                     chart);
}

/// The features that icp looked at, and what it says of them.
std::string icp_html(const FeatureSelection& selection, const IcpSelection& icp, const PathLabel& label) {
  std::string body;
  for (std::size_t k = 0; k < icp.run.screened.size(); ++k) {
    const Index j = icp.run.screened[k];
    const bool taken = std::find(icp.run.selected.begin(), icp.run.selected.end(), j) != icp.run.selected.end();
    body += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td>{}</td></tr>\n",
                        escape(selection.features[at(j)]), number(icp.run.pvalue[static_cast<Index>(k)]),
                        taken ? "yes" : "-");
  }
  const char* words = icp.run.found ? "Features that every accepted set shares are likely causes of the label."
                                    : "No set of features predicts alike in all domains.";
  return fmt::format("<p>{}</p>\n{}", words,
                     framed("Likely causes" + label.of,
                            fmt::format("<table>\n<caption>The features that were looked at</caption>\n<thead><tr>"
                                        "<th scope=\"col\">feature</th><th scope=\"col\" class=\"num\">p-value</th>"
                                        "<th scope=\"col\">cause</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
                                        body)));
}

/// Charts and table of the path of two classes or numbers.
std::string path_html(const FeatureSelection& selection, const PathLabel& label) {
  if (const auto* icp = std::get_if<IcpSelection>(&selection.found)) return icp_html(selection, *icp, label);
  const PathResult path = selection.path();
  if (path.steps() == 0) return "<p>The path is empty.</p>\n";
  return fmt::format("<div class=\"small-charts\">\n{}{}</div>\n{}", t_figure(selection, path, label),
                     loss_figure(path, held_out_losses(selection, path), label),
                     step_table(selection, path, step_columns(selection, path), label));
}

}  // namespace

std::string selection_answer(const FeatureSelection& selection) {
  std::vector<std::string> names;
  for (const Index j : selection.taken())
    names.push_back(fmt::format("<strong>{}</strong>", escape(selection.features[at(j)])));
  return fmt::format(
      "<section class=\"answer\" aria-label=\"The answer\">\n<p class=\"lead\">{}</p>\n<p><code>{}</code> on {}, "
      "{}{}.</p>\n"
      "</section>\n",
      names.empty() ? "No feature was taken: none clearly helps across domains."
                    : fmt::format("{} taken: {}.",
                                  names.size() == 1 ? "One feature was" : fmt::format("{} features were", names.size()),
                                  fmt::join(names, ", ")),
      escape(selection.pipeline), plural(selection.features.size(), "feature"),
      plural(selection.domains.size(), "domain"),
      selection.of_class.empty() ? "" : fmt::format(", each of {} classes against the rest", selection.classes.size()));
}

Panel selection_panel(const FeatureSelection& selection) {
  if (selection.of_class.empty()) return {"selection", "The path", path_html(selection, {})};
  std::string html;
  for (std::size_t k = 0; k < selection.of_class.size(); ++k) {
    const std::string of = escape(selection.classes[k]) + " against the rest";
    html +=
        fmt::format("<h3>{}</h3>\n", of) + path_html(selection.of_class[k], {" of " + of, fmt::format("-{}", k + 1)});
  }
  return {"selection", "The paths", std::move(html)};
}

}  // namespace ecotone::report
