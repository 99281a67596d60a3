#include "ecotone/linalg/eigen.h"

#include <Spectra/SymEigsSolver.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"
#include "ecotone/linalg/blas.h"

extern "C" void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
                        double* work, const int* lwork, int* iwork, const int* liwork, int* info);

namespace ecotone {
namespace {

/// Writes the eigenvalues, ascending, to `values` and the eigenvectors to the rows of `a`.
void decompose(Matrix& a, Vector& values) {
  const int n = static_cast<int>(a.rows());
  int info = 0;
  const int ask = -1;
  double work_size = 0;
  int iwork_size = 0;
  // LAPACK is column-major: our lower triangle is its upper one.
  dsyevd_("V", "U", &n, a.data(), &n, values.data(), &work_size, &ask, &iwork_size, &ask, &info);
  const int lwork = static_cast<int>(work_size);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(iwork_size));
  dsyevd_("V", "U", &n, a.data(), &n, values.data(), work.data(), &lwork, iwork.data(), &iwork_size, &info);
  if (info != 0) internal_error("symmetric_eigen: dsyevd of size {} gave {}", n, info);
}

/// The interface that Spectra requires of an operator.
class SpectraOperator {
 public:
  using Scalar = double;
  SpectraOperator(const SymmetricOperator& multiply, Index n) : multiply_(multiply), n_(n) {}
  Index rows() const { return n_; }
  Index cols() const { return n_; }
  void perform_op(const double* x, double* y) const {
    multiply_(Eigen::Map<const Vector>(x, n_), Eigen::Map<Vector>(y, n_));
  }

 private:
  const SymmetricOperator& multiply_;
  Index n_;
};

LargestEigen dense_eigenpairs(const SymmetricOperator& multiply, Index n, Index k, const Context& context) {
  Matrix a(n, n);
  Vector column(n);
  for (Index j = 0; j < n; ++j) {
    multiply(Vector::Unit(n, j), column);
    a.row(j) = column.transpose();
  }
  const SymmetricEigen all = symmetric_eigen(std::move(a), context);
  return {all.values.head(k), all.vectors.leftCols(k), true};
}

}  // namespace

void fix_signs(Matrix& vectors) {
  for (Index j = 0; j < vectors.cols(); ++j) {
    const double largest = vectors.col(j).cwiseAbs().maxCoeff();
    Index i = 0;
    // The first entry within 1e-8 of the largest magnitude becomes positive.
    while (std::abs(vectors(i, j)) < (1.0 - 1e-8) * largest) ++i;
    if (vectors(i, j) < 0) vectors.col(j) = -vectors.col(j);
  }
}

SymmetricEigen symmetric_eigen(Matrix a, const Context& context) {
  if (a.rows() != a.cols()) internal_error("symmetric_eigen: a matrix of {} x {} is not square", a.rows(), a.cols());
  context.check_cancelled();
  prepare_blas();
  const Index n = a.rows();
  SymmetricEigen result{Vector(n), Matrix(n, n)};
  if (n == 0) return result;
  for (Index i = 0; i < n; ++i) {
    if (!a.row(i).head(i + 1).allFinite()) data_error("non_finite", "symmetric_eigen: row {} is not finite", i + 1);
  }
  decompose(a, result.values);
  result.values.reverseInPlace();
  result.vectors = a.colwise().reverse().transpose();
  fix_signs(result.vectors);
  return result;
}

LargestEigen largest_eigenpairs(const SymmetricOperator& multiply, Index n, Index k, const Context& context) {
  if (k < 1 || k > n) internal_error("largest_eigenpairs: {} pairs of a matrix of {}", k, n);
  prepare_blas();
  const Index basis = std::max<Index>(2 * k + 1, 20);
  if (n <= 100 || 2 * basis > n) return dense_eigenpairs(multiply, n, k, context);

  SpectraOperator op(multiply, n);
  Spectra::SymEigsSolver<SpectraOperator> solver(op, k, basis);
  Random random(0, "linalg.largest_eigenpairs");
  Vector start(n);
  for (Index i = 0; i < n; ++i) start[i] = random.normal();
  // Spectra normalises A times the start; only the zero operator maps a random start to zero.
  Vector image(n);
  multiply(start, image);
  if (!image.allFinite()) data_error("non_finite", "largest_eigenpairs: the operator of size {} is not finite", n);
  if ((image.array() == 0).all()) return {Vector::Zero(k), Matrix::Identity(n, k), true};
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestAlge, 1000, 1e-12, Spectra::SortRule::LargestAlge);

  LargestEigen result{solver.eigenvalues(), solver.eigenvectors(), solver.info() == Spectra::CompInfo::Successful};
  fix_signs(result.vectors);
  return result;
}

}  // namespace ecotone
