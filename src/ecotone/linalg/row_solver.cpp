#include "ecotone/linalg/row_solver.h"

#include <cblas.h>

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"

namespace ecotone {
namespace {

constexpr double safe_condition = 1e3;

int whole(Index i) { return static_cast<int>(i); }

}  // namespace

RowSolver::RowSolver(ConstMatrixView lower) : factor_(lower.triangularView<Eigen::Lower>()) {
  for (Index j = 0; j < size(); j += panel) {
    const Index width = std::min(panel, size() - j);
    auto block = factor_.block(j, j, width, width);
    const Matrix inverse = Matrix(block).triangularView<Eigen::Lower>().solve(Matrix::Identity(width, width));
    const auto norm = [](const Matrix& a) { return a.cwiseAbs().colwise().sum().maxCoeff(); };
    inverted_.push_back(norm(block) * norm(inverse) < safe_condition ? 1 : 0);
    if (inverted_.back() != 0) block = inverse;
  }
}

void RowSolver::solve(MatrixView rows) const {
  if (rows.cols() != size()) internal_error("row solver: {} columns for a factor of {}", rows.cols(), size());
  if (rows.size() == 0) return;
  prepare_blas();
  const int height = whole(rows.rows());
  const int stride = whole(rows.outerStride());
  const int side = whole(size());
  for (Index j = 0; j < size(); j += panel) {
    const int width = whole(std::min(panel, size() - j));
    const double* const factor = factor_.data() + j * size();
    // B_J <- (B_J - X_<J L_J,<J') L_JJ^-T
    if (j > 0)
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, height, width, whole(j), -1.0, rows.data(), stride, factor,
                  side, 1.0, rows.data() + j, stride);
    const auto multiply_or_solve = inverted_[at(j / panel)] != 0 ? cblas_dtrmm : cblas_dtrsm;
    multiply_or_solve(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, height, width, 1.0, factor + j,
                      side, rows.data() + j, stride);
  }
}

}  // namespace ecotone
