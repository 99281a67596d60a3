#pragma once

#include "ecotone/solve/linear/linear.h"

namespace ecotone {

/// Refuses what cannot be fitted; called in this order, they refuse in the order that `fit_linear` states.
void check_shapes(const LinearProblem& problem);
void check_finite(const LinearProblem& problem, const Context& context);
/// Labels, weights and classes. Returns the sum of the weights.
double check_labels(const LinearProblem& problem);

/// Risk and KKT residual of given scores (in the loss's outputs), in the units of the features.
struct Optimality {
  double risk = 0;
  double kkt = 0;
  double scale = 0;  ///< the size that the gradient has at the best constant
};
/// `part` multiplies the loss.
Optimality optimality_of(const LinearProblem& problem, const Loss& loss, const LinearScores& scores, double part,
                         const Context& context);

}  // namespace ecotone
