#include "ecotone/linalg/row_product.h"

#include <algorithm>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/tile_product.h"

namespace ecotone {
namespace {

constexpr Index cached_values = Index{1} << 15;  // of A, read again for each panel of B

Index panels_of(Index cols) { return (cols + panel_cols - 1) / panel_cols; }

/// B in panels of 8 columns, the last one filled up with zeros; `entry(k, j)` is an entry of B.
template <class Entry>
std::vector<double> packed(Index rows, Index cols, const Entry& entry) {
  std::vector<double> panels(at(panels_of(cols) * rows * panel_cols), 0.0);
  double* to = panels.data();
  for (Index first = 0; first < cols; first += panel_cols) {
    const Index width = std::min(panel_cols, cols - first);
    for (Index k = 0; k < rows; ++k, to += panel_cols)
      for (Index j = 0; j < width; ++j) to[j] = entry(k, first + j);
  }
  return panels;
}

/// C = alpha A B + keep C, B in panels.
void multiply_panels(double alpha, ConstMatrixView a, const std::vector<double>& panels, double keep, MatrixView c) {
  const Index inner = a.cols();
  const Index at_once = std::max<Index>(8, cached_values / std::max<Index>(1, inner) / 8 * 8);
  std::vector<double> sums(at(std::min(at_once, a.rows()) * panel_cols));
  for (Index first = 0; first < a.rows(); first += at_once) {
    const Index rows = std::min(at_once, a.rows() - first);
    for (Index p = 0; p < panels_of(c.cols()); ++p) {
      std::fill_n(sums.begin(), rows * panel_cols, 0.0);
      add_tile_product(a.middleRows(first, rows), panels.data() + p * inner * panel_cols, sums.data());
      const Index width = std::min(panel_cols, c.cols() - p * panel_cols);
      for (Index i = 0; i < rows; ++i) {
        double* const to = c.data() + (first + i) * c.outerStride() + p * panel_cols;
        const double* const from = sums.data() + i * panel_cols;
        for (Index j = 0; j < width; ++j) to[j] = keep == 0 ? alpha * from[j] : keep * to[j] + alpha * from[j];
      }
    }
  }
}

/// Loops of Eigen begin where memory is aligned, which depends on the row; this one begins with the first value.
template <class Value>
double sum_of_squares(Index count, const Value& value) {
  double sum[4] = {};
  Index j = 0;
  for (; j + 4 <= count; j += 4)
    for (Index k = 0; k < 4; ++k) sum[k] += value(j + k) * value(j + k);
  for (; j < count; ++j) sum[0] += value(j) * value(j);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void multiply_all(ConstMatrixView a, ConstMatrixView b, double keep, MatrixView c) {
  if (a.cols() != b.rows() || c.rows() != a.rows() || c.cols() != b.cols())
    internal_error("multiply_rows: {} x {} times {} x {} into {} x {}", a.rows(), a.cols(), b.rows(), b.cols(),
                   c.rows(), c.cols());
  if (c.size() == 0) return;
  multiply_panels(1.0, a, packed(b.rows(), b.cols(), [&](Index k, Index j) { return b(k, j); }), keep, c);
}

}  // namespace

void multiply_rows(ConstMatrixView a, ConstMatrixView b, MatrixView c) {
  if (c.cols() != 1) return multiply_all(a, b, 0, c);
  const Matrix column = b;  // packed: then its loop is over single rows
  multiply(a, column, c);
}

Matrix row_products(ConstMatrixView a, ConstMatrixView b, const Context& context) {
  constexpr Index strip = 256;
  Matrix c(a.rows(), b.cols());
  context.parallel((a.rows() + strip - 1) / strip, [&](Index s) {
    const Index rows = std::min(strip, a.rows() - s * strip);
    multiply_rows(a.middleRows(s * strip, rows), b, c.middleRows(s * strip, rows));
  });
  return c;
}

void add_row_products(ConstMatrixView a, ConstMatrixView b, MatrixView c) { multiply_all(a, b, 1, c); }

void multiply_rows_by_transpose(double alpha, ConstMatrixView a, ConstMatrixView b, double keep, MatrixView c) {
  if (a.cols() != b.cols() || c.rows() != a.rows() || c.cols() != b.rows())
    internal_error("multiply_rows_by_transpose: {} x {} and {} x {} into {} x {}", a.rows(), a.cols(), b.rows(),
                   b.cols(), c.rows(), c.cols());
  if (c.size() == 0) return;
  multiply_panels(alpha, a, packed(b.cols(), b.rows(), [&](Index k, Index j) { return b(j, k); }), keep, c);
}

Vector squared_norms(ConstMatrixView a) {
  Vector norms(a.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    const double* const row = a.data() + i * a.outerStride();
    norms[i] = sum_of_squares(a.cols(), [row](Index j) { return row[j]; });
  }
  return norms;
}

double squared_distance(const double* x, const double* y, Index cols) {
  return sum_of_squares(cols, [x, y](Index j) { return x[j] - y[j]; });
}

}  // namespace ecotone
