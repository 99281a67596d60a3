#include "ecotone/linalg/single.h"

#include <cblas.h>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"

namespace ecotone {
namespace {

/// C = keep C + factor op(A) op(B); `inner` is the common size.
void sgemm(CBLAS_TRANSPOSE of_a, ConstSingleView a, CBLAS_TRANSPOSE of_b, ConstSingleView b, Index inner, float factor,
           float keep, SingleView c) {
  if (c.size() == 0) return;
  if (inner == 0) {
    c *= keep;
    return;
  }
  prepare_blas();
  cblas_sgemm(CblasRowMajor, of_a, of_b, static_cast<int>(c.rows()), static_cast<int>(c.cols()),
              static_cast<int>(inner), factor, a.data(), static_cast<int>(a.outerStride()), b.data(),
              static_cast<int>(b.outerStride()), keep, c.data(), static_cast<int>(c.outerStride()));
}

}  // namespace

void multiply(ConstSingleView a, ConstSingleView b, SingleView c) {
  if (a.cols() != b.rows() || c.rows() != a.rows() || c.cols() != b.cols()) {
    internal_error("multiply: {} x {} times {} x {} into {} x {}", a.rows(), a.cols(), b.rows(), b.cols(), c.rows(),
                   c.cols());
  }
  sgemm(CblasNoTrans, a, CblasNoTrans, b, a.cols(), 1.0F, 0.0F, c);
}

void multiply_by_transpose(ConstSingleView a, ConstSingleView b, SingleView c) {
  if (a.cols() != b.cols() || c.rows() != a.rows() || c.cols() != b.rows()) {
    internal_error("multiply_by_transpose: {} x {} times the transpose of {} x {} into {} x {}", a.rows(), a.cols(),
                   b.rows(), b.cols(), c.rows(), c.cols());
  }
  sgemm(CblasNoTrans, a, CblasTrans, b, a.cols(), 1.0F, 0.0F, c);
}

void add_transpose_product(ConstSingleView a, ConstSingleView b, float factor, float keep, SingleView c) {
  if (a.rows() != b.rows() || c.rows() != a.cols() || c.cols() != b.cols()) {
    internal_error("add_transpose_product: the transpose of {} x {} times {} x {} into {} x {}", a.rows(), a.cols(),
                   b.rows(), b.cols(), c.rows(), c.cols());
  }
  sgemm(CblasTrans, a, CblasNoTrans, b, a.rows(), factor, keep, c);
}

}  // namespace ecotone
