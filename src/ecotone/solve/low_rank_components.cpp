#include "ecotone/solve/low_rank_components.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

/// The sums, centred and in the eigenbasis of R'R = U diag(lambda) U'.
struct Reduced {
  Index rows = 0;
  double lam = 0;
  Vector mean;    // of rho
  Matrix u;       // U
  Vector lambda;  // not negative
  Vector share;   // lambda / (lambda + lam); 0 where lambda is rounding
  Matrix d;       // F'R U, without the weight
  double weight = 0;
  Matrix z;   // U'R'W
  Matrix ww;  // W'W
};

Cholesky factored(Matrix a, const Context& context) {
  std::optional<Cholesky> factor = Cholesky::factor(std::move(a), context);
  if (!factor) data_error("non_finite", "components: the reduced problem is not positive definite");
  return *std::move(factor);
}

/// Z = R'W and W'W, W = H G C^-T.
void add_outputs(const LowRankSums& sums, double epsilon, const Vector& mean, Reduced& reduced,
                 const Context& context) {
  // G'HG = G'G - G'1 1'G / n;  (HR)'G = R'G - m 1'G, m the mean of the shifted R.
  const Matrix gram = sums.output_gram - sums.output_one * sums.output_one.transpose() / sums.rows;
  const Matrix transform = output_transform(gram, reduced.rows, epsilon, context);
  const Matrix gr = sums.output_sum - sums.output_one * mean.transpose();
  reduced.z = transpose_product(reduced.u, product(gr.transpose().eval(), transform, context), context);
  reduced.ww = transform.transpose() * gram * transform;
}

Reduced reduce(const LowRankSums& sums, const ComponentOptions& options, double epsilon, const Context& context) {
  use_one_blas_thread();
  Reduced reduced;
  reduced.rows = static_cast<Index>(sums.rows);
  reduced.lam = options.lam;
  reduced.weight = options.weight;
  for (Index g = 0; g < sums.groups(); ++g)
    if (sums.group_rows[g] == 0) data_error("empty_group", "components: group {} of {} has no row", g, sums.groups());
  const Vector mean = sums.group_sum.colwise().sum().transpose() / sums.rows;
  reduced.mean = sums.shift + mean;
  // R'R = sum of rho rho' - n m m'
  Matrix gram = sums.gram - sums.rows * mean * mean.transpose();
  SymmetricEigen eigen = symmetric_eigen(std::move(gram), context);
  reduced.u = std::move(eigen.vectors);
  reduced.lambda = eigen.values.cwiseMax(0);
  const double rounding = std::numeric_limits<double>::epsilon() * reduced.lambda.maxCoeff();
  reduced.share = Vector::Zero(reduced.lambda.size());
  for (Index j = 0; j < reduced.share.size(); ++j)
    if (reduced.lambda[j] > rounding) reduced.share[j] = reduced.lambda[j] / (reduced.lambda[j] + reduced.lam);
  // D = F'R; the shift drops out.
  const Matrix means = sums.group_rows.cwiseInverse().asDiagonal() * sums.group_sum;
  reduced.d = product(from_group_means(means), reduced.u, context);
  if (options.supervised) add_outputs(sums, epsilon, mean, reduced, context);
  return reduced;
}

/// Components before scaling, in the eigenbasis: theta = U t.
struct Unscaled {
  ChosenPairs pairs;
  Matrix t;
  ComponentNorms norms;
};

/// C C' = I + Y Y', Y = share^(1/2) U'D'. With u = (lambda + lam)^(-1/2) s the metric G'JG + lam I of u becomes that
/// of s: nothing is divided by a small eigenvalue, also for lam = 0.
Cholesky metric_factor(const Reduced& reduced, const Context& context) {
  const Matrix y = std::sqrt(reduced.weight) * reduced.d * reduced.share.cwiseSqrt().asDiagonal();
  Matrix metric = gram(y, context);
  metric.diagonal().array() += 1;
  return factored(std::move(metric), context);
}

/// share^(1/2) C^-T B
Matrix back(const Reduced& reduced, const Cholesky& c, const Matrix& b) {
  const Matrix s = c.lower().transpose().triangularView<Eigen::Upper>().solve(b);
  return reduced.share.cwiseSqrt().asDiagonal() * s;
}

/// lambda^2 / (lambda + lam) s = g (I + YY') s.
Unscaled unsupervised(const Reduced& reduced, Index components, const Context& context) {
  const Cholesky c = metric_factor(reduced, context);
  // A = H H', H = C^-1 (lambda share)^(1/2)
  const Matrix h =
      c.solve_lower(Matrix((reduced.lambda.cwiseProduct(reduced.share)).cwiseSqrt().asDiagonal()), context);
  Unscaled result;
  result.pairs = choose_pairs(symmetric_eigen(gram(h.transpose().eval(), context), context), components);
  result.t = back(reduced, c, result.pairs.z);
  result.norms.metric = Vector::Ones(result.pairs.gamma.size());
  return result;
}

/// (G'Z)(G'Z)' u = g (G'JG + lam I) u through T = (C^-1 share^(1/2) Z)'(C^-1 share^(1/2) Z), q x q.
Unscaled symmetric(const Reduced& reduced, Index components, const Context& context) {
  const Cholesky c = metric_factor(reduced, context);
  const Matrix h = c.solve_lower(Matrix(reduced.share.cwiseSqrt().asDiagonal() * reduced.z), context);
  Unscaled result;
  result.pairs = choose_pairs(symmetric_eigen(gram(h, context), context), components);
  result.t = back(reduced, c, h * result.pairs.z);
  result.norms.metric = result.pairs.gamma;
  return result;
}

