#include "ecotone/methods/learn/linear/penalty_path.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/progress.h"
#include "ecotone/measure/fold_choice.h"
#include "ecotone/methods/prepare/column_moments.h"

namespace ecotone {
namespace {

constexpr double path_tolerance = 1e-6;
constexpr double worst_loss = 1e30;

struct Penalties {
  double l1 = 0;
  double l2 = 0;
};

/// `count` values from `top` down to `top` x `ratio`, evenly in their logarithms.
std::vector<double> grid(double top, double ratio, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(top * std::pow(ratio, static_cast<double>(i) / (count - 1)));
  return values;
}

/// Second derivative of the loss at the best constant prediction: what a penalty is weighed against.
double typical_curvature(const LinearProblem& problem) {
  if (problem.family == LinearFamily::least_squares) return 1;
  if (problem.family != LinearFamily::poisson) return 0.25;
  double sum = 0;
  for (const double y : problem.value) sum += y;
  return std::max(sum / static_cast<double>(problem.value.size()), 1e-10);
}

/// Mean variance of the columns that vary, or 1.
double mean_variance(const Features& x, const Context& context) {
  const Vector variance = column_moments(x, context).deviation().cwiseAbs2();
  const Index varying = (variance.array() > 0).count();
  return varying == 0 ? 1.0 : variance.sum() / static_cast<double>(varying);
}

std::vector<Penalties> candidates(const LinearProblem& problem, const PenaltyChoice& choice, const Context& context) {
  std::vector<double> l1{problem.l1};
  std::vector<double> l2{problem.l2};
  if (choice.l1) {
    const double top = largest_l1(problem, context);
    l1 = top > 0 ? grid(top, 1e-3, choice.l2 ? 10 : 20) : std::vector<double>{1.0};
  }
  if (choice.l2) {
    const double top = 10 * mean_variance(problem.x, context) * typical_curvature(problem);
    l2 = grid(top, 1e-7, choice.l1 ? 5 : 15);
  }
  std::vector<Penalties> all;
  for (const double b : l2) {
    for (const double a : l1) all.push_back({a, b});
  }
  return all;
}

/// Row weights (empty: all 1) with those outside the given rows set to zero.
Vector masked(const ConstVectorView& given, Index count, std::span<const Index> rows) {
  Vector weight = Vector::Zero(count);
  for (const Index i : rows) weight[i] = given.size() == 0 ? 1.0 : given[i];
  return weight;
}

/// Whether these rows can be fitted: all classes have weight; in regression some row has, and some count is not zero.
bool can_be_fitted(const LinearProblem& problem, const Vector& weight) {
  if (problem.cls.empty()) {
    const Eigen::Map<const Vector> y(problem.value.data(), weight.size());
    return weight.sum() > 0 && (problem.family != LinearFamily::poisson || weight.dot(y) > 0);
  }
  Vector total = Vector::Zero(problem.classes);
  for (Index i = 0; i < weight.size(); ++i) total[problem.cls[at(i)]] += weight[i];
  return total.minCoeff() > 0;
}

/// The problem with other features and row weights, for a path. (Eigen's views cannot be rebound, so it is built anew.)
LinearProblem with_rows(const LinearProblem& problem, const Features& x, const Vector& weight) {
  return {.x = x,
          .cls = problem.cls,
          .classes = problem.classes,
          .weight = weight,
          .offset = problem.offset,
          .max_iterations = problem.max_iterations,
          .family = problem.family,
          .value = problem.value,
          .penalise_offset = problem.penalise_offset,
          .tolerance = path_tolerance,
          .who = problem.who};
}

/// The losses of the folds, one row for each that could be fitted, and what could not.
class FoldLosses {
 public:
  FoldLosses(const LinearProblem& problem, const Refits& refits, std::vector<Penalties> path, const Context& context)
      : problem_(problem), refits_(refits), path_(std::move(path)), context_(context) {}

  /// No fold counts more than it may (measure/fold_choice.h).
  Matrix run() {
    const std::vector<InnerFold> folds = refits_.rows();
    Progress progress(context_.observer(), "penalties", static_cast<Index>(folds.size() * path_.size()));
    Matrix losses(0, static_cast<Index>(path_.size()));
    Index usable = 0;  // a pair of classes may have no row in a domain
    for (std::size_t f = 0; f < folds.size(); ++f) {
      if (folds[f].held.empty()) continue;
      ++usable;
      const std::vector<double> row = of_fold(folds[f], f, progress);
      if (row.empty()) continue;
      losses.conservativeResize(losses.rows() + 1, losses.cols());
      losses.bottomRows(1) = Eigen::Map<const Vector>(row.data(), losses.cols()).transpose();
    }
    if (losses.rows() == 0) {
      if (!refused_.empty())
        context_.note("{}: no penalty can be tried, because a stage before it cannot be refitted: {}", problem_.who,
                      refused_);
      return losses;
    }
    warn(losses.rows(), usable);
    return bounded_losses(losses, Eigen::Map<const Vector>(constant_.data(), losses.rows()));
  }

