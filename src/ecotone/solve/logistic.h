#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The smooth logistic risk (59.12) with alpha = 0, binary or softmax (59.85):
///   rho ||w||^2 + (1/A) sum_n a_n loss_n,  A = rows (count) or sum of weights (sum); the offset is not penalised.
struct LogisticProblem {
  Features x;
  std::span<const std::int32_t> cls;  ///< class of each row, 0 .. classes-1; in a binary problem 1 is the class +1
  Index classes = 2;
  ConstVectorView weight;  ///< per row; empty: all 1
  double l2 = 0;           ///< rho
  bool offset = true;
  bool norm_by_weights = false;  ///< A = sum of weights
  int max_iterations = 200;
};

/// An optimum. Binary: one row of weights. Softmax: one row per class, rows and offsets sum to zero.
struct LogisticFit {
  Matrix weights;
  Vector offset;
  double risk = 0;
  double kkt = 0;  ///< largest absolute entry of the gradient of the risk, in the units of the given features
  int iterations = 0;
  bool converged = false;
};

/// Solves to full accuracy (Newton in standardised coordinates; Cholesky for few columns, preconditioned conjugate
/// gradients for many or sparse). Data errors by name, in this order: shape_mismatch, empty_data, non_finite,
/// bad_label, negative_weight, zero_weights, one_class, empty_class (one of several classes has no weight, so its
/// offset has no optimum), separable (only without a penalty; also quasi-complete separation). Option error
/// `bad_option` for a bad l2.
LogisticFit fit_logistic(const LogisticProblem& problem, const Context& context);

}  // namespace ecotone
