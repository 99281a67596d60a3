#pragma once

#include <cstdint>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A classifier of labels and a classifier of domains, learned jointly: the first `sources` rows of x are labelled, the
/// others are the target. With z = w'h + offset, s = v'h + domain offset, y and sigma = +1 or -1 (source: +1), it
/// minimises
///   J = (1/NS) sum_S a_n (NS/NT) e^{-s_n} ln(1 + e^{-y_n z_n}) + l2 ||w||^2
///       + lam [(1/(NS + NT)) sum ln(1 + e^{-sigma_n s_n}) + domain_l2 ||v||^2].
struct JointProblem {
  Features x;
  Index sources = 0;
  std::span<const std::int32_t> cls;  ///< of the source rows, 0 or 1; 1 is +1
  ConstVectorView weight;             ///< a_n of the source rows; empty: all 1
  double l2 = 0;
  double lam = 1;
  double domain_l2 = 0;
  bool offset = true;
  int max_iterations = 200;
  const char* who = "adapt.joint";
};

struct JointFit {
  Vector weights;
  double offset = 0;
  Vector domain_weights;
  double domain_offset = 0;
  double risk = 0;      ///< J
  double gradient = 0;  ///< largest entry, in standardised units
  int iterations = 0;
  bool converged = false;
  Vector log_weight;  ///< ln(NS/NT) - s at each source row
};

/// A local minimum, by Newton's method from the two-stage solution: v alone, then w with its weights. J is not convex:
/// the Hessian is shifted if it is not positive definite. Errors are those of `fit_linear`, and `empty_data` if there
/// are no source or no target rows.
JointFit fit_joint(const JointProblem& problem, const Context& context);

}  // namespace ecotone
