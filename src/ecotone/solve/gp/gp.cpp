#include "ecotone/solve/gp/gp.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/landmark_kernel.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/row_product.h"
#include "ecotone/linalg/row_solver.h"
#include "ecotone/solve/gp/factor.h"

namespace ecotone {
namespace {

constexpr Index block_rows = 1024;
constexpr double first_jitter = 1e-12;  // relative to the mean diagonal
constexpr double last_jitter = 1.5e-6;

void check_finite(const char* who, const char* what, ConstMatrixView values) {
  for (Index i = 0; i < values.rows(); ++i)
    if (!values.row(i).allFinite()) data_error("non_finite", "{}: {} of row {} are not finite", who, what, i + 1);
}

void check_parameters(const GpProblem& p, const GpParameters& parameters) {
  if (!(parameters.amplitude > 0) || !std::isfinite(parameters.amplitude))
    option_error("bad_option", "{}: amplitude must be > 0, got {}", p.who, parameters.amplitude);
  if (!(parameters.noise >= 0) || !std::isfinite(parameters.noise))
    option_error("bad_option", "{}: noise must be >= 0, got {}", p.who, parameters.noise);
  if (p.rows.is_gram()) return;
  Kernel kernel = p.rows.kernel();
  kernel.sigma = parameters.sigma;
  check_kernel(kernel);
}

/// The solver of rows is made once for all of them.
Vector variance_of(const GpFit& fit, const RowSolver& solver, ConstMatrixView cross, const Vector& diagonal,
                   ConstMatrixView inputs, const Context& context) {
  constexpr Index strip = 256;
  Matrix half = fit.parameters.amplitude * cross;
  context.parallel((half.rows() + strip - 1) / strip, [&](Index s) {
    solver.solve(half.middleRows(s * strip, std::min(strip, half.rows() - s * strip)));
  });
  Vector variance = fit.parameters.amplitude * diagonal - squared_norms(half);
  if (fit.basis.size() > 0) {
    // The uncertainty of beta: ||R'(h - H'A^-1 k)||^2
    const Matrix rest = fit.basis.of(inputs, diagonal.size()) - row_products(half, fit.basis_half, context);
    variance += squared_norms(row_products(rest, fit.basis_root, context));
  }
  return variance.cwiseMax(0.0);
}

/// k between rows (down) and the training rows (across).
Matrix cross_of(const LandmarkKernel& training, ConstMatrixView rows, const Context& context) {
  constexpr Index strip = 128;
  Matrix cross(rows.rows(), training.size());
  context.parallel((rows.rows() + strip - 1) / strip, [&](Index s) {
    const Index height = std::min(strip, rows.rows() - s * strip);
    Matrix centred;
    training.block(rows.middleRows(s * strip, height), cross.middleRows(s * strip, height), centred);
  });
  return cross;
}

void check_cross(const GpFit& fit, ConstMatrixView cross) {
  if (cross.cols() != fit.alpha.rows())
    data_error("shape_mismatch", "gp: kernel values of {} columns for {} training rows", cross.cols(),
               fit.alpha.rows());
}

}  // namespace

GpTiles GpRows::tiles(double sigma) const {
  if (gram_)
    return [values = ConstMatrixMap(values_.data(), values_.rows(), values_.cols(),
                                    Eigen::OuterStride<>(values_.outerStride()))](Index i, Index j, MatrixView k) {
      k = values.block(i, j, k.rows(), k.cols());
      // If only the lower triangle is valid, a tile on the diagonal must be completed.
      if (i == j) mirror_lower(k);
    };
  Kernel kernel = kernel_;
  kernel.sigma = sigma;
  return [tiles = KernelTiles(kernel, values_)](Index i, Index j, MatrixView k) { tiles.tile(i, j, k); };
}

Vector GpRows::diagonal() const { return gram_ ? Vector(values_.diagonal()) : kernel_diagonal(kernel_, values_); }

void check_gp(const GpProblem& p, const GpParameters& parameters) {
  check_parameters(p, parameters);
  const Index n = p.rows.size();
  if (p.y.rows() != n) data_error("shape_mismatch", "{}: {} rows of outputs for {} rows", p.who, p.y.rows(), n);
  if (p.rows.is_gram() && p.rows.values().cols() != n)
    data_error("shape_mismatch", "{}: a Gram matrix of {} x {} is not square", p.who, n, p.rows.values().cols());
  if (n == 0 || p.y.cols() == 0) data_error("empty_data", "{}: {} rows, {} outputs", p.who, n, p.y.cols());
  check_finite(p.who, "values", p.rows.values());
  check_finite(p.who, "outputs", p.y);
  if (!p.weight.empty() && p.weight.size() != at(n))
    data_error("shape_mismatch", "{}: {} weights for {} rows", p.who, p.weight.size(), n);
  for (const double w : p.weight)
    if (!(w > 0) || !std::isfinite(w)) data_error("bad_weight", "{}: weights must be > 0, got {}", p.who, w);
  if (p.mean != GpMean::linear) return;
  if (p.inputs.rows() != n)
    data_error("shape_mismatch", "{}: {} rows of mean inputs for {} rows", p.who, p.inputs.rows(), n);
  check_finite(p.who, "the mean inputs", p.inputs);
  if (p.inputs.cols() + 1 >= n)
    data_error("too_few_rows", "{}: a linear mean of {} columns needs more than {} rows", p.who, p.inputs.cols(), n);
}

GpFit fit_gp(const GpProblem& problem, const GpParameters& parameters, const Context& context) {
  check_gp(problem, parameters);
  const GpTargets targets(problem);
  const double diagonal = parameters.amplitude * problem.rows.diagonal().mean() + parameters.noise;
  for (double jitter = 0; jitter <= last_jitter * diagonal;
       jitter = jitter == 0 ? first_jitter * diagonal : 100 * jitter) {
    std::optional<GpFit> fit =
        factor_gp(gp_covariance(problem, parameters, jitter, context), targets, parameters, context);
    if (fit) {
      fit->jitter = jitter;
      if (jitter > 0)
        context.warn("jitter",
                     "{}: the covariance of the rows is not positive definite, so {:.2g} was added to the noise; set "
                     "noise > 0",
                     problem.who, jitter);
      return std::move(*fit);
    }
    if (!(diagonal > 0)) break;
  }
  data_error("not_positive_definite", "{}: the covariance of the rows is not positive definite; raise the noise",
             problem.who);
}

Matrix GpFit::mean(ConstMatrixView cross, ConstMatrixView inputs, const Context& context) const {
  check_cross(*this, cross);
  Matrix result = parameters.amplitude * row_products(cross, alpha, context);
  result.rowwise() += offset.transpose();
  if (basis.size() > 0) result += row_products(basis.of(inputs, cross.rows()), beta, context);
  return result;
}

Vector GpFit::variance(ConstMatrixView cross, const Vector& diagonal, ConstMatrixView inputs,
                       const Context& context) const {
  check_cross(*this, cross);
  if (diagonal.size() != cross.rows())
    data_error("shape_mismatch", "gp: {} values of k(x, x) for {} rows", diagonal.size(), cross.rows());
  return variance_of(*this, RowSolver(factor.lower()), cross, diagonal, inputs, context);
}

GpPrediction predict_gp(const GpFit& fit, const Kernel& kernel, ConstMatrixView x, ConstMatrixView z,
                        GpVariance variance, const Context& context) {
  if (x.rows() != fit.alpha.rows() || z.cols() != x.cols())
    data_error("shape_mismatch", "gp: {} training rows of {} columns for a fit of {} rows and new rows of {} columns",
               x.rows(), x.cols(), fit.alpha.rows(), z.cols());
  Kernel with_width = kernel;
  with_width.sigma = fit.parameters.sigma;
  const std::size_t block = at(std::min(block_rows, z.rows())) * at(x.rows()) * sizeof(double);
  require_memory(2 * block, "gp", fmt::format("a block of kernel values of {} rows", x.rows()), "use fewer rows");
  GpPrediction result{Matrix(z.rows(), fit.alpha.cols()), Vector(variance == GpVariance::none ? 0 : z.rows())};
  // Distances are measured from the training rows, so a far new row does not affect the others.
  const bool rbf = kernel.kind == KernelKind::rbf;
  const LandmarkKernel training(with_width, rbf ? typical_row(x) : Vector(Vector::Zero(x.cols())), x);
  const RowSolver solver = variance == GpVariance::none ? RowSolver() : RowSolver(fit.factor.lower());
  for (Index first = 0; first < z.rows(); first += block_rows) {
    context.check_cancelled();
    const auto rows = z.middleRows(first, std::min(block_rows, z.rows() - first));
    const Matrix cross = cross_of(training, rows, context);
    result.mean.middleRows(first, rows.rows()) = fit.mean(cross, rows, context);
    if (variance == GpVariance::none) continue;
    result.variance.segment(first, rows.rows()) =
        variance_of(fit, solver, cross, kernel_diagonal(with_width, rows), rows, context);
  }
  return result;
}

}  // namespace ecotone
