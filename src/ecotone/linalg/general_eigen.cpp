#include "ecotone/linalg/general_eigen.h"

#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"

extern "C" void dgeev_(const char* jobvl, const char* jobvr, const int* n, double* a, const int* lda, double* wr,
                       double* wi, double* vl, const int* ldvl, double* vr, const int* ldvr, double* work,
                       const int* lwork, int* info);

namespace ecotone {

GeneralEigen general_eigen(const Matrix& a, const Context& context) {
  if (a.rows() != a.cols()) internal_error("general_eigen: a matrix of {} x {} is not square", a.rows(), a.cols());
  context.check_cancelled();
  prepare_blas();
  const Index size = a.rows();
  GeneralEigen result{Vector(size), Vector(size), Matrix::Zero(size, size), Matrix::Zero(size, size)};
  if (size == 0) return result;
  if (!a.allFinite()) data_error("non_finite", "general_eigen: a matrix of size {} is not finite", size);
  // LAPACK is column-major.
  Eigen::MatrixXd by_columns = a;
  Eigen::MatrixXd vectors(size, size);
  const int n = static_cast<int>(size);
  const int one = 1;
  const int ask = -1;
  int info = 0;
  double work_size = 0;
  const auto call = [&](double* work, const int* lwork) {
    dgeev_("N", "V", &n, by_columns.data(), &n, result.real.data(), result.imag.data(), nullptr, &one, vectors.data(),
           &n, work, lwork, &info);
    if (info != 0) internal_error("general_eigen: dgeev of size {} gave {}", n, info);
  };
  call(&work_size, &ask);
  const int lwork = static_cast<int>(work_size);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  call(work.data(), &lwork);
  // The vectors of a conjugate pair are u + i w and u - i w; LAPACK returns u and w as two columns.
  for (Index j = 0; j < size; ++j) {
    result.re.col(j) = vectors.col(j);
    if (!(result.imag[j] > 0) || j + 1 == size) continue;
    result.im.col(j) = vectors.col(j + 1);
    result.re.col(j + 1) = vectors.col(j);
    result.im.col(j + 1) = -vectors.col(j + 1);
    ++j;
  }
  return result;
}

}  // namespace ecotone
