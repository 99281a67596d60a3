#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {
namespace {

Metrics read_tuned_metrics(const ResultField& field) {
  Metrics metrics;
  for (const auto& [name, value] : field.members()) {
    if (!find_metric(name)) value.fail("is not the name of a metric");
    metrics.emplace_back(name, value.optional_number());
  }
  return metrics;
}

TunePoint read_tune_point(const ResultField& field, std::size_t folds) {
  TunePoint point;
  point.pipeline = field.at("pipeline").text();
  point.folds = field.at("folds").sized(folds).each(&ResultField::optional_number);
  point.mean = field.at("mean").optional_number();
  point.spread = field.at("spread").optional_number();
  point.score = field.at("score").optional_number();
  point.difference = field.at("difference").at("mean").optional_number();
  point.difference_se = field.at("difference").at("se").optional_number();
  point.metrics = read_tuned_metrics(field.at("metrics"));
  if (const auto error = field.find("error")) {
    point.error_code = error->at("code").text();
    point.error = error->at("message").text();
  }
  return point;
}

}  // namespace

Tuning tuning_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Tuning tuning;
  tuning.search = field.at("search").choice({Search::grid, Search::random}, search_name);
  tuning.metric = field.at("metric").metric();
  tuning.by_domain = field.at("held_out").word({"domains", "rows"}) == 0;
  tuning.folds = field.at("folds").texts();
  const std::size_t folds = tuning.folds.size();
  tuning.bound = field.at("bound").each(&ResultField::optional_number);
  if (!tuning.bound.empty()) field.at("bound").sized(folds);
  tuning.points = field.at("points").each([&](const ResultField& each) { return read_tune_point(each, folds); });
  tuning.best = field.at("best").place(tuning.points.size());
  tuning.chosen = field.at("chosen").place(tuning.points.size());
  return tuning;
}

}  // namespace ecotone
