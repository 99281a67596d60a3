#include <fmt/format.h>

#include "ecotone/report/html/charts/strip_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

std::string value_text(const Value& value) { return value ? plain_number(*value) : ""; }

StripRow dot_row(const PipelineResult& pipeline, const Results& results) {
  const std::size_t m = results.headline;
  StripRow row{.tag = pipeline.name, .name = pipeline.pipeline, .figure = number(pipeline.mean[m])};
  row.mean = pipeline.mean[m];
  if (row.mean && pipeline.spread[m]) row.band = {*row.mean - *pipeline.spread[m], *row.mean + *pipeline.spread[m]};
  for (const auto& domain : pipeline.domains)
    if (domain.metrics[m])
      row.dots.push_back(
          {.value = *domain.metrics[m],
           .name = domain.domain,
           .note = fmt::format("{}: {}{}", domain.domain, number(domain.metrics[m]), interval_text(domain, m)),
           .foremost = pipeline.worst[m] && pipeline.worst[m]->domain == domain.domain});
  return row;
}

std::vector<std::vector<std::string>> dot_data(const Results& results) {
  const std::size_t m = results.headline;
  std::vector<std::vector<std::string>> table = {
      {"pipeline", "domain", "rows", std::string(results.metric().name), "low", "high"}};
  for (const auto& pipeline : results.pipelines)
    for (const auto& domain : pipeline.domains) {
      const auto& interval = domain.intervals[m];
      table.push_back({pipeline.pipeline, domain.domain, fmt::format("{}", domain.rows), value_text(domain.metrics[m]),
                       interval ? plain_number(interval->low) : "", interval ? plain_number(interval->high) : ""});
    }
  return table;
}

std::string_view verdict(const DifferenceResult& difference, const MetricInfo& metric) {
  if (!difference.mean || !difference.p_adjusted) return "no interval";
  if (*difference.p_adjusted >= 0.05) return "unclear";
  return (*difference.mean > 0) == metric.higher_is_better() ? "better" : "worse";
}

StripRow difference_row(const PipelineResult& pipeline, std::size_t m, const MetricInfo& metric) {
  const DifferenceResult& difference = pipeline.difference[m];
  const std::string_view word = verdict(difference, metric);
  StripRow row{.tag = pipeline.name, .name = pipeline.pipeline, .figure = {}};
  row.figure = fmt::format("{} {}", signed_number(difference.mean), word);
  row.figure_look = word == "better" ? "figure better" : word == "worse" ? "figure worse" : "figure unclear";
  if (difference.low && difference.high) row.band = {*difference.low, *difference.high};
  row.band_look = word == "better" ? "interval better" : word == "worse" ? "interval worse" : "interval unclear";
  if (difference.mean)
    row.dots.push_back(
        {.value = *difference.mean,
         .name = difference.low && difference.high
                     ? fmt::format("{} to {}", signed_number(difference.low), signed_number(difference.high))
                     : "",
         .note = signed_number(difference.mean),
         .look = word == "better"  ? "dot better"
                 : word == "worse" ? "dot worse"
                                   : "dot unclear"});
  return row;
}

std::string strip_figure(std::string name, const StripChart& chart, std::vector<std::vector<std::string>> table) {
  return figure({.name = std::move(name),
                 .caption = {},
                 .wide = strip_chart(chart, wide_picture),
                 .narrow = strip_chart(chart, narrow_picture),
                 .table = std::move(table)});
}

}  // namespace

