#include <fmt/format.h>

#include <algorithm>

#include "ecotone/report/html/charts/curve_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/simulation_words.h"

namespace ecotone::report {

namespace {

constexpr std::size_t bands_in_one_chart = 3;

/// The number of a strategy's line: `random`, the last, is the grey one.
std::size_t line_number(const LabelSimulation& simulation, std::size_t s) {
  return s + 1 == simulation.curves.size() ? chart_lines - 1 : s % (chart_lines - 1);
}

std::string strategy_tag(std::size_t s) { return fmt::format("<b class=\"tag\">{}</b>", letter_name(s)); }

std::string named_strategy(const LabelSimulation& simulation, std::size_t s) {
  return fmt::format("{} <code>{}</code>", strategy_tag(s), escape(simulation.curves[s].strategy));
}

enum class Band { none, range };

ChartLine value_line(const LabelSimulation& simulation, std::size_t s, Band band) {
  ChartLine line{.number = line_number(simulation, s), .name = letter_name(s), .x = {}, .y = {}, .low = {}, .high = {}};
  for (const CurvePoint& point : simulation.curves[s].points) {
    line.x.push_back(static_cast<double>(point.labels));
    line.y.push_back(point.mean);
    if (band == Band::none) continue;
    line.low.push_back(point.low);
    line.high.push_back(point.high);
  }
  return line;
}

/// The curve in words: its values at a few numbers of labels.
std::string curve_words(const LabelSimulation& simulation, std::size_t s) {
  std::vector<std::string> values;
  for (const Index labels : shown_label_counts(simulation, 5))
    if (const CurvePoint* point = point_at(simulation.curves[s], labels))
      values.push_back(fmt::format("{} at {} labels", simulated_value(simulation, point->mean), labels));
  return fmt::format("{} {}: {}.", letter_name(s), simulation.curves[s].strategy, fmt::join(values, ", "));
}

std::string legend(const LabelSimulation& simulation) {
  std::string items;
  for (std::size_t s = 0; s < simulation.curves.size(); ++s)
    items += fmt::format("<li>{} {}</li>", line_key(line_number(simulation, s)), named_strategy(simulation, s));
  return fmt::format("<ul class=\"legend\">{}</ul>\n", items);
}

CurveChart value_chart(const LabelSimulation& simulation, std::vector<std::size_t> shown, Band band) {
  const std::string metric = capitalised(simulated_metric(simulation));
  CurveChart chart;
  chart.x_title = "labels";
  chart.y_title = metric;
  chart.description = metric + " on held-out rows by the number of labels.";
  for (const std::size_t s : shown) {
    chart.lines.push_back(value_line(simulation, s, band));
    chart.description += ' ';
    chart.description += curve_words(simulation, s);
  }
  chart.guides.push_back({simulation.full, "all labels"});
  return chart;
}

/// A chart of some curves with all of their points as data.
std::string curve_figure(const LabelSimulation& simulation, const CurveChart& chart,
                         const std::vector<std::size_t>& shown, std::string name, std::string caption) {
  std::vector<std::vector<std::string>> table = {{"strategy", "labels", "mean", "low", "high"}};
  for (const std::size_t s : shown)
    for (const CurvePoint& point : simulation.curves[s].points)
      table.push_back({simulation.curves[s].strategy, fmt::format("{}", point.labels), plain_number(point.mean),
                       plain_number(point.low), plain_number(point.high)});
  return figure({.name = std::move(name),
                 .caption = std::move(caption),
                 .wide = curve_chart(chart),
                 .narrow = {},
                 .table = std::move(table)});
}

/// Each strategy beside `random`, with their ranges, where one chart would be too full.
std::string small_charts(const LabelSimulation& simulation) {
  const std::size_t random = simulation.curves.size() - 1;
  if (simulation.curves.size() <= bands_in_one_chart) return "";
  std::vector<double> cover;  // all have the same axis
  for (const StrategyCurve& curve : simulation.curves)
    for (const CurvePoint& point : curve.points) cover.insert(cover.end(), {point.low, point.high});
  std::string figures;
  for (std::size_t s = 0; s < random; ++s) {
    CurveChart chart = value_chart(simulation, {random, s}, Band::range);
    chart.cover = cover;
    chart.width = 420;
    chart.height = 250;
    figures += curve_figure(simulation, chart, {random, s}, fmt::format("curves-{}", letter_name(s)),
                            fmt::format("{} beside {}", named_strategy(simulation, s), strategy_tag(random)));
  }
  return fmt::format("<div class=\"small-charts\">\n{}</div>\n", figures);
}

Panel curve_panel(const LabelSimulation& simulation) {
  std::vector<std::size_t> all;
  for (std::size_t s = 0; s < simulation.curves.size(); ++s) all.push_back(s);
  const bool bands = all.size() <= bands_in_one_chart;
  std::string html = fmt::format(
      "<p class=\"note\">On {} held-out rows; mean over {}, {}where 90% of the runs lie · {} is better</p>\n"
      "{}{}{}",
      simulation.held_out, counted(simulation.options.repeat, "run"), bands ? "with a band " : "below with bands ",
      simulation.task == Task::classify ? "higher" : "lower", legend(simulation),
      curve_figure(simulation, value_chart(simulation, all, bands ? Band::range : Band::none), all, "learning-curves",
                   ""),
      small_charts(simulation));
  return {"simulation-curves", fmt::format("{} by labels", capitalised(simulated_metric(simulation))), std::move(html)};
}

Panel goal_panel(const LabelSimulation& simulation) {
  const auto cell = [](const std::optional<double>& labels) {
    return labels ? fmt::format("<td class=\"num\">{}</td>", label_count(*labels))
                  : "<td class=\"num none\"><span title=\"not within the budget\">–</span></td>";
  };
  std::string body;
  for (std::size_t s = 0; s < simulation.curves.size(); ++s) {
    const StrategyCurve& curve = simulation.curves[s];
    body += fmt::format("<tr><th scope=\"row\">{}</th>{}{}{}<td class=\"num\">{} of {}</td></tr>\n",
                        named_strategy(simulation, s), cell(curve.median_reached), cell(curve.low_reached),
                        cell(curve.high_reached), runs_that_reached(curve), curve.reached.size());
  }
  const std::string table = fmt::format(
      "<table>\n<caption>Labels until a run reaches {} and stays there for 5 fits; a dash is more than the "
      "budget</caption>\n<thead><tr><th scope=\"col\">strategy</th><th scope=\"col\" class=\"num\">median</th><th "
      "scope=\"col\" class=\"num\">5%</th><th scope=\"col\" class=\"num\">95%</th><th scope=\"col\" class=\"num\">runs "
      "that reach it</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
      simulated_goal(simulation), body);
  return {"simulation-goal", "Labels to reach the goal", framed("Labels to reach the goal", table)};
}

std::string value_cells(const LabelSimulation& simulation, Index labels) {
  std::string cells;
  for (const StrategyCurve& curve : simulation.curves) {
    const CurvePoint* point = point_at(curve, labels);
    cells += point ? fmt::format("<td class=\"num\">{}<small>{} to {}</small></td>",
                                 simulated_value(simulation, point->mean), simulated_value(simulation, point->low),
                                 simulated_value(simulation, point->high))
                   : "<td class=\"num none\">–</td>";
  }
  return cells;
}

Panel value_panel(const LabelSimulation& simulation) {
  std::string head, body;
  for (std::size_t s = 0; s < simulation.curves.size(); ++s)
    head += fmt::format("<th scope=\"col\" class=\"num\" title=\"{}\">{}</th>", escape(simulation.curves[s].strategy),
                        strategy_tag(s));
  for (const Index labels : shown_label_counts(simulation, 12))
    body += fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", labels, value_cells(simulation, labels));
  const std::string table = fmt::format(
      "<table>\n<caption>{} on held-out rows: mean over runs, and the 5th to 95th percentile of "
      "runs</caption>\n<thead><tr><th scope=\"col\">labels</th>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
      capitalised(simulated_metric(simulation)), head, body);
  return {"simulation-values", "The curves as numbers", framed("Values of the curves", table)};
}

ChartLine coverage_line(const LabelSimulation& simulation, std::size_t s) {
  ChartLine line{.number = line_number(simulation, s), .name = letter_name(s), .x = {}, .y = {}, .low = {}, .high = {}};
  for (const CurvePoint& point : simulation.curves[s].points) {
    if (!point.coverage) continue;
    line.x.push_back(static_cast<double>(point.labels));
    line.y.push_back(100 * *point.coverage);
  }
  return line;
}

Panel coverage_panel(const LabelSimulation& simulation) {
  if (!has_audits(simulation)) return {};
  CurveChart chart;
  chart.x_title = "labels";
  chart.y_title = "% of runs";
  chart.height = 260;
  chart.guides = {{90, "90%"}};
  chart.cover = {70, 100};
  chart.description = "Share of runs whose audit interval holds the value on held-out rows, by the number of labels.";
  for (std::size_t s = 0; s < simulation.curves.size(); ++s) {
    chart.lines.push_back(coverage_line(simulation, s));
    const ChartLine& line = chart.lines.back();
    if (!line.y.empty())
      chart.description +=
          fmt::format(" {}: {:.0f} to {:.0f}%.", line.name, std::ranges::min(line.y), std::ranges::max(line.y));
  }
  const CurvePoint& last = simulation.curves.back().points.back();
  std::vector<std::vector<std::string>> data = {{"strategy", "labels", "coverage", "width"}};
  for (const StrategyCurve& curve : simulation.curves)
    for (const CurvePoint& point : curve.points)
      if (point.coverage)
        data.push_back({curve.strategy, fmt::format("{}", point.labels), plain_number(*point.coverage),
                        point.width ? plain_number(*point.width) : ""});
  std::string html = fmt::format(
      "<p class=\"note\">One question in {} was a random row that the model did not learn from. The line is the share "
      "of runs in which its 90% interval holds the {} on the held-out rows.{}</p>\n{}",
      simulation.options.audit, simulated_metric(simulation),
      last.width ? fmt::format(" At the end it is {} wide on average, from {}.",
                               simulated_value(simulation, *last.width), counted(last.audits, "audit row"))
                 : "",
      figure({.name = "audit-coverage",
              .caption = {},
              .wide = curve_chart(chart),
              .narrow = {},
              .table = std::move(data)}));
  return {"simulation-audit", "How far the audit can be trusted", std::move(html)};
}

}  // namespace

std::string simulation_answer(const LabelSimulation& simulation) {
  const CurvePoint& first = simulation.curves.front().points.front();
  return fmt::format(
      "<section class=\"answer\" aria-label=\"The answer\">\n<p class=\"lead\">{}</p>\n<p>{} {} the {} is "
      "<strong>{}</strong>; with all {} labels of the pool it is <strong>{}</strong>.</p>\n</section>\n",
      escape(simulation_summary(simulation)),
      first.labels == 0 ? "Before the first question" : fmt::format("After the first {} labels", first.labels),
      simulation.known > 0 ? fmt::format("and with {} known before,", counted(simulation.known, "label")) : "",
      simulated_metric(simulation), simulated_value(simulation, simulation.start), simulation.pool,
      simulated_value(simulation, simulation.full));
}

namespace {

Panel simulation_reading(const LabelSimulation& simulation) {
  std::string html = fmt::format(
      "<p>The labels were there all along: each run hides them, asks for them one batch after the other, and fits "
      "<code>{}</code> again after every batch. <strong>Held-out rows</strong> are never asked; all curves are "
      "measured on them. All strategies of a run have the same held-out rows and audit rows, so that they differ by "
      "what they ask alone.</p>\n"
      "<p><strong>Labels</strong> count every question, the first rows and the audits included. <strong>Runs</strong> "
      "differ in what is held out and in all draws; the band shows where 90% of them lie. You will label once, so the "
      "band says more than the mean. <strong>The goal</strong> is {} of the same run. A difference that is small "
      "against the bands is no reason to prefer a strategy. Rows asked by a strategy are not a random sample: do not "
      "estimate errors from them; that is what the audit rows are for.</p>\n",
      escape(simulation.pipeline), simulated_goal(simulation));
  return {"simulation-reading", "How to read this page", std::move(html)};
}

}  // namespace

std::string simulation_facts(const LabelSimulation& simulation) {
  std::string facts =
      fmt::format("<li><b>{}</b> {}</li>", simulation.options.repeat, simulation.options.repeat == 1 ? "run" : "runs");
  facts += fmt::format("<li><b>{}</b> rows may be asked</li><li><b>{}</b> held out</li>", simulation.pool,
                       simulation.held_out);
  if (!simulation.targets.empty())
    facts += fmt::format("<li>target <b>{}</b></li>", escape(fmt::format("{}", fmt::join(simulation.targets, ", "))));
  return facts + fmt::format("<li>pipeline <code>{}</code></li>", escape(simulation.pipeline));
}

std::vector<Panel> simulation_panels(const LabelSimulation& simulation) {
  return {curve_panel(simulation), goal_panel(simulation), coverage_panel(simulation), value_panel(simulation),
          simulation_reading(simulation)};
}

}  // namespace ecotone::report
