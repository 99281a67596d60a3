// K is the centred Gram matrix, S = K + lam I, U = K F, M = S + w U U' (muandet2013; notation of components.h).
#include "ecotone/solve/components/exact.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/gram_operator.h"
#include "ecotone/linalg/block_eigen.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

/// Residuals of eigenvectors: of the result, and of the starting point of the factorised route.
constexpr double full_tolerance = 1e-12;
constexpr double eigen_start_tolerance = 1e-5;

/// Columns multiplied by the Gram matrix at once: each thread sums into as many.
constexpr Index factor_strip = 64;

/// Components before scaling: V, KV and the squared lengths.
struct UnscaledExact {
  ChosenPairs pairs;
  Matrix v;
  Matrix kv;
  ComponentNorms norms;
  bool converged = true;
};

/// (I + w F'C)^-1, with C = K F or f(K) F: the small matrix of Woodbury's identity.
class Inner {
 public:
  Inner(const Matrix& f, const Matrix& c, double weight, const Context& context) : weight_(weight), context_(context) {
    if (weight == 0) return;
    Matrix a = weight * transpose_product(f, c, context);
    a = (a + a.transpose()).eval() / 2;
    a.diagonal().array() += 1;
    factor_ = Cholesky::factor(std::move(a), context);
    if (!factor_) data_error("non_finite", "components: the invariance term overflows at weight {}", weight);
  }

  /// B -= w left (I + w F'C)^-1 right
  void subtract(const Matrix& left, const Matrix& right, Matrix& b) const {
    if (!factor_) return;
    b -= product(left, weight_ * factor_->solve(right, context_), context_);
  }

 private:
  double weight_;
  const Context& context_;
  std::optional<Cholesky> factor_;
};

/// The starting point of all routes: F, H G, and the products of the raw K with both and with 1.
struct Begin {
  Matrix f;
  Matrix w;      ///< W = H G C^-T; empty without outputs
  Matrix u;      ///< K F
  Matrix kw;     ///< K W
  Vector means;  ///< means of the columns of the raw K
};

Matrix centred_columns(Matrix g) {
  g.rowwise() -= g.colwise().mean().eval();
  return g;
}

/// H G; what remains of constant columns is rounding and becomes 0.
Matrix centred_outputs(const Matrix& g) {
  Matrix result = centred_columns(g);
  for (Index j = 0; j < g.cols(); ++j)
    if (result.col(j).norm() <= 1e-14 * g.col(j).norm()) result.col(j).setZero();
  return result;
}

/// K B, a few columns at a time.
Matrix multiply_strips(const GramOperator& gram_operator, const Matrix& b, const Context& context) {
  Matrix result(b.rows(), b.cols());
  for (Index first = 0; first < b.cols(); first += factor_strip) {
    const Index cols = std::min(factor_strip, b.cols() - first);
    result.middleCols(first, cols) = gram_operator.multiply(b.middleCols(first, cols), context);
  }
  return result;
}

Begin begin(const ComponentProblem& problem, const ComponentOptions& options, const GramOperator& gram_operator,
            const Context& context) {
  Begin b;
  b.f = group_factor(problem.group, problem.groups);
  const Index n = b.f.rows();
  if (options.supervised) {
    const Matrix g = centred_outputs(problem.output->g);
    b.w = product(g, output_transform(gram(g, context), n, problem.epsilon, context), context);
  } else {
    b.w.resize(n, 0);
  }
  Matrix all(n, b.f.cols() + b.w.cols() + 1);
  all << b.f, b.w, Vector::Constant(n, 1 / static_cast<double>(n));
  Matrix k = multiply_strips(gram_operator, all, context);
  if (!k.allFinite()) data_error("non_finite", "{}: the Gram matrix is not finite", problem.who);
  b.means = k.col(k.cols() - 1);
  k = centred_columns(std::move(k));
  b.u = k.leftCols(b.f.cols());
  b.kw = k.middleCols(b.f.cols(), b.w.cols());
  return b;
}

