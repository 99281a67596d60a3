#include "ecotone/linalg/distances.h"

#include <cblas.h>

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"

namespace ecotone {
namespace {

constexpr Index tile = 256;
// Below this part of ||x||^2 + ||y||^2 the product form has lost more than 4 digits: take differences.
constexpr double near = 1e-4;

Index parts(Index size) { return (size + tile - 1) / tile; }

/// Rows moved to a common origin, and their squared lengths.
struct Centred {
  Matrix rows;
  Vector norms;

  Centred(ConstMatrixView x, const Eigen::RowVectorXd& origin) : rows(x.rowwise() - origin), norms(x.rows()) {
    for (Index i = 0; i < x.rows(); ++i) norms[i] = rows.row(i).squaredNorm();
  }
};

/// D of rows [i, i + h) of X and [j, j + w) of Y.
void distance_tile(const Centred& x, const Centred& y, Index i, Index j, MatrixView d) {
  const Index cols = x.rows.cols();
  // -2 X Y'
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(d.rows()), static_cast<int>(d.cols()),
              static_cast<int>(cols), -2.0, x.rows.data() + i * cols, static_cast<int>(cols), y.rows.data() + j * cols,
              static_cast<int>(cols), 0.0, d.data(), static_cast<int>(d.outerStride()));
  for (Index r = 0; r < d.rows(); ++r) {
    const double norm = x.norms[i + r];
    for (Index c = 0; c < d.cols(); ++c) {
      const double scale = norm + y.norms[j + c];
      const double value = d(r, c) + scale;
      d(r, c) = value > near * scale ? value : (x.rows.row(i + r) - y.rows.row(j + c)).squaredNorm();
    }
  }
}

}  // namespace

Matrix squared_distances(ConstMatrixView x, ConstMatrixView y, const Context& context) {
  if (x.cols() != y.cols()) internal_error("squared_distances: {} and {} columns", x.cols(), y.cols());
  use_one_blas_thread();
  Matrix d = Matrix::Zero(x.rows(), y.rows());
  if (d.size() == 0 || x.cols() == 0) return d;
  const Eigen::RowVectorXd origin = (x.colwise().sum() + y.colwise().sum()) / static_cast<double>(x.rows() + y.rows());
  const Centred cx(x, origin);
  const Centred cy(y, origin);
  const Index across = parts(y.rows());
  context.parallel(parts(x.rows()) * across, [&](Index t) {
    const Index i = t / across * tile;
    const Index j = t % across * tile;
    distance_tile(cx, cy, i, j, d.block(i, j, std::min(tile, x.rows() - i), std::min(tile, y.rows() - j)));
  });
  return d;
}

Matrix squared_distances(ConstMatrixView x, const Context& context) {
  use_one_blas_thread();
  const Index n = x.rows();
  Matrix d = Matrix::Zero(n, n);
  if (n == 0 || x.cols() == 0) return d;
  const Centred cx(x, x.colwise().mean());
  const Index across = parts(n);
  context.parallel(across * across, [&](Index t) {
    const Index i = t / across * tile;
    const Index j = t % across * tile;
    if (j > i) return;
    distance_tile(cx, cx, i, j, d.block(i, j, std::min(tile, n - i), std::min(tile, n - j)));
  });
  // One triangle decides: also inside the diagonal tiles.
  context.parallel(across, [&](Index t) {
    const Index first = t * tile;
    const Index last = std::min(n, first + tile);
    for (Index i = first; i < last; ++i) {
      for (Index j = i + 1; j < n; ++j) d(i, j) = d(j, i);
    }
  });
  return d;
}

}  // namespace ecotone
