#include "ecotone/linalg/row_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "ecotone/linalg/row_solver.h"
#include "linalg/support.h"

namespace ecotone {
namespace row_product_test {

TEST(RowProduct, IsTheProduct) {
  for (const Index rows : {1, 3, 8, 130}) {
    for (const Index inner : {0, 1, 7, 300}) {
      for (const Index cols : {1, 2, 8, 21}) {
        const Matrix a = random_matrix(rows, inner, 1), b = random_matrix(inner, cols, 2);
        const Matrix begin = random_matrix(rows, cols, 3), bt = b.transpose();
        const Matrix expected = a * b;
        Matrix c = begin, sum = begin, of_transpose = begin;
        multiply_rows(a, b, c);
        add_row_products(a, b, sum);
        multiply_rows_by_transpose(-2.0, a, bt, 0.5, of_transpose);
        const double small = 1e-13 * (1 + static_cast<double>(inner));
        EXPECT_LT((c - expected).norm(), small * (1 + expected.norm())) << rows << " " << inner << " " << cols;
        EXPECT_LT((sum - begin - expected).norm(), small * (1 + expected.norm()));
        EXPECT_LT((of_transpose - 0.5 * begin + 2 * expected).norm(), small * (1 + expected.norm()));
        EXPECT_TRUE(same_bytes(row_products(a, b, with_threads(3)), c));
      }
    }
  }
  const Matrix a = random_matrix(5, 11, 4);
  EXPECT_LT((squared_norms(a) - a.rowwise().squaredNorm()).norm(), 1e-13);
  EXPECT_NEAR(squared_distance(a.row(1).data(), a.row(3).data(), 11), (a.row(1) - a.row(3)).squaredNorm(), 1e-13);
}

/// The result of any rows that are asked together holds the bytes of each row asked alone.
template <class Compute>
void expect_single_rows(const Matrix& a, const Compute& compute) {
  const Matrix all = compute(a);
  for (const Index first : {0, 1, 5}) {
    for (const Index rows : {1, 2, 3, 4, 7, 8, 9, 31, 200}) {
      const Matrix some = compute(a.middleRows(first, rows));
      EXPECT_TRUE(same_bytes(some, Matrix(all.middleRows(first, rows)))) << first << " " << rows;
    }
  }
}

TEST(RowProduct, ARowDoesNotDependOnTheOthers) {
  for (const Index inner : {3, 20, 50, 301}) {
    const Matrix a = random_matrix(211, inner, 5);
    for (const Index cols : {1, 3, 33}) {
      const Matrix b = random_matrix(inner, cols, 6), bt = b.transpose();
      expect_single_rows(a, [&](const Matrix& rows) {
        Matrix c(rows.rows(), cols);
        multiply_rows(rows, b, c);
        return c;
      });
      expect_single_rows(a, [&](const Matrix& rows) {
        Matrix c = Matrix::Ones(rows.rows(), cols);
        multiply_rows_by_transpose(-1.0, rows, bt, 1.0, c);
        return c;
      });
    }
    expect_single_rows(a, [](const Matrix& rows) { return Matrix(squared_norms(rows)); });
  }
}

TEST(RowProduct, ASolvedRowDoesNotDependOnTheOthers) {
  for (const double smallest : {1.0, 1e-5}) {  // inverted blocks, and blocks that are solved
    Matrix lower = random_matrix(150, 150, 7).triangularView<Eigen::Lower>();
    lower *= 0.05;
    for (Index i = 0; i < 150; ++i) lower(i, i) = i % 2 == 0 ? 1.0 : smallest;
    const RowSolver solver(lower);
    expect_single_rows(random_matrix(211, 150, 8), [&](Matrix rows) {
      solver.solve(rows);
      return rows;
    });
  }
}

}  // namespace row_product_test
}  // namespace ecotone
