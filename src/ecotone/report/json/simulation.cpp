#include "ecotone/base/json_number.h"
#include "ecotone/label/simulate.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/options_json.h"

namespace ecotone {

namespace {

Json json_of(const CurvePoint& point) {
  Json json = {{"labels", point.labels},
               {"mean", json_number(point.mean)},
               {"sd", json_number(point.sd)},
               {"low", json_number(point.low)},
               {"high", json_number(point.high)}};
  if (point.coverage)
    json["audit"] = {
        {"rows", point.audits}, {"coverage", json_number(point.coverage)}, {"width", json_number(point.width)}};
  return json;
}

Json json_of(const StrategyCurve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) points.push_back(json_of(point));
  Json reached = Json::array();
  for (const auto& labels : curve.reached) reached.push_back(labels ? Json(*labels) : Json(nullptr));
  return {{"strategy", curve.strategy},
          {"points", std::move(points)},
          {"reached",
           {{"median", json_number(curve.median_reached)},
            {"low", json_number(curve.low_reached)},
            {"high", json_number(curve.high_reached)},
            {"runs", std::move(reached)}}}};
}

}  // namespace

Json to_json(const LabelSimulation& simulation) {
  Json curves = Json::array();
  for (const StrategyCurve& curve : simulation.curves) curves.push_back(json_of(curve));
  return {{"pipeline", simulation.pipeline},
          {"task", task_name(simulation.task)},
          {"metric", simulation.metric},
          {"options", options_json(simulation.options)},
          {"seed", simulation.seed},
          {"targets", simulation.targets},
          {"known", simulation.known},
          {"pool", simulation.pool},
          {"held_out", simulation.held_out},
          {"full", json_number(simulation.full)},
          {"start", json_number(simulation.start)},
          {"curves", std::move(curves)}};
}

}  // namespace ecotone