Matrix symmetric_part(const Matrix& a) { return (a + a.transpose()) / 2; }

Vector squared_lengths(const Matrix& a) { return a.colwise().squaredNorm(); }

/// With A a = g a and |a| = 1 for A = K M^-1 K: v'Mv = 1 / g and |Kv| = 1.
void set_unsupervised_norms(UnscaledExact& result) {
  result.norms.metric = result.pairs.gamma.cwiseInverse();
  result.norms.projections = squared_lengths(result.kv);
}

/// W'Khat W z = g z with Khat = (I + w KQ)^-1 K; v = W z - w F (I + w F'KF)^-1 F'K W z and K v = Khat W z.
UnscaledExact supervised_matvec(const Begin& b, const ComponentOptions& options, const Context& context) {
  const Inner inner(b.f, b.u, options.weight, context);
  const Matrix fkw = transpose_product(b.f, b.kw, context);
  Matrix x = b.w;
  inner.subtract(b.f, fkw, x);
  Matrix kx = b.kw;
  inner.subtract(b.u, fkw, kx);
  UnscaledExact result;
  const Matrix t = symmetric_part(transpose_product(b.w, kx, context));
  result.pairs = choose_pairs(symmetric_eigen(t, context), options.components);
  result.v = product(x, result.pairs.z, context);
  result.kv = product(kx, result.pairs.z, context);
  result.norms.metric = result.pairs.gamma;
  result.norms.projections = squared_lengths(result.kv);
  return result;
}

ChosenPairs chosen_of(const LargestEigen& found, Index components) {
  return choose_pairs(SymmetricEigen{found.values, found.vectors}, components);
}

Index wanted_pairs(const ComponentOptions& options, Index n) { return std::min(options.components, n); }

/// lam = 0: Khat a = g a, v = (a - w F (I + w F'KF)^-1 U'a) / g. Without an invariance term Khat = K, and lam changes
/// only g: kappa^2 / (kappa + lam).
UnscaledExact unsupervised_matvec(const Begin& b, const ComponentOptions& options, const GramOperator& gram_operator,
                                  double tolerance, const Context& context) {
  const Index n = b.f.rows();
  const Inner inner(b.f, b.u, options.weight, context);
  const auto multiply = [&](const Matrix& x) {
    Matrix y = gram_operator.multiply_centred(centred_columns(x), context);
    if (options.weight != 0) inner.subtract(b.u, transpose_product(b.u, x, context), y);
    return y;
  };
  const LargestEigen found = largest_by_blocks(multiply, n, wanted_pairs(options, n), context, nullptr, tolerance);
  UnscaledExact result;
  result.converged = found.converged;
  SymmetricEigen all{found.values, found.vectors};
  const Vector kappa = all.values;
  if (options.weight == 0)
    all.values = (kappa.array() <= 0).select(0.0, kappa.array().square() / (kappa.array() + options.lam)).matrix();
  result.pairs = choose_pairs(all, options.components);
  const Matrix& a = result.pairs.z;
  // F'a = (I + w F'KF)^-1 U'a / g keeps its digits if the weight is large and F'a is near 0.
  result.v = a;
  if (options.weight != 0) inner.subtract(b.f, transpose_product(b.u, a, context), result.v);
  result.v = result.v * kappa.head(a.cols()).cwiseInverse().asDiagonal();
  result.kv = a;
  set_unsupervised_norms(result);
  return result;
}

/// The factor of S, with S^-1 U and f(K) F = K S^-1 K F = U - lam S^-1 U.
struct Factored {
  Cholesky s;
  Matrix su;
  Matrix fu;
};

