#include "ecotone/solve/ratios/kliep.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/paths/nonnegative.h"

namespace ecotone {
namespace {

constexpr Index most_cells_alone = 1 << 18;  // of a matrix that one thread multiplies sooner than several
constexpr int most_steps = 1000;
constexpr int em_steps_between = 5;
constexpr double kliep_tolerance = 1e-8;
constexpr double held_out_tolerance = 1e-4;
constexpr Index likelihood_folds = 5;

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

/// b_l = mean over the source of mass phi_l
Vector source_means(const RatioBumps& bumps, const Context& context) {
  const Vector zero = Vector::Zero(bumps.count());
  const Vector sum = sum_blocks(bumps.blocks(), context, zero, [&](Vector& into, Index b) {
    RatioBumps::Workspace workspace;
    const RatioBumps::Block block = bumps.block(b, workspace);
    for (Index i = 0; i < block.source.rows(); ++i)
      into += bumps.rows().mass_of(block.first_source + i) * block.source.row(i).transpose();
  });
  return sum / static_cast<double>(bumps.sources());
}

/// f_l = phi_l / b_l of target rows; columns of centres that no source row is near are left out.
struct Mixture {
  Matrix f;
  Vector b;
  std::vector<Index> kept;
};

Mixture mixture_of(const RatioBumps& bumps, const char* who, const Context& context) {
  Mixture mixture;
  const Vector b = source_means(bumps, context);
  for (Index l = 0; l < b.size(); ++l)
    if (b[l] > 1e-300) mixture.kept.push_back(l);
  const auto count = std::ssize(mixture.kept);
  // Folds and Newton steps have copies of some of its rows and columns.
  require_memory(3 * static_cast<std::size_t>(bumps.targets() * count) * sizeof(double), who,
                 "the values of all bumps at the target rows", "use fewer centres or target rows, or weight.ulsif");
  mixture.b = b(mixture.kept);
  mixture.f.resize(bumps.targets(), count);
  context.parallel(bumps.blocks(), [&](Index k) {
    RatioBumps::Workspace workspace;
    const RatioBumps::Block block = bumps.block(k, workspace);
    for (Index i = 0; i < block.target.rows(); ++i)
      for (Index l = 0; l < count; ++l)
        mixture.f(block.first_target + i, l) = block.target(i, mixture.kept[at(l)]) / mixture.b[l];
  });
  return mixture;
}

/// D_l = mean_t f_l / sum_k pi_k f_k, and the objective at pi.
struct EmState {
  Vector d;
  Vector ratio;
  double objective = 0;

