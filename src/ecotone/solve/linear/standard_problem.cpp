#include "ecotone/solve/linear/standard_problem.h"

#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/solve/linear/lbfgs.h"
#include "ecotone/solve/linear/prox_newton.h"
#include "ecotone/solve/linear/risk.h"

namespace ecotone {
namespace {

constexpr Index few_parameters = 1500;
constexpr double direct_work = 3e11;    // multiplications for one Hessian
constexpr std::size_t kept_pairs = 15;  // of steps, beside that Hessian
constexpr Index kept_size = 1000;       // largest factor of a Hessian that is kept while rows grow
constexpr Index factor_columns = 6000;  // largest Hessian that is formed to speed up a slow solver

/// The problem in standardised coordinates.
class Standard {
 public:
  Standard(const LinearProblem& problem, const Loss& loss, Standardised design, const Context& context)
      : problem_(problem), loss_(loss), context_(context), design_(std::move(design)) {
    set_penalties();
  }

  LinearFit solve(LinearSolver solver) {
    LinearFit fit;
    fit.solver = solver;
    switch (solver) {
      case LinearSolver::lbfgs:
        use_lbfgs(fit);
        break;
      case LinearSolver::prox_newton:
        use_prox_newton(fit);
        break;
      default:
        use_newton(fit, start());
    }
    return fit;
  }

  Matrix gradient_at_constant() const {
    const auto risk = iterative_risk(design_, loss_, l2_, context_);
    return given_gradient(risk->at(constant()));
  }

 private:
  /// rho / s_j^2 and alpha / s_j for the weights in standardised coordinates. A column so small that its penalty is not
  /// a number keeps weight 0.
  void set_penalties() {
    l1_ = l2_ = Vector::Zero(design_.size());
    const double root = std::sqrt(problem_.l2);
    const Index p = design_.scale().size();
    for (Index j = 0; j < p; ++j) {
      const double s = design_.scale()[j];
      if (s == 0) continue;
      l2_[j] = (root / s) * (root / s);
      l1_[j] = problem_.l1 / s;
      if (l2_[j] > 1e200 || !std::isfinite(l1_[j])) {
        design_.drop(j);
        l1_[j] = l2_[j] = 0;
      }
    }
    if (problem_.offset && problem_.penalise_offset) {
      l2_[p] = problem_.l2;
      l1_[p] = problem_.l1;
    }
  }

  /// All weights 0 and the offsets of the best constant prediction.
  Matrix constant() const {
    Matrix theta = Matrix::Zero(design_.size(), loss_.outputs());
    if (design_.has_offset()) theta.bottomRows(1) = loss_.constant_scores().transpose();
    return theta;
  }

  Matrix start() const {
    if (problem_.start == nullptr) return constant();
    const Index p = design_.scale().size();
    // u = s w, c = offset + m'w
    const Matrix weights = loss_.basis().transpose() * problem_.start->weights;
    Matrix theta = Matrix::Zero(design_.size(), loss_.outputs());
    theta.topRows(p) = design_.scale().asDiagonal() * weights.transpose();
    if (design_.has_offset()) {
      theta.row(p) = (loss_.basis().transpose() * problem_.start->offset + weights * design_.mean()).transpose();
    }
    return theta;
  }

  void use_newton(LinearFit& fit, Matrix from) {
    const bool direct = fit.solver == LinearSolver::irls;
    std::unique_ptr<SmoothRisk> risk;
    if (direct) {
      risk = direct_risk(design_, loss_, l2_, context_);
    } else {
      risk = iterative_risk(design_, loss_, l2_, context_);
    }
    const NewtonResult result = minimise(*risk, std::move(from),
                                         {.scale = loss_.scale(),
                                          // If there may be no optimum, only the last digits can tell.
                                          .tolerance = unpenalised() ? 0 : problem_.tolerance,
                                          .unpenalised = unpenalised(),
                                          .max_iterations = problem_.max_iterations});
    if (result.separable) {
      data_error("separable", "{}: the classes are separable, so there is no optimum without a penalty; use l2 > 0",
                 problem_.who);
    }
    give(result.point, fit);
    fit.iterations += result.iterations;
    fit.converged = result.converged;
  }

  void use_lbfgs(LinearFit& fit) {
    const auto risk = iterative_risk(design_, loss_, l2_, context_);
    // To the last digit, Newton's method finishes the job.
    const bool polish = problem_.tolerance == 0 && problem_.solver == LinearSolver::automatic;
    LbfgsOptions options{.scale = loss_.scale(),
                         .tolerance = polish ? 1e-8 : problem_.tolerance,
                         .max_iterations = problem_.max_iterations};
    Matrix from = start();
    auto kept = problem_.grows ? std::make_shared<LinearCurvature>(kept_curvature()) : nullptr;
    if (kept && problem_.start != nullptr && is_worth_keeping()) {
      offer_kept_hessian(*risk, *kept, options);
    } else if (!design_.is_sparse() && design_.size() <= factor_columns && gram_fits(design_.size(), context_)) {
      offer_hessian(*risk, options, from);
    }
    LbfgsResult result = minimise_lbfgs(*risk, std::move(from), options);
    if (kept) wear(*kept, result);
    fit.curvature = std::move(kept);
    give(result.point, fit);
    fit.iterations = result.iterations;
    fit.converged = result.converged;
    if (unpenalised()) return certify(fit);
    if ((fit.converged && !polish) || problem_.solver == LinearSolver::lbfgs) return;
    fit.solver = newton_solver();
    use_newton(fit, result.point.theta);
  }

