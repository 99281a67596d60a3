#include "ecotone/solve/ratios/kernel_ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/exponential.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/small.h"

namespace ecotone {
namespace {

constexpr std::array<double, 5> width_factors = {2, 1.4, 1, 0.7, 0.5};
constexpr std::array<double, 4> penalties = {1, 0.1, 0.01, 1e-3};
constexpr Index most_cells_alone = 1 << 18;  // of a matrix that one thread multiplies sooner than several
constexpr int most_em_steps = 100000;
constexpr int steps_between_newton = 200;
constexpr int newton_steps_at_once = 50;
constexpr double smallest_share = 1e-14;  // of a bump; below it is 0
constexpr Index likelihood_folds = 5;

void require_samples(Index rows, Index sources, const char* who) {
  if (sources <= 0 || sources >= rows)
    data_error("empty_data", "{}: the {} domain has no rows", who, sources <= 0 ? "source" : "target");
}

/// A v, summed in an order that does not depend on threads.
Vector times_vector(const Matrix& a, const Vector& v, const Context& context) {
  if (a.size() <= most_cells_alone) return a.lazyProduct(v);
  Vector result(a.rows());
  parallel_rows(a.rows(), context, [&](Index first, Index last) {
    result.segment(first, last - first) = a.middleRows(first, last - first) * v;
  });
  return result;
}

/// A'v.
Vector transposed_times(const Matrix& a, const Vector& v, const Context& context) {
  if (a.size() <= most_cells_alone) {
    Vector sum = Vector::Zero(a.cols());
    for (Index i = 0; i < a.rows(); ++i) sum += v[i] * a.row(i).transpose();
    return sum;
  }
  return transpose_product(a, Matrix(v), context).col(0);
}

/// f_l = phi_l / b_l of target rows; columns of centres that no source row is near are left out.
struct Mixture {
  Matrix f;
  Vector b;
  std::vector<Index> kept;
};

Mixture mixture_of(const RatioBumps& bumps) {
  Mixture mixture;
  const Vector b = bumps.source.colwise().mean().transpose();
  for (Index l = 0; l < b.size(); ++l)
    if (b[l] > 1e-300) mixture.kept.push_back(l);
  const auto count = std::ssize(mixture.kept);
  mixture.f.resize(bumps.target.rows(), count);
  mixture.b.resize(count);
  for (Index l = 0; l < count; ++l) {
    mixture.b[l] = b[mixture.kept[at(l)]];
    mixture.f.col(l) = bumps.target.col(mixture.kept[at(l)]) / mixture.b[l];
  }
  return mixture;
}

/// D_l = mean_t f_l / sum_k pi_k f_k, and the objective at pi.
struct EmState {
  Vector d;
  Vector ratio;
  double objective = 0;
};

EmState em_state(const Matrix& f, const Vector& pi, const Context& context) {
  EmState state;
  state.ratio = times_vector(f, pi, context);
  const auto n = static_cast<double>(f.rows());
  state.objective = state.ratio.array().log().mean();
  state.d = transposed_times(f, state.ratio.cwiseInverse(), context) / n;
  return state;
}

/// One Newton step of the mixture weights that are not 0 or would help, whose sum stays 1, as far as none becomes
/// negative; pi itself if it does not raise the objective.
Vector mixture_newton_step(const Matrix& f, const Vector& pi, const EmState& state, bool join, const Context& context) {
  std::vector<Index> support;
  for (Index l = 0; l < pi.size(); ++l)
    if (pi[l] > 0 || (join && state.d[l] > 1)) support.push_back(l);
  const auto count = std::ssize(support);
  if (count < 2) return pi;
  Matrix scaled(f.rows(), count);
  for (Index l = 0; l < count; ++l) scaled.col(l) = f.col(support[at(l)]).cwiseQuotient(state.ratio);
  const Matrix hessian = gram(scaled, context) / static_cast<double>(f.rows());
  // [H 1; 1' 0] [step; m] = [g; 0] with the gradient g = D
  Matrix system = Matrix::Zero(count + 1, count + 1), right = Matrix::Zero(count + 1, 1);
  system.topLeftCorner(count, count) = hessian;
  system.topLeftCorner(count, count).diagonal().array() += 1e-13 * hessian.trace() / static_cast<double>(count);
  system.topRightCorner(count, 1).setOnes();
  system.bottomLeftCorner(1, count).setOnes();
  for (Index l = 0; l < count; ++l) right(l, 0) = state.d[support[at(l)]];
  const Matrix step = solve_square(system, right);
  if (!step.allFinite()) return pi;
  double length = 1;
  for (Index l = 0; l < count; ++l)
    if (step(l, 0) < 0) length = std::min(length, -pi[support[at(l)]] / step(l, 0));
  for (; length > 1e-9; length /= 2) {
    Vector next = Vector::Zero(pi.size());
    for (Index l = 0; l < count; ++l) {
      const double value = pi[support[at(l)]] + length * step(l, 0);
      next[support[at(l)]] = value > smallest_share ? value : 0;
    }
    next /= next.sum();
    if (em_state(f, next, context).objective > state.objective) return next;
  }
  return join ? mixture_newton_step(f, pi, state, false, context) : pi;
}

Vector clipped_at_zero(const Vector& theta) { return theta.cwiseMax(0); }

Cholesky factor_definite(Matrix a, const char* who, const Context& context) {
  std::optional<Cholesky> factor = Cholesky::factor(std::move(a), context);
  if (!factor) data_error("singular", "{}: the bumps are dependent; use a larger lam", who);
  return std::move(*factor);
}

/// Scores of rows each of which is left out of the sums that theta follows from.
struct LeftOutPart {
  Matrix m;           ///< with the divisor of one row less
  double c = 0;       ///< the row's share of it
  const Matrix& phi;  ///< values of the bumps at the rows
  const Vector& h;    ///< mean over the target
  bool of_target = false;
};

/// r of each row: phi' max(0, M^-1 b + c M^-1 phi (phi'M^-1 b) / (1 - c phi'M^-1 phi)).
Vector left_out_ratios(const LeftOutPart& part, const char* who, const Context& context) {
  const Cholesky factor = factor_definite(part.m, who, context);
  const Index rows = part.phi.rows(), size = part.phi.cols();
  const auto n = static_cast<double>(rows);
  const Vector base = factor.solve(part.h, context);
  Vector result(rows);
  parallel_rows(rows, context, [&](Index first, Index last) {
    const Matrix phi = part.phi.middleRows(first, last - first).transpose();
    const Matrix solved = factor.solve(phi, context);
    for (Index i = 0; i < last - first; ++i) {
      // b = h, or (n h - phi) / (n - 1) for a row of the target
      Vector theta = part.of_target ? Vector((n * base - solved.col(i)) / (n - 1)) : base;
      const double own = phi.col(i).dot(solved.col(i)), along = phi.col(i).dot(theta);
      theta += part.c * along / (1 - part.c * own) * solved.col(i);
      double sum = 0;
      for (Index l = 0; l < size; ++l) sum += phi(l, i) * std::max(0.0, theta[l]);
      result[first + i] = sum;
    }
  });
  return result;
}

/// Sums of a sample that all penalties share.
struct RatioSums {
  Matrix h_t;  ///< Phi_t'Phi_t / n_t
  Matrix h_s;
  Vector h;
};

RatioSums ratio_sums(const RatioBumps& bumps, const Context& context) {
  return {gram(bumps.target, context) / static_cast<double>(bumps.target.rows()),
          gram(bumps.source, context) / static_cast<double>(bumps.source.rows()),
          bumps.target.colwise().mean().transpose()};
}

Matrix with_penalty(Matrix a, double lam) {
  a.diagonal().array() += lam;
  return a;
}

LeastSquaresRatio least_squares_from(const RatioSums& sums, const RatioBumps& bumps, double alpha, double lam,
                                     const char* who, const Context& context) {
  const auto nt = static_cast<double>(bumps.target.rows()), ns = static_cast<double>(bumps.source.rows());
  if (nt < 2 || ns < 2)
    data_error("too_few_rows", "{}: the {} has one row, and leaving it out leaves none", who,
               nt < 2 ? "target" : "source");
  const Cholesky factor = factor_definite(with_penalty(alpha * sums.h_t + (1 - alpha) * sums.h_s, lam), who, context);
  LeastSquaresRatio fit;
  fit.unclipped = factor.solve(sums.h, context);
  fit.theta = clipped_at_zero(fit.unclipped);
  fit.source_ratio = times_vector(bumps.source, fit.theta, context);
  const Vector of_t = left_out_ratios({with_penalty(alpha * nt / (nt - 1) * sums.h_t + (1 - alpha) * sums.h_s, lam),
                                       alpha / (nt - 1), bumps.target, sums.h, true},
                                      who, context);
  const Vector of_s = left_out_ratios({with_penalty(alpha * sums.h_t + (1 - alpha) * ns / (ns - 1) * sums.h_s, lam),
                                       (1 - alpha) / (ns - 1), bumps.source, sums.h, false},
                                      who, context);
  fit.left_out =
      0.5 * alpha * of_t.array().square().mean() + 0.5 * (1 - alpha) * of_s.array().square().mean() - of_t.mean();
  return fit;
}

/// Widths to try: the given one, or multiples of the median distance; the largest first.
std::vector<double> widths_of(const Matrix& rows, const KernelRatioOptions& options, const Context& context) {
  if (options.sigma) return {*options.sigma};
  const double median = median_bandwidth(ConstMatrixView(rows), context).sigma;
  if (!std::isfinite(median))
    data_error("non_finite", "{}: the distances between rows overflow; add scale before it", options.who);
  std::vector<double> widths;
  for (const double factor : width_factors) widths.push_back(factor * median);
  return widths;
}

/// The mean ln ratio of target rows in folds that alpha was not fitted on.
double held_out_likelihood(const RatioBumps& bumps, const char* who, const Context& context) {
  const Index rows = bumps.target.rows(), folds = std::min(likelihood_folds, rows);
  if (folds < 2) return 0;
  std::vector<Index> fold(at(rows));
  Index turn = 0;
  Random random = context.random("kliep folds");
  for (const Index row : random.permutation(rows)) fold[at(row)] = turn++ % folds;
  double sum = 0;
  for (Index k = 0; k < folds; ++k) {
    std::vector<Index> train, held;
    for (Index i = 0; i < rows; ++i) (fold[at(i)] == k ? held : train).push_back(i);
    const KliepFit fit = fit_kliep({bumps.source, Matrix(bumps.target(train, Eigen::all))}, 1e-4, who, context);
    const Vector ratio = Matrix(bumps.target(held, Eigen::all)) * fit.alpha;
    for (const double each : ratio) sum += std::log(std::max(each, 1e-300));
  }
  return sum / static_cast<double>(rows);
}

}  // namespace

Matrix ratio_centres(ConstMatrixView target, double sigma, Index most, const Context& context) {
  if (target.rows() <= most) return target;
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = sigma};
  const LowRankFit fit =
      fit_low_rank(Features::dense(target), kernel, {.kind = LowRankKind::greedy, .rank = most}, context);
  return fit.map.points();
}

