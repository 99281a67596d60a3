#include "ecotone/linalg/row_solver.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/random.h"

namespace ecotone {
namespace row_solver_test {

Matrix normal_matrix(Index rows, Index cols, const char* name) {
  Random random(7, name);
  Matrix a(rows, cols);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = random.normal();
  return a;
}

TEST(RowSolver, SolvesForSizesAroundThePanel) {
  for (const Index size : {1, 63, 64, 65, 130}) {
    Matrix lower = 0.1 * normal_matrix(size, size, "lower");
    lower.diagonal().array() += 2.0;
    const Matrix x = normal_matrix(9, size, "x");
    const Matrix used = lower.triangularView<Eigen::Lower>();
    Matrix rows = x * used.transpose();
    // What stands above the diagonal is not read.
    RowSolver(lower).solve(rows);
    EXPECT_LT((rows - x).cwiseAbs().maxCoeff(), 1e-12) << size;
  }
}

TEST(RowSolver, LeavesNoResidualWhereTheFactorIsIllConditioned) {
  // Diagonal entries from 1 to 1e-7: the inverse alone would leave about 1e-9.
  constexpr Index size = 100;
  Matrix lower = normal_matrix(size, size, "lower").triangularView<Eigen::Lower>();
  for (Index i = 0; i < size; ++i) {
    const double scale = std::pow(10.0, -7.0 * static_cast<double>(i * 37 % size) / size);
    lower.row(i) *= scale / lower.row(i).norm();
    lower(i, i) = scale;
  }
  const Matrix b = normal_matrix(9, size, "b");
  Matrix rows = b;
  const RowSolver solver(lower);
  solver.solve(rows);
  const Matrix back = rows.cwiseAbs() * lower.transpose().cwiseAbs();
  EXPECT_LT(((rows * lower.transpose() - b).cwiseAbs().array() / back.array()).maxCoeff(), 1e-13);
}

}  // namespace row_solver_test
}  // namespace ecotone