  /// Lets L-BFGS take the Hessian of a sample of rows as preconditioner, where it pays; `from` may move closer.
  void offer_hessian(const CurvedRisk& risk, LbfgsOptions& options, Matrix& from) const {
    const Index rows = design_.rows();
    const Index size = design_.size();
    options.at_once = loss_.outputs() == 1 && size * size <= rows;
    const Index stride = std::max<Index>(1, rows / ((options.at_once ? 100 : 8) * size));
    options.on_slow = [&, stride] { return preconditioner(mean_curvature(risk), stride); };
    if (loss_.outputs() > 1) {
      // n d^2 operations for the Hessian of one of K outputs, 4 n d K for a sweep; twice that where it gains little.
      options.slow_cost = static_cast<double>(size) / static_cast<double>(2 * loss_.outputs() * stride);
    }
    if (options.at_once && stride >= 4 && problem_.start == nullptr) {
      Sampled sampled = solve_sample(stride);
      from = std::move(sampled.theta);
      options.on_slow = [inverse = std::move(sampled.inverse)] { return inverse; };
    }
  }

  /// Where rows grow: what the last fit kept if these are its coordinates, otherwise these coordinates alone.
  LinearCurvature kept_curvature() const {
    if (fits_kept_coordinates(problem_)) return *problem_.curvature;
    return {design_.mean(), design_.scale(), design_.rows(), problem_.l2, nullptr, {}, 0, 0};
  }

  /// Drops a Hessian that has cost about as many further iterations as making a new one.
  void wear(LinearCurvature& kept, LbfgsResult& result) const {
    if (!kept.hessian) return;
    kept.pairs = std::move(result.pairs);
    if (kept.fresh == 0) kept.fresh = std::max(result.iterations, 1);
    kept.excess += std::max(0, result.iterations - kept.fresh);
    if (12 * kept.excess <= std::min(design_.rows(), design_.size())) return;
    kept.hessian.reset();
    kept.pairs.clear();
    kept.fresh = kept.excess = 0;
    kept.rows = 0;  // the next fit takes coordinates of its own rows
  }

  /// Whether a Hessian that serves many fits costs less than the iterations that it saves them.
  bool is_worth_keeping() const {
    return !design_.is_sparse() && loss_.outputs() == 1 && std::min(design_.rows(), design_.size()) <= kept_size;
  }

  /// Lets L-BFGS begin with the kept inverse of the Hessian, or one made now and kept.
  void offer_kept_hessian(const CurvedRisk& risk, LinearCurvature& kept, LbfgsOptions& options) const {
    options.at_once = options.to_scale = true;
    options.memory = kept_pairs;
    options.known = std::move(kept.pairs);
    options.on_slow = [&, this]() -> Preconditioner {
      if (!kept.hessian) {
        auto made = KeptHessian::of(design_, risk.row_curvature(0), l2_, context_);
        if (!made) return {};
        kept.hessian = std::make_shared<const KeptHessian>(std::move(*made));
      }
      return [hessian = kept.hessian, this](const Matrix& v) { return hessian->solve(v, context_); };
    };
  }

  /// The second derivative of each row, averaged over the outputs: their Hessians are alike, and one factor serves all.
  Vector mean_curvature(const CurvedRisk& risk) const {
    Vector sum = risk.row_curvature(0);
    for (Index k = 1; k < loss_.outputs(); ++k) sum += risk.row_curvature(k);
    return sum / static_cast<double>(loss_.outputs());
  }

  LinearSolver newton_solver() const {
    const bool direct = is_direct(design_.rows(), design_.size() * loss_.outputs()) && !design_.is_sparse();
    return direct ? LinearSolver::irls : LinearSolver::newton;
  }

  /// Whether the risk may decrease forever.
  bool unpenalised() const { return problem_.l1 == 0 && problem_.l2 == 0 && loss_.separates(); }

  /// A small gradient does not distinguish an optimum from classes that drift apart forever; Newton's method, from its
  /// own start, does.
  void certify(LinearFit& fit) {
    const LinearSolver asked = fit.solver;
    fit.solver = newton_solver();
    use_newton(fit, constant());
    fit.solver = asked;
  }

