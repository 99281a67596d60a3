#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/report/html/panels.h"

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
  return fmt::format(
      "<td class=\"num{}\">{}{}<svg class=\"bar\" viewBox=\"0 0 100 3\" preserveAspectRatio=\"none\" "
      "aria-hidden=\"true\"><rect width=\"{:.1f}\" height=\"3\"></rect></svg></td>",
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

std::string foot_row(const Results& results, const std::vector<std::size_t>& order, std::string_view name,
                     std::vector<Value> PipelineResult::*member) {
  std::string cells;
  for (const std::size_t p : order)
    cells += fmt::format("<td class=\"num\">{}</td>", number((results.pipelines[p].*member)[results.headline]));
  return fmt::format("<tr><th scope=\"row\">{}</th>{}<td></td><td></td></tr>\n", name, cells);
}

std::string worst_row(const Results& results, const std::vector<std::size_t>& order) {
  std::string cells;
  for (const std::size_t p : order) {
    const auto& worst = results.pipelines[p].worst[results.headline];
    cells +=
        worst ? fmt::format("<td class=\"num\">{}<small>{}</small></td>", number(worst->value), escape(worst->domain))
              : "<td class=\"num\">–</td>";
  }
  return fmt::format("<tr><th scope=\"row\">worst</th>{}<td></td><td></td></tr>\n", cells);
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
  return fmt::format(
      "<div class=\"tabled\" data-name=\"{0}\">\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"{0}\">\n{1}</div>\n<p class=\"take\"><button type=\"button\" data-take=\"table\">Table "
      "(CSV)</button></p>\n</div>\n",
      label, table);
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}", count, count == 1 ? std::string(noun) : plural(noun));
}

std::string plural(std::string_view noun) {
  const bool soft = noun.size() > 1 && noun.back() == 'y' &&
                    std::string_view("aeiou").find(noun[noun.size() - 2]) == std::string_view::npos;
  if (soft) return fmt::format("{}ies", noun.substr(0, noun.size() - 1));
  if (noun.ends_with('s') && !noun.ends_with("ss")) return std::string(noun);  // a plural already, or like one
  return fmt::format("{}{}", noun, noun.ends_with("ss") || noun.ends_with("ch") || noun.ends_with('x') ? "es" : "s");
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string interval_text(const DomainResult& domain, std::size_t metric) {
  const auto& interval = domain.intervals[metric];
  return interval ? fmt::format(" (95% interval {} to {})", number(interval->low), number(interval->high)) : "";
}

std::string badge(const PipelineResult& pipeline) { return fmt::format("<b class=\"tag\">{}</b>", pipeline.name); }

namespace {

/// The pipelines in the order of the columns: the best first, so that it is in sight on a phone too.
std::vector<std::size_t> column_order(const Results& results) {
  std::vector<std::size_t> order(results.pipelines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (const auto best = results.best(results.headline))
    std::ranges::stable_partition(order, [&](std::size_t p) { return p == *best; });
  return order;
}

/// The name of a domain, with a link to what is known about how it differs.
std::string domain_cell(const Report& report, const std::string& domain, bool worst) {
  const std::string anchor = why_anchor(report, domain);
  return fmt::format("<th scope=\"row\">{}{}{}</th>", escape(domain), worst ? " <b class=\"worst\">worst</b>" : "",
                     anchor.empty() ? "" : fmt::format(" <a class=\"why\" href=\"#{}\">why?</a>", anchor));
}

}  // namespace

Panel domain_panel(const Results& results, const Report& report) {
  const std::string& unit = results.unit;
  const std::size_t m = results.headline;
  const double scale = bar_scale(results, m);
  const std::vector<std::size_t> order = column_order(results);
  const auto& leader = results.pipelines[order.front()];
  std::string head;
  for (const std::size_t p : order) head += head_cell(results.pipelines[p]);
  std::string body;
  const auto& domains = leader.domains;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    std::string cells;
    for (const std::size_t p : order)
      cells += value_cell(results.pipelines[p].domains[d], m, scale, is_best(results, d, p, m));
    const bool worst = leader.worst[m] && leader.worst[m]->domain == domains[d].domain;
    // The values first: they are what a narrow screen shows.
    body +=
        fmt::format("<tr>{}{}<td class=\"num rows\">{}</td>{}</tr>\n", domain_cell(report, domains[d].domain, worst),
                    cells, domains[d].rows, prevalence_cell(results, domains[d]));
  }
  const std::string table = fmt::format(
      "<table class=\"sortable\">\n<caption>{} by {} and pipeline{}; a click on a heading "
      "sorts{}</caption>\n<thead><tr><th "
      "scope=\"col\">{}</th>{}<th scope=\"col\" class=\"num\">rows</th><th scope=\"col\" "
      "class=\"num\">{}</th></tr></thead>\n<tbody>\n{}</tbody>\n<tfoot>\n{}{}{}</tfoot>\n</table>\n",
      results.metric().title, unit,
      results.pipelines.size() > 1 ? fmt::format("; the best of each {} is bold", unit) : "", results.omitted, unit,
      head, prevalence_head(results), body, foot_row(results, order, "mean", &PipelineResult::mean),
      foot_row(results, order, "spread", &PipelineResult::spread), worst_row(results, order));
  return {"domains", fmt::format("{} by {}", capitalised(unit), unit),
          framed(fmt::format("Results by {}", unit), table)};
}

Panel metric_panel(const Results& results) {
  const std::vector<std::size_t> order = column_order(results);
  std::string head;
  for (const std::size_t p : order) head += head_cell(results.pipelines[p]);
  std::string body;
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    const auto best = results.pipelines.size() > 1 ? results.best(m) : std::nullopt;
    std::string cells;
    for (const std::size_t p : order) {
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
      "<table>\n<caption>Mean over {} ± standard deviation{}</caption>\n<thead><tr><th "
      "scope=\"col\">metric</th>{}</tr></thead>\n"
      "<tbody>\n{}</tbody>\n</table>\n",
      plural(results.unit), results.pipelines.size() > 1 ? "; the best mean is bold" : "", head, body);
  return {"metrics", "Every metric", framed("All metrics", table)};
}

Panel pipeline_panel(const Results& results) {
  std::string items;
  for (const auto& pipeline : results.pipelines)
    items += fmt::format("<li>{} <code>{}</code>{}{}{}</li>\n", badge(pipeline), escape(pipeline.pipeline),
                         failure_text(pipeline), choice_text(pipeline), threshold_text(pipeline, results.threshold));
  return {"pipelines", "The pipelines", fmt::format("<ul class=\"pipelines\">\n{}</ul>\n", items)};
}

}  // namespace ecotone::report
