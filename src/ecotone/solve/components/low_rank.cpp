#include "ecotone/solve/components/low_rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {
namespace {

/// The sums, centred and in the eigenbasis of R'R = U diag(lambda) U'.
struct Reduced {
  Index rows = 0;
  double lam = 0;
  Vector mean;    // mean of rho
  Matrix u;       // U
  Vector lambda;  // nonnegative
  Vector share;   // lambda / (lambda + lam); 0 where lambda is rounding
  Matrix d;       // F'R U, without the weight
  double weight = 0;
  Matrix z;   // U'R'W
  Matrix ww;  // W'W
};

// Squares of centred outputs that count as rounding: relative to the sums they are the difference of, and to the raw
// ones.
constexpr double rounding_of_sums = 1e-13;
constexpr double rounding_of_outputs = 1e-28;
// g is a square of Z: anything below this, relative to |R'R| |W'W|, is rounding.
constexpr double rounding_of_gamma = 1e-24;

/// Whether column j of H G, with this centred square, is rounding alone: the outputs are equal.
bool output_is_constant(const LowRankSums& sums, Index j, double centred) {
  const double shift = sums.output_shift[j];
  const double shifted = sums.output_gram(j, j);
  const double raw = shifted + shift * (2 * sums.output_one[j] + sums.rows * shift);
  return centred <= rounding_of_sums * shifted || centred <= rounding_of_outputs * raw;
}

/// Z = R'W and W'W, W = H G C^-T.
void add_outputs(const LowRankSums& sums, double epsilon, const Vector& mean, Reduced& reduced,
                 const Context& context) {
  // G'HG = G'G - G'1 1'G / n;  (HR)'G = R'G - m 1'G, with m the mean of the shifted R.
  Matrix gram = sums.output_gram - sums.output_one * sums.output_one.transpose() / sums.rows;
  Matrix gr = sums.output_sum - sums.output_one * mean.transpose();
  for (Index j = 0; j < gram.rows(); ++j) {
    if (!output_is_constant(sums, j, gram(j, j))) continue;
    gram.row(j).setZero();
    gram.col(j).setZero();
    gr.row(j).setZero();
  }
  const Matrix transform = output_transform(gram, reduced.rows, epsilon, context);
  reduced.z = transpose_product(reduced.u, product(gr.transpose().eval(), transform, context), context);
  reduced.ww = transform.transpose() * gram * transform;
}

Reduced reduce(const LowRankSums& sums, const ComponentOptions& options, double epsilon, const Context& context) {
  prepare_blas();
  Reduced reduced;
  reduced.rows = static_cast<Index>(sums.rows);
  reduced.lam = options.lam;
  for (Index g = 0; g < sums.groups(); ++g)
    if (sums.group_rows[g] == 0) data_error("empty_group", "components: group {} of {} has no rows", g, sums.groups());
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
  // D = F'R; the shift cancels.
  const Matrix means = sums.group_rows.cwiseInverse().asDiagonal() * sums.group_sum;
  reduced.d = product(from_group_means(means), reduced.u, context);
  reduced.weight = weight_used(options, reduced.d.squaredNorm(), reduced.lambda.sum() / sums.rows);
  if (options.supervised) add_outputs(sums, epsilon, mean, reduced, context);
  return reduced;
}

/// Components before scaling, in the eigenbasis: theta = U t.
struct Unscaled {
  ChosenPairs pairs;
  Matrix t;
  ComponentNorms norms;
};

/// The invariance term through D share D' = V diag(mu) V', N x N (or through the r x r matrix if there are more
/// groups): nothing is ever multiplied by the weight alone, so that no weight is too large. Directions whose mu is
/// rounding are dropped.
struct Invariance {
  Matrix e;     // V'D
  Matrix p;     // share^(1/2) D'V mu^(-1/2), orthonormal columns
  Vector root;  // (1 + w mu)^(-1/2)
  Vector pull;  // w / (1 + w mu)
};

/// Orthonormalises the columns in their order; twice, to remove what the first pass left.
void orthonormalise(Matrix& p) {
  for (Index j = 0; j < p.cols(); ++j) {
    for (int pass = 0; pass < 2; ++pass) {
      for (Index i = 0; i < j; ++i) p.col(j) -= p.col(i).dot(p.col(j)) * p.col(i);
      p.col(j) /= p.col(j).norm();
    }
  }
}

Invariance invariance_of(const Reduced& reduced, const Context& context) {
  Invariance result;
  const Index rank = reduced.d.cols();
  // Y = D share^(1/2)
  const Matrix y = reduced.d * reduced.share.cwiseSqrt().asDiagonal();
  const bool wide = y.rows() <= rank;
  const SymmetricEigen eigen = symmetric_eigen(gram(wide ? Matrix(y.transpose()) : y, context), context);
  const Vector& mu = eigen.values;
  const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(y.rows(), rank));
  Index count = 0;
  while (reduced.weight > 0 && count < mu.size() && mu[count] > 0 && mu[count] > rounding * mu[0]) ++count;
  result.root.resize(count);
  result.pull.resize(count);
  result.e.resize(count, rank);
  result.p.resize(rank, count);
  if (count == 0) return result;
  const Matrix chosen = eigen.vectors.leftCols(count);
  const Vector scale = mu.head(count).cwiseSqrt().cwiseInverse();
  // V and P are the left and right singular vectors of Y: each gives the other.
  const Matrix v = wide ? chosen : Matrix(product(y, chosen, context) * scale.asDiagonal());
  result.p = wide ? Matrix(transpose_product(y, chosen, context) * scale.asDiagonal()) : chosen;
  orthonormalise(result.p);
  result.e = transpose_product(v, reduced.d, context);
  for (Index j = 0; j < count; ++j) {
    result.root[j] = 1 / std::sqrt(1 + reduced.weight * mu[j]);
    result.pull[j] = 1 / (1 / reduced.weight + mu[j]);
  }
  return result;
}

