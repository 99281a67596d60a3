#include <fmt/format.h>

#include "ecotone/measure/intervals.h"
#include "ecotone/report/html/sections.h"

namespace ecotone::report {

namespace {

std::string named(const PipelineResult& pipeline) {
  return fmt::format("{} <code>{}</code>", badge(pipeline), escape(pipeline.pipeline));
}

/// Where the scores come from, as the end of a sentence.
std::string_view place(const std::string& protocol) {
  if (protocol == "adapt") return "on domains whose labels it has never seen";
  if (protocol == "k-fold") return "on new rows of the same domains";
  if (protocol == "forward") return "on rows later than all it was trained on";
  return "on unseen domains";
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::size_t domains_with_value(const PipelineResult& pipeline, std::size_t m) {
  std::size_t count = 0;
  for (const auto& domain : pipeline.domains) count += domain.metrics[m].has_value();
  return count;
}

/// The pipeline with the second-best mean; empty if no other has a mean.
std::optional<std::size_t> next_best(const Results& results, std::size_t best) {
  Results others = results;
  others.pipelines[best].mean[results.headline].reset();
  return others.best(results.headline);
}

/// Compares the best with the next best. Both were chosen on these figures, so the interval is what to trust.
std::string how_sure(const Results& results, std::size_t best) {
  const std::size_t m = results.headline;
  const auto next = next_best(results, best);
  if (!next) return "";
  std::vector<double> differences;
  for (std::size_t d = 0; d < results.pipelines[best].domains.size(); ++d) {
    const Value a = results.pipelines[best].domains[d].metrics[m];
    const Value b = results.pipelines[*next].domains[d].metrics[m];
    if (a && b) differences.push_back(*a - *b);
  }
  const auto interval = t_interval(differences);
  if (!interval) return "";
  std::string text = fmt::format("Against the next best, {}, the difference is <strong>{}</strong> on average",
                                 named(results.pipelines[*next]), signed_number(interval->mean));
  if (!interval->low || !interval->high)
    return text + fmt::format("; one {} is too few for an interval.", results.unit);
  text +=
      fmt::format(", with a 95% interval from {} to {}. ", signed_number(interval->low), signed_number(interval->high));
  if (*interval->low > 0 || *interval->high < 0)
    return text + (results.comparisons() > 1
                       ? "The interval excludes zero, but it is not adjusted for picking the two among several."
                       : "The interval excludes zero: the gain is unlikely to be chance.");
  return text + fmt::format("The interval includes zero: {} cannot tell the two apart.",
                            plural(differences.size(), results.unit));
}

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

std::string answer(const Results& results) {
  const auto best = results.best(results.headline);
  const auto& metric = results.metric();
  if (!best)
    return "<section class=\"answer\"><p class=\"lead\">No metric is defined in any domain: there is nothing to "
           "compare.</p></section>\n";
  const auto& pipeline = results.pipelines[*best];
  const std::string lead = fmt::format("{} {} {}: mean {} <strong>{}</strong> over {}.", named(pipeline),
                                       results.comparisons() == 0 ? "was scored" : "scores best",
                                       place(results.protocol), metric.title, number(pipeline.mean[results.headline]),
                                       plural(domains_with_value(pipeline, results.headline), results.unit));
  std::string more = results.comparisons() > 0 ? how_sure(results, *best) : std::string();
  if (const auto& worst = pipeline.worst[results.headline])
    more += fmt::format("{}Its hardest {} is <strong>{}</strong> with {}.", more.empty() ? "" : " ", results.unit,
                        escape(worst->domain), number(worst->value));
  return fmt::format(
      "<section class=\"answer\" aria-label=\"The answer\">\n<p class=\"lead\">{}</p>\n<p>{}</p>\n</section>\n", lead,
      more);
}

std::string how_to_read(const Results& results) {
  std::string metrics;
  for (const auto* metric : results.metrics)
    metrics += fmt::format("<dt>{}</dt><dd>{}</dd>\n", metric->title, metric->help);
  return fmt::format(
      "<section aria-labelledby=\"h-read\">\n<h2 id=\"h-read\">How to read this page</h2>\n<p>{0}{1}</p>\n"
      "<p><strong>Mean and spread</strong> are over {2}s, each counting once whatever its size; the spread is their "
      "standard deviation. "
      "<strong>Differences</strong> are taken within each {2}, so whatever makes a {2} hard for all pipelines "
      "cancels out; their interval is "
      "Student's t over {2}s, and is not adjusted for the number of pipelines compared; the words better and worse "
      "are (Holm's method). <strong>Intervals within a {2}</strong> say how far its figure would vary with other "
      "rows of the same {2}: 95% percentiles over resamples of its rows, or of its groups where rows have them. "
      "Rows count by their weights. A dash marks a figure that "
      "is not defined, such as AUROC where only one class occurs.</p>\n<dl>\n{3}</dl>\n</section>\n",
      protocol_text(results.protocol), escape(results.limits), results.unit, metrics);
}

}  // namespace ecotone::report
