#include "ecotone/methods/learn/calibrate/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

Calibrate::Calibrate(CalibrateMaps maps, double threshold, const CalibrateReport& report)
    : maps_(std::move(maps)), threshold_(threshold), report_(report) {}

namespace {

Index columns_of(const CalibrateMaps& maps) {
  return static_cast<Index>(std::max(maps.platt.size(), maps.isotonic.size()));
}

/// The probability of decision value s by map k.
double mapped(const CalibrateMaps& maps, Index k, double s) {
  return maps.platt.empty() ? maps.isotonic[at(k)](s) : sigmoid(maps.platt[at(k)].log_odds(s));
}

/// p_0 and p_1 of one decision value.
void two_probabilities(const CalibrateMaps& maps, double s, Eigen::Ref<Eigen::RowVectorXd> p) {
  p[1] = mapped(maps, 0, s);
  // 1 - p has few digits left where p is near 1.
  p[0] = maps.platt.empty() ? 1 - p[1] : sigmoid(-maps.platt[0].log_odds(s));
}

/// The probability of each class against the rest, divided by their sum; all alike where all are 0. `s` is of
/// versus_rest.
void class_probabilities(const CalibrateMaps& maps, ConstVectorView s, Eigen::Ref<Eigen::RowVectorXd> p) {
  if (s.size() == 1) return two_probabilities(maps, s[0], p);
  for (Index k = 0; k < s.size(); ++k) p[k] = mapped(maps, k, s[k]);
  double sum = 0;  // in this order, wherever the row lies in memory
  for (Index k = 0; k < p.size(); ++k) sum += p[k];
  if (sum >= std::numeric_limits<double>::min()) {
    p /= sum;
  } else {
    p.setConstant(1 / static_cast<double>(p.size()));
  }
}

/// Out-of-fold decision values, each class against the rest, with what is known of their rows.
struct Evidence {
  CrossFit cross;
  std::vector<std::int32_t> cls;
  Vector weight;

  Evidence(CrossFit fits, const Upstream& upstream) : cross(std::move(fits)) {
    if (upstream.weight.size() != 0 && upstream.weight.size() != upstream.view.labelled())
      internal_error("calibrate: {} weights for {} rows", upstream.weight.size(), upstream.view.labelled());
    for (Index i = 0; i < cross.score.rows(); ++i)
      cross.score.row(i) = versus_rest(cross.score.row(i).transpose()).transpose();
    weight.resize(static_cast<Index>(cross.rows.size()));
    for (std::size_t i = 0; i < cross.rows.size(); ++i) {
      cls.push_back(upstream.view.y.index[at(cross.rows[i])]);
      weight[static_cast<Index>(i)] = upstream.weight.size() == 0 ? 1.0 : upstream.weight[cross.rows[i]];
    }
  }

  /// 1 for rows of this class.
  Vector indicator(Index k) const {
    Vector result(weight.size());
    for (Index i = 0; i < result.size(); ++i) result[i] = cls[at(i)] == k ? 1 : 0;
    return result;
  }

  /// Mean of -ln of the true class's probability, clipped at 1e-15.
  double log_loss(const Matrix& probability) const {
    double sum = 0;
    for (Index i = 0; i < weight.size(); ++i)
      sum -= weight[i] * std::log(std::clamp(probability(i, cls[at(i)]), 1e-15, 1 - 1e-15));
    return sum / weight.sum();
  }

  Matrix calibrated(const CalibrateMaps& maps) const {
    Matrix result(cross.probability.rows(), cross.probability.cols());
    for (Index i = 0; i < result.rows(); ++i) class_probabilities(maps, cross.score.row(i).transpose(), result.row(i));
    return result;
  }
};

/// Adds the map of decision value k, which is that of class `cls`. Rows whose refit had no row of the class do not
/// count.
bool add_map(const Evidence& evidence, Index k, Index cls, CalibrateMethod method, CalibrateMaps& maps) {
  const Vector score = evidence.cross.score.col(k);
  const Vector weight = evidence.cross.known.col(cls).select(evidence.weight.array(), 0.0);
  std::vector<Index> used;
  for (Index i = 0; i < weight.size(); ++i)
    if (weight[i] > 0) used.push_back(i);
  if (used.empty()) {
    // No refit has seen the class: its probability is 0.
    if (method == CalibrateMethod::platt) maps.platt.push_back({0, log_odds_of(0)});
    if (method == CalibrateMethod::isotonic) maps.isotonic.push_back({Vector::Zero(1), Vector::Zero(1)});
    return true;
  }
  const Vector s = score(used);
  const Vector y = evidence.indicator(cls)(used);
  const Vector w = weight(used);
  if (method == CalibrateMethod::isotonic) {
    maps.isotonic.push_back(fit_isotonic(s, y, w));
    return true;
  }
  const PlattFit fit = fit_platt(s, y, w);
  maps.platt.push_back(fit.map);
  return fit.converged;
}

/// Warns of classes that the learner does not tell apart on out-of-fold rows.
void warn_of_maps(const CalibrateMaps& maps, const std::vector<std::string>& classes, const Context& context) {
  for (std::size_t k = 0; k < maps.platt.size(); ++k) {
    if (maps.platt[k].slope >= 0) continue;
    context.warn("falling_slope",
                 "calibrate: held-out rows with a higher decision value for class '{}' are less often of that class "
                 "(slope {:.3g}); what the learner found does not carry over",
                 classes.size() == 2 ? classes[1] : classes[k], maps.platt[k].slope);
  }
}

void check_classes(const TrainView& view, const CalibrateOptions& options) {
  const std::vector<std::string>& classes = view.y.classes;
  require_classes("calibrate", view);
  require_two_classes("calibrate", view);
  if (options.threshold != ThresholdMeasure::none && classes.size() > 2) {
    data_error("needs_two_classes",
               "calibrate: a threshold is chosen between two classes, the data have {}; use threshold=none",
               classes.size());
  }
}

}  // namespace