Panel dot_panel(const Results& results) {
  StripChart chart{.description = fmt::format("{} in each {}.", results.metric().title, results.unit),
                   .axis_title = std::string(results.metric().title),
                   .rows = {}};
  for (const auto& pipeline : results.pipelines) {
    if (!pipeline.error.empty()) continue;
    chart.rows.push_back(dot_row(pipeline, results));
    chart.description += fmt::format(" Pipeline {}: mean {}, spread {}, over {}.", pipeline.name,
                                     number(pipeline.mean[results.headline]), number(pipeline.spread[results.headline]),
                                     plural(pipeline.domains.size(), results.unit));
  }
  return {"dots", fmt::format("{} in each {}", results.metric().title, results.unit),
          fmt::format("<p class=\"note\"><i class=\"key-dot\"></i> one {0} <i class=\"key-mean\"></i> mean <i "
                      "class=\"key-spread\"></i> one standard deviation either side · {1} is better{3}</p>\n{2}",
                      results.unit, results.metric().higher_is_better() ? "right" : "left",
                      strip_figure("by-domain", chart, dot_data(results)), results.omitted)};
}

Panel difference_panel(const Results& results) {
  const std::size_t comparisons = results.comparisons();
  if (comparisons == 0) return {};
  const std::size_t m = results.headline;
  const PipelineResult& reference = results.pipelines[results.reference];
  StripChart chart{
      .description = fmt::format("Difference of {} from pipeline {}.", results.metric().title, reference.name),
      .axis_title = fmt::format("difference in {}", results.metric().title),
      .rows = {},
      .line = 0.0};
  std::vector<std::vector<std::string>> table = {{"pipeline", "difference", "low", "high", "p_adjusted", "verdict"}};
  for (std::size_t p = 0; p < results.pipelines.size(); ++p) {
    if (!results.compared(p)) continue;
    const PipelineResult& pipeline = results.pipelines[p];
    const DifferenceResult& difference = pipeline.difference[m];
    const std::string_view word = verdict(difference, results.metric());
    chart.rows.push_back(difference_row(pipeline, m, results.metric()));
    chart.description += fmt::format(" {} minus {}: {}, 95% interval {} to {}: {}.", pipeline.name, reference.name,
                                     signed_number(difference.mean), signed_number(difference.low),
                                     signed_number(difference.high), word);
    table.push_back({pipeline.pipeline, value_text(difference.mean), value_text(difference.low),
                     value_text(difference.high), value_text(difference.p_adjusted), std::string(word)});
  }
  return {"difference",
          fmt::format("Difference from {}",
                      results.reference == 0 ? "the first pipeline" : fmt::format("pipeline {}", reference.name)),
          fmt::format("<p class=\"note\">{} minus that of {} <code>{}</code>, {} by {}, with the 95% interval of its "
                      "mean.{}</p>\n{}",
                      results.metric().title, badge(reference), escape(reference.pipeline), results.unit, results.unit,
                      comparisons > 1 ? fmt::format(" The verdicts are adjusted for {} comparisons (Holm); the "
                                                    "intervals are not.",
                                                    comparisons)
                                      : "",
                      strip_figure("difference", chart, std::move(table)))};
}

namespace {

/// A metric at known and new sites.
StripRow cost_row(const PipelineResult& pipeline, const KnownSite& known, const MetricInfo& metric,
                  const Value& fresh) {
  StripRow row{.tag = pipeline.name, .name = pipeline.pipeline, .figure = {}};
  const Value at_known = value_of(known.mean, metric.name);
  if (at_known && fresh) {
    double cost = *fresh - *at_known;
    for (const auto& [name, paired] : known.cost)
      if (name == metric.name && paired) cost = paired->mean;
    row.figure = signed_number(cost);
    row.figure_look = cost == 0                                 ? "figure unclear"
                      : (cost > 0) == metric.higher_is_better() ? "figure better"
                                                                : "figure worse";
    row.band = std::minmax(*at_known, *fresh);
    row.band_look = "interval unclear";
    row.dots.push_back(
        {.value = *at_known, .name = "known", .note = "known site: " + number(at_known), .look = "dot open"});
    row.dots.push_back(
        {.value = *fresh, .name = "new", .note = "new site: " + number(fresh), .look = "dot", .foremost = true});
  }
  return row;
}

std::string cost_cells(const Results& results, const KnownSite& known, const PipelineResult& pipeline, std::size_t m) {
  const std::string name(results.metrics[m]->name);
  std::string cost = "–";
  for (const auto& [metric, interval] : known.cost)
    if (metric == name && interval)
      cost = fmt::format("{}{}", signed_number(interval->mean),
                         interval->low ? fmt::format("<small>{} to {}</small>", signed_number(interval->low),
                                                     signed_number(interval->high))
                                       : "");
  return fmt::format("<td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td>",
                     number(value_of(known.mean, name)), number(pipeline.mean[m]), cost);
}

/// The metrics that the cost is told in: the headline, and the loss of the probabilities.
std::vector<std::size_t> cost_metrics(const Results& results) {
  std::vector<std::size_t> metrics = {results.headline};
  for (std::size_t m = 0; m < results.metrics.size(); ++m)
    if (m != results.headline && results.metrics[m]->name == "log_loss") metrics.push_back(m);
  return metrics;
}

}  // namespace

