#include "ecotone/linalg/distances.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/near.h"

namespace ecotone {
namespace {

constexpr Index tile_side = DistanceTiles::side;
constexpr Index typical_rows = 255;

Index parts(Index size) { return (size + tile_side - 1) / tile_side; }

/// Appends column j at evenly spaced rows.
void add_some(ConstMatrixView x, Index j, std::vector<double>& values) {
  const Index count = std::min(x.rows(), typical_rows);
  for (Index i = 0; i < count; ++i) {
    const double value = x(i * x.rows() / count, j);
    if (std::isfinite(value)) values.push_back(value);
  }
}

/// The median, the lower of two middle values: a value that occurs, so that rows equal to it are exactly 0 away.
double lower_median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Vector typical_row_of(ConstMatrixView x, ConstMatrixView y) {
  if (x.cols() != y.cols()) internal_error("squared_distances: {} and {} columns", x.cols(), y.cols());
  Vector origin(x.cols());
  std::vector<double> values;
  for (Index j = 0; j < x.cols(); ++j) {
    values.clear();
    add_some(x, j, values);
    add_some(y, j, values);
    origin[j] = lower_median(values);
  }
  return origin;
}

}  // namespace

Vector typical_row(ConstMatrixView x) { return typical_row_of(x, Matrix(0, x.cols())); }

DistanceTiles::Centred::Centred(ConstMatrixView x, const Vector& origin)
    : rows(x.rowwise() - origin.transpose()), norms(x.rows()) {
  for (Index i = 0; i < x.rows(); ++i) norms[i] = rows.row(i).squaredNorm();
}

DistanceTiles::DistanceTiles(ConstMatrixView x) : x_(x, typical_row(x)) { prepare_blas(); }

DistanceTiles::DistanceTiles(ConstMatrixView x, ConstMatrixView y) : DistanceTiles(x, y, typical_row_of(x, y)) {}

DistanceTiles::DistanceTiles(ConstMatrixView x, ConstMatrixView y, const Vector& origin)
    : x_(x, origin), y_(Centred(y, origin)) {
  prepare_blas();
}

void DistanceTiles::tile(Index i, Index j, MatrixView d) const {
  const Centred& other = y();
  const Index width = x_.rows.cols();
  if (width == 0 || d.size() == 0) {
    d.setZero();
    return;
  }
  // -2 X Y'
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(d.rows()), static_cast<int>(d.cols()),
              static_cast<int>(width), -2.0, x_.rows.data() + i * width, static_cast<int>(width),
              other.rows.data() + j * width, static_cast<int>(width), 0.0, d.data(), static_cast<int>(d.outerStride()));
  for (Index r = 0; r < d.rows(); ++r) {
    double* const row = d.data() + r * d.outerStride();
    const double norm = x_.norms[i + r];
    if (!add_norms(norm, other.norms.data() + j, row, d.cols())) continue;
    for (Index c = 0; c < d.cols(); ++c) {
      if (must_take_differences(row[c], norm + other.norms[j + c]))
        row[c] = (x_.rows.row(i + r) - other.rows.row(j + c)).squaredNorm();
    }
  }
}

Matrix squared_distances(ConstMatrixView x, ConstMatrixView y, const Context& context) {
  const DistanceTiles tiles(x, y);
  Matrix d = Matrix::Zero(x.rows(), y.rows());
  if (d.size() == 0 || x.cols() == 0) return d;
  const Index across = parts(y.rows());
  context.parallel(parts(x.rows()) * across, [&](Index t) {
    const Index i = t / across * tile_side;
    const Index j = t % across * tile_side;
    tiles.tile(i, j, d.block(i, j, std::min(tile_side, x.rows() - i), std::min(tile_side, y.rows() - j)));
  });
  return d;
}

Matrix squared_distances(ConstMatrixView x, const Context& context) {
  const DistanceTiles tiles(x);
  const Index n = x.rows();
  Matrix d = Matrix::Zero(n, n);
  if (n == 0 || x.cols() == 0) return d;
  const Index across = parts(n);
  context.parallel(across * across, [&](Index t) {
    const Index i = t / across * tile_side;
    const Index j = t % across * tile_side;
    if (j > i) return;
    tiles.tile(i, j, d.block(i, j, std::min(tile_side, n - i), std::min(tile_side, n - j)));
  });
  // One triangle decides, also inside the diagonal tiles.
  context.parallel(across, [&](Index t) {
    const Index first = t * tile_side;
    const Index last = std::min(n, first + tile_side);
    for (Index i = first; i < last; ++i) {
      for (Index j = i + 1; j < n; ++j) d(i, j) = d(j, i);
    }
  });
  return d;
}

}  // namespace ecotone