/// (I + w Y'Y)^(-1/2) B = B - P (1 - root) P'B. With u = (lambda + lam)^(-1/2) s the metric G'JG + lam I of u becomes I
/// + w Y'Y of s: nothing is divided by a small eigenvalue, not even for lam = 0.
Matrix half_inverse(const Invariance& invariance, Matrix b, const Context& context) {
  if (invariance.root.size() == 0 || b.cols() == 0) return b;
  const Matrix inside = transpose_product(invariance.p, b, context);
  b -= product(invariance.p, (1 - invariance.root.array()).matrix().asDiagonal() * inside, context);
  return b;
}

/// lambda^2 / (lambda + lam) s = g (I + w Y'Y) s.
Unscaled unsupervised(const Reduced& reduced, const Invariance& invariance, Index components, const Context& context) {
  // A = H H', H = (I + w Y'Y)^(-1/2) (lambda share)^(1/2)
  const Vector scale = reduced.lambda.cwiseProduct(reduced.share).cwiseSqrt();
  const Matrix h = half_inverse(invariance, scale.asDiagonal(), context);
  Unscaled result;
  result.pairs = choose_pairs(symmetric_eigen(gram(h.transpose().eval(), context), context), components);
  result.t = reduced.share.cwiseSqrt().asDiagonal() * half_inverse(invariance, result.pairs.z, context);
  result.norms.metric = Vector::Ones(result.pairs.gamma.size());
  return result;
}

/// (G'Z)(G'Z)' u = g (G'JG + lam I) u through T = H'H, q x q, H = (I + w Y'Y)^(-1/2) share^(1/2) Z.
Unscaled symmetric(const Reduced& reduced, const Invariance& invariance, Index components, const Context& context) {
  const Matrix h = half_inverse(invariance, reduced.share.cwiseSqrt().asDiagonal() * reduced.z, context);
  Unscaled result;
  result.pairs = choose_pairs(symmetric_eigen(gram(h, context), context), components);
  result.t =
      reduced.share.cwiseSqrt().asDiagonal() * half_inverse(invariance, product(h, result.pairs.z, context), context);
  result.norms.metric = result.pairs.gamma;
  return result;
}

/// T = Z' Sg J^-1 (Sg + lam J^-1)^-1 Z by Woodbury: with S = lambda + lam,
/// B = S^-1 Z - w share D'(I + w D share D')^-1 D S^-1 Z, T = Z' lambda B, theta = U B z.
Unscaled paper(const Reduced& reduced, const Invariance& invariance, Index components, const Context& context) {
  const Matrix first = (reduced.lambda.array() + reduced.lam).inverse().matrix().asDiagonal() * reduced.z;
  // w D B = w (I + w D share D')^-1 D S^-1 Z stays finite where D B vanishes as the weight grows.
  const Matrix inside = product(invariance.e, first, context);
  const Matrix pulled = invariance.pull.asDiagonal() * inside;
  const Matrix back = transpose_product(invariance.e, pulled, context);
  const Matrix b = first - reduced.share.asDiagonal() * back;
  const Matrix t = transpose_product(reduced.z, reduced.lambda.asDiagonal() * b, context);
  Unscaled result;
  result.pairs = choose_pairs(general_eigen(t, context), components);
  const Matrix& z = result.pairs.z;
  result.t = product(b, z, context);
  // lam v = W z - R J theta, J = I + w D'D
  const Matrix j = result.t + product(back, z, context);
  const Matrix zz = product(reduced.z, z, context);
  const Vector squares = (z.cwiseProduct(product(reduced.ww, z, context))).colwise().sum().transpose() -
                         2 * j.cwiseProduct(zz).colwise().sum().transpose() +
                         j.cwiseProduct(reduced.lambda.asDiagonal() * j).colwise().sum().transpose();
  result.norms.coefficients = squares.cwiseMax(0) / (reduced.lam * reduced.lam);
  // v'Mv = |R'v|^2 + w |F'R R'v|^2 + lam |v|^2, R'v = theta; w^(1/2) D theta = (pull)^(1/2) root V'D S^-1 Z z
  const Vector roots = invariance.pull.cwiseSqrt().cwiseProduct(invariance.root);
  result.norms.metric = result.t.colwise().squaredNorm().transpose() +
                        (roots.asDiagonal() * product(inside, z, context)).colwise().squaredNorm().transpose() +
                        reduced.lam * result.norms.coefficients;
  return result;
}