Factored factored(std::string_view who, const Begin& b, const ComponentOptions& options,
                  const GramOperator& gram_operator, const Context& context) {
  std::optional<Cholesky> s = Cholesky::factor(gram_operator.centred_lower(b.means, options.lam, context), context);
  if (!s)
    data_error("singular", "{}: K + lam I is numerically not positive definite at lam = {}; raise lam", who,
               options.lam);
  Matrix su = s->solve(b.u, context);
  Matrix fu = b.u - options.lam * su;
  return {std::move(*s), std::move(su), std::move(fu)};
}

/// paper: X = M^-1 W, T = (KW)'(KX) is not symmetric; symmetric: X = M^-1 K W, T = (KW)'X. T z = g z, v = X z.
UnscaledExact supervised_cholesky(const Begin& b, const ComponentOptions& options, const Factored& factor,
                                  const Context& context) {
  const bool paper = options.form == ComponentForm::paper;
  const Inner inner(b.f, factor.fu, options.weight, context);
  const Index q = b.w.cols();
  Matrix right(b.w.rows(), 2 * q);
  right << b.w, b.kw;
  // S^-1 W and S^-1 K W
  const Matrix solved = factor.s.solve(std::move(right), context);
  Matrix x = paper ? solved.leftCols(q) : solved.rightCols(q);
  // K S^-1 W = S^-1 K W; K S^-1 K W = K W - lam S^-1 K W
  Matrix kx = paper ? Matrix(solved.rightCols(q)) : Matrix(b.kw - options.lam * solved.rightCols(q));
  // M^-1 = S^-1 - w S^-1 U (I + w U'S^-1 U)^-1 U'S^-1
  const Matrix usx = transpose_product(b.u, x, context);
  inner.subtract(factor.su, usx, x);
  inner.subtract(factor.fu, usx, kx);
  UnscaledExact result;
  if (paper) {
    result.pairs = choose_pairs(general_eigen(transpose_product(b.kw, kx, context), context), options.components);
  } else {
    const Matrix t = symmetric_part(transpose_product(b.kw, x, context));
    result.pairs = choose_pairs(symmetric_eigen(t, context), options.components);
  }
  const Matrix& z = result.pairs.z;
  result.v = product(x, z, context);
  result.kv = product(kx, z, context);
  result.norms.coefficients = squared_lengths(result.v);
  // v'Mv = z'W'X z, or z'(KW)'X z = g
  result.norms.metric =
      paper ? Vector((z.array() * (transpose_product(b.w, x, context) * z).array()).colwise().sum().transpose())
            : result.pairs.gamma;
  result.norms.projections = squared_lengths(result.kv);
  return result;
}

/// A a = g a with A = K M^-1 K = f(K) - w f(K) F (I + w F'f(K) F)^-1 F'f(K), f(K) = K S^-1 K; v = M^-1 K a / g. Starts
/// from the components of lam = 0, which differ by O(lam / g) and cost only products with K.
UnscaledExact unsupervised_cholesky(const Begin& b, const ComponentOptions& options, const Factored& factor,
                                    const GramOperator& gram_operator, const Context& context) {
  const Index n = b.f.rows();
  const UnscaledExact near = unsupervised_matvec(b, options, gram_operator, eigen_start_tolerance, context);
  const Inner inner(b.f, factor.fu, options.weight, context);
  const auto multiply = [&](const Matrix& x) {
    Matrix y = gram_operator.multiply_centred(centred_columns(x), context);
    y -= options.lam * factor.s.solve(y, context);
    if (options.weight != 0) inner.subtract(factor.fu, transpose_product(factor.fu, x, context), y);
    return y;
  };
  const LargestEigen found =
      largest_by_blocks(multiply, n, wanted_pairs(options, n), context, near.kv.cols() > 0 ? &near.kv : nullptr);
  UnscaledExact result;
  result.converged = found.converged;
  result.pairs = chosen_of(found, options.components);
  const Matrix& a = result.pairs.z;
  result.v = factor.s.solve(gram_operator.multiply_centred(a, context), context);
  if (options.weight != 0) inner.subtract(factor.su, transpose_product(factor.fu, a, context), result.v);
  result.v = result.v * result.pairs.gamma.cwiseInverse().asDiagonal();
  result.kv = a;
  set_unsupervised_norms(result);
  return result;
}