/// T = Z' Sg J^-1 (Sg + lam J^-1)^-1 Z by Woodbury: with S = lambda + lam,
/// B = S^-1 Z - w share D'(I + w D share D')^-1 D S^-1 Z, T = Z' lambda B, theta = U B z.
Unscaled paper(const Reduced& reduced, Index components, const Context& context) {
  const Matrix first = (reduced.lambda.array() + reduced.lam).inverse().matrix().asDiagonal() * reduced.z;
  const Matrix d = std::sqrt(reduced.weight) * reduced.d;
  const Matrix shared = d * reduced.share.asDiagonal();
  Matrix inner = shared * d.transpose();
  inner.diagonal().array() += 1;
  const Matrix b = first - shared.transpose() * factored(std::move(inner), context).solve(Matrix(d * first), context);
  const Matrix t = reduced.z.transpose() * (reduced.lambda.asDiagonal() * b);
  Unscaled result;
  result.pairs = choose_pairs(general_eigen(t, context), components);
  const Matrix& z = result.pairs.z;
  result.t = b * z;
  // lam v = W z - R J theta, J = I + w D'D
  const Matrix j = result.t + d.transpose() * (d * result.t);
  const Matrix zz = reduced.z * z;
  const Vector squares = (z.cwiseProduct(reduced.ww * z)).colwise().sum().transpose() -
                         2 * j.cwiseProduct(zz).colwise().sum().transpose() +
                         j.cwiseProduct(reduced.lambda.asDiagonal() * j).colwise().sum().transpose();
  result.norms.coefficients = squares.cwiseMax(0) / (reduced.lam * reduced.lam);
  // v'Mv = |R'v|^2 + w |F'R R'v|^2 + lam |v|^2, R'v = theta
  result.norms.metric = result.t.colwise().squaredNorm().transpose() +
                        (d * result.t).colwise().squaredNorm().transpose() + reduced.lam * result.norms.coefficients;
  return result;
}

void check(const LowRankSums& sums, const ComponentOptions& options) {
  if (!(options.lam >= 0) || !std::isfinite(options.lam))
    option_error("bad_option", "components: lam must be >= 0, got {}", options.lam);
  if (!(options.weight >= 0) || !std::isfinite(options.weight))
    option_error("bad_option", "components: weight must be >= 0, got {}", options.weight);
  if (options.supervised && options.form == ComponentForm::paper && options.lam == 0)
    option_error("bad_option", "components: lam must be > 0 in the paper form");
  if (sums.rows == 0) data_error("no_rows", "components: there are no rows");
  if (options.supervised && sums.outputs() == 0) internal_error("components: supervised sums without outputs");
}

}  // namespace

LowRankComponents low_rank_components(const LowRankSums& sums, const ComponentOptions& options, double epsilon,
                                      const Context& context) {
  check(sums, options);
  const Reduced reduced = reduce(sums, options, epsilon, context);
  Unscaled found = !options.supervised                    ? unsupervised(reduced, options.components, context)
                   : options.form == ComponentForm::paper ? paper(reduced, options.components, context)
                                                          : symmetric(reduced, options.components, context);
  // |Kv|^2 = theta' R'R theta
  found.norms.projections = (reduced.lambda.cwiseSqrt().asDiagonal() * found.t).colwise().squaredNorm().transpose();
  const Vector factors = scale_factors(options, found.pairs.gamma, found.norms, reduced.rows);
  const Matrix t = found.t * factors.asDiagonal();
  LowRankComponents result;
  result.theta = product(reduced.u, t, context);
  result.mean = reduced.mean;
  result.spread = (found.norms.projections / sums.rows).cwiseSqrt().cwiseProduct(factors);
  ComponentSpectrum& spectrum = result.spectrum;
  spectrum.gamma = found.pairs.gamma;
  spectrum.gamma_imag = found.pairs.gamma_imag;
  spectrum.complex_pair = found.pairs.complex_pair;
  spectrum.most_negative = found.pairs.most_negative;
  spectrum.tr_kq = reduced.d.squaredNorm();
  spectrum.distributional_variance = (reduced.d * t).squaredNorm();
  spectrum.norm = t.squaredNorm();
  return result;
}

LowRankProjection::LowRankProjection(LowRankMap map, Matrix theta, Vector mean, bool direct)
    : map_(std::move(map)), theta_(std::move(theta)), mean_(std::move(mean)), direct_(direct) {
  if (theta_.rows() != map_.rank() || mean_.size() != map_.rank())
    internal_error("low-rank projection: {} rows and a mean of {} for rank {}", theta_.rows(), mean_.size(),
                   map_.rank());
  if (!direct_) return;
  coefficients_ = theta_;
  if (!map_.fourier()) map_.lower().transpose().triangularView<Eigen::Upper>().solveInPlace(coefficients_);
  bias_ = theta_.transpose() * mean_;
}

void LowRankProjection::project(ConstMatrixView x, MatrixView out) const {
  LowRankMap::Workspace workspace;
  Matrix rho(x.rows(), map_.rank());
  if (direct_) {
    map_.raw(x, rho, workspace);
    multiply(rho, coefficients_, out);
    out.rowwise() -= bias_.transpose();
    return;
  }
  map_.features(x, rho, workspace);
  rho.rowwise() -= mean_.transpose();
  multiply(rho, theta_, out);
}

bool direct_is_safe(const LowRankMap& map, const LowRankComponents& components) {
  if (map.fourier() || !shift_invariant(map.kernel())) return false;
  const Matrix coefficients = map.lower().transpose().triangularView<Eigen::Upper>().solve(components.theta);
  for (Index j = 0; j < coefficients.cols(); ++j) {
    const double error = std::numeric_limits<double>::epsilon() * coefficients.col(j).cwiseAbs().sum();
    if (!(error <= 1e-12 * components.spread[j])) return false;
  }
  return true;
}

}  // namespace ecotone
