#include "ecotone/kernels/landmark_kernel.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/kernels/kernel_rows.h"
#include "ecotone/linalg/exponential.h"
#include "ecotone/linalg/near.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {
namespace {

/// v(c) = (scale v(c) + coef0)^degree
void to_power(const Kernel& kernel, double* __restrict values, Index count) {
  for (Index c = 0; c < count; ++c) values[c] = power(kernel.scale * values[c] + kernel.coef0, kernel.degree);
}

}  // namespace

LandmarkKernel::LandmarkKernel(const Kernel& kernel, Vector origin, ConstMatrixView landmarks)
    : kernel_(kernel), origin_(std::move(origin)) {
  check_kernel(kernel);
  if (origin_.size() != landmarks.cols())
    internal_error("landmarks: {} columns, an origin of {}", landmarks.cols(), origin_.size());
  if (kernel.kind == KernelKind::poly) origin_.setZero();
  landmarks_ = landmarks.rowwise() - origin_.transpose();
  if (kernel.kind == KernelKind::laplacian) columns_ = landmarks_.transpose();
  if (kernel.kind == KernelKind::rbf) norms_ = squared_norms(landmarks_);
}

void LandmarkKernel::distances(ConstMatrixView x, Index first, MatrixView k) const {
  // ||x - z||^2 = -2 x.z + ||x||^2 + ||z||^2
  multiply_rows_by_transpose(-2.0, x, landmarks_.middleRows(first, k.cols()), 0.0, k);
  const Vector norms_of_x = squared_norms(x);
  const double* const norms = norms_.data() + first;
  for (Index i = 0; i < k.rows(); ++i) {
    double* const row = k.data() + i * k.outerStride();
    const double norm = norms_of_x[i];
    if (!add_norms(norm, norms, row, k.cols())) continue;
    for (Index j = 0; j < k.cols(); ++j) {
      if (must_take_differences(row[j], norm + norms[j]))
        row[j] = squared_distance(x.row(i).data(), landmarks_.row(first + j).data(), cols());
    }
  }
}

void LandmarkKernel::block(ConstMatrixView x, Index first, MatrixView k, Matrix& centred) const {
  if (x.cols() != cols() || k.rows() != x.rows() || first < 0 || first + k.cols() > size())
    internal_error("landmarks: a block of {} x {} for {} from {} of {} landmarks of {} columns", x.rows(), x.cols(),
                   k.cols(), first, size(), cols());
  if (k.size() == 0) return;
  centred = x.rowwise() - origin_.transpose();
  if (kernel_.kind == KernelKind::rbf) {
    distances(centred, first, k);
  } else if (kernel_.kind == KernelKind::laplacian) {
    k.setZero();
  } else {
    multiply_rows_by_transpose(1.0, centred, landmarks_.middleRows(first, k.cols()), 0.0, k);
  }
  for (Index i = 0; i < k.rows(); ++i) {
    double* const row = k.data() + i * k.outerStride();
    switch (kernel_.kind) {
      case KernelKind::rbf:
        exp_of_negative(0.5 / kernel_.sigma / kernel_.sigma, row, k.cols());
        break;
      case KernelKind::laplacian:
        for (Index f = 0; f < cols(); ++f)
          add_differences(centred(i, f), columns_.row(f).data() + first, row, k.cols());
        exp_of_negative(1 / kernel_.sigma, row, k.cols());
        break;
      case KernelKind::linear:
        break;
      case KernelKind::poly:
        to_power(kernel_, row, k.cols());
        break;
    }
  }
}

Vector LandmarkKernel::diagonal(ConstMatrixView x) const {
  return kernel_diagonal(kernel_, x.rowwise() - origin_.transpose());
}

}  // namespace ecotone
