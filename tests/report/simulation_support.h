#pragma once

#include "ecotone/label/simulate.h"

namespace ecotone::test {

inline StrategyCurve simulated_curve(const std::string& strategy, double gain, std::optional<double> median) {
  StrategyCurve curve;
  curve.strategy = strategy;
  for (Index labels = 10; labels <= 60; labels += 5) {
    const double mean = 0.6 + gain * static_cast<double>(labels - 10);
    CurvePoint point;
    point.labels = labels;
    point.mean = mean;
    point.sd = 0.02;
    point.low = mean - 0.03;
    point.high = mean + 0.02;
    if (labels > 10) {
      point.audits = (labels - 10) / 5;
      point.coverage = 0.9;
      point.width = 0.25;
    }
    curve.points.push_back(point);
  }
  curve.median_reached = median;
  curve.reached = {30, 34, std::nullopt};
  curve.low_reached = 30;
  return curve;
}

/// Two strategies and `random`, three runs each.
inline LabelSimulation simulated_labelling() {
  LabelSimulation simulation;
  simulation.pipeline = "scale | logistic";
  simulation.metric = "accuracy";
  simulation.options = {.budget = 60, .repeat = 3};
  simulation.targets = {"Turin <&>"};
  simulation.known = 200;
  simulation.pool = 500;
  simulation.held_out = 400;
  simulation.full = 0.95;
  simulation.start = 0.6;
  simulation.curves = {simulated_curve("least_confidence", 0.006, 34), simulated_curve("entropy batch=5", 0.005, 40),
                       simulated_curve("random", 0.004, 76)};
  return simulation;
}

}  // namespace ecotone::test