 private:
  const LinearProblem& problem_;
  const Refits& refits_;
  std::vector<Penalties> path_;
  const Context& context_;
  std::vector<double> constant_;  ///< losses of constant predictions, one for each row of the losses
  Index not_converged_ = 0;
  std::string refused_;  ///< why the stages before the learner could not be refitted

  /// Held-out losses along the path; empty if the fold cannot be fitted.
  std::vector<double> of_fold(const InnerFold& fold, std::size_t number, Progress& progress) {
    const Index rows = problem_.x.rows();
    const Vector held = masked(problem_.weight, rows, fold.held);
    if (!can_be_fitted(problem_, masked(problem_.weight, rows, fold.train)) || held.sum() == 0) return {};
    try {
      const Refitted refitted = refits_.features(number);
      const Vector train = refitted.weight.size() == 0 ? masked(problem_.weight, rows, fold.train)
                                                       : masked(refitted.weight, rows, fold.train);
      if (!can_be_fitted(problem_, train)) return {};
      LinearProblem inner = with_rows(problem_, refitted.x, train);
      inner.norm = problem_.norm_by_weights ? train.sum() : static_cast<double>(fold.train.size());
      LinearProblem outer = with_rows(problem_, refitted.x, held);
      outer.norm = held.sum();
      return along_path(inner, outer, progress);
    } catch (const Error& error) {
      // What fits all rows may not fit fewer of them; the other folds can still tell.
      if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::option) throw;
      refused_ = error.what();
      return {};
    }
  }

  /// The loss of a constant prediction on the held-out rows.
  double constant_loss(const LinearProblem& inner, const LinearProblem& outer) const {
    const Features none = Features::dense(Matrix::Zero(problem_.x.rows(), 1));
    const Vector train = inner.weight, left_out = outer.weight;
    LinearProblem constant = with_rows(problem_, none, train);
    constant.norm = inner.norm;
    constant.l2 = 1;
    constant.penalise_offset = false;
    LinearProblem held = with_rows(problem_, none, left_out);
    held.norm = outer.norm;
    return finite(mean_loss(held, fit_linear(constant, context_), context_));
  }

  /// A loss that overflows is as bad as one that only just does not.
  static double finite(double loss) { return std::isfinite(loss) ? std::min(loss, worst_loss) : worst_loss; }

  std::vector<double> along_path(LinearProblem& inner, const LinearProblem& outer, Progress& progress) {
    const double constant = constant_loss(inner, outer);
    std::vector<double> losses;
    std::optional<LinearFit> previous;
    for (const Penalties& penalties : path_) {
      inner.l1 = penalties.l1;
      inner.l2 = penalties.l2;
      inner.start = previous ? &*previous : nullptr;
      LinearFit fit = fit_linear(inner, context_);
      losses.push_back(finite(mean_loss(outer, fit, context_)));
      if (!fit.converged) ++not_converged_;
      previous = std::move(fit);
      progress.advance();
    }
    constant_.push_back(constant);
    return losses;
  }

  void warn(Index fitted, Index folds) const {
    if (fitted < folds) {
      context_.warn("fold_lacks_class",
                    "{}: {} of {} folds were left out of the choice of penalties: the rows outside them cannot be "
                    "fitted{}",
                    problem_.who, folds - fitted, folds, refused_.empty() ? "" : fmt::format(" ({})", refused_));
    }
    if (not_converged_ > 0) {
      context_.warn("not_converged", "{}: {} of {} fits along the path of penalties did not converge", problem_.who,
                    not_converged_, static_cast<std::size_t>(fitted) * path_.size());
    }
  }
};

}  // namespace

std::optional<PenaltyPath> choose_penalties(const LinearProblem& problem, const Refits& refits,
                                            const PenaltyChoice& choice, const Context& context) {
  check_linear(problem, context);
  const std::vector<Penalties> path = candidates(problem, choice, context);
  const auto size = static_cast<Index>(path.size());
  const Matrix losses = FoldLosses(problem, refits, path, context).run();
  if (losses.rows() == 0) return std::nullopt;
  PenaltyPath result;
  result.folds = losses.rows();
  result.l1.resize(size);
  result.l2.resize(size);
  for (Index i = 0; i < size; ++i) {
    result.l1[i] = path[at(i)].l1;
    result.l2[i] = path[at(i)].l2;
  }
  result.loss = losses.colwise().mean().transpose();
  Index best = 0;
  result.loss.minCoeff(&best);
  result.error = paired_errors(losses, best);
  std::vector<Index> largest_first(at(size));
  std::iota(largest_first.begin(), largest_first.end(), Index{0});
  result.chosen = choice.rule == PenaltyRule::best
                      ? best
                      : simplest_within_error(losses, best, std::span<const Index>(largest_first));
  return result;
}

bool can_afford_path(const LinearProblem& problem, const Refits& refits) {
  const bool several = learns_classes(problem.family) && problem.classes > 2;
  const double fit = static_cast<double>(problem.x.rows()) * static_cast<double>(problem.x.cols()) *
                     static_cast<double>(several ? problem.classes : 1);
  return can_afford_refits(refits) && fit * static_cast<double>(refits.folds * refits.problems) <= affordable_values;
}

double fixed_l2(const LinearProblem& problem) { return 0.5 / static_cast<double>(problem.x.rows()); }

}  // namespace ecotone
