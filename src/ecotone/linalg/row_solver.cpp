#include "ecotone/linalg/row_solver.h"

#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/base/lanes.h"
#include "ecotone/base/simd.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {
namespace {

constexpr double safe_condition = 1e3;

/// x <- L^-1 x for each row x.
template <bool fused>
[[gnu::always_inline]] inline void solve_each(const double* lower, Index stride, Index width, double* rows,
                                              Index row_stride, Index count) {
  for (Index r = 0; r < count; ++r) {
    double* const x = rows + r * row_stride;
    for (Index i = 0; i < width; ++i) {
      const double* const l = lower + i * stride;
      lanes::Four sum = {}, left, right;
      double rest = 0;
      Index k = 0;
      for (; k + 4 <= i; k += 4) {
        lanes::load(l + k, left);
        lanes::load(x + k, right);
        lanes::add_product<fused>(left, right, sum);
      }
      for (; k < i; ++k) lanes::add_product<fused>(l[k], x[k], rest);
      x[i] = (x[i] - (((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest)) / l[i];
    }
  }
}

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
  for (Index j = 0; j < size(); j += panel) {
    const Index width = std::min(panel, size() - j);
    auto part = rows.middleCols(j, width);
    // B_J <- (B_J - X_<J L_J,<J') L_JJ^-T
    if (j > 0) multiply_rows_by_transpose(-1.0, rows.leftCols(j), factor_.block(j, 0, width, j), 1.0, part);
    if (inverted_[at(j / panel)] != 0) {
      const Matrix right_hand_side = part;
      multiply_rows_by_transpose(1.0, right_hand_side, factor_.block(j, j, width, width), 0.0, part);
    } else {
      run_fused<solve_each<true>, solve_each<false>>(factor_.data() + j * size() + j, size(), width, part.data(),
                                                     part.outerStride(), part.rows());
    }
  }
}

}  // namespace ecotone
