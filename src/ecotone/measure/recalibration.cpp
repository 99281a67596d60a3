#include "ecotone/measure/recalibration.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/numbers.h"

namespace ecotone {

namespace {

constexpr int most_steps = 100;
constexpr double step_tolerance = 3e-5;  // Newton's steps square the error: the next one would be about 1e-9
// Curvature changes by at most exp(0.5) over a step that moves no log odds by more than 0.5, and exp(0.5) < 2: such a
// step always gains.
constexpr double safe_move = 0.5;

}  // namespace

Recalibration::Recalibration(std::span<const std::uint8_t> positive, std::span<const double> probability)
    : positive_(positive.begin(), positive.end()) {
  logit_.reserve(probability.size());
  for (const double each : probability) {
    const double p = std::clamp(each, smallest_probability, 1 - smallest_probability);
    logit_.push_back(std::log(p) - std::log1p(-p));
    largest_logit_ = std::max(largest_logit_, std::abs(logit_.back()));
  }
  both_ = intercept_ = start_at({});
  if (has_slope({})) both_ = start_at(fit(Free::both, both_, {}).value_or(Line{}));
  if (has_intercept({})) intercept_ = start_at(fit(Free::intercept, intercept_, {}).value_or(Line{}));
}

Recalibration::Start Recalibration::start_at(const Line& line) const {
  Start start{line, {}, {}};
  for (std::size_t i = 0; i < logit_.size(); ++i) {
    const Point point = at_line(line, i);
    start.rest.push_back(point.rest);
    start.curve.push_back(point.curve);
  }
  return start;
}

bool Recalibration::has_slope(RowWeights weight) const {
  double low[2] = {infinity, infinity};  // of negative and positive rows
  double high[2] = {-infinity, -infinity};
  for (std::size_t i = 0; i < logit_.size(); ++i) {
    if (weight_at(weight, i) == 0) continue;
    const std::size_t k = positive_[i];
    low[k] = std::min(low[k], logit_[i]);
    high[k] = std::max(high[k], logit_[i]);
  }
  // The two ranges overlap in more than a point; an empty one, which begins at infinity, overlaps with nothing.
  return high[0] > low[1] && high[1] > low[0];
}

bool Recalibration::has_intercept(RowWeights weight) const {
  double rows[2] = {0, 0};
  for (std::size_t i = 0; i < logit_.size(); ++i) rows[positive_[i]] += weight_at(weight, i);
  return rows[0] > 0 && rows[1] > 0;
}

Recalibration::Point Recalibration::at_line(const Line& line, std::size_t row) const {
  const double eta = line.a + line.b * logit_[row];
  const double small = std::exp(-std::abs(eta));
  const double share = 1 / (1 + small);
  return {positive_[row] - (eta >= 0 ? share : small * share), small * share * share};
}

template <class PointOf>
Recalibration::Slopes Recalibration::slopes(const PointOf& point_of, RowWeights weight) const {
  Slopes sum;
  for (std::size_t i = 0; i < logit_.size(); ++i) {
    const double w = weight_at(weight, i);
    if (w == 0) continue;
    const Point point = point_of(i);
    const double x = logit_[i];
    const double rest = w * point.rest;
    const double curve = w * point.curve;
    sum.a += rest;
    sum.b += rest * x;
    sum.aa += curve;
    sum.ab += curve * x;
    sum.bb += curve * x * x;
  }
  return sum;
}

double Recalibration::log_likelihood(const Line& line, RowWeights weight) const {
  double sum = 0;
  for (std::size_t i = 0; i < logit_.size(); ++i) {
    const double eta = line.a + line.b * logit_[i];
    // ln sigmoid(eta) or ln sigmoid(-eta)
    sum +=
        weight_at(weight, i) * (std::min(positive_[i] != 0 ? eta : -eta, 0.0) - std::log1p(std::exp(-std::abs(eta))));
  }
  return sum;
}

/// By Newton's method; long steps are halved until they gain. Empty if it does not converge.
std::optional<Recalibration::Line> Recalibration::fit(Free free, const Start& start, RowWeights weight) const {
  Line line = start.line;
  for (int k = 0; k < most_steps; ++k) {
    const auto known = [&](std::size_t i) { return Point{start.rest[i], start.curve[i]}; };
    const auto computed = [&](std::size_t i) { return at_line(line, i); };
    const Slopes here = k == 0 ? slopes(known, weight) : slopes(computed, weight);
    Line step{here.a / here.aa, 0};
    if (free == Free::both) {
      const double determinant = here.aa * here.bb - here.ab * here.ab;
      step = {(here.bb * here.a - here.ab * here.b) / determinant, (here.aa * here.b - here.ab * here.a) / determinant};
    }
    if (!std::isfinite(step.a) || !std::isfinite(step.b)) return {};
    const auto moved = [&](double length) { return Line{line.a + length * step.a, line.b + length * step.b}; };
    const double move = std::abs(step.a) + std::abs(step.b) * largest_logit_;
    double length = 1;
    if (move > safe_move) {
      const double value = log_likelihood(line, weight);
      while (length * move > safe_move && !(log_likelihood(moved(length), weight) >= value)) length /= 2;
    }
    const bool last = std::abs(step.a) <= step_tolerance * (1 + std::abs(line.a)) &&
                      std::abs(step.b) <= step_tolerance * (1 + std::abs(line.b));
    line = moved(length);
    if (last) return line;
  }
  return {};
}

std::optional<double> Recalibration::slope(RowWeights weight) const {
  if (!has_slope(weight)) return {};
  const auto line = fit(Free::both, both_, weight);
  return line ? std::optional(line->b) : std::nullopt;
}

std::optional<double> Recalibration::intercept(RowWeights weight) const {
  if (!has_intercept(weight)) return {};
  const auto line = fit(Free::intercept, intercept_, weight);
  return line ? std::optional(line->a) : std::nullopt;
}

}  // namespace ecotone
