#include "ecotone/solve/gp/left_out.h"

#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/lower_inverse.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/gp/factor.h"

namespace ecotone {
namespace {

Matrix rows_at(const Matrix& a, const std::vector<Index>& rows) {
  Matrix part(std::ssize(rows), a.cols());
  for (Index i = 0; i < part.rows(); ++i) part.row(i) = a.row(rows[at(i)]);
  return part;
}

Matrix columns_at(const Matrix& a, const std::vector<Index>& columns) {
  Matrix part(a.rows(), std::ssize(columns));
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < part.cols(); ++j) part(i, j) = a(i, columns[at(j)]);
  return part;
}

/// The quantities shared by all blocks.
struct Whole {
  Matrix inverse_lower;  ///< W, A^-1 = W'W
  Matrix basis;          ///< A^-1 H R
  Matrix alpha;          ///< P Y
  Vector of_one;         ///< A^-1 1, for the mean `average`
};

/// The average of y without a block, minus that of all rows.
Vector moved_average(const GpTargets& targets, const std::vector<Index>& block) {
  // Weights of all rows and of the block; Y has average 0 under them.
  double rest = targets.inverse_weight.cwiseInverse().sum();
  Vector sum = Vector::Zero(targets.y.cols());
  for (const Index i : block) {
    const double w = 1 / targets.inverse_weight[i];
    rest -= w;
    sum -= w * targets.y.row(i).transpose();
  }
  return sum / rest;
}

std::optional<Matrix> residuals(const Whole& whole, const GpTargets& targets, const std::vector<Index>& block,
                                bool average, const Context& context) {
  Matrix p = gram(columns_at(whole.inverse_lower, block), context);
  if (whole.basis.cols() > 0) {
    const Matrix q = rows_at(whole.basis, block);
    p -= q * q.transpose();
  }
  const std::optional<Cholesky> factor = Cholesky::factor(std::move(p), context);
  if (!factor) return std::nullopt;
  Matrix right = rows_at(whole.alpha, block);
  if (average) {
    const Vector moved = moved_average(targets, block);
    for (Index i = 0; i < right.rows(); ++i) right.row(i) -= whole.of_one[block[at(i)]] * moved.transpose();
  }
  return factor->solve(std::move(right), context);
}

}  // namespace

std::optional<std::vector<Matrix>> gp_left_out(const GpProblem& problem, const GpParameters& parameters,
                                               std::span<const std::vector<Index>> blocks, const Context& context) {
  check_gp(problem, parameters);
  const Index n = problem.rows.size();
  for (const std::vector<Index>& block : blocks)
    if (std::ssize(block) >= n) internal_error("gp: {} of {} rows are left out", block.size(), n);
  const auto bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(double);
  require_memory(3 * bytes, problem.who, fmt::format("cross-validation of {} rows", n), "use fewer rows");
  const GpTargets targets(problem);
  std::optional<GpFit> fit = factor_gp(gp_covariance(problem, parameters, 0, context), targets, parameters, context);
  if (!fit) return std::nullopt;
  Whole whole{lower_inverse(fit->factor.lower(), context), Matrix(n, 0), fit->alpha, Vector()};
  if (targets.h.cols() > 0) whole.basis = product(fit->factor.solve(targets.h, context), fit->basis_root, context);
  const bool average = problem.mean == GpMean::average;
  if (average) whole.of_one = fit->factor.solve(Vector(Vector::Ones(n)), context);
  std::vector<Matrix> result;
  for (const std::vector<Index>& block : blocks) {
    std::optional<Matrix> of_block = residuals(whole, targets, block, average, context);
    if (!of_block) return std::nullopt;
    result.push_back(std::move(*of_block));
  }
  return result;
}

}  // namespace ecotone
