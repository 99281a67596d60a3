#include "ecotone/linalg/lower_inverse.h"

#include <cblas.h>

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"

namespace ecotone {
namespace {

constexpr Index inverse_strip = 256;

/// Columns `first` .. first + width - 1 of W = L^-1 from the top: W_ii = L_ii^-1, W_i = -L_ii^-1 sum_k L_ik W_k.
void invert_strip(const Matrix& l, Matrix& w, Index first, Index width) {
  const Index n = l.rows();
  const int stride = static_cast<int>(n);
  for (Index i = first; i < n; i += inverse_strip) {
    const int height = static_cast<int>(std::min(inverse_strip, n - i));
    double* const here = w.data() + i * n + first;
    if (i == first) {
      for (Index d = 0; d < width; ++d) here[d * n + d] = 1;
    } else {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, height, static_cast<int>(width),
                  static_cast<int>(i - first), -1.0, l.data() + i * n + first, stride, w.data() + first * n + first,
                  stride, 0.0, here, stride);
    }
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, height, static_cast<int>(width), 1.0,
                l.data() + i * n + i, stride, here, stride);
  }
}

}  // namespace

Matrix lower_inverse(const Matrix& lower, const Context& context) {
  if (lower.rows() != lower.cols())
    internal_error("lower_inverse: a matrix of {} x {} is not square", lower.rows(), lower.cols());
  prepare_blas();
  const Index n = lower.rows();
  Matrix w = Matrix::Zero(n, n);
  context.parallel((n + inverse_strip - 1) / inverse_strip, [&](Index s) {
    invert_strip(lower, w, s * inverse_strip, std::min(inverse_strip, n - s * inverse_strip));
  });
  return w;
}

}  // namespace ecotone