CentreDistances centre_distances(ConstMatrixView x, Index sources, ConstMatrixView centres, const char* who,
                                 const Context& context) {
  require_memory(4 * static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(centres.rows()) * sizeof(double),
                 who, "the distances of rows to centres", "use fewer centres or rows");
  const Matrix all = squared_distances(x, centres, context);
  return {all.topRows(sources), all.bottomRows(x.rows() - sources)};
}

RatioBumps ratio_bumps(const CentreDistances& distances, double sigma, const Context& context) {
  RatioBumps bumps{distances.source, distances.target};
  const double scale = 0.5 / (sigma * sigma);
  for (Matrix* part : {&bumps.source, &bumps.target})
    parallel_rows(part->rows(), context, [&](Index first, Index last) {
      exp_of_negative(scale, part->data() + first * part->cols(), (last - first) * part->cols());
    });
  return bumps;
}

KliepFit fit_kliep(const RatioBumps& bumps, double tolerance, const char* who, const Context& context) {
  const Mixture mixture = mixture_of(bumps);
  const auto count = std::ssize(mixture.kept);
  if (count == 0) data_error("zero_weights", "{}: no source row is near a target row, so all weights are 0", who);
  Vector pi = Vector::Constant(count, 1 / static_cast<double>(count));
  KliepFit fit;
  EmState state = em_state(mixture.f, pi, context);
  if (!std::isfinite(state.objective) || !state.d.allFinite())
    data_error("zero_weights", "{}: a target row is far from all centres, so its ratio is 0; use a larger sigma", who);
  for (;; ++fit.iterations) {
    fit.certificate = std::log(std::max(1.0, state.d.maxCoeff()));
    fit.converged = fit.certificate <= tolerance;
    if (fit.converged || fit.iterations >= most_em_steps) break;
    if (fit.iterations % 1000 == 999) context.check_cancelled();
    pi.array() *= state.d.array();
    pi /= pi.sum();
    state = em_state(mixture.f, pi, context);
    if (fit.iterations % steps_between_newton != steps_between_newton - 1) continue;
    for (int k = 0; k < newton_steps_at_once && state.d.maxCoeff() > 1 + tolerance; ++k) {
      const double before = state.objective;
      pi = mixture_newton_step(mixture.f, pi, state, true, context);
      state = em_state(mixture.f, pi, context);
      if (!(state.objective > before)) break;
    }
  }
  fit.objective = state.objective;
  fit.target_ratio = state.ratio;
  fit.alpha = Vector::Zero(bumps.source.cols());
  for (Index l = 0; l < count; ++l) fit.alpha[mixture.kept[at(l)]] = pi[l] / mixture.b[l];
  fit.source_ratio = times_vector(bumps.source, fit.alpha, context);
  return fit;
}