/// Number of components beyond rounding: g <= |P| max lambda share, |P| <= tr(W'W).
Index meaningful_components(const Reduced& reduced, const ComponentOptions& options, const Vector& gamma) {
  if (!options.supervised) return gamma.size();
  const double bound = reduced.lambda.cwiseProduct(reduced.share).maxCoeff() * reduced.ww.trace();
  Index count = 0;
  while (count < gamma.size() && gamma[count] > rounding_of_gamma * bound) ++count;
  return count;
}

void cut(Unscaled& found, Index count) {
  found.pairs.gamma.conservativeResize(count);
  found.pairs.gamma_imag.conservativeResize(count);
  found.pairs.complex_pair = !found.pairs.gamma_imag.isZero(0);
  found.t = found.t.leftCols(count).eval();
  found.norms.metric.conservativeResize(count);
  if (found.norms.coefficients.size() > 0) found.norms.coefficients.conservativeResize(count);
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
  const Invariance invariance = invariance_of(reduced, context);
  const Index most = options.components;
  Unscaled found = !options.supervised                    ? unsupervised(reduced, invariance, most, context)
                   : options.form == ComponentForm::paper ? paper(reduced, invariance, most, context)
                                                          : symmetric(reduced, invariance, most, context);
  LowRankComponents result;
  result.mean = reduced.mean;
  result.spectrum.tr_kq = reduced.d.squaredNorm();
  result.spectrum.weight = reduced.weight;
  // Complex pairs are never separated: their g is the same.
  const Index count = meaningful_components(reduced, options, found.pairs.gamma);
  result.spectrum.most_negative = found.pairs.most_negative;
  if (count == 0) {
    result.theta.resize(reduced.u.rows(), 0);
    return result;
  }
  cut(found, count);
  // |Kv|^2 = theta' R'R theta
  found.norms.projections = (reduced.lambda.cwiseSqrt().asDiagonal() * found.t).colwise().squaredNorm().transpose();
  const Vector factors = scale_factors(options, found.pairs, found.norms, reduced.rows);
  const Matrix t = found.t * factors.asDiagonal();
  result.theta = product(reduced.u, t, context);
  result.spread = (found.norms.projections / sums.rows).cwiseSqrt().cwiseProduct(factors);
  ComponentSpectrum& spectrum = result.spectrum;
  spectrum.gamma = found.pairs.gamma;
  spectrum.gamma_imag = found.pairs.gamma_imag;
  spectrum.complex_pair = found.pairs.complex_pair;
  spectrum.distributional_variance = (reduced.d * t).squaredNorm();
  spectrum.norm = t.squaredNorm();
  return result;
}

LowRankProjection::LowRankProjection(LowRankMap map, Matrix theta, Vector mean, bool direct)
    : map_(std::move(map)), theta_(std::move(theta)), mean_(std::move(mean)), direct_(direct) {
  if (theta_.rows() != map_.rank() || mean_.size() != map_.rank())
    internal_error("low-rank projection: {} rows and a mean of {} for rank {}", theta_.rows(), mean_.size(),
                   map_.rank());
  if (!direct_ || theta_.cols() == 0) return;
  coefficients_ = theta_;
  if (!map_.fourier()) map_.lower().transpose().triangularView<Eigen::Upper>().solveInPlace(coefficients_);
  bias_ = theta_.transpose() * mean_;
}

void LowRankProjection::project(ConstMatrixView x, MatrixView out) const {
  if (components() == 0) return;
  LowRankMap::Workspace workspace;
  Matrix rho(x.rows(), map_.rank());
  if (direct_) {
    map_.raw(x, rho, workspace);
    multiply_rows(rho, coefficients_, out);
    out.rowwise() -= bias_.transpose();
    return;
  }
  map_.features(x, rho, workspace);
  rho.rowwise() -= mean_.transpose();
  multiply_rows(rho, theta_, out);
}

bool direct_is_safe(const LowRankMap& map, const LowRankComponents& components) {
  if (map.fourier() || !shift_invariant(map.kernel())) return false;
  if (components.theta.cols() == 0) return true;
  const Matrix coefficients = map.lower().transpose().triangularView<Eigen::Upper>().solve(components.theta);
  for (Index j = 0; j < coefficients.cols(); ++j) {
    const double error = std::numeric_limits<double>::epsilon() * coefficients.col(j).cwiseAbs().sum();
    if (!(error <= 1e-12 * components.spread[j])) return false;
  }
  return true;
}

}  // namespace ecotone
