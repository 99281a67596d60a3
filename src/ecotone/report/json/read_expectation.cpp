#include "ecotone/measure/metrics.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"
#include "ecotone/trust/expect.h"

namespace ecotone {
namespace {

std::optional<Bounds> read_ends(const ResultField& field) {
  if (field.is_null()) return std::nullopt;
  return Bounds{field.at("low").number_or_nan(), field.at("high").number_or_nan()};
}

EstimatedValue read_estimated(const ResultField& field) {
  std::vector<std::string_view> names;
  for (const EstimatorInfo& info : estimator_infos()) names.push_back(info.name);
  return {.estimator = static_cast<Estimator>(field.at("estimator").word(names)),
          .estimate = field.at("estimate").number_or_nan(),
          .interval = read_ends(field.at("interval")),
          .conformal = read_ends(field.at("conformal")),
          .error = field.at("replayed_error").optional_number(),
          .domains = field.at("domains").whole(),
          .doubtful = field.at("doubtful").flag()};
}

ExpectedMetric read_expected_metric(const ResultField& field, Task task) {
  ExpectedMetric metric{field.at("metric").metric(), field.at("estimators").each(read_estimated)};
  if (find_metric(metric.metric)->task != task) field.at("metric").refuse("must be a metric of the task");
  if (metric.estimators.empty()) field.at("estimators").fail("must not be empty");
  return metric;
}

Overlap read_overlap(const ResultField& field) {
  return {.auroc = field.at("auroc").optional_number(),
          .ess_raw = field.at("ess_raw").number(),
          .rows = field.at("rows").whole(),
          .cols = field.at("columns").whole()};
}

Expectation read_expectation(const ResultField& field) {
  Expectation result;
  result.pipeline = field.at("pipeline").text();
  result.target = field.at("target").text();
  result.rows = field.at("rows").whole();
  result.task = field.at("task").choice({Task::classify, Task::regress}, task_name);
  result.level = field.at("level").number();
  result.domains = field.at("domains").whole();
  if (const auto rows = field.find("source_domain_rows")) result.source_domain_rows = rows->number();
  result.by = field.at("by").word({"replay", "cheap"}) == 0 ? NextDomainBy::replay : NextDomainBy::cheap;
  if (const ResultField half = field.at("domains_for_half_the_width"); !half.is_null())
    result.more.for_half = static_cast<int>(half.whole_up_to(1'000'000));
  result.more.narrowest = field.at("narrowest_share_of_width").number();
  if (const ResultField overlap = field.at("overlap"); !overlap.is_null()) result.overlap = read_overlap(overlap);
  result.apart = field.at("sources_apart").whole();
  result.exponent = field.at("exponent").optional_number();
  result.metrics =
      field.at("metrics").each([&](const ResultField& each) { return read_expected_metric(each, result.task); });
  if (result.metrics.empty()) field.at("metrics").fail("must not be empty");
  return result;
}

}  // namespace

std::vector<Expectation> expectations_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  auto results = field.at("expectations").each(read_expectation);
  if (results.empty()) field.at("expectations").fail("must not be empty");
  return results;
}

}  // namespace ecotone