/// Scales V, computes the summary shown by inspect and makes the map of new rows.
ExactComponents finished(const ComponentProblem& problem, const ComponentOptions& options, const Begin& b,
                         UnscaledExact found, ConstMatrixView x, const Vector& origin, const Context& context) {
  const Index n = b.f.rows();
  const Vector factors = scale_factors(options, found.pairs, found.norms, n);
  const Matrix v = found.v * factors.asDiagonal();
  ExactComponents result;
  result.projections = found.kv * factors.asDiagonal();
  result.converged = found.converged;
  result.spectrum.gamma = found.pairs.gamma;
  result.spectrum.gamma_imag = found.pairs.gamma_imag;
  result.spectrum.complex_pair = found.pairs.complex_pair;
  result.spectrum.most_negative = found.pairs.most_negative;
  result.spectrum.tr_kq = b.f.cwiseProduct(b.u).sum();
  result.spectrum.weight = options.weight;
  result.spectrum.distributional_variance = transpose_product(b.f, result.projections, context).squaredNorm();
  result.spectrum.norm = v.cwiseProduct(result.projections).sum();
  result.map.kernel = problem.kernel;
  if (problem.kernel.kind == KernelKind::linear) {
    result.map.rows = transpose_product(v, x, context);
    result.map.coefficients = Matrix::Identity(v.cols(), v.cols());
    result.map.bias = product(result.map.rows, origin, context).col(0);
  } else {
    result.map.rows = x;
    result.map.coefficients = v;
    // Columns of V sum to 0: the mean of the projections is V' times the means of the raw K.
    result.map.bias = transpose_product(v, b.means, context).col(0);
  }
  return result;
}

/// Whether the rows are equal under the kernel, so that the centred K consists of rounding alone.
bool nothing_varies(const ComponentProblem& problem, const Begin& b, ConstMatrixView x) {
  const double trace = kernel_diagonal(problem.kernel, x).sum();
  // The linear kernel works on centred rows, which carry the rounding of the given ones.
  if (problem.kernel.kind == KernelKind::linear) return trace <= 1e-28 * problem.x.squaredNorm();
  return trace - b.means.sum() <= 1e-13 * trace;
}

void check(const ComponentProblem& problem, const ComponentOptions& options, ExactRoute route) {
  const Index n = problem.x.rows();
  if (n < 2) data_error("too_few_rows", "{}: at least two rows are needed, got {}", problem.who, n);
  if (static_cast<Index>(problem.group.size()) != n)
    internal_error("components: {} groups for {} rows", problem.group.size(), n);
  if (options.supervised && (!problem.output || problem.output->g.rows() != n))
    internal_error("components: outputs for {} of {} rows", problem.output ? problem.output->g.rows() : 0, n);
  if (!(options.lam >= 0) || !(options.weight >= 0) || options.components < 1)
    option_error("bad_option", "{}: lam and weight must be >= 0 and components >= 1, got {}, {} and {}", problem.who,
                 options.lam, options.weight, options.components);
  if (route_applies(options, route)) return;
  if (route == ExactRoute::cholesky)
    option_error("bad_option", "{}: the Cholesky route needs lam > 0, got {}", problem.who, options.lam);
  if (options.supervised && options.form == ComponentForm::paper)
    option_error("bad_option", "{}: form=paper needs lam > 0 and the Cholesky route; use form=symmetric", problem.who);
  option_error("bad_option", "{}: the matvec route needs lam = 0, got {}", problem.who, options.lam);
}

}  // namespace

