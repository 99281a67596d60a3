#include <fmt/format.h>

#include <algorithm>

#include "ecotone/evaluate/probability_check.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_units = 3;  // columns in another unit that the answer names

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
  const bool excludes = *interval->low > 0 || *interval->high < 0;
  if (excludes && (interval->mean > 0) != results.metric().higher_is_better())
    return text + "Where both are defined it is the other way round: their means are over different domains.";
  if (excludes)
    return text + (results.comparisons() > 1
                       ? "The interval excludes zero, but it is not adjusted for picking the two among several."
                       : "The interval excludes zero: the gain is unlikely to be chance.");
  return text + fmt::format("The interval includes zero: {} cannot tell the two apart.",
                            plural(differences.size(), results.unit));
}

std::string_view ranking_words(double auroc) {
  return auroc >= 0.9    ? "ranks rows very well"
         : auroc >= 0.8  ? "ranks rows well"
         : auroc >= 0.7  ? "ranks rows fairly well"
         : auroc >= 0.6  ? "ranks rows weakly"
         : auroc >= 0.45 ? "ranks rows hardly better than chance"
                         : "ranks rows worse than chance";
}

/// "from 0.61 to 0.83": the range over domains.
std::string range_text(const PipelineResult& pipeline, std::size_t m) {
  Value low, high;
  for (const DomainResult& domain : pipeline.domains) {
    const Value& value = domain.metrics[m];
    if (!value) continue;
    low = low ? std::min(*low, *value) : *value;
    high = high ? std::max(*high, *value) : *value;
  }
  return low && *low < *high ? fmt::format(", from {} to {}", brief(low), brief(high)) : "";
}

std::string shape_words(const ProbabilityCheck& check) {
  const std::string slope = fmt::format(" (calibration slope {})", brief(check.slope));
  switch (check.shape()) {
    case ProbabilityShape::too_extreme:
      return "too extreme" + slope;
    case ProbabilityShape::too_timid:
      return "too timid" + slope;
    case ProbabilityShape::reversed:
      return "the wrong way round" + slope;
    case ProbabilityShape::right:
      break;
  }
  return "";
}

/// The second half of the lead.
std::string probability_words(const ProbabilityCheck& check, const std::string& unit) {
  const std::string losses = check.compared() ? fmt::format("a log loss of {} against {} for guessing the base rate",
                                                            brief(check.loss), brief(check.guessing))
                                              : "";
  const std::string with = losses.empty() ? "" : ", with " + losses;
  const std::string shape = shape_words(check);
  if (!check.care())
    return losses.empty()
               ? ""
               : fmt::format(", and its probabilities are not worse than guessing in any {} ({})", unit, losses);
  const std::string care = ", <strong>but its probabilities need care</strong>: they are ";
  if (check.worse()) return care + fmt::format("worse than guessing ({})", losses);
  if (check.failing().empty()) return care + shape + with;
  return care + fmt::format("worse than guessing in {}{}{}", plural(check.failing().size(), unit),
                            shape.empty() ? "" : " and " + shape, with);
}

/// What the diagnosis says of a domain, without what it says of weighting, as a link; empty if it says nothing.
std::string cause_of(const Report& report, const std::string& domain) {
  const std::string anchor = why_anchor(report, domain);
  if (anchor.empty()) return "";
  std::string_view rest = std::ranges::find(report.diagnosis->advice, domain, &Advice::domain)->text;
  std::string cause;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find("; "));
    if (part.find("weighting") == std::string_view::npos) cause += (cause.empty() ? "" : "; ") + std::string(part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 2));
  }
  return cause.empty() ? "" : fmt::format("<a href=\"#{}\">{}</a>", anchor, escape(cause));
}

