#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A (re + i im)_j = (real + i imag)_j (re + i im)_j: eigenvectors of length 1 as columns. Conjugate pairs are
/// adjacent, the one with positive imaginary part first.
struct GeneralEigen {
  Vector real;
  Vector imag;
  Matrix re;
  Matrix im;
};

/// All eigenpairs of a square matrix that need not be symmetric, in no particular order. Data error `non_finite`.
GeneralEigen general_eigen(const Matrix& a, const Context& context);

}  // namespace ecotone