bool route_applies(const ComponentOptions& options, ExactRoute route) {
  if (route == ExactRoute::cholesky) return options.lam > 0;
  if (options.supervised) return options.form == ComponentForm::symmetric && options.lam == 0;
  return options.weight == 0 || options.lam == 0;
}

std::size_t route_bytes(const ComponentOptions& options, ExactRoute route, const RouteSize& size) {
  const auto bytes = [](Index rows, Index cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double);
  };
  const Index n = size.rows, g = size.groups, q = size.outputs;
  const Index k = std::min(options.components, options.supervised ? q : n);
  // Copies of the rows; F and U, both twice while they are multiplied; G, W, KW, X, KX; V and KV, scaled and unscaled;
  // the partial sums of a product; the small matrices.
  std::size_t sum = bytes(n, 3 * size.cols + 4 * g + 6 * q + 4 * k);
  sum += bytes(n, std::min(factor_strip, g + q + 1) * (size.threads + 8));
  sum += bytes(q, 5 * q);
  if (options.weight != 0) sum += bytes(g, 3 * g + 3 * q);
  // The factor, the kept tiles, and S^-1 times the right-hand sides.
  if (route == ExactRoute::cholesky) sum += bytes(n, n) + GramOperator::bytes(n) + bytes(n, 2 * g + 5 * q);
  if (!options.supervised) sum += largest_by_blocks_bytes(n, std::max<Index>(k, 1));
  return sum;
}

ExactComponents exact_components(const ComponentProblem& problem, const ComponentOptions& given, ExactRoute route,
                                 const Context& context) {
  check_kernel(problem.kernel);
  check(problem, given, route);
  ComponentOptions options = given;
  const Index n = problem.x.rows();
  const RouteSize size{n, problem.x.cols(), problem.groups, options.supervised ? problem.output->g.cols() : 0,
                       context.threads()};
  const std::size_t needed = route_bytes(options, route, size);
  if (route == ExactRoute::cholesky) {
    require_memory(needed, problem.who, fmt::format("a factorisation of {} rows", n),
                   "use fewer rows, route=low_rank, or lam=0 with the symmetric form");
  } else {
    require_memory(needed, problem.who,
                   fmt::format("components={} of {} rows in {} domains", options.components, n, problem.groups),
                   "use fewer of them, or route=low_rank");
  }
  // Under the linear kernel, centred rows have the same centred K and keep its digits at large offsets.
  Vector origin = Vector::Zero(problem.x.cols());
  if (problem.kernel.kind == KernelKind::linear) origin = problem.x.colwise().mean().transpose();
  const Matrix x = problem.x.rowwise() - origin.transpose();
  // The Cholesky route has already counted the tiles.
  const bool keep = route == ExactRoute::cholesky ||
                    (!options.supervised && needed + GramOperator::bytes(n) < available_memory() / 4 * 3);
  const GramOperator gram_operator(problem.kernel, x, keep ? GramOperator::Tiles::kept : GramOperator::Tiles::computed,
                                   context);
  const Begin b = begin(problem, options, gram_operator, context);
  const double mean_diagonal = kernel_diagonal(problem.kernel, x).mean() - b.means.mean();
  options.weight = weight_used(given, b.f.cwiseProduct(b.u).sum(), mean_diagonal);
  const auto solve = [&]() -> UnscaledExact {
    if (nothing_varies(problem, b, x)) return {{}, Matrix(n, 0), Matrix(n, 0), {}, true};
    if (route == ExactRoute::matvec) {
      return options.supervised ? supervised_matvec(b, options, context)
                                : unsupervised_matvec(b, options, gram_operator, full_tolerance, context);
    }
    const Factored factor = factored(problem.who, b, options, gram_operator, context);
    return options.supervised ? supervised_cholesky(b, options, factor, context)
                              : unsupervised_cholesky(b, options, factor, gram_operator, context);
  };
  return finished(problem, options, b, solve(), x, origin, context);
}

}  // namespace ecotone
