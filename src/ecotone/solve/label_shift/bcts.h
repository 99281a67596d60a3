#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/measure/row_weights.h"

namespace ecotone {

/// Probabilities below it count as this large before their logarithm is taken.
inline constexpr double smallest_input = 1e-12;

struct BctsOptions {
  double ridge = 1e-3;  ///< keeps the map near the identity
  bool bias = true;     ///< false: temperature scaling
  const char* who = "bcts";
};

/// Bias-corrected temperature scaling (alexandari2020): p -> softmax(a ln p + b) with sum b = 0 and a = 1 /
/// temperature.
struct Bcts {
  double a = 1;
  Vector bias;
  double loss = 0;  ///< weighted mean log loss, without the penalty
  bool converged = false;

  /// Higher probabilities mean lower ones: what a model learned is reversed, and nothing can be calibrated.
  bool reversed() const { return a <= 0; }
  /// Calibrated probabilities of rows x classes.
  Matrix calibrated(ConstMatrixView probability) const;
};

/// Minimises sum w (-ln p_cal[label]) / sum w + ridge / 2 ((a - 1)^2 + |b|^2), which is convex, by Newton's method from
/// the identity. Data errors: `empty_data`, `shape_mismatch`, `non_finite`, `zero_weights`, `one_class`, and
/// `separable` where no minimum exists (without a ridge).
Bcts fit_bcts(ConstMatrixView probability, std::span<const std::int32_t> label, RowWeights weight,
              const BctsOptions& options = {});

/// The ridge for rows of these weights: a firmer one where effective rows are few for the classes.
double ridge_for(const std::vector<double>& weight, Index classes);

}  // namespace ecotone
