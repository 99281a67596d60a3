#include "ecotone/base/json_number.h"
#include "ecotone/report/json/json.h"
#include "ecotone/trust/expect.h"

namespace ecotone {
namespace {

Json interval_json(const std::optional<Bounds>& bounds) {
  if (!bounds) return nullptr;
  return {{"low", json_number(bounds->low)}, {"high", json_number(bounds->high)}};
}

Json estimated_json(const EstimatedValue& value) {
  return {{"estimator", estimator_name(value.estimator)},
          {"estimate", json_number(value.estimate)},
          {"interval", interval_json(value.interval)},
          {"conformal", interval_json(value.conformal)},
          {"replayed_error", json_number(value.error)},
          {"domains", value.domains},
          {"doubtful", value.doubtful}};
}

Json metric_json(const ExpectedMetric& metric) {
  Json estimators = Json::array();
  for (const EstimatedValue& value : metric.estimators) estimators.push_back(estimated_json(value));
  Json json = estimated_json(metric.estimators.front());
  json["metric"] = metric.metric;
  json["estimators"] = std::move(estimators);
  return json;
}

Json expectation_json(const Expectation& expectation) {
  Json metrics = Json::array();
  for (const ExpectedMetric& metric : expectation.metrics) metrics.push_back(metric_json(metric));
  Json json = {{"pipeline", expectation.pipeline},
               {"target", expectation.target},
               {"rows", expectation.rows},
               {"task", task_name(expectation.task)},
               {"level", expectation.level},
               {"domains", expectation.domains},
               {"source_domain_rows", json_number(expectation.source_domain_rows)},
               {"no_interval", expectation.too_few_rows() ? Json(expectation.few_rows_words()) : Json()},
               {"by", expectation.by == NextDomainBy::replay ? "replay" : "cheap"},
               {"domains_for_half_the_width", expectation.more.for_half ? Json(*expectation.more.for_half) : Json()},
               {"narrowest_share_of_width", expectation.more.narrowest},
               {"overlap", expectation.overlap ? expectation.overlap->to_json() : Json()},
               {"sources_apart", expectation.apart},
               {"unlike_sources", expectation.compared() ? Json(expectation.unlike_sources()) : Json()},
               {"not_checked", expectation.compared() ? Json() : Json(expectation.not_compared_words())},
               {"exponent", json_number(expectation.exponent)},
               {"metrics", std::move(metrics)}};
  return json;
}

}  // namespace

Json to_json(const std::vector<Expectation>& expectations) {
  Json list = Json::array();
  for (const Expectation& each : expectations) list.push_back(expectation_json(each));
  return {{"expectations", std::move(list)}};
}

}  // namespace ecotone
