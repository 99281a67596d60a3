#include <cmath>

#include "ecotone/base/json_number.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"
#include "ecotone/trust/explain.h"

namespace ecotone {
namespace {

Json part_json(double value, double error) { return {{"value", json_number(value)}, {"error", json_number(error)}}; }

Json shift_json(const LossShift& shift) {
  return {{"source", json_number(shift.source)},
          {"target", json_number(shift.target)},
          {"shared_source", json_number(shift.shared_source)},
          {"shared_target", json_number(shift.shared_target)},
          {"effective_source_rows", json_number(shift.source_rows)},
          {"effective_target_rows", json_number(shift.target_rows)},
          {"difference", json_number(shift.total())},
          {"difference_error", json_number(shift.total_error)},
          {"x_source_to_shared", part_json(shift.x_source_to_shared(), shift.x_source_to_shared_error)},
          {"y_given_x", part_json(shift.y_given_x(), shift.y_given_x_error)},
          {"x_shared_to_target", part_json(shift.x_shared_to_target(), shift.x_shared_to_target_error)}};
}

Json disagreeing_json(const DisagreeingRegion& region) {
  return {{"column", region.column},
          {"region", region.words},
          {"share", json_number(region.share)},
          {"source", json_number(region.source)},
          {"target", json_number(region.target)},
          {"difference", json_number(region.difference)},
          {"error", json_number(region.error)},
          {"contribution", json_number(region.contribution)}};
}

Json explanation_json(const Explanation& explanation) {
  Json columns = Json::array(), regions = Json::array();
  for (const DisagreeingColumn& column : explanation.columns)
    columns.push_back({{"column", column.column},
                       {"spread", json_number(column.spread)},
                       {"freedom", column.freedom},
                       {"p_adjusted", json_number(column.p_value)}});
  for (const DisagreeingRegion& region : explanation.regions) regions.push_back(disagreeing_json(region));
  Json json = {{"pipeline", explanation.pipeline},
               {"target", explanation.target},
               {"loss", loss_name(explanation.loss)},
               {"source_rows", explanation.source_rows},
               {"target_rows", explanation.target_rows},
               {"domains", explanation.domains},
               {"auroc", json_number(explanation.auroc)},
               {"divisible", explanation.divisible},
               {"parts", explanation.shift ? shift_json(*explanation.shift) : Json()},
               {"columns", std::move(columns)},
               {"regions", std::move(regions)},
               {"advice", explanation.advice()}};
  if (!explanation.error_code.empty())
    json["error"] = {{"code", explanation.error_code}, {"message", explanation.error}};
  return json;
}

LossShift read_shift(const ResultField& field) {
  LossShift shift;
  shift.source = field.at("source").number_or_nan();
  shift.target = field.at("target").number_or_nan();
  shift.shared_source = field.at("shared_source").number_or_nan();
  shift.shared_target = field.at("shared_target").number_or_nan();
  shift.source_rows = field.at("effective_source_rows").number_or_nan();
  shift.target_rows = field.at("effective_target_rows").number_or_nan();
  shift.x_source_to_shared_error = field.at("x_source_to_shared").at("error").number_or_nan();
  shift.y_given_x_error = field.at("y_given_x").at("error").number_or_nan();
  shift.x_shared_to_target_error = field.at("x_shared_to_target").at("error").number_or_nan();
  // Results of before have none: the parts' own add up to at least as much.
  const auto error = field.find("difference_error");
  shift.total_error =
      error ? error->number_or_nan()
            : std::hypot(shift.x_source_to_shared_error, shift.y_given_x_error, shift.x_shared_to_target_error);
  return shift;
}

DisagreeingRegion read_region(const ResultField& field) {
  return {.column = field.at("column").text(),
          .words = field.at("region").text(),
          .share = field.at("share").number_or_nan(),
          .source = field.at("source").number_or_nan(),
          .target = field.at("target").number_or_nan(),
          .difference = field.at("difference").number_or_nan(),
          .error = field.at("error").number_or_nan(),
          .contribution = field.at("contribution").number_or_nan()};
}

DisagreeingColumn read_column(const ResultField& field) {
  return {.column = field.at("column").text(),
          .spread = field.at("spread").number_or_nan(),
          .freedom = static_cast<int>(field.at("freedom").whole_up_to(1'000'000)),
          .p_value = field.at("p_adjusted").number_or_nan()};
}

Explanation read_explanation(const ResultField& field) {
  Explanation result;
  result.pipeline = field.at("pipeline").text();
  result.target = field.at("target").text();
  result.loss =
      field.at("loss").choice({RowLoss::error, RowLoss::log_loss, RowLoss::brier, RowLoss::squared}, loss_name);
  result.source_rows = field.at("source_rows").whole();
  result.target_rows = field.at("target_rows").whole();
  result.domains = field.at("domains").whole();
  result.auroc = field.at("auroc").optional_number();
  result.divisible = field.at("divisible").flag();
  if (const ResultField parts = field.at("parts"); !parts.is_null()) result.shift = read_shift(parts);
  result.columns = field.at("columns").each(read_column);
  result.regions = field.at("regions").each(read_region);
  if (const auto error = field.find("error")) {
    result.error_code = error->at("code").text();
    result.error = error->at("message").text();
    if (result.error_code.empty()) error->at("code").fail("must not be empty");
  }
  if (result.error_code.empty() && !result.shift) field.at("parts").fail("must be there");
  return result;
}

}  // namespace

Json to_json(const std::vector<Explanation>& explanations) {
  Json list = Json::array();
  for (const Explanation& each : explanations) list.push_back(explanation_json(each));
  return {{"explanations", std::move(list)}};
}

std::vector<Explanation> explanations_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  auto results = field.at("explanations").each(read_explanation);
  if (results.empty()) field.at("explanations").fail("must not be empty");
  return results;
}

}  // namespace ecotone
