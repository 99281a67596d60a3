#pragma once

#include <cstddef>
#include <functional>

#include "ecotone/base/context.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A X for a symmetric A that is never formed and a few columns X.
using BlockOperator = std::function<Matrix(const Matrix& x)>;

/// The k (1 <= k <= n) algebraically largest eigenpairs of an n x n operator by restarted block Lanczos with full
/// orthogonalisation: for operators that are limited by memory bandwidth, where several columns cost little more than
/// one. If it reports convergence, residuals are at most `tolerance` times the largest eigenvalue. `start`, if given,
/// holds guesses of eigenvectors as columns. Solved densely when n is small. Data error `non_finite`.
LargestEigen largest_by_blocks(const BlockOperator& multiply, Index n, Index k, const Context& context,
                               const Matrix* start = nullptr, double tolerance = 1e-12);
/// Upper bound on the memory it needs, apart from the products.
std::size_t largest_by_blocks_bytes(Index n, Index k);

}  // namespace ecotone
