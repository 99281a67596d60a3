#pragma once

#include <functional>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A V = V diag(values), with values in descending order; in each column of V the entry of largest magnitude is
/// positive (the first one, if several are equal to 8 digits).
struct SymmetricEigen {
  Vector values;
  Matrix vectors;
};

/// Fixes the signs of the columns as in SymmetricEigen.
void fix_signs(Matrix& vectors);

/// All eigenpairs of a symmetric matrix (only its lower triangle is read). Data error `non_finite`.
SymmetricEigen symmetric_eigen(Matrix a, const Context& context);

/// y = A x for a symmetric A that is never formed.
using SymmetricOperator = std::function<void(ConstVectorView x, VectorView y)>;

/// The k largest eigenpairs of an operator, and whether all of them reached full accuracy.
struct LargestEigen {
  Vector values;
  Matrix vectors;  ///< n x k, signs as in SymmetricEigen
  bool converged = false;
};

/// The k (1 <= k <= n) algebraically largest eigenpairs of an n x n operator by restarted Lanczos from a fixed start;
/// solved densely when k is not much smaller than n. Data error `non_finite`.
LargestEigen largest_eigenpairs(const SymmetricOperator& multiply, Index n, Index k, const Context& context);

}  // namespace ecotone