  bool finite() const { return std::isfinite(objective) && d.allFinite(); }
};

EmState em_state(const Matrix& f, const Vector& pi, const Context& context) {
  EmState state;
  state.ratio = times_vector(f, pi, context);
  const auto n = static_cast<double>(f.rows());
  state.objective = state.ratio.array().log().mean();
  state.d = transposed_times(f, state.ratio.cwiseInverse(), context) / n;
  return state;
}

/// One step towards the optimum of the quadratic model at pi of mean ln(F pi) - sum pi over pi >= 0, whose maximum has
/// sum 1; pi itself if no step raises the objective. With H the Hessian, H pi = D, so the model asks for the y >= 0
/// that minimises y'Hy / 2 - (2 D - 1)'y.
Vector quadratic_step(const Matrix& f, const Vector& pi, const EmState& state, const Context& context) {
  const Matrix scaled = state.ratio.cwiseInverse().asDiagonal() * f;
  const Matrix hessian = gram(scaled, context) / static_cast<double>(f.rows());
  const Vector wanted = nonnegative_least_squares(hessian, 2 * state.d - Vector::Ones(pi.size()));
  if (!wanted.allFinite()) return pi;
  for (double length = 1; length > 1e-9; length /= 2) {
    Vector next = pi + length * (wanted - pi);
    next /= next.sum();
    // A bump that alone reaches some target row must stay: without it D overflows.
    const EmState then = em_state(f, next, context);
    if (then.objective > state.objective && then.finite()) return next;
  }
  return pi;
}

/// Mixture weights, and how good they are.
struct MixtureFit {
  Vector pi;
  Vector ratio;  ///< at the rows of f
  double objective = 0;
  double certificate = 0;
  int iterations = 0;
  bool converged = false;
};

/// Quadratic steps, each followed by some of EM, which raise the objective from anywhere. Empty if the ratio of a row
/// is 0 as far as numbers go.
std::optional<MixtureFit> maximise(const Matrix& f, double tolerance, const Context& context) {
  if (f.cols() == 0) return std::nullopt;
  MixtureFit fit;
  fit.pi = Vector::Constant(f.cols(), 1 / static_cast<double>(f.cols()));
  EmState state = em_state(f, fit.pi, context);
  for (;; ++fit.iterations) {
    if (!state.finite()) return std::nullopt;
    fit.certificate = std::log(std::max(1.0, state.d.maxCoeff()));
    fit.converged = fit.certificate <= tolerance;
    if (fit.converged || fit.iterations >= most_steps) break;
    context.check_cancelled();
    fit.pi = quadratic_step(f, fit.pi, state, context);
    state = em_state(f, fit.pi, context);
    for (int k = 0; k < em_steps_between && state.finite() && state.d.maxCoeff() > 1 + tolerance; ++k) {
      fit.pi.array() *= state.d.array();
      fit.pi /= fit.pi.sum();
      state = em_state(f, fit.pi, context);
    }
  }
  fit.objective = state.objective;
  fit.ratio = std::move(state.ratio);
  return fit;
}

/// The mean ln ratio of target rows in folds that the weights were not fitted on; empty if a fold has no fit.
std::optional<double> held_out_likelihood(const Matrix& f, const Context& context) {
  const Index rows = f.rows(), folds = std::min(likelihood_folds, rows);
  if (folds < 2) return 0;
  std::vector<Index> fold(at(rows));
  Index turn = 0;
  Random random = context.random("kliep folds");
  for (const Index row : random.permutation(rows)) fold[at(row)] = turn++ % folds;
  double sum = 0;
  for (Index k = 0; k < folds; ++k) {
    std::vector<Index> train, held;
    for (Index i = 0; i < rows; ++i) (fold[at(i)] == k ? held : train).push_back(i);
    const std::optional<MixtureFit> fit = maximise(f(train, Eigen::all), held_out_tolerance, context);
    if (!fit) return std::nullopt;
    const Vector ratio = Matrix(f(held, Eigen::all)) * fit->pi;
    for (const double each : ratio) sum += std::log(std::max(each, 1e-300));
  }
  return sum / static_cast<double>(rows);
}

KliepFit fit_from(const Mixture& mixture, MixtureFit fit, const RatioBumps& bumps, const Context& context) {
  KliepFit result{Vector::Zero(bumps.count()),
                  {},
                  std::move(fit.ratio),
                  fit.objective,
                  fit.certificate,
                  fit.iterations,
                  fit.converged};
  for (Index l = 0; l < fit.pi.size(); ++l) result.alpha[mixture.kept[at(l)]] = fit.pi[l] / mixture.b[l];
  result.source_ratio = source_ratio_of(bumps, result.alpha, context);
  return result;
}

[[noreturn]] void refuse_zero(const char* who) {
  data_error("zero_weights", "{}: no source row is near a target row, so all weights are 0; use a larger sigma", who);
}

}  // namespace

KliepFit fit_kliep(const RatioBumps& bumps, double tolerance, const char* who, const Context& context) {
  const Mixture mixture = mixture_of(bumps, who, context);
  std::optional<MixtureFit> fit = maximise(mixture.f, tolerance, context);
  if (!fit) refuse_zero(who);
  return fit_from(mixture, std::move(*fit), bumps, context);
}

KernelRatio kliep_ratio(const RatioRows& rows, const KernelRatioOptions& options, const Context& context) {
  KernelRatio best;
  best.score = -infinity;
  const std::vector<double> widths = ratio_widths(rows, options, context);
  for (const double sigma : widths) {
    const RatioBumps bumps(rows, ratio_centres(rows, sigma, options.centres, context), sigma, context);
    const Mixture mixture = mixture_of(bumps, options.who, context);
    const std::optional<double> score = widths.size() == 1 ? 0 : held_out_likelihood(mixture.f, context);
    if (!score || !(*score > best.score)) continue;
    std::optional<MixtureFit> fit = maximise(mixture.f, kliep_tolerance, context);
    if (!fit) continue;
    KliepFit found = fit_from(mixture, std::move(*fit), bumps, context);
    best = {std::move(found.source_ratio), sigma, 0, *score, found.converged};
  }
  if (best.ratio.size() == 0) refuse_zero(options.who);
  return best;
}

}  // namespace ecotone
