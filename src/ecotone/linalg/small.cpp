#include "ecotone/linalg/small.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace ecotone {

std::optional<Matrix> solve_definite(const Matrix& a, const Matrix& b, double tolerance) {
  const Eigen::LDLT<Eigen::MatrixXd> factor{Eigen::MatrixXd(a)};
  const Vector pivots = factor.vectorD();
  if (factor.info() != Eigen::Success || !pivots.allFinite()) return std::nullopt;
  if (!(pivots.minCoeff() > tolerance * pivots.cwiseAbs().maxCoeff())) return std::nullopt;
  return Matrix(factor.solve(Eigen::MatrixXd(b)));
}

Matrix solve_square(const Matrix& a, const Matrix& b) {
  return Eigen::MatrixXd(a).partialPivLu().solve(Eigen::MatrixXd(b));
}

Vector singular_values(const Matrix& a) {
  const Eigen::MatrixXd copy = a;
  return Eigen::JacobiSVD<Eigen::MatrixXd>(copy).singularValues();
}

}  // namespace ecotone
