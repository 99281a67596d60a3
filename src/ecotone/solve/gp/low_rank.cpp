#include "ecotone/solve/gp/low_rank.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/lower_inverse.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/row_product.h"
#include "ecotone/solve/gp/factor.h"
#include "ecotone/solve/gp/search.h"

namespace ecotone {
namespace {

/// A fit with the sums of the residuals and B^-1 times them. With A = amplitude R R' + noise I,
///   A^-1 = (I - amplitude R B^-1 R') / noise,  ln det A = (n - r) ln noise + ln det B.
/// Weights: R, Y and H are multiplied by the root of W, and ln det W is subtracted.
struct Solved {
  GpLowRankFit fit;
  Matrix residual_map;     ///< T = R'(Y - M)
  Matrix solved_residual;  ///< B^-1 T
  double residual = 0;     ///< ||Y - M||^2
  double explained = 0;    ///< tr((Y - M)'A^-1 (Y - M))
};

/// P'A^-1 Q from P'Q, R'P and B^-1 R'Q.
Matrix reduced_inner(ConstMatrixView products, const Matrix& left_map, const Matrix& solved_right,
                     const GpParameters& parameters) {
  return (products - parameters.amplitude * (left_map.transpose() * solved_right)) / parameters.noise;
}

void check(const GpSums& sums, const GpParameters& p) {
  if (!(p.amplitude > 0) || !std::isfinite(p.amplitude))
    option_error("bad_option", "gp: amplitude must be > 0, got {}", p.amplitude);
  if (!(p.noise > 0) || !std::isfinite(p.noise))
    option_error("bad_option", "gp: noise must be > 0 with a low rank, got {}", p.noise);
  const Index r = sums.rank(), q = sums.outputs(), h = sums.basis.size();
  if (sums.gram.cols() != r || sums.y_map.rows() != r || sums.y_map.cols() != q || sums.h_map.rows() != r ||
      sums.h_map.cols() != h || sums.targets.rows() != q + h || sums.targets.cols() != q + h)
    internal_error("gp: sums of rank {}, {} outputs and {} functions do not fit together", r, q, h);
}

std::optional<Solved> solve(const GpSums& sums, const GpParameters& parameters, const Context& context) {
  check(sums, parameters);
  Matrix b = parameters.amplitude * sums.gram;
  b.diagonal().array() += parameters.noise;
  std::optional<Cholesky> factor = Cholesky::factor(std::move(b), context);
  if (!factor) return std::nullopt;
  const Index q = sums.outputs(), p = sums.basis.size();
  GpLowRankFit fit{parameters,  sums.basis, sums.offset, Matrix(), Matrix(), std::move(*factor), sums.h_map.transpose(),
                   Matrix(p, 0)};
  fit.beta = Matrix::Zero(p, q);
  Solved s{std::move(fit), sums.y_map, Matrix()};
  Matrix squares = sums.targets.topLeftCorner(q, q);
  if (p > 0) {
    // beta = (H'A^-1 H)^+ H'A^-1 Y
    const Matrix solved = s.fit.factor.solve(sums.h_map, context);
    const Matrix hh = sums.targets.bottomRightCorner(p, p), hy = sums.targets.bottomLeftCorner(p, q);
    s.fit.basis_root = gp_inverse_root(reduced_inner(hh, sums.h_map, solved, parameters), context);
    const Matrix right = reduced_inner(hy, sums.h_map, s.fit.factor.solve(sums.y_map, context), parameters);
    s.fit.beta = s.fit.basis_root * (s.fit.basis_root.transpose() * right);
    s.residual_map -= sums.h_map * s.fit.beta;
    squares += s.fit.beta.transpose() * hh * s.fit.beta - s.fit.beta.transpose() * hy - hy.transpose() * s.fit.beta;
  }
  s.solved_residual = s.fit.factor.solve(s.residual_map, context);
  s.fit.weights = parameters.amplitude * s.solved_residual;
  s.residual = squares.trace();
  s.explained = (s.residual - s.fit.weights.cwiseProduct(s.residual_map).sum()) / parameters.noise;
  const double determinant = (sums.rows - static_cast<double>(sums.rank())) * std::log(parameters.noise) +
                             s.fit.factor.log_determinant() - sums.log_weight;
  s.fit.log_likelihood =
      -0.5 * s.explained - 0.5 * static_cast<double>(q) * (determinant + sums.rows * std::log(2 * std::numbers::pi));
  return s;
}

void check_rows(const GpMapRows& rows, ConstMatrixView y, ConstMatrixView inputs, GpMean mean,
                std::span<const double> weight) {
  const Index n = rows.x.rows();
  if (y.rows() != n) data_error("shape_mismatch", "gp: {} rows of outputs for {} rows", y.rows(), n);
  if (n == 0 || y.cols() == 0) data_error("no_rows", "gp: {} rows, {} outputs", n, y.cols());
  if (!y.allFinite()) data_error("non_finite", "gp: an output is not finite");
  if (!weight.empty() && std::ssize(weight) != n)
    data_error("shape_mismatch", "gp: {} weights for {} rows", weight.size(), n);
  for (const double w : weight)
    if (!(w > 0) || !std::isfinite(w)) data_error("bad_weight", "gp: weights must be > 0, got {}", w);
  if (mean != GpMean::linear) return;
  if (inputs.rows() != n) data_error("shape_mismatch", "gp: {} rows of mean inputs for {} rows", inputs.rows(), n);
  if (!inputs.allFinite()) data_error("non_finite", "gp: a mean input is not finite");
  if (inputs.cols() + 1 >= n)
    data_error("too_few_rows", "gp: a linear mean of {} columns needs more than {} rows", inputs.cols(), n);
}

/// Sums over a run of blocks: R'R (lower triangle), R'G and G'G.
struct PartialProcess {
  Matrix gram, cross, targets;