/// Where the probabilities of a pipeline fail most, and why, as far as the data tell.
std::string failure_words(const ProbabilityCheck& check, const std::string& whose, const Report& report) {
  const std::vector<ProbabilityCheck::Domain> failing = check.failing();
  if (failing.empty()) return "";
  const ProbabilityCheck::Domain& worst = failing.front();
  const std::string cause = cause_of(report, worst.domain);
  return fmt::format(" {} fail most in <strong>{}</strong> (log loss {}, guessing {}){}.", whose, escape(worst.domain),
                     brief(worst.loss), brief(worst.guessing), cause.empty() ? "" : ": " + cause);
}

/// Columns that seem to be in another unit in the domain that stands out most: to be mended before anything else. Of
/// two domains nobody can tell which is the odd one.
std::string unit_words(const Report& report) {
  if (!report.diagnosis || report.diagnosis->domains.size() < 3) return "";
  std::string domain;
  std::vector<std::string> columns;
  for (const FeatureShift& shift : report.diagnosis->feature_shift) {
    if (shift.remark != "another unit?" || columns.size() == most_units) continue;
    if (domain.empty()) domain = shift.domain;
    if (shift.domain == domain) columns.push_back(escape(shift.feature));
  }
  if (columns.empty()) return "";
  return fmt::format("<strong>Check {} first: it seems to report {} in another unit.</strong> ", escape(domain),
                     fmt::join(columns, ", "));
}

/// What is to be known about the probabilities, of the best pipeline and of others.
std::string care_words(const Results& results, const Report& report, std::size_t best) {
  std::string text;
  if (const auto own = check_probabilities(report.evaluation->pipelines[best]))
    text += failure_words(*own, "Its probabilities", report);
  for (std::size_t p = 0; p < results.pipelines.size(); ++p)
    if (const auto other = check_probabilities(report.evaluation->pipelines[p]); p != best && other && other->worse())
      text += failure_words(*other, fmt::format("The probabilities of {}", named(results.pipelines[p])), report);
  return text;
}

std::string lead_of(const Results& results, const PipelineResult& pipeline,
                    const std::optional<ProbabilityCheck>& check) {
  const MetricInfo& metric = results.metric();
  const std::size_t m = results.headline;
  const std::string over = plural(domains_with_value(pipeline, m), results.unit);
  std::string lead;
  if (metric.name == "auroc") {
    lead = fmt::format("{} {} {} (mean AUROC <strong>{}</strong> over {}{})", named(pipeline),
                       ranking_words(*pipeline.mean[m]), place(results.protocol), brief(pipeline.mean[m]), over,
                       range_text(pipeline, m));
  } else {
    lead = fmt::format("{} {} {}: mean {} <strong>{}</strong> over {}{}", named(pipeline),
                       results.comparisons() == 0 ? "was scored" : "scores best", place(results.protocol), metric.title,
                       brief(pipeline.mean[m]), over, range_text(pipeline, m));
  }
  return lead + (check ? probability_words(*check, results.unit) : "") + ".";
}

}  // namespace

std::string answer(const Results& results, const Report& report) {
  const auto best = results.best(results.headline);
  if (!best)
    return "<section class=\"answer\"><p class=\"lead\">No metric is defined in any domain: there is nothing to "
           "compare.</p></section>\n";
  const auto& pipeline = results.pipelines[*best];
  const auto check = check_probabilities(report.evaluation->pipelines[*best]);
  std::string more = unit_words(report);
  if (results.comparisons() > 0) more += how_sure(results, *best);
  if (const auto& worst = pipeline.worst[results.headline])
    more +=
        fmt::format("{}Its hardest {} is <strong>{}</strong> with {}.", more.empty() || more.back() == ' ' ? "" : " ",
                    results.unit, escape(worst->domain), brief(worst->value));
  more += care_words(results, report, *best);
  return fmt::format("<section class=\"answer{}\" aria-label=\"The answer\">\n<p class=\"lead\">{}</p>\n{}</section>\n",
                     check && check->care() ? " care" : "", lead_of(results, pipeline, check),
                     more.empty() ? "" : fmt::format("<p>{}</p>\n", more));
}

}  // namespace ecotone::report
