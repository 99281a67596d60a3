#pragma once

#include <vector>

#include "ecotone/kernels/kernel.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// A support vector machine by the rows that have a coefficient: f(x) = sum_i beta_i k(x_i, x) + offset.
struct SupportVectors {
  Kernel kernel;
  Matrix rows;  ///< at least one; one with coefficient 0 where there is no support vector
  Vector coefficients;
  double offset = 0;
};

/// Which rows have a coefficient other than 0; the first where none has.
std::vector<Index> support_rows(ConstVectorView beta);
/// These rows of X, and their coefficients.
SupportVectors support_vectors(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, double offset);

/// Scores of all rows, a few blocks at a time.
Vector support_scores(const SupportVectors& machine, const Features& x, const Context& context);

/// Rows, coefficients, offset, kernel and sigma, as model files hold them.
void save_support_vectors(const SupportVectors& machine, StageState& state);
/// Checks everything.
SupportVectors load_support_vectors(const StageState& state, const Kernel& kernel, Index cols);

}  // namespace ecotone
