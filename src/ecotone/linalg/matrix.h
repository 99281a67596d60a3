#pragma once

#include <Eigen/Core>

#include "ecotone/base/index.h"

namespace ecotone {

/// Row-major double, n x d, as in NumPy: the one matrix type.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// A writable view of a matrix or of a block of one; rows need not be contiguous.
using MatrixView = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
/// A read-only view; binds to matrices, blocks and maps without copying.
using ConstMatrixView = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
/// A read-only view that can be stored and returned: a pointer, sizes and the row stride.
using ConstMatrixMap = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

using VectorView = Eigen::Ref<Vector>;
using ConstVectorView = Eigen::Ref<const Vector>;

}  // namespace ecotone