  /// A point near the optimum, from every stride-th block of rows, and the inverse of the Hessian there.
  struct Sampled {
    Matrix theta;
    Preconditioner inverse;
  };
  Sampled solve_sample(Index stride) const {
    const Standardised sample = design_.thinned(stride);
    const double part = weight_of(sample) / weight_of(design_);
    // Rows without weight may be adjacent, so the sample may contain few of the others.
    if (!(part > 0.25 / static_cast<double>(stride))) return {constant(), {}};
    // The loss of a share of the rows is about that share of the loss.
    const Vector l2 = part * l2_;
    const auto risk = direct_risk(sample, loss_, l2, context_);
    NewtonResult result =
        minimise(*risk, constant(), {.scale = part * loss_.scale(), .tolerance = 3e-2, .max_iterations = 8});
    if (!result.point.theta.allFinite()) return {constant(), {}};
    Preconditioner inverse = risk->inverse_hessian();
    if (!inverse) return {std::move(result.point.theta), {}};
    return {std::move(result.point.theta), [inverse, part](const Matrix& v) { return Matrix(part * inverse(v)); }};
  }

  double weight_of(const Standardised& design) const {
    double sum = 0;
    for (Index b = 0; b < design.blocks(); ++b) {
      const Index rows = design.rows_in(b);
      sum += problem_.weight.size() == 0 ? static_cast<double>(rows)
                                         : problem_.weight.segment(design.first_row(b), rows).sum();
    }
    return sum;
  }

  /// The inverse of the Hessian with these second derivatives, from every stride-th block of rows.
  Preconditioner preconditioner(const Vector& curvature, Index stride) const {
    std::vector<Index> columns(static_cast<std::size_t>(design_.size()));
    for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = static_cast<Index>(j);
    Matrix hessian = weighted_gram(design_, columns, curvature, stride, context_);
    hessian.diagonal() += 2.0 * l2_;
    return inverse_of(std::move(hessian), context_);
  }

  void use_prox_newton(LinearFit& fit) {
    const ProxNewtonResult result = minimise_prox_newton(
        design_, loss_, l1_, l2_, start(),
        {.scale = loss_.scale(), .tolerance = problem_.tolerance, .max_iterations = problem_.max_iterations}, context_);
    give(result.point, fit);
    fit.iterations = result.iterations;
    fit.converged = result.converged;
    if (unpenalised()) certify(fit);
  }

  /// dR/dw_j = s_j dR/du_j + m_j dR/dc, class by class; the last column is dR/dc.
  Matrix given_gradient(const RiskPoint& point) const {
    const Index p = design_.scale().size();
    Matrix gradient = loss_.basis() * point.gradient.transpose();
    gradient.leftCols(p) *= design_.scale().asDiagonal();
    if (design_.has_offset()) gradient.leftCols(p) += gradient.col(p) * design_.mean().transpose();
    return gradient;
  }

  /// Back to the units of the features: w = u / s, offset = c - m'w.
  void give(const RiskPoint& point, LinearFit& fit) const {
    const Index p = design_.scale().size();
    const Matrix theta = loss_.basis() * point.theta.transpose();
    fit.weights = theta.leftCols(p) * design_.inverse().asDiagonal();
    fit.offset = Vector::Zero(theta.rows());
    if (design_.has_offset()) fit.offset = theta.col(p) - fit.weights * design_.mean();
    Matrix scores = Matrix::Zero(theta.rows(), design_.size());
    scores.leftCols(p) = fit.weights;
    Vector l1 = Vector::Constant(design_.size(), problem_.l1);
    if (design_.has_offset()) {
      scores.col(p) = fit.offset;
      if (!problem_.penalise_offset) l1[p] = 0;
    }
    fit.kkt = kkt_residual(scores.transpose(), given_gradient(point).transpose(), l1);
    fit.risk = point.risk;
    if (theta.rows() > 1 && design_.has_offset() && !problem_.penalise_offset) {
      fit.offset.array() -= fit.offset.mean();
    }
  }

  const LinearProblem& problem_;
  const Loss& loss_;
  Context context_;
  Standardised design_;
  Vector l1_;
  Vector l2_;
};

}  // namespace

bool is_direct(Index rows, Index size) {
  const auto d = static_cast<double>(size);
  return size <= always_few || (size <= few_parameters && d * d * static_cast<double>(rows) <= direct_work);
}

bool fits_kept_coordinates(const LinearProblem& problem) {
  const LinearCurvature* kept = problem.curvature;
  return kept != nullptr && !problem.x.is_sparse() && kept->scale.size() == problem.x.cols() &&
         kept->l2 == problem.l2 && 4 * problem.x.rows() <= 5 * kept->rows;
}

LinearFit solve_standardised(const LinearProblem& problem, const Loss& loss, Standardised design, LinearSolver solver,
                             const Context& context) {
  return Standard(problem, loss, std::move(design), context).solve(solver);
}

Matrix gradient_at_constant(const LinearProblem& problem, const Loss& loss, Standardised design,
                            const Context& context) {
  return Standard(problem, loss, std::move(design), context).gradient_at_constant();
}

}  // namespace ecotone
