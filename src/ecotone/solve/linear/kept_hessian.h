#pragma once

#include <memory>
#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/linear/lbfgs.h"
#include "ecotone/solve/linear/standardised.h"

namespace ecotone {

/// The inverse of a Hessian 2 diag(penalty) + Z'CZ, factored once and kept for later fits on nearly the same rows. With
/// fewer rows than columns it is I + F F' that is factored, F = C^(1/2) Z L^(-1/2) and L the diagonal:
///   H^-1 = L^(-1/2) (I - F' (I + F F')^-1 F) L^(-1/2).
/// Directions without a penalty, such as the offset, then get a small one: this is a preconditioner.
class KeptHessian {
 public:
  /// `curvature` has an entry of C for each row. Empty if it has no factor. Only for dense designs.
  static std::optional<KeptHessian> of(const Standardised& design, const Vector& curvature, const Vector& penalty,
                                       const Context& context);
  /// About H^-1 v.
  Matrix solve(const Matrix& v, const Context& context) const;

 private:
  KeptHessian(Cholesky factor, Vector root, Matrix rows)
      : factor_(std::move(factor)), root_(std::move(root)), rows_(std::move(rows)) {}

  Cholesky factor_;
  Vector root_;  ///< L^(-1/2); empty: the factor is that of H
  Matrix rows_;  ///< F
};

/// What a fit leaves to the next one on a few more rows: its coordinates (standardised.h), and the Hessian there.
struct LinearCurvature {
  Vector mean;
  Vector scale;
  Index rows = 0;  ///< that they were measured on
  double l2 = 0;
  std::shared_ptr<const KeptHessian> hessian;  ///< null: none yet, or it is worn
  CurvaturePairs pairs;                        ///< what later fits have learned beside it
  int fresh = 0;                               ///< iterations of the fit that made it
  int excess = 0;                              ///< iterations beyond these of later fits
};

}  // namespace ecotone
