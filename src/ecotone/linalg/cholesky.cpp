#include "ecotone/linalg/cholesky.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"

extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

namespace ecotone {
namespace {

constexpr Index cholesky_tile = 256;
constexpr Index no_pivot = -1;

/// The tiles of a row-major matrix: where tile (i, j) starts and how large it is.
struct Tiles {
  double* data;
  Index rows;
  Index cols;

  Index down() const { return (rows + cholesky_tile - 1) / cholesky_tile; }
  Index across() const { return (cols + cholesky_tile - 1) / cholesky_tile; }
  int height(Index i) const { return static_cast<int>(std::min(cholesky_tile, rows - i * cholesky_tile)); }
  int width(Index j) const { return static_cast<int>(std::min(cholesky_tile, cols - j * cholesky_tile)); }
  int stride() const { return static_cast<int>(cols); }
  double* at(Index i, Index j) const { return data + i * cholesky_tile * cols + j * cholesky_tile; }
};

/// L_kk L_kk' = A_kk in place; returns the row of the tile whose pivot fails, or -1.
Index factor_tile(double* a, int n, int stride) {
  // LAPACK is column-major: our lower triangle is its upper one.
  int info = 0;
  dpotrf_("U", &n, a, &stride, &info);
  if (info > 0) return info - 1;
  for (Index i = 0; i < n; ++i) {
    if (!std::isfinite(a[i * stride + i])) return i;
  }
  return no_pivot;
}

/// A_ij -= L_ik L_jk' for the tile (i, j), i >= j > k.
void update_tile(const Tiles& a, Index i, Index j, Index k) {
  if (i == j) {
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, a.height(i), a.width(k), -1.0, a.at(i, k), a.stride(), 1.0,
                a.at(i, i), a.stride());
  } else {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, a.height(i), a.width(j), a.width(k), -1.0, a.at(i, k),
                a.stride(), a.at(j, k), a.stride(), 1.0, a.at(i, j), a.stride());
  }
}

/// Returns the first row whose pivot fails, or -1.
Index factor_tiles(const Tiles& a, const Context& context) {
  const Index n = a.down();
  for (Index k = 0; k < n; ++k) {
    const Index failed = factor_tile(a.at(k, k), a.height(k), a.stride());
    if (failed != no_pivot) return k * cholesky_tile + failed;
    const Index below = n - k - 1;
    // L_ik = A_ik L_kk'^-1
    context.parallel(below, [&](Index t) {
      const Index i = k + 1 + t;
      cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, a.height(i), a.width(k), 1.0,
                  a.at(k, k), a.stride(), a.at(i, k), a.stride());
    });
    context.parallel(below * (below + 1) / 2, [&](Index t) {
      // Tile t of the lower triangle, row by row.
      auto i = static_cast<Index>((std::sqrt(8.0 * static_cast<double>(t) + 1.0) - 1.0) / 2.0);
      while (i * (i + 1) / 2 > t) --i;
      while ((i + 1) * (i + 2) / 2 <= t) ++i;
      update_tile(a, k + 1 + i, k + 1 + t - i * (i + 1) / 2, k);
    });
  }
  return no_pivot;
}

enum class Side { lower, upper };

/// B_k = L_kk^-1 B_k, or L_kk'^-1 B_k.
void solve_tile(const Tiles& l, const Tiles& b, Index k, Index c, Side side) {
  const auto transpose = side == Side::lower ? CblasNoTrans : CblasTrans;
  if (b.cols == 1) {
    cblas_dtrsv(CblasRowMajor, CblasLower, transpose, CblasNonUnit, l.height(k), l.at(k, k), l.stride(), b.at(k, c), 1);
  } else {
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, b.height(k), b.width(c), 1.0, l.at(k, k),
                l.stride(), b.at(k, c), b.stride());
  }
}

/// B_i -= L_ik B_k (lower, i > k), or B_i -= L_ki' B_k (upper, i < k).
void eliminate_tile(const Tiles& l, const Tiles& b, Index i, Index k, Index c, Side side) {
  const bool down = side == Side::lower;
  const double* a = down ? l.at(i, k) : l.at(k, i);
  const auto transpose = down ? CblasNoTrans : CblasTrans;
  if (b.cols == 1) {
    cblas_dgemv(CblasRowMajor, transpose, down ? l.height(i) : l.height(k), down ? l.width(k) : l.width(i), -1.0, a,
                l.stride(), b.at(k, c), 1, 1.0, b.at(i, c), 1);
  } else {
    cblas_dgemm(CblasRowMajor, transpose, CblasNoTrans, b.height(i), b.width(c), b.height(k), -1.0, a, l.stride(),
                b.at(k, c), b.stride(), 1.0, b.at(i, c), b.stride());
  }
}

void solve_triangle(const Tiles& l, const Tiles& b, Side side, const Context& context) {
  const Index n = l.down();
  const Index columns = b.across();
  for (Index step = 0; step < n; ++step) {
    const Index k = side == Side::lower ? step : n - 1 - step;
    context.parallel(columns, [&](Index c) { solve_tile(l, b, k, c, side); });
    const Index rest = n - 1 - step;
    context.parallel(rest * columns, [&](Index t) {
      const Index i = side == Side::lower ? k + 1 + t / columns : t / columns;
      eliminate_tile(l, b, i, k, t % columns, side);
    });
  }
}

/// The view of a factor is only read; one type serves both sides of a solve.
Tiles tiles_of(const Matrix& a) { return {const_cast<double*>(a.data()), a.rows(), a.cols()}; }

void check_rows(Index rows, Index size) {
  if (rows != size) internal_error("cholesky: a right-hand side of {} rows for a matrix of {}", rows, size);
}

}  // namespace

std::optional<Cholesky> Cholesky::factor(Matrix a, const Context& context, Index* failed_pivot) {
  if (a.rows() != a.cols()) internal_error("cholesky: a matrix of {} x {} is not square", a.rows(), a.cols());
  prepare_blas();
  const Index failed = factor_tiles(tiles_of(a), context);
  if (failed_pivot) *failed_pivot = failed;
  if (failed != no_pivot) return std::nullopt;
  a.triangularView<Eigen::StrictlyUpper>().setZero();
  return Cholesky(std::move(a));
}

Matrix Cholesky::solve_lower(Matrix b, const Context& context) const {
  check_rows(b.rows(), size());
  solve_triangle(tiles_of(lower_), tiles_of(b), Side::lower, context);
  return b;
}

Cholesky Cholesky::of_lower(Matrix lower) {
  if (lower.rows() != lower.cols() || !(lower.diagonal().array() > 0).all())
    internal_error("cholesky: a matrix of {} x {} is not a factor", lower.rows(), lower.cols());
  lower.triangularView<Eigen::StrictlyUpper>().setZero();
  return Cholesky(std::move(lower));
}

Matrix Cholesky::solve(Matrix b, const Context& context) const {
  b = solve_lower(std::move(b), context);
  solve_triangle(tiles_of(lower_), tiles_of(b), Side::upper, context);
  return b;
}

Vector Cholesky::solve(Vector b, const Context& context) const {
  check_rows(b.size(), size());
  const Tiles column{b.data(), b.size(), 1};
  solve_triangle(tiles_of(lower_), column, Side::lower, context);
  solve_triangle(tiles_of(lower_), column, Side::upper, context);
  return b;
}

double Cholesky::log_determinant() const { return 2.0 * lower_.diagonal().array().log().sum(); }

}  // namespace ecotone
