#include "ecotone/label/simulate.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {
namespace {

CurvePoint read_curve_point(const ResultField& field) {
  CurvePoint point;
  point.labels = field.at("labels").whole();
  point.mean = field.at("mean").number_or_nan();
  point.sd = field.at("sd").optional_number();
  point.low = field.at("low").number_or_nan();
  point.high = field.at("high").number_or_nan();
  if (const auto audit = field.find("audit")) {
    point.audits = audit->at("rows").whole();
    point.coverage = audit->at("coverage").number();
    point.width = audit->at("width").optional_number();
  }
  return point;
}

std::optional<Index> read_reached(const ResultField& field) {
  return field.is_null() ? std::nullopt : std::optional(field.whole());
}

StrategyCurve read_strategy_curve(const ResultField& field) {
  StrategyCurve curve;
  curve.strategy = field.at("strategy").text();
  curve.points = field.at("points").each(read_curve_point);
  if (curve.points.empty()) field.at("points").fail("must not be empty");
  const ResultField reached = field.at("reached");
  curve.median_reached = reached.at("median").optional_number();
  curve.low_reached = reached.at("low").optional_number();
  curve.high_reached = reached.at("high").optional_number();
  curve.reached = reached.at("runs").each(read_reached);
  return curve;
}

}  // namespace

LabelSimulation simulation_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  LabelSimulation simulation;
  simulation.pipeline = field.at("pipeline").text();
  simulation.task = field.at("task").choice({Task::classify, Task::regress}, task_name);
  simulation.metric = field.at("metric").metric();
  simulation.options = field.at("options").options<SimulateOptions>();
  simulation.seed = field.at("seed").seed();
  simulation.targets = field.at("targets").texts();
  simulation.known = field.at("known").whole();
  simulation.pool = field.at("pool").whole();
  simulation.held_out = field.at("held_out").whole();
  simulation.full = field.at("full").number_or_nan();
  simulation.start = field.at("start").number_or_nan();
  simulation.curves = field.at("curves").each(read_strategy_curve);
  if (simulation.curves.empty()) field.at("curves").fail("must not be empty");
  return simulation;
}

}  // namespace ecotone
