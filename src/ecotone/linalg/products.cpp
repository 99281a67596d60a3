#include "ecotone/linalg/products.h"

#include <cblas.h>

#include <algorithm>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/lanes.h"
#include "ecotone/base/simd.h"
#include "ecotone/linalg/blas.h"

namespace ecotone {
namespace {

constexpr Index product_tile = 256;
constexpr Index block_rows = 512;
// With at least this many result tiles there is work for every thread without splitting the rows.
constexpr Index enough_tiles = 16;

Index parts(Index size, Index part) { return (size + part - 1) / part; }

// Matrix times vector by our own loops: OpenBLAS takes a process-wide lock in every such call, for which many threads
// with small blocks would queue.

using lanes::Four;

[[gnu::always_inline]] inline Four four_at(const double* from) {
  Four values;
  lanes::load(from, values);
  return values;
}

/// The products of `count` rows of x with w.
template <bool fused, int count>
[[gnu::always_inline]] inline void some_dots(const double* x, Index stride, Index cols, const double* w, double* out,
                                             Index step) {
  Four sum[count] = {};
  Index j = 0;
  for (; j + 4 <= cols; j += 4) {
    const Four v = four_at(w + j);
    for (int r = 0; r < count; ++r) lanes::add_product<fused>(four_at(x + r * stride + j), v, sum[r]);
  }
  for (int r = 0; r < count; ++r) {
    double rest = 0;
    for (Index k = j; k < cols; ++k) lanes::add_product<fused>(x[r * stride + k], w[k], rest);
    out[r * step] = ((sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3])) + rest;
  }
}

/// out = X w
template <bool fused>
[[gnu::always_inline]] inline void row_dots(const double* x, Index stride, Index rows, Index cols, const double* w,
                                            double* out, Index step) {
  Index i = 0;
  for (; i + 4 <= rows; i += 4) some_dots<fused, 4>(x + i * stride, stride, cols, w, out + i * step, step);
  for (; i < rows; ++i) some_dots<fused, 1>(x + i * stride, stride, cols, w, out + i * step, step);
}

/// sum += X'v, four rows at a time.
[[gnu::always_inline]] inline void add_weighted_rows(const double* x, Index stride, Index rows, Index cols,
                                                     const double* v, Index step, double* __restrict sum) {
  Index i = 0;
  for (; i + 4 <= rows; i += 4) {
    const double* const r = x + i * stride;
    const double a = v[i * step], b = v[(i + 1) * step], c = v[(i + 2) * step], d = v[(i + 3) * step];
    for (Index j = 0; j < cols; ++j)
      sum[j] += (a * r[j] + b * r[stride + j]) + (c * r[2 * stride + j] + d * r[3 * stride + j]);
  }
  for (; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) sum[j] += v[i * step] * x[i * stride + j];
}

bool is_packed(ConstMatrixView column) { return column.rows() <= 1 || column.outerStride() == 1; }

/// C += A'B, or C = A'B.
void multiply_transposed(ConstMatrixView a, ConstMatrixView b, double keep, MatrixView c) {
  if (c.size() == 0) return;
  if (a.rows() == 0) {
    if (keep == 0) c.setZero();
    return;
  }
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(c.rows()), static_cast<int>(c.cols()),
              static_cast<int>(a.rows()), 1.0, a.data(), static_cast<int>(a.outerStride()), b.data(),
              static_cast<int>(b.outerStride()), keep, c.data(), static_cast<int>(c.outerStride()));
}

}  // namespace

Matrix product(ConstMatrixView a, ConstMatrixView b, const Context& context) {
  if (a.cols() != b.rows()) internal_error("product: {} columns times {} rows", a.cols(), b.rows());
  prepare_blas();
  Matrix c = Matrix::Zero(a.rows(), b.cols());
  if (c.size() == 0 || a.cols() == 0) return c;
  context.parallel(parts(a.rows(), product_tile), [&](Index i) {
    const Index first = i * product_tile;
    const Index rows = std::min(product_tile, a.rows() - first);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), static_cast<int>(b.cols()),
                static_cast<int>(a.cols()), 1.0, a.data() + first * a.outerStride(), static_cast<int>(a.outerStride()),
                b.data(), static_cast<int>(b.outerStride()), 0.0, c.data() + first * c.cols(),
                static_cast<int>(c.cols()));
  });
  return c;
}

Matrix transpose_product(ConstMatrixView a, ConstMatrixView b, const Context& context) {
  if (a.rows() != b.rows()) internal_error("transpose_product: {} and {} rows", a.rows(), b.rows());
  prepare_blas();
  const Index down = parts(a.cols(), product_tile);
  const Index across = parts(b.cols(), product_tile);
  if (down * across < enough_tiles) {
    return sum_blocks(parts(a.rows(), block_rows), context, Matrix(Matrix::Zero(a.cols(), b.cols())),
                      [&](Matrix& sum, Index block) {
                        const Index first = block * block_rows;
                        const Index rows = std::min(block_rows, a.rows() - first);
                        add_transpose_product(a.middleRows(first, rows), b.middleRows(first, rows), sum);
                      });
  }
  Matrix c(a.cols(), b.cols());
  context.parallel(down * across, [&](Index t) {
    const Index i = t / across * product_tile;
    const Index j = t % across * product_tile;
    const Index rows = std::min(product_tile, a.cols() - i);
    const Index cols = std::min(product_tile, b.cols() - j);
    multiply_transposed(a.middleCols(i, rows), b.middleCols(j, cols), 0.0, c.block(i, j, rows, cols));
  });
  return c;
}

