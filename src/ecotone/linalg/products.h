#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Products over fixed tiles on all threads. The bytes of the results do not depend on the number of threads.
namespace ecotone {

/// A B.
Matrix product(ConstMatrixView a, ConstMatrixView b, const Context& context);

/// A'B. With few columns, summed over blocks of rows; with many, by tiles of the result.
Matrix transpose_product(ConstMatrixView a, ConstMatrixView b, const Context& context);

/// A'A, both triangles filled.
Matrix gram(ConstMatrixView a, const Context& context);

/// Adds A'A to the lower triangle of `sum`, on the calling thread: for use inside a block.
void add_gram(ConstMatrixView a, MatrixView sum);

/// Adds A'B to `sum`, on the calling thread: for use inside a block.
void add_transpose_product(ConstMatrixView a, ConstMatrixView b, MatrixView sum);

/// C = A B, on the calling thread: for use inside a block.
void multiply(ConstMatrixView a, ConstMatrixView b, MatrixView c);

/// C = A B', on the calling thread: for use inside a block.
void multiply_by_transpose(ConstMatrixView a, ConstMatrixView b, MatrixView c);

/// C = alpha A B' + keep C, on the calling thread: for use inside a block.
void product_by_transpose(double alpha, ConstMatrixView a, ConstMatrixView b, double keep, MatrixView c);

/// Copies the lower triangle onto the upper one.
void mirror_lower(MatrixView a);

}  // namespace ecotone