LeastSquaresRatio fit_least_squares_ratio(const RatioBumps& bumps, double alpha, double lam, const char* who,
                                          const Context& context) {
  return least_squares_from(ratio_sums(bumps, context), bumps, alpha, lam, who, context);
}

KernelRatio kliep_ratio(const Features& x, Index sources, const KernelRatioOptions& options, const Context& context) {
  require_samples(x.rows(), sources, options.who);
  const Matrix rows = x.to_matrix();
  KernelRatio best;
  best.score = -infinity;
  const std::vector<double> widths = widths_of(rows, options, context);
  for (const double sigma : widths) {
    const Matrix centres = ratio_centres(rows.bottomRows(x.rows() - sources), sigma, options.centres, context);
    const RatioBumps bumps =
        ratio_bumps(centre_distances(rows, sources, centres, options.who, context), sigma, context);
    const double score = widths.size() == 1 ? 0 : held_out_likelihood(bumps, options.who, context);
    if (!(score > best.score)) continue;
    KliepFit fit = fit_kliep(bumps, 1e-8, options.who, context);
    best = {std::move(fit.source_ratio), sigma, 0, score, fit.converged};
  }
  return best;
}

KernelRatio least_squares_ratio(const Features& x, Index sources, const KernelRatioOptions& options,
                                const Context& context) {
  require_samples(x.rows(), sources, options.who);
  const Matrix rows = x.to_matrix();
  KernelRatio best;
  best.score = infinity;
  for (const double sigma : widths_of(rows, options, context)) {
    const Matrix centres = ratio_centres(rows.bottomRows(x.rows() - sources), sigma, options.centres, context);
    const RatioBumps bumps =
        ratio_bumps(centre_distances(rows, sources, centres, options.who, context), sigma, context);
    const RatioSums sums = ratio_sums(bumps, context);
    std::vector<double> lams(penalties.begin(), penalties.end());
    if (options.lam) lams = {*options.lam};
    for (const double lam : lams) {
      LeastSquaresRatio fit = least_squares_from(sums, bumps, options.alpha, lam, options.who, context);
      if (!(fit.left_out < best.score)) continue;
      best = {std::move(fit.source_ratio), sigma, lam, fit.left_out, true};
    }
  }
  if (best.ratio.size() == 0)
    data_error("non_finite", "{}: the feature values are too large to estimate weights", options.who);
  return best;
}

}  // namespace ecotone
