#include "ecotone/report/html/page.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone::report {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

[[noreturn]] void bad(std::string_view what) {
  file_error("bad_results", "report: not the JSON of evaluate: {}", what);
}

const Json& member(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) bad(fmt::format("'{}' is missing", key));
  return json.at(key);
}

std::string text(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_string()) bad(fmt::format("'{}' is not a text", key));
  return value.get<std::string>();
}

const Json& list(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_array()) bad(fmt::format("'{}' is not a list", key));
  return value;
}

/// A number or null; a name that is not there is null too (metrics of an older file).
Value value_of(const Json& json, std::string_view key) {
  if (!json.is_object()) bad("metrics are not an object");
  const auto it = json.find(std::string(key));
  if (it == json.end() || it->is_null()) return {};
  if (!it->is_number()) bad(fmt::format("'{}' is not a number", key));
  return it->get<double>();
}

std::vector<Value> values_of(const Json& json, const std::vector<const MetricInfo*>& metrics) {
  std::vector<Value> values;
  for (const auto* metric : metrics) values.push_back(value_of(json, metric->name));
  return values;
}

DomainResult read_domain(const Json& json, const std::vector<const MetricInfo*>& metrics) {
  const Json& rows = member(json, "rows");
  if (!rows.is_number_integer()) bad("'rows' is not a whole number");
  return {text(json, "domain"), rows.get<Index>(), values_of(member(json, "metrics"), metrics)};
}

PipelineResult read_pipeline(const Json& json, const std::vector<const MetricInfo*>& metrics) {
  PipelineResult result;
  result.pipeline = text(json, "pipeline");
  for (const auto& domain : list(json, "domains")) result.domains.push_back(read_domain(domain, metrics));
  result.mean = values_of(member(json, "mean"), metrics);
  result.spread = values_of(member(json, "spread"), metrics);
  const Json& difference = member(json, "difference");
  if (!difference.is_object()) bad("'difference' is not an object");
  for (const auto* metric : metrics) {
    const auto it = difference.find(std::string(metric->name));
    if (it == difference.end() || it->is_null()) {
      result.difference.emplace_back();
    } else {
      result.difference.push_back({value_of(*it, "mean"), value_of(*it, "low"), value_of(*it, "high")});
    }
  }
  return result;
}

void check_same_domains(const Results& results) {
  const auto& first = results.pipelines.front().domains;
  for (const auto& pipeline : results.pipelines)
    if (!std::equal(first.begin(), first.end(), pipeline.domains.begin(), pipeline.domains.end(),
                    [](const auto& a, const auto& b) { return a.domain == b.domain; }))
      bad("pipelines have different domains");
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
        safe += length == 0 ? kReplacement : text.substr(0, length);
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
    const bool better = !found || (metrics[i]->higher_is_better ? *mean > *pipelines[*found].mean[i]
                                                                : *mean < *pipelines[*found].mean[i]);
    if (better) found = p;
  }
  return found;
}

Results read_results(const Json& evaluation) {
  Results results;
  results.protocol = text(evaluation, "protocol");
  std::vector<std::string> names;
  for (const auto& name : list(evaluation, "metrics")) {
    const MetricInfo* metric = name.is_string() ? find_metric(name.get<std::string>()) : nullptr;
    if (!metric) bad("'metrics' has a name that is not a metric");
    results.metrics.push_back(metric);
    names.emplace_back(metric->name);
  }
  if (names.empty()) bad("'metrics' is empty");
  for (const auto& pipeline : list(evaluation, "pipelines")) {
    results.pipelines.push_back(read_pipeline(pipeline, results.metrics));
    results.pipelines.back().name = letter_name(results.pipelines.size() - 1);
  }
  if (results.pipelines.empty()) bad("'pipelines' is empty");
  check_same_domains(results);
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  results.headline =
      place(headline_metric(names, [&](const std::string& name) { return results.best(place(name)).has_value(); }));
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

std::string signed_number(const Value& value) {
  return value && *value >= 1e-12 ? fmt::format("+{}", number(value)) : number(value);
}

}  // namespace ecotone::report
