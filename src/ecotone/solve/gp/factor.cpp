#include "ecotone/solve/gp/factor.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/kernels/rbf.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr double rank_tolerance = 1e-12;  // relative to the largest eigenvalue of H'A^-1 H

Vector inverses(const GpProblem& problem) {
  if (problem.weight.empty()) return Vector::Ones(problem.y.rows());
  return Eigen::Map<const Vector>(problem.weight.data(), std::ssize(problem.weight)).cwiseInverse();
}

}  // namespace

Vector gp_offset(GpMean mean, ConstMatrixView y, std::span<const double> weight) {
  if (mean == GpMean::zero) return Vector::Zero(y.cols());
  if (weight.empty()) return y.colwise().mean().transpose();
  const Eigen::Map<const Vector> w(weight.data(), std::ssize(weight));
  return y.transpose() * (w / w.sum());
}

Matrix gp_inverse_root(const Matrix& s, const Context& context) {
  const SymmetricEigen eigen = symmetric_eigen(s, context);
  Index rank = 0;
  while (rank < s.rows() && eigen.values[rank] > rank_tolerance * eigen.values[0]) ++rank;
  return eigen.vectors.leftCols(rank) * eigen.values.head(rank).cwiseSqrt().cwiseInverse().asDiagonal();
}

GpTargets::GpTargets(const GpProblem& problem)
    : basis(problem.mean, problem.inputs),
      offset(gp_offset(problem.mean, problem.y, problem.weight)),
      y(problem.y.rowwise() - offset.transpose()),
      h(basis.of(problem.inputs, problem.y.rows())),
      inverse_weight(inverses(problem)) {}

Matrix gp_covariance(const GpProblem& problem, const GpParameters& parameters, double jitter, const Context& context) {
  const Index n = problem.rows.size();
  const auto bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(double);
  require_memory(bytes, problem.who, fmt::format("the covariance of {} rows", n), "use fewer rows or a low rank");
  Matrix a(n, n);
  prefer_large_pages(a.data(), bytes);
  const GpTiles tiles = problem.rows.tiles(parameters.sigma);
  const LowerTiles lower(n);
  context.parallel(lower.count(), [&](Index t) {
    const auto tile = lower.at(t);
    auto block = a.block(tile.i, tile.j, tile.rows, tile.cols);
    tiles(tile.i, tile.j, block);
    block *= parameters.amplitude;
    if (!tile.diagonal()) return;
    for (Index i = 0; i < tile.rows; ++i) {
      const double weight = problem.weight.empty() ? 1.0 : problem.weight[at(tile.i + i)];
      block(i, i) += parameters.noise / weight + jitter;
    }
  });
  return a;
}

std::optional<GpFit> factor_gp(Matrix covariance, const GpTargets& targets, const GpParameters& parameters,
                               const Context& context) {
  std::optional<Cholesky> factor = Cholesky::factor(std::move(covariance), context);
  if (!factor) return std::nullopt;
  const Index n = targets.y.rows();
  const Index q = targets.y.cols();
  Matrix half = factor->solve_lower(targets.y, context);
  GpFit fit{parameters, targets.basis,      targets.offset, Matrix(targets.h.cols(), q),
            Matrix(),   std::move(*factor), Matrix(),       Matrix()};
  Matrix residual = targets.y;
  if (targets.h.cols() > 0) {
    // beta = (H'A^-1 H)^+ H'A^-1 Y
    fit.basis_half = fit.factor.solve_lower(targets.h, context);
    fit.basis_root = gp_inverse_root(gram(fit.basis_half, context), context);
    const Matrix right = transpose_product(fit.basis_half, half, context);
    fit.beta = fit.basis_root * (fit.basis_root.transpose() * right);
    half -= product(fit.basis_half, fit.beta, context);
    residual -= product(targets.h, fit.beta, context);
  }
  fit.alpha = fit.factor.solve(std::move(residual), context);
  // ln p(Y) = -1/2 tr((Y - M)'A^-1 (Y - M)) - outputs/2 (ln det A + n ln 2 pi)
  fit.log_likelihood = -0.5 * half.squaredNorm() -
                       0.5 * static_cast<double>(q) *
                           (fit.factor.log_determinant() + static_cast<double>(n) * std::log(2 * std::numbers::pi));
  return fit;
}

}  // namespace ecotone
