#pragma once

#include <Eigen/Core>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Row-major single precision: for filters with a bounded error and for models trained by noisy steps, never for
/// statistics.
using SingleMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SingleVector = Eigen::VectorXf;
using SingleView = Eigen::Ref<SingleMatrix, 0, Eigen::OuterStride<>>;
using ConstSingleView = Eigen::Ref<const SingleMatrix, 0, Eigen::OuterStride<>>;

/// C = A B, on the calling thread: for use inside a block. Each entry is a sum of a.cols() rounded products, added in
/// an unspecified order that depends on the sizes alone.
void multiply(ConstSingleView a, ConstSingleView b, SingleView c);

/// C = A B', as above.
void multiply_by_transpose(ConstSingleView a, ConstSingleView b, SingleView c);

/// C = keep C + factor A'B, as above.
void add_transpose_product(ConstSingleView a, ConstSingleView b, float factor, float keep, SingleView c);

}  // namespace ecotone
