#include "ecotone/report/html/page.h"

#include <algorithm>
#include <cmath>

#include "ecotone/report/text/text_width.h"

namespace ecotone::report {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// What can be drawn: a finite value, or none.
Value finite(const Value& value) { return value && std::isfinite(*value) ? value : std::nullopt; }

/// What a list of pairs has for each of the page's metrics.
template <class T>
std::vector<std::optional<T>> in_order(const std::vector<std::pair<std::string, std::optional<T>>>& pairs,
                                       const std::vector<const MetricInfo*>& order) {
  std::vector<std::optional<T>> values(order.size());
  for (std::size_t m = 0; m < order.size(); ++m)
    for (const auto& [name, value] : pairs)
      if (name == order[m]->name) values[m] = value;
  return values;
}

/// The values of a pipeline in the order of the page's metrics.
std::vector<Value> values_of(const Metrics& metrics, const std::vector<const MetricInfo*>& order) {
  std::vector<Value> values;
  for (const auto* metric : order) values.push_back(finite(value_of(metrics, metric->name)));
  return values;
}

PipelineResult result_of(const PipelineScore& score, std::string name, const std::vector<const MetricInfo*>& order) {
  PipelineResult result{.name = std::move(name),
                        .pipeline = score.pipeline,
                        .domains = {},
                        .mean = values_of(score.mean, order),
                        .spread = values_of(score.spread, order),
                        .worst = in_order(score.worst, order),
                        .difference = std::vector<DifferenceResult>(order.size()),
                        .error = score.error ? score.error->what() : "",
                        .chosen = score.chosen,
                        .choice_metric = {},
                        .thresholds = score.thresholds};
  if (!score.choice_metric.empty()) result.choice_metric = find_metric(score.choice_metric)->title;
  for (const auto& domain : score.domains)
    result.domains.push_back({domain.domain, domain.rows, values_of(domain.metrics, order),
                              in_order(domain.intervals, order), domain.prevalence});
  for (std::size_t m = 0; m < order.size(); ++m)
    for (const auto& [metric, interval] : score.difference)
      if (metric == order[m]->name && interval)
        result.difference[m] = {finite(interval->mean), finite(interval->low), finite(interval->high),
                                finite(interval->p_adjusted)};
  return result;
}

/// Length of the well-formed UTF-8 character at the beginning; 0 when it is not one.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : (lead == '\t' || lead == '\n' ? 1 : 0);
  const std::size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  return length;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    switch (text[0]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += length == 0 ? replacement : text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return safe;
}

std::optional<std::size_t> Results::best(std::size_t i) const {
  std::optional<std::size_t> found;
  for (std::size_t p = 0; p < pipelines.size(); ++p) {
    const Value mean = pipelines[p].mean[i];
    if (!mean) continue;
    const bool better = !found || metrics[i]->badness(*mean) < metrics[i]->badness(*pipelines[*found].mean[i]);
    if (better) found = p;
  }
  return found;
}

std::size_t Results::comparisons() const {
  std::size_t count = 0;
  for (std::size_t p = 0; p < pipelines.size(); ++p) count += compared(p);
  return count;
}

namespace {

std::string limits_of(const Evaluation& evaluation) {
  std::string text;
  if (evaluation.forward && evaluation.forward->window > 0)
    text += fmt::format(" Only the last {} of the past are trained on.", evaluation.forward->window);
  if (evaluation.forward && evaluation.forward->gap > 0)
    text += fmt::format(" The last {} before each block are left out.", evaluation.forward->gap);
  if (evaluation.groups)
    text += fmt::format(" Rows fall into {} groups{}; rows of one group are never on both sides.",
                        evaluation.groups->groups,
                        evaluation.groups->column.empty() ? "" : " by " + evaluation.groups->column);
  return text;
}

}  // namespace

Results results_of(const Evaluation& evaluation) {
  Results results;
  results.protocol = protocol_name(evaluation.protocol);
  results.unit = evaluation.unit();
  results.limits = limits_of(evaluation);
  results.reference = evaluation.reference;
  results.threshold = evaluation.threshold;
  results.classes = evaluation.classes;
  for (const std::string& name : evaluation.metrics) results.metrics.push_back(find_metric(name));
  for (const PipelineScore& score : evaluation.pipelines)
    results.pipelines.push_back(result_of(score, letter_name(results.pipelines.size()), results.metrics));
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(evaluation.metrics, name) - evaluation.metrics.begin());
  };
  results.headline = place(headline_metric(
      evaluation.metrics, [&](const std::string& name) { return results.best(place(name)).has_value(); }));
  return results;
}

std::string number(const Value& value) {
  if (!value || !std::isfinite(*value)) return "–";
  const double size = std::abs(*value);
  const bool rounding = size < 1e-12;  // a difference of equals
  std::string shown = rounding || (size >= 1e-4 && size < 100) ? fmt::format("{:.4f}", rounding ? 0.0 : *value)
                                                               : fmt::format("{:.4g}", *value);
  if (shown.front() == '-') shown.replace(0, 1, "−");
  return shown;
}

std::string brief(const Value& value) {
  if (!value || !std::isfinite(*value)) return "–";
  std::string shown = fmt::format("{:.3g}", *value);
  if (shown.front() == '-') shown.replace(0, 1, "−");
  return shown;
}

std::string signed_number(const Value& value) {
  return value && *value >= 1e-12 ? fmt::format("+{}", number(value)) : number(value);
}

}  // namespace ecotone::report
