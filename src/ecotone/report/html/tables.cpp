#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/sections.h"

namespace ecotone::report {

namespace {

std::string head_cell(const PipelineResult& pipeline) {
  return fmt::format("<th scope=\"col\" class=\"num\" title=\"{}\">{}</th>", escape(pipeline.pipeline),
                     badge(pipeline));
}

/// Largest value of a metric, for bars that begin at 0; at least 1 for metrics in [0, 1].
double bar_scale(const Results& results, std::size_t m) {
  if (results.metrics[m]->higher_is_better()) return 1;
  double largest = 0;
  for (const auto& pipeline : results.pipelines)
    for (const auto& domain : pipeline.domains) largest = std::max(largest, std::abs(domain.metrics[m].value_or(0)));
  return largest > 0 ? largest : 1;
}

std::string value_cell(const DomainResult& domain, std::size_t m, double scale, bool best) {
  const Value& value = domain.metrics[m];
  if (!value)
    return "<td class=\"num none\"><span title=\"not defined: one class, no labelled row, or not "
           "fitted\">–</span></td>";
  std::string interval;
  if (domain.intervals[m])
    interval =
        fmt::format("<small>{} to {}</small>", number(domain.intervals[m]->low), number(domain.intervals[m]->high));
  return fmt::format("<td class=\"num{}\">{}{}<i class=\"bar\"><i style=\"width:{:.1f}%\"></i></i></td>",
                     best ? " best" : "", number(value), interval, std::clamp(100 * *value / scale, 0.0, 100.0));
}

bool is_best(const Results& results, std::size_t d, std::size_t p, std::size_t m) {
  const Value value = results.pipelines[p].domains[d].metrics[m];
  if (!value || results.pipelines.size() < 2) return false;
  return std::all_of(results.pipelines.begin(), results.pipelines.end(), [&](const PipelineResult& other) {
    const Value rival = other.domains[d].metrics[m];
    return !rival || results.metrics[m]->badness(*value) <= results.metrics[m]->badness(*rival);
  });
}

std::string foot_row(const Results& results, std::string_view name, std::vector<Value> PipelineResult::*member) {
  std::string cells;
  for (const auto& pipeline : results.pipelines)
    cells += fmt::format("<td class=\"num\">{}</td>", number((pipeline.*member)[results.headline]));
  return fmt::format("<tr><th scope=\"row\">{}</th><td></td><td></td>{}</tr>\n", name, cells);
}

std::string worst_row(const Results& results) {
  std::string cells;
  for (const auto& pipeline : results.pipelines) {
    const auto& worst = pipeline.worst[results.headline];
    cells +=
        worst ? fmt::format("<td class=\"num\">{}<small>{}</small></td>", number(worst->value), escape(worst->domain))
              : "<td class=\"num\">–</td>";
  }
  return fmt::format("<tr><th scope=\"row\">worst</th><td></td><td></td>{}</tr>\n", cells);
}

std::string prevalence_head(const Results& results) {
  if (results.classes.empty()) return "mean label";
  return results.classes.size() == 2 ? fmt::format("share of {}", escape(results.classes[1])) : "shares of classes";
}

/// The share of the second of two classes, all shares, or the mean label.
std::string prevalence_cell(const Results& results, const DomainResult& domain) {
  std::vector<std::string> texts;
  for (std::size_t k = results.classes.size() == 2 ? 1 : 0; k < domain.prevalence.size(); ++k)
    texts.push_back(results.classes.empty() ? number(domain.prevalence[k])
                                            : fmt::format("{:.1f}%", 100 * domain.prevalence[k]));
  return fmt::format("<td class=\"num rows\">{}</td>", fmt::join(texts, " / "));
}

std::string failure_text(const PipelineResult& pipeline) {
  if (pipeline.error.empty()) return "";
  return fmt::format("<br /><strong>Not fitted:</strong> {}", escape(pipeline.error));
}

/// What was chosen of a grid, split by split.
std::string choice_text(const PipelineResult& pipeline) {
  if (pipeline.chosen.empty()) return "";
  std::string text =
      fmt::format("<br />Chosen within the training rows of each split, by {}:<ul>\n", escape(pipeline.choice_metric));
  for (const SplitChoice& choice : pipeline.chosen)
    text += fmt::format("<li>{} held out: <code>{}</code></li>\n", escape(choice.held_out), escape(choice.pipeline));
  return text + "</ul>";
}

/// The thresholds of the splits.
std::string threshold_text(const PipelineResult& pipeline, const std::string& rule) {
  if (pipeline.thresholds.empty()) return "";
  std::string text = fmt::format("<br />Threshold by {}, within the training rows of each split:<ul>\n", escape(rule));
  for (const SplitThreshold& split : pipeline.thresholds)
    text += fmt::format("<li>{} held out: {}</li>\n", escape(split.held_out), number(split.threshold));
  return text + "</ul>";
}

}  // namespace

std::string framed(std::string_view label, const std::string& table) {
  return fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n", label,
                     table);
}

