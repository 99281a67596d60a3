// How calibrate is stored in model files.
#include <utility>

#include "ecotone/methods/learn/calibrate/calibrate.h"

namespace ecotone {

namespace {

void save_platt(const std::vector<PlattMap>& maps, StageState& state) {
  if (maps.size() == 1) {
    state.info["slope"] = maps[0].slope;
    state.info["intercept"] = maps[0].intercept;
    return;
  }
  Vector slope(static_cast<Index>(maps.size()));
  Vector intercept(slope.size());
  for (Index k = 0; k < slope.size(); ++k) {
    slope[k] = maps[at(k)].slope;
    intercept[k] = maps[at(k)].intercept;
  }
  state.set("slope", slope);
  state.set("intercept", intercept);
}

std::vector<PlattMap> load_platt(const StageState& state, Index columns) {
  if (columns == 1) return {{state.number("slope"), state.number("intercept")}};
  const Vector slope = state.vector("slope", columns);
  const Vector intercept = state.vector("intercept", columns);
  std::vector<PlattMap> maps;
  for (Index k = 0; k < columns; ++k) maps.push_back({slope[k], intercept[k]});
  return maps;
}

/// The knots of all maps one after another; with several maps `knot_class` says whose a knot is.
void save_isotonic(const std::vector<IsotonicMap>& maps, StageState& state) {
  Index knots = 0;
  for (const IsotonicMap& map : maps) knots += map.score.size();
  Vector score(knots);
  Vector probability(knots);
  Vector cls(knots);
  Index next = 0;
  for (std::size_t k = 0; k < maps.size(); ++k) {
    const Index size = maps[k].score.size();
    score.segment(next, size) = maps[k].score;
    probability.segment(next, size) = maps[k].probability;
    cls.segment(next, size).setConstant(static_cast<double>(k));
    next += size;
  }
  state.set("knots", score);
  state.set("knot_probability", probability);
  if (maps.size() > 1) state.set("knot_class", cls);
}

void check_knots(const IsotonicMap& map) {
  if (map.score.size() == 0) file_error("bad_model", "array 'knots' has no knot for a class");
  for (Index i = 0; i < map.score.size(); ++i) {
    if (i > 0 && !(map.score[i - 1] < map.score[i])) file_error("bad_model", "array 'knots' must ascend");
    const double low = i > 0 ? map.probability[i - 1] : 0;
    if (map.probability[i] < low || map.probability[i] > 1)
      file_error("bad_model", "array 'knot_probability' must not decrease and must lie in [0, 1]");
  }
}

std::vector<IsotonicMap> load_isotonic(const StageState& state, Index columns) {
  const Vector score = state.vector("knots", -1);
  const Vector probability = state.vector("knot_probability", score.size());
  const Vector cls = columns > 1 ? state.vector("knot_class", score.size()) : Vector::Zero(score.size());
  std::vector<IsotonicMap> maps;
  Index next = 0;
  for (Index k = 0; k < columns; ++k) {
    Index end = next;
    while (end < score.size() && cls[end] == static_cast<double>(k)) ++end;
    maps.push_back({score.segment(next, end - next), probability.segment(next, end - next)});
    check_knots(maps.back());
    next = end;
  }
  if (next != score.size()) file_error("bad_model", "array 'knot_class' must ascend from 0 to {}", columns - 1);
  return maps;
}

}  // namespace

StageState Calibrate::save() const {
  StageState state;
  if (maps_.platt.empty()) {
    save_isotonic(maps_.isotonic, state);
  } else {
    save_platt(maps_.platt, state);
  }
  if (maps_.platt.size() + maps_.isotonic.size() == 1) state.info["threshold"] = threshold_;
  state.info["rows"] = report_.rows;
  state.info["folds"] = report_.folds;
  state.info["folds_of"] = report_.by_domain ? "domains" : "rows";
  state.info["log_loss_before"] = report_.log_loss_before;
  state.info["log_loss_after"] = report_.log_loss_after;
  return state;
}

std::shared_ptr<const Fitted> Calibrate::load(const StageState& state, const CalibrateOptions& options,
                                              const StageInput& input) {
  if (input.task != Task::classify || input.classes.size() < 2)
    file_error("bad_model", "calibrate needs at least two classes");
  CalibrateMaps maps;
  if (options.method == CalibrateMethod::platt) {
    maps.platt = load_platt(state, input.cols);
  } else {
    maps.isotonic = load_isotonic(state, input.cols);
  }
  const double threshold = input.cols == 1 ? state.number("threshold") : 0.5;
  if (!(threshold > 0 && threshold < 1)) file_error("bad_model", "'threshold' must be in (0, 1)");
  if (options.threshold == ThresholdMeasure::none && threshold != 0.5)
    file_error("bad_model", "'threshold' must be 0.5 where none was chosen");
  const std::string folds_of = state.text("folds_of");
  if (folds_of != "domains" && folds_of != "rows") file_error("bad_model", "'folds_of' must be domains or rows");
  const CalibrateReport report{state.count("rows"), state.count("folds"), folds_of == "domains",
                               state.number("log_loss_before"), state.number("log_loss_after")};
  return std::make_shared<Calibrate>(std::move(maps), threshold, report);
}

}  // namespace ecotone
