#pragma once

#include <memory>

#include "ecotone/solve/linear/linear.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

/// Reject what cannot be fitted; called in this order, they report errors in the order stated by `fit_linear`.
void check_shapes(const LinearProblem& problem);
void check_finite(const LinearProblem& problem, const Context& context);
/// Checks labels, weights and classes. Returns the sum of the weights.
double check_labels(const LinearProblem& problem);

/// The loss of the problem's rows; `norm` is A.
std::unique_ptr<Loss> make_loss(const LinearProblem& problem, double norm);

/// Risk and KKT residual of given scores (in the outputs of the loss), in the units of the features.
struct Optimality {
  double risk = 0;
  double kkt = 0;
  double scale = 0;  ///< size of the gradient at the best constant
};
/// `part` multiplies the loss.
Optimality optimality_of(const LinearProblem& problem, const Loss& loss, const LinearScores& scores, double part,
                         const Context& context);

}  // namespace ecotone