std::string interval_text(const DomainResult& domain, std::size_t metric) {
  const auto& interval = domain.intervals[metric];
  return interval ? fmt::format(" (95% interval {} to {})", number(interval->low), number(interval->high)) : "";
}

std::string badge(const PipelineResult& pipeline) { return fmt::format("<b class=\"tag\">{}</b>", pipeline.name); }

std::string domain_table(const Results& results) {
  const std::string& unit = results.unit;
  const std::size_t m = results.headline;
  const double scale = bar_scale(results, m);
  std::string head;
  for (const auto& pipeline : results.pipelines) head += head_cell(pipeline);
  std::string body;
  const auto& domains = results.pipelines.front().domains;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    std::string cells;
    for (std::size_t p = 0; p < results.pipelines.size(); ++p)
      cells += value_cell(results.pipelines[p].domains[d], m, scale, is_best(results, d, p, m));
    body += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"num rows\">{}</td>{}{}</tr>\n",
                        escape(domains[d].domain), domains[d].rows, prevalence_cell(results, domains[d]), cells);
  }
  const std::string table = fmt::format(
      "<table>\n<caption>{} by {} and pipeline{}</caption>\n<thead><tr><th scope=\"col\">{}</th><th "
      "scope=\"col\" "
      "class=\"num\">rows</th><th scope=\"col\" class=\"num\">{}</th>{}</tr></thead>\n<tbody>\n{}</tbody>\n"
      "<tfoot>\n{}{}{}</tfoot>\n</table>\n",
      results.metric().title, unit,
      results.pipelines.size() > 1 ? fmt::format("; the best of each {} is bold", unit) : "", unit,
      prevalence_head(results), head, body, foot_row(results, "mean", &PipelineResult::mean),
      foot_row(results, "spread", &PipelineResult::spread), worst_row(results));
  return fmt::format("<section aria-labelledby=\"h-domains\">\n<h2 id=\"h-domains\">{} by {}</h2>\n",
                     unit == "block" ? "Block" : "Domain", unit) +
         framed(fmt::format("Results by {}", unit), table) + "</section>\n";
}

std::string metric_table(const Results& results) {
  std::string head;
  for (const auto& pipeline : results.pipelines) head += head_cell(pipeline);
  std::string body;
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    const auto best = results.pipelines.size() > 1 ? results.best(m) : std::nullopt;
    std::string cells;
    for (std::size_t p = 0; p < results.pipelines.size(); ++p) {
      const auto& pipeline = results.pipelines[p];
      // Ties share the first place.
      const bool first = best && pipeline.mean[m] == results.pipelines[*best].mean[m];
      cells += fmt::format("<td class=\"num{}\">{}{}</td>", first ? " best" : "", number(pipeline.mean[m]),
                           pipeline.spread[m] ? fmt::format("<small>± {}</small>", number(pipeline.spread[m])) : "");
    }
    body += fmt::format("<tr><th scope=\"row\">{}<small>{}</small></th>{}</tr>\n", results.metrics[m]->title,
                        results.metrics[m]->best_text(), cells);
  }
  const std::string table = fmt::format(
      "<table>\n<caption>Mean over {}s ± standard deviation{}</caption>\n<thead><tr><th "
      "scope=\"col\">metric</th>{}</tr></thead>\n"
      "<tbody>\n{}</tbody>\n</table>\n",
      results.unit, results.pipelines.size() > 1 ? "; the best mean is bold" : "", head, body);
  return "<section aria-labelledby=\"h-metrics\">\n<h2 id=\"h-metrics\">Every metric</h2>\n" +
         framed("All metrics", table) + "</section>\n";
}

std::string pipeline_list(const Results& results) {
  std::string items;
  for (const auto& pipeline : results.pipelines)
    items += fmt::format("<li>{} <code>{}</code>{}{}{}</li>\n", badge(pipeline), escape(pipeline.pipeline),
                         failure_text(pipeline), choice_text(pipeline), threshold_text(pipeline, results.threshold));
  return fmt::format(
      "<section aria-labelledby=\"h-pipelines\">\n<h2 id=\"h-pipelines\">The pipelines</h2>\n<ul "
      "class=\"pipelines\">\n{}</ul>\n</section>\n",
      items);
}

}  // namespace ecotone::report
