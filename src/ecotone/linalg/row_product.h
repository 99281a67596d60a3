#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Products for prediction: a row of the result depends on its row of A and on B alone, to the last digit. BLAS adds in
/// another order in the rows at the edge of a matrix, so that an answer would depend on which rows are asked together.
/// On the calling thread, for use inside a block, where no context is given.
namespace ecotone {

/// C = A B.
void multiply_rows(ConstMatrixView a, ConstMatrixView b, MatrixView c);

/// A B, on all threads.
Matrix row_products(ConstMatrixView a, ConstMatrixView b, const Context& context);

/// C += A B.
void add_row_products(ConstMatrixView a, ConstMatrixView b, MatrixView c);

/// C = alpha A B' + keep C.
void multiply_rows_by_transpose(double alpha, ConstMatrixView a, ConstMatrixView b, double keep, MatrixView c);

/// The sum of the squares of each row.
Vector squared_norms(ConstMatrixView a);

/// ||x - y||^2 of two rows.
double squared_distance(const double* x, const double* y, Index cols);

}  // namespace ecotone