StageResult Calibrate::fit(const Upstream& upstream, const CalibrateOptions& options, const Context& context) {
  check_classes(upstream.view, options);
  const Evidence evidence(cross_fit(upstream, "calibrate", context), upstream);
  if (!(evidence.weight.sum() > 0)) data_error("zero_weights", "calibrate: all held-out rows have weight 0");
  CalibrateMaps maps;
  Status status;
  const Index columns = evidence.cross.score.cols();
  for (Index k = 0; k < columns; ++k) {
    if (!add_map(evidence, k, columns == 1 ? 1 : k, options.method, maps))
      status = {false, "the sigmoid did not converge; method=isotonic needs no iterations"};
  }
  warn_of_maps(maps, upstream.view.y.classes, context);
  const Matrix probability = evidence.calibrated(maps);
  const CalibrateReport report{static_cast<Index>(evidence.cross.rows.size()), evidence.cross.folds,
                               evidence.cross.by_domain, evidence.log_loss(evidence.cross.probability),
                               evidence.log_loss(probability)};
  const double threshold =
      columns == 1 ? best_threshold(options.threshold, probability.col(1), evidence.indicator(1), evidence.weight)
                   : 0.5;
  return {std::make_shared<Calibrate>(std::move(maps), threshold, report), upstream.view, std::move(status)};
}

namespace {

/// ln odds above those of the threshold; its sign is that of p - threshold even where rounding says otherwise.
double decision_value(const CalibrateMaps& maps, double s, double p, double threshold) {
  const double log_odds = maps.platt.empty() ? log_odds_of(p) : maps.platt[0].log_odds(s);
  const double value = log_odds - log_odds_of(threshold);
  return p >= threshold ? std::max(value, 0.0) : std::min(value, -std::numeric_limits<double>::min());
}

}  // namespace

Prediction Calibrate::revised(Prediction before, const Batch&, const Context& context) const {
  const Matrix score = decision_scores(before);
  const Index columns = columns_of(maps_);
  if (score.cols() != columns) internal_error("calibrate: {} decision values, fitted on {}", score.cols(), columns);
  Prediction prediction;
  prediction.index.resize(at(score.rows()));
  prediction.probability.resize(score.rows(), columns == 1 ? 2 : columns);
  if (columns == 1) prediction.score.resize(score.rows(), 1);
  parallel_rows(score.rows(), context, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      auto p = prediction.probability.row(row);
      class_probabilities(maps_, versus_rest(score.row(row).transpose()), p);
      Index best = 0;
      if (columns > 1) {
        p.maxCoeff(&best);
      } else {
        best = p[1] >= threshold_ ? 1 : 0;
        prediction.score(row, 0) = decision_value(maps_, score(row, 0), p[1], threshold_);
      }
      prediction.index[at(row)] = static_cast<std::int32_t>(best);
    }
  });
  return prediction;
}

Method calibrate_method() {
  return make_follower<CalibrateOptions, Calibrate::fit, Calibrate::load>(
      {.name = "calibrate",
       .family = Family::learn,
       .summary =
           "Turns the decision values of the preceding learner into probabilities, calibrated on held-out domains.",
       .when = "when probabilities are read as such, behind a learner whose probabilities are off in new domains.",
       .example = "impute | scale | svm | calibrate",
       .citation = "platt1999",
       .routes = {{Route::streamed}},
       .learns = Learns::labels});
}

}  // namespace ecotone