Panel cost_panel(const Results& results, const Evaluation& evaluation) {
  const MetricInfo& metric = results.metric();
  StripChart chart{.description = fmt::format("{} at a known and at a new site.", metric.title),
                   .axis_title = std::string(metric.title),
                   .rows = {}};
  std::vector<std::vector<std::string>> data = {
      {"pipeline", "metric", "known_site", "new_site", "cost", "low", "high"}};
  std::string head, body;
  const std::vector<std::size_t> metrics = cost_metrics(results);
  for (const std::size_t m : metrics)
    head += fmt::format(
        "<th scope=\"col\" class=\"num\">{0}, known</th><th scope=\"col\" class=\"num\">new</th><th "
        "scope=\"col\" class=\"num\">cost</th>",
        results.metrics[m]->title);
  for (std::size_t p = 0; p < results.pipelines.size(); ++p) {
    const PipelineResult& pipeline = results.pipelines[p];
    const auto& known = evaluation.pipelines[p].known;
    if (!known) continue;
    chart.rows.push_back(cost_row(pipeline, *known, metric, pipeline.mean[results.headline]));
    chart.description +=
        fmt::format(" Pipeline {}: {} known, {} new.", pipeline.name, number(value_of(known->mean, metric.name)),
                    number(pipeline.mean[results.headline]));
    std::string cells;
    for (const std::size_t m : metrics) {
      cells += cost_cells(results, *known, pipeline, m);
      for (const auto& [name, interval] : known->cost)
        if (name == results.metrics[m]->name)
          data.push_back({pipeline.pipeline, name, value_text(value_of(known->mean, name)),
                          value_text(pipeline.mean[m]), interval ? plain_number(interval->mean) : "",
                          interval && interval->low ? plain_number(*interval->low) : "",
                          interval && interval->high ? plain_number(*interval->high) : ""});
    }
    body += fmt::format("<tr><th scope=\"row\">{} <code>{}</code></th>{}</tr>\n", badge(pipeline),
                        escape(pipeline.pipeline), cells);
  }
  if (chart.rows.empty()) return {};
  const std::string table = fmt::format(
      "<table>\n<caption>Means over {0}; the cost is new minus known, paired over {0}, with its 95% "
      "interval</caption>\n<thead><tr><th scope=\"col\">pipeline</th>{1}</tr></thead>\n<tbody>\n{2}</tbody>\n"
      "</table>\n",
      plural(results.unit), head, body);
  return {"cost", "What a new site costs",
          fmt::format("<p class=\"note\">At a <strong>known</strong> site the model has learned from other rows of the "
                      "same {0} (k-fold); at a <strong>new</strong> one it has seen none of {3}. The difference is "
                      "what going there costs.</p>\n{1}{2}",
                      results.unit, strip_figure("cost", chart, std::move(data)),
                      framed("The cost of a new site", table), results.protocol == "adapt" ? "their labels" : "them")};
}

}  // namespace ecotone::report