void add_gram(ConstMatrixView a, MatrixView sum) {
  if (a.size() == 0) return;
  prepare_blas();
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(a.cols()), static_cast<int>(a.rows()), 1.0,
              a.data(), static_cast<int>(a.outerStride()), 1.0, sum.data(), static_cast<int>(sum.outerStride()));
}

void add_transpose_product(ConstMatrixView a, ConstMatrixView b, MatrixView sum) {
  prepare_blas();
  if (b.cols() == 1 && is_packed(sum))
    return run_wide<add_weighted_rows>(a.data(), a.outerStride(), a.rows(), a.cols(), b.data(), b.outerStride(),
                                       sum.data());
  if (a.cols() == 1)
    return run_wide<add_weighted_rows>(b.data(), b.outerStride(), b.rows(), b.cols(), a.data(), a.outerStride(),
                                       sum.data());
  multiply_transposed(a, b, 1.0, sum);
}

void multiply(ConstMatrixView a, ConstMatrixView b, MatrixView c) {
  if (a.cols() != b.rows() || c.rows() != a.rows() || c.cols() != b.cols())
    internal_error("multiply: {} x {} times {} x {} into {} x {}", a.rows(), a.cols(), b.rows(), b.cols(), c.rows(),
                   c.cols());
  prepare_blas();
  if (c.size() == 0) return;
  if (a.cols() == 0) {
    c.setZero();
    return;
  }
  if (c.cols() == 1 && is_packed(b))
    return run_fused<row_dots<true>, row_dots<false>>(a.data(), a.outerStride(), a.rows(), a.cols(), b.data(), c.data(),
                                                      c.outerStride());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(c.rows()), static_cast<int>(c.cols()),
              static_cast<int>(a.cols()), 1.0, a.data(), static_cast<int>(a.outerStride()), b.data(),
              static_cast<int>(b.outerStride()), 0.0, c.data(), static_cast<int>(c.outerStride()));
}

void multiply_by_transpose(ConstMatrixView a, ConstMatrixView b, MatrixView c) {
  if (a.cols() != b.cols() || c.rows() != a.rows() || c.cols() != b.rows())
    internal_error("multiply_by_transpose: {} x {} and {} x {} into {} x {}", a.rows(), a.cols(), b.rows(), b.cols(),
                   c.rows(), c.cols());
  prepare_blas();
  if (c.size() == 0) return;
  if (a.cols() == 0) {
    c.setZero();
    return;
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(c.rows()), static_cast<int>(c.cols()),
              static_cast<int>(a.cols()), 1.0, a.data(), static_cast<int>(a.outerStride()), b.data(),
              static_cast<int>(b.outerStride()), 0.0, c.data(), static_cast<int>(c.outerStride()));
}

void product_by_transpose(double alpha, ConstMatrixView a, ConstMatrixView b, double keep, MatrixView c) {
  if (a.cols() != b.cols() || c.rows() != a.rows() || c.cols() != b.rows())
    internal_error("product_by_transpose: {} x {} and {} x {}", a.rows(), a.cols(), b.rows(), b.cols());
  if (c.size() == 0) return;
  if (a.cols() == 0) {
    if (keep == 0) c.setZero();
    return;
  }
  prepare_blas();
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(c.rows()), static_cast<int>(c.cols()),
              static_cast<int>(a.cols()), alpha, a.data(), static_cast<int>(a.outerStride()), b.data(),
              static_cast<int>(b.outerStride()), keep, c.data(), static_cast<int>(c.outerStride()));
}

void mirror_lower(MatrixView a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < i; ++j) a(j, i) = a(i, j);
  }
}

Matrix gram(ConstMatrixView a, const Context& context) {
  prepare_blas();
  const Index tiles = parts(a.cols(), product_tile);
  const Index pairs = tiles * (tiles + 1) / 2;
  Matrix c;
  if (pairs < enough_tiles) {
    c = sum_blocks(parts(a.rows(), block_rows), context, Matrix(Matrix::Zero(a.cols(), a.cols())),
                   [&](Matrix& sum, Index block) {
                     const Index first = block * block_rows;
                     add_gram(a.middleRows(first, std::min(block_rows, a.rows() - first)), sum);
                   });
  } else {
    c = Matrix::Zero(a.cols(), a.cols());
    context.parallel(tiles * tiles, [&](Index t) {
      const Index i = t / tiles * product_tile;
      const Index j = t % tiles * product_tile;
      if (j > i) return;
      const Index rows = std::min(product_tile, a.cols() - i);
      const Index cols = std::min(product_tile, a.cols() - j);
      if (i == j) {
        add_gram(a.middleCols(i, rows), c.block(i, i, rows, rows));
      } else {
        multiply_transposed(a.middleCols(i, rows), a.middleCols(j, cols), 0.0, c.block(i, j, rows, cols));
      }
    });
  }
  mirror_lower(c);
  return c;
}

}  // namespace ecotone
