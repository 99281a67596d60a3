#include <fmt/format.h>

#include <algorithm>

#include "ecotone/measure/metrics.h"
#include "ecotone/report/html/charts/strip_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_tuned = 12;    // points with a strip
constexpr std::size_t most_folds = 60;    // of a point
constexpr std::size_t most_listed = 200;  // points in the table

/// The points in the order of their scores; those that failed last.
std::vector<std::size_t> ranked_points(const Tuning& tuning, const MetricInfo& metric) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tuning.points.size(); ++i) order.push_back(i);
  const auto badness = [&](std::size_t i) {
    return tuning.points[i].score ? metric.badness(*tuning.points[i].score) : 1e300;
  };
  std::ranges::stable_sort(order, {}, badness);
  return order;
}

StripRow tuned_row(const Tuning& tuning, const TunePoint& point, bool chosen) {
  StripRow row{.tag = chosen ? "✓" : "", .name = point.pipeline, .figure = number(point.mean)};
  row.mean = point.mean;
  for (std::size_t f = 0; f < std::min(point.folds.size(), most_folds); ++f)
    if (point.folds[f])
      row.dots.push_back({.value = *point.folds[f],
                          .name = tuning.folds[f],
                          .note = fmt::format("{}: {}", tuning.folds[f], number(point.folds[f]))});
  return row;
}

std::string tuned_table(const Tuning& tuning, const std::vector<std::size_t>& order) {
  std::string body;
  for (const std::size_t i : order) {
    const TunePoint& point = tuning.points[i];
    body += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code>{}{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td></tr>\n",
        escape(point.pipeline), i == tuning.chosen ? " <b class=\"worst chosen\">chosen</b>" : "",
        point.error.empty() ? "" : fmt::format("<small>{}</small>", escape(point.error)), number(point.mean),
        number(point.spread), signed_number(point.difference));
  }
  return framed(
      "Points of the search",
      fmt::format("<table class=\"sortable\">\n<caption>{} over the {}{}</caption>\n<thead><tr><th "
                  "scope=\"col\">pipeline</th><th scope=\"col\" class=\"num\">mean</th><th scope=\"col\" "
                  "class=\"num\">spread</th><th scope=\"col\" class=\"num\">from the best</th></tr></thead>\n"
                  "<tbody>\n{}</tbody>\n</table>\n",
                  find_metric(tuning.metric)->title, tuning.by_domain ? "domains held out in turn" : "folds of rows",
                  tuning.points.size() > order.size()
                      ? fmt::format("; the {} best of {} points", order.size(), tuning.points.size())
                      : "",
                  body));
}

}  // namespace

Panel tuning_panel(const Tuning& tuning) {
  const MetricInfo& metric = *find_metric(tuning.metric);
  std::vector<std::size_t> order = ranked_points(tuning, metric);
  // The chosen point is among those that are drawn.
  std::stable_partition(order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), most_tuned - 1)),
                        order.end(), [&](std::size_t i) { return i == tuning.chosen; });
  if (order.size() > most_listed) order.resize(most_listed);
  StripChart chart{.description = fmt::format("{} of the points of the search on each fold.", metric.title),
                   .axis_title = std::string(metric.title),
                   .rows = {}};
  std::vector<std::vector<std::string>> data = {{"pipeline", "fold", std::string(metric.name)}};
  for (const std::size_t i : order) {
    const TunePoint& point = tuning.points[i];
    if (point.mean && chart.rows.size() < most_tuned) {
      chart.rows.push_back(tuned_row(tuning, point, i == tuning.chosen));
      chart.description += fmt::format(" {}: mean {}.", point.pipeline, number(point.mean));
    }
    for (std::size_t f = 0; f < std::min(point.folds.size(), most_folds); ++f)
      data.push_back({point.pipeline, tuning.folds[f], point.folds[f] ? plain_number(*point.folds[f]) : ""});
  }
  std::string html = fmt::format(
      "<p>Chosen: <code>{}</code>, the simplest within one standard error of the best. Its figure is optimistic, "
      "because it was chosen by it; <code>evaluate</code> with the same grid gives an honest one.</p>\n",
      escape(tuning.points[tuning.chosen].pipeline));
  html += figure({.name = "search",
                  .caption = {},
                  .wide = strip_chart(chart, wide_picture),
                  .narrow = strip_chart(chart, narrow_picture),
                  .table = std::move(data)});
  return {"tuning", "What the search chose", html + tuned_table(tuning, order)};
}

}  // namespace ecotone::report
