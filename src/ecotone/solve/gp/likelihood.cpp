#include "ecotone/solve/gp/likelihood.h"

#include <cmath>

#include "ecotone/base/blocks.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/rbf.h"
#include "ecotone/linalg/lower_inverse.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/gp/factor.h"

namespace ecotone {
namespace {

/// 1/2 sum_ij (alpha alpha' - outputs A^-1)_ij (dA / d ln sigma)_ij by tiles; A^-1 = W'W is never stored. k = exp(-t /
/// sigma^p) has dk / d ln sigma = -p k ln k.
double slope_by_sigma(const GpProblem& problem, const GpFit& fit, const Matrix& w, const Context& context) {
  const double power = problem.rows.kernel().kind == KernelKind::rbf ? 2 : 1;
  const auto outputs = static_cast<double>(fit.alpha.cols());
  const GpTiles tiles = problem.rows.tiles(fit.parameters.sigma);
  const Index n = w.rows();
  const LowerTiles lower(n);
  const double sum = sum_blocks(lower.count(), context, 0.0, [&](double& into, Index t) {
    const auto at = lower.at(t);
    Matrix inverse = Matrix::Zero(at.rows, at.cols);
    // W is lower triangular: rows above i are 0 in column i.
    add_transpose_product(w.block(at.i, at.i, n - at.i, at.rows), w.block(at.i, at.j, n - at.i, at.cols), inverse);
    Matrix k(at.rows, at.cols);
    tiles(at.i, at.j, k);
    const auto along = fit.alpha.middleRows(at.i, at.rows) * fit.alpha.middleRows(at.j, at.cols).transpose();
    const Matrix weight = along - outputs * inverse;
    const double tile = -(weight.array() * k.array() * k.array().log()).sum();
    into += at.diagonal() ? tile : 2 * tile;
  });
  return 0.5 * fit.parameters.amplitude * power * sum;
}

}  // namespace

std::optional<GpLikelihood> gp_likelihood(const GpProblem& problem, const GpParameters& parameters,
                                          const Context& context) {
  check_gp(problem, parameters);
  const auto n = static_cast<std::size_t>(problem.rows.size());
  require_memory(2 * n * n * sizeof(double), problem.who, fmt::format("the likelihood of {} rows", n),
                 "use fewer rows or fixed parameters");
  const GpTargets targets(problem);
  const std::optional<GpFit> fit =
      factor_gp(gp_covariance(problem, parameters, 0, context), targets, parameters, context);
  if (!fit) return std::nullopt;
  const Matrix w = lower_inverse(fit->factor.lower(), context);
  // tr(A^-1 / W) and alpha' / W alpha
  const Vector& inverse = targets.inverse_weight;
  const double trace = w.colwise().squaredNorm().dot(inverse);
  const double squared = fit->alpha.rowwise().squaredNorm().dot(inverse);
  const auto outputs = static_cast<double>(problem.y.cols());
  GpLikelihood result;
  result.value = fit->log_likelihood;
  // dA / d ln noise = noise / W
  const double white = parameters.noise * (squared - outputs * trace);
  result.by_noise = 0.5 * white;
  // dA / d ln amplitude = A - noise / W; alpha'A alpha = alpha'(Y - M)
  double explained = fit->alpha.cwiseProduct(targets.y).sum();
  if (targets.h.cols() > 0) explained -= fit->alpha.cwiseProduct(product(targets.h, fit->beta, context)).sum();
  result.by_amplitude = 0.5 * (explained - outputs * static_cast<double>(n) - white);
  if (problem.rows.has_width()) result.by_sigma = slope_by_sigma(problem, *fit, w, context);
  return result;
}

}  // namespace ecotone
