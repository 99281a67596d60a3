#include <fmt/format.h>

#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

std::string protocol_text(const std::string& protocol) {
  if (protocol == "leave-one-domain-out")
    return "<strong>Leave one domain out.</strong> Each domain in turn plays the new one: the model is trained on the "
           "other domains only and scored on the domain left out. That is what to expect at the next site.";
  if (protocol == "adapt")
    return "<strong>Adapt.</strong> Each domain in turn plays the new one: training may use its rows but not its "
           "labels. That is what to expect at the next site if its unlabelled data are available before the model is "
           "trained.";
  if (protocol == "domain-split")
    return "<strong>Domain split.</strong> Domains drawn at random are repeatedly left out and scored; a domain's "
           "figures are averaged over the times it was left out.";
  if (protocol == "k-fold")
    return "<strong>k-fold within domains.</strong> Rows are left out, domains are not: each model has seen other rows "
           "of the domain it is scored on. AUROC and average precision rank rows, and only rows scored by one model "
           "can be ranked: they are means over the folds, weighted by their rows; the other figures are over all rows "
           "of a domain. "
           "Compare with leave-one-domain-out to see what a new domain costs.";
  if (protocol == "named-domains")
    return "<strong>Named domains.</strong> The named domains are left out together: the model is trained on the "
           "others and scored on each of them.";
  if (protocol == "forward")
    return "<strong>Forward in time.</strong> Rows are sorted by time and cut into blocks; each block but the first is "
           "scored by a model of rows before it. That is what to expect of a model that is trained today and used "
           "from now on. Later models know more rows, so blocks differ for that reason too.";
  return escape(protocol);
}

}  // namespace

Panel reading_panel(const Results& results) {
  std::string metrics;
  for (const auto* metric : results.metrics)
    metrics += fmt::format("<dt>{}</dt><dd>{}</dd>\n", metric->title, metric->help);
  std::string html = fmt::format(
      "<p>{0}{1}</p>\n"
      "<p><strong>Mean and spread</strong> are over {4}, each counting once whatever its size; the spread is their "
      "standard deviation. "
      "<strong>Differences</strong> are taken within each {2}, so whatever makes a {2} hard for all pipelines "
      "cancels out; their interval is "
      "Student's t over {4}, and is not adjusted for the number of pipelines compared; the words better and worse "
      "are (Holm's method). <strong>Intervals within a {2}</strong> say how far its figure would vary with other "
      "rows of the same {2}: 95% percentiles over resamples of its rows, or of its groups where rows have them. "
      "Rows count by their weights. A dash marks a figure that "
      "is not defined, such as AUROC where only one class occurs. <strong>Guessing the base rate</strong> is to say, "
      "of "
      "every row, the shares of the classes in all other {4}.</p>\n<dl>\n{3}</dl>\n",
      protocol_text(results.protocol), escape(results.limits), results.unit, metrics, plural(results.unit));
  return {"reading", "How to read this page", std::move(html)};
}

}  // namespace ecotone::report
