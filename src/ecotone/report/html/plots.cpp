#include <fmt/format.h>

#include "ecotone/report/html/axis.h"
#include "ecotone/report/html/sections.h"

namespace ecotone::report {

namespace {

std::string tick_marks(const Axis& axis) {
  std::string html;
  for (const Axis::Tick& tick : axis.ticks())
    html += fmt::format("<span class=\"tick\" style=\"left:{:.2f}%\">{}</span>", axis.place(tick.value), tick.label);
  return html;
}

/// Thin lines at the ticks, behind a strip's marks.
std::string grid_lines(const Axis& axis) {
  std::string html;
  for (const Axis::Tick& tick : axis.ticks())
    html += fmt::format("<i class=\"grid\" style=\"left:{:.2f}%\"></i>", axis.place(tick.value));
  return html;
}

std::string bar(std::string_view name, const Axis& axis, double low, double high) {
  return fmt::format("<i class=\"{}\" style=\"left:{:.2f}%;width:{:.2f}%\"></i>", name, axis.place(low),
                     axis.place(high) - axis.place(low));
}

std::string mark(std::string_view name, const Axis& axis, double value, const std::string& title) {
  return fmt::format("<i class=\"{}\" style=\"left:{:.2f}%\" title=\"{}\"></i>", name, axis.place(value),
                     escape(title));
}

std::string row(const PipelineResult& pipeline, const std::string& description, const std::string& marks,
                std::string_view figure) {
  return fmt::format(
      "<div class=\"plot-row\"><div class=\"plot-name\">{} <code>{}</code></div>"
      "<div class=\"strip\" role=\"img\" aria-label=\"{}\">{}</div><div class=\"plot-figure\">{}</div></div>\n",
      badge(pipeline), escape(pipeline.pipeline), escape(description), marks, figure);
}

std::string axis_row(const Axis& axis, std::string_view title) {
  return fmt::format(
      "<div class=\"plot-row plot-axis\" aria-hidden=\"true\"><div class=\"plot-name\"></div><div "
      "class=\"ticks\">{}</div>"
      "<div class=\"plot-figure\">{}</div></div>\n",
      tick_marks(axis), title);
}

std::string dot_row(const PipelineResult& pipeline, const Results& results, const Axis& axis) {
  const std::size_t m = results.headline;
  const Value mean = pipeline.mean[m];
  const Value spread = pipeline.spread[m];
  std::string marks = grid_lines(axis);
  if (mean && spread) marks += bar("spread", axis, *mean - *spread, *mean + *spread);
  for (const auto& domain : pipeline.domains)
    if (domain.metrics[m])
      marks += mark("dot", axis, *domain.metrics[m],
                    fmt::format("{}: {}{}", domain.domain, number(domain.metrics[m]), interval_text(domain, m)));
  if (mean) marks += mark("mean", axis, *mean, fmt::format("mean {}", number(mean)));
  const std::string description =
      fmt::format("Pipeline {}: mean {} {}, spread {}, over {} {}s", pipeline.name, results.metric().title,
                  number(mean), number(spread), pipeline.domains.size(), results.unit);
  return row(pipeline, description, marks, number(mean));
}

std::string_view verdict(const DifferenceResult& difference, const MetricInfo& metric) {
  if (!difference.mean || !difference.p_adjusted) return "no interval";
  if (*difference.p_adjusted >= 0.05) return "unclear";
  return (*difference.mean > 0) == metric.higher_is_better() ? "better" : "worse";
}

std::string difference_row(const PipelineResult& pipeline, const PipelineResult& reference, std::size_t m,
                           const MetricInfo& metric, const Axis& axis) {
  const DifferenceResult& difference = pipeline.difference[m];
  const auto word = verdict(difference, metric);
  std::string marks = grid_lines(axis) + mark("zero", axis, 0, "no difference");
  std::string interval;
  if (difference.low && difference.high) {
    marks += bar(fmt::format("interval {}", word), axis, *difference.low, *difference.high);
    interval = fmt::format("<small>{} to {}</small>", signed_number(difference.low), signed_number(difference.high));
  }
  if (difference.mean)
    marks += mark(fmt::format("dot {}", word == "no interval" ? "unclear" : word), axis, *difference.mean,
                  signed_number(difference.mean));
  const std::string description =
      fmt::format("Pipeline {} minus {}: {} {}, 95% interval {} to {}: {}", pipeline.name, reference.name, metric.title,
                  signed_number(difference.mean), signed_number(difference.low), signed_number(difference.high), word);
  return row(pipeline, description, marks,
             fmt::format("{} <em class=\"{}\">{}</em>{}", signed_number(difference.mean),
                         word == "no interval" ? "unclear" : word, word, interval));
}

}  // namespace

std::string dot_plot(const Results& results) {
  const std::size_t m = results.headline;
  Axis axis;
  for (const auto& pipeline : results.pipelines) {
    for (const auto& domain : pipeline.domains) axis.cover(domain.metrics[m]);
    axis.cover(pipeline.mean[m]);
  }
  axis.close();
  std::string rows;
  for (const auto& pipeline : results.pipelines)
    if (pipeline.error.empty()) rows += dot_row(pipeline, results, axis);
  return fmt::format(
      "<section aria-labelledby=\"h-plot\">\n<h2 id=\"h-plot\">{0} in each {1}</h2>\n"
      "<p class=\"note\"><i class=\"dot key\"></i> one {1} <i class=\"mean key\"></i> mean <i class=\"spread "
      "key\"></i> one standard "
      "deviation either side · {2} is better</p>\n<div class=\"plot\">\n{3}{4}</div>\n</section>\n",
      results.metric().title, results.unit, results.metric().higher_is_better() ? "right" : "left", rows,
      axis_row(axis, "mean"));
}

std::string difference_plot(const Results& results) {
  const std::size_t comparisons = results.comparisons();
  if (comparisons == 0) return "";
  const std::size_t m = results.headline;
  const PipelineResult& reference = results.pipelines[results.reference];
  Axis axis;
  axis.cover(0.0);
  for (const auto& pipeline : results.pipelines) {
    axis.cover(pipeline.difference[m].mean);
    axis.cover(pipeline.difference[m].low);
    axis.cover(pipeline.difference[m].high);
  }
  axis.close();
  std::string rows;
  for (std::size_t p = 0; p < results.pipelines.size(); ++p)
    if (results.compared(p)) rows += difference_row(results.pipelines[p], reference, m, results.metric(), axis);
  return fmt::format(
      "<section aria-labelledby=\"h-difference\">\n<h2 id=\"h-difference\">Difference from {}</h2>\n"
      "<p class=\"note\">{} minus that of {} <code>{}</code>, {} by {}, with the 95% interval of its "
      "mean.{}</p>\n"
      "<div class=\"plot differences\">\n{}{}</div>\n</section>\n",
      results.reference == 0 ? "the first pipeline" : fmt::format("pipeline {}", reference.name),
      results.metric().title, badge(reference), escape(reference.pipeline), results.unit, results.unit,
      comparisons > 1
          ? fmt::format(" The verdicts are adjusted for {} comparisons (Holm); the intervals are not.", comparisons)
          : "",
      rows, axis_row(axis, ""));
}

}  // namespace ecotone::report
