#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/measure/row_weights.h"

namespace ecotone {

/// Probabilities are clipped to [smallest_probability, 1 - smallest_probability] before their logarithm is taken.
inline constexpr double smallest_probability = 1e-15;

/// Logistic regression of the truth on logit p, clipped: how the probabilities of positive rows would have to be
/// corrected. Fits with weights begin at those without, so that many similar ones take few steps each.
class Recalibration {
 public:
  /// `positive` holds 0 or 1.
  Recalibration(std::span<const std::uint8_t> positive, std::span<const double> probability);

  /// b of P(positive) = sigmoid(a + b logit p): 1 is right, below 1 the probabilities are too extreme. Undefined where
  /// no finite b is the best: with one class, one probability, or one that separates the classes.
  std::optional<double> slope(RowWeights weight = {}) const;
  /// Calibration in the large, a of P(positive) = sigmoid(a + logit p): 0 is right, below 0 the probabilities are too
  /// high. Undefined with one class.
  std::optional<double> intercept(RowWeights weight = {}) const;

 private:
  /// Log odds a + b logit p.
  struct Line {
    double a = 0;
    double b = 1;
  };
  enum class Free { both, intercept };
  /// The log-likelihood's gradient and curvature (its negative second derivatives).
  struct Slopes {
    double a = 0, b = 0;
    double aa = 0, ab = 0, bb = 0;
  };

  /// At a row: the truth minus the line's probability, and the curvature.
  struct Point {
    double rest;
    double curve;
  };
  /// Where fits begin: a line and its points.
  struct Start {
    Line line;
    std::vector<double> rest = {};
    std::vector<double> curve = {};
  };

  std::vector<std::uint8_t> positive_;
  std::vector<double> logit_;
  double largest_logit_ = 0;
  Start both_;
  Start intercept_;

  bool has_slope(RowWeights weight) const;
  bool has_intercept(RowWeights weight) const;
  Point at_line(const Line& line, std::size_t row) const;
  double log_likelihood(const Line& line, RowWeights weight) const;
  Start start_at(const Line& line) const;
  template <class PointOf>
  Slopes slopes(const PointOf& point_of, RowWeights weight) const;
  std::optional<Line> fit(Free free, const Start& start, RowWeights weight) const;
};

}  // namespace ecotone