  PartialProcess(Index rank, Index columns)
      : gram(Matrix::Zero(rank, rank)), cross(Matrix::Zero(rank, columns)), targets(Matrix::Zero(columns, columns)) {}

  void add(const Matrix& rho, const Matrix& g) {
    add_gram(rho, gram);
    add_transpose_product(rho, g, cross);
    add_transpose_product(g, g, targets);
  }
  void merge(const PartialProcess& other) {
    gram += other.gram;
    cross += other.cross;
    targets += other.targets;
  }
};

void require_room(const GpMapRows& rows, Index columns, const Context& context) {
  const auto rank = static_cast<std::size_t>(rows.rank), threads = static_cast<std::size_t>(context.threads());
  const auto block = static_cast<std::size_t>(rows.x.block_rows());
  const std::size_t bytes = (rank * (rank + static_cast<std::size_t>(columns)) * (threads + 6) +
                             threads * block * (rank + static_cast<std::size_t>(rows.x.cols()))) *
                            sizeof(double);
  require_memory(bytes, "gp", fmt::format("sums of rank {}", rows.rank), "use a lower rank");
}

/// If the sums are finite, so is every value: the search runs only if they are not.
void require_finite(const PartialProcess& sums, const Features& x, const Context& context) {
  if (sums.gram.diagonal().allFinite() && sums.cross.allFinite() && sums.targets.allFinite()) return;
  const NonFinite found = find_non_finite(x, context);
  if (found.row >= 0)
    data_error("non_finite", "gp: column '{}' is {} in row {}", x.name(found.column),
               std::isnan(found.value) ? "not a number" : "infinite", found.row + 1);
  data_error("non_finite", "gp: the kernel or the outputs overflow; scale the columns first");
}

/// k(x, x) under the map: with landmarks, the linear kernel is measured from the origin.
Vector prior(const LowRankMap& map, ConstMatrixView x) {
  if (map.kernel().kind != KernelKind::linear) return kernel_diagonal(map.kernel(), x);
  const Matrix centred = x.rowwise() - map.origin().transpose();
  return squared_norms(centred);
}

}  // namespace

GpMapRows gp_map_rows(const Features& x, const LowRankMap& map) {
  if (x.cols() != map.cols())
    data_error("shape_mismatch", "gp: a map of {} columns for rows of {} columns", map.cols(), x.cols());
  const auto features = [&map](const RowBlock& block, MatrixView rho) {
    LowRankMap::Workspace workspace;
    map.features(block.x, rho, workspace);
  };
  return {x, map.rank(), features, [&map](const RowBlock& block) { return prior(map, block.x); }};
}

GpSums gather_gp_sums(const GpMapRows& rows, ConstMatrixView y, ConstMatrixView inputs, GpMean mean,
                      std::span<const double> weight, const Context& context) {
  check_rows(rows, y, inputs, mean, weight);
  GpSums sums{GpBasis(mean, inputs), gp_offset(mean, y, weight), 0, 0, {}, {}, {}, {}};
  const Index q = y.cols(), p = sums.basis.size();
  require_room(rows, q + p, context);
  const PartialProcess zero(rows.rank, q + p);
  const PartialProcess all = sum_blocks(rows.x.blocks(), context, zero, [&](PartialProcess& into, Index b) {
    Scratch scratch;
    const RowBlock block = rows.x.block(b, scratch);
    const Index first = block.first, count = block.x.rows();
    Matrix rho(count, rows.rank), g(count, q + p);
    rows.features(block, rho);
    g.leftCols(q) = y.middleRows(first, count).rowwise() - sums.offset.transpose();
    const bool linear = mean == GpMean::linear;
    if (p > 0) g.rightCols(p) = sums.basis.of(inputs.middleRows(linear ? first : 0, linear ? count : 0), count);
    for (Index i = 0; i < count && !weight.empty(); ++i) {
      const double root = std::sqrt(weight[at(first + i)]);
      rho.row(i) *= root;
      g.row(i) *= root;
    }
    into.add(rho, g);
  });
  require_finite(all, rows.x, context);
  sums.rows = static_cast<double>(rows.x.rows());
  for (const double w : weight) sums.log_weight += std::log(w);
  sums.gram = all.gram.selfadjointView<Eigen::Lower>();
  sums.y_map = all.cross.leftCols(q);
  sums.h_map = all.cross.rightCols(p);
  sums.targets = all.targets;
  return sums;
}

std::optional<GpLikelihood> gp_low_rank_likelihood(const GpSums& sums, const GpParameters& parameters,
                                                   const Context& context) {
  const std::optional<Solved> s = solve(sums, parameters, context);
  if (!s) return std::nullopt;
  const double a = parameters.amplitude, noise = parameters.noise;
  const auto q = static_cast<double>(sums.outputs());
  const auto r = static_cast<double>(sums.rank());
  // noise tr A^-1 = n - r + noise tr B^-1
  const double trace = sums.rows - r + noise * lower_inverse(s->fit.factor.lower(), context).squaredNorm();
  // noise ||alpha||^2, alpha = A^-1 (Y - M) = (Y - M - R weights) / noise; weights'S weights by a S = B - noise I.
  const double along = s->fit.weights.cwiseProduct(s->residual_map).sum();
  const double squared = s->residual - along - a * noise * s->solved_residual.squaredNorm();
  GpLikelihood result;
  result.value = s->fit.log_likelihood;
  result.by_noise = 0.5 * (squared / noise - q * trace);
  result.by_amplitude = 0.5 * (s->explained - q * sums.rows) - result.by_noise;
  return result;
}

GpSearch maximise_low_rank_likelihood(const GpSums& sums, double diagonal, const GpSearchOptions& options,
                                      const Context& context) {
  const double values = sums.rows * static_cast<double>(sums.outputs());
  const GpScales scales{.variance = sums.targets.topLeftCorner(sums.outputs(), sums.outputs()).trace() / values,
                        .diagonal = diagonal,
                        .values = values};
  return maximise_objective([&](const GpParameters& p) { return gp_low_rank_likelihood(sums, p, context); }, scales,
                            options, "gp", context);
}

GpLowRankFit fit_gp_low_rank(const GpSums& sums, const GpParameters& parameters, const Context& context) {
  std::optional<Solved> s = solve(sums, parameters, context);
  if (!s)
    data_error("not_positive_definite", "gp: the covariance of rank {} is not positive definite; raise the noise",
               sums.rank());
  return std::move(s->fit);
}

GpPrediction predict_gp_low_rank(const GpLowRankFit& fit, const GpMapRows& rows, ConstMatrixView inputs,
                                 GpLowRankVariance variance, const Context& context) {
  const Features& x = rows.x;
  if (rows.rank != fit.weights.rows())
    data_error("shape_mismatch", "gp: a map of rank {} for weights of rank {}", rows.rank, fit.weights.rows());
  const bool linear = fit.basis.mean() == GpMean::linear;
  if (linear && inputs.rows() != x.rows())
    data_error("shape_mismatch", "gp: {} rows of mean inputs for {} rows", inputs.rows(), x.rows());
  const double amplitude = fit.parameters.amplitude;
  const bool with_variance = variance != GpLowRankVariance::none;
  // ||L^-1 rho||^2 by rows; the uncertainty of beta is ||root'(h - amplitude H'R B^-1 rho)||^2.
  const RowSolver solver = with_variance ? RowSolver(fit.factor.lower()) : RowSolver();
  const Matrix basis_half =
      with_variance ? fit.factor.solve_lower(fit.basis_map.transpose(), context) : Matrix(rows.rank, 0);
  GpPrediction result{Matrix(x.rows(), fit.weights.cols()), Vector(with_variance ? x.rows() : 0)};
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    const Index count = block.x.rows();
    Matrix rho(count, rows.rank);
    rows.features(block, rho);
    Matrix mean(count, fit.weights.cols());
    multiply_rows(rho, fit.weights, mean);
    mean.rowwise() += fit.offset.transpose();
    const Matrix h = fit.basis.of(inputs.middleRows(linear ? block.first : 0, linear ? count : 0), count);
    if (h.cols() > 0) add_row_products(h, fit.beta, mean);
    result.mean.middleRows(block.first, count) = mean;
    if (!with_variance) return;
    Vector v = Vector::Zero(count);
    if (variance == GpLowRankVariance::whole) v = amplitude * (rows.prior(block) - squared_norms(rho)).cwiseMax(0.0);
    solver.solve(rho);
    v += amplitude * fit.parameters.noise * squared_norms(rho);
    if (h.cols() > 0) {
      Matrix rest(count, h.cols()), scaled(count, fit.basis_root.cols());
      multiply_rows(rho, basis_half, rest);
      rest = h - amplitude * rest;
      multiply_rows(rest, fit.basis_root, scaled);
      v += squared_norms(scaled);
    }
    result.variance.segment(block.first, count) = v;
  });
  return result;
}

GpPrediction predict_gp_low_rank(const GpLowRankFit& fit, const LowRankMap& map, const Features& x,
                                 ConstMatrixView inputs, GpLowRankVariance variance, const Context& context) {
  return predict_gp_low_rank(fit, gp_map_rows(x, map), inputs, variance, context);
}

}  // namespace ecotone
