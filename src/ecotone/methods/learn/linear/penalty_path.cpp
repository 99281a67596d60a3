#include "ecotone/methods/learn/linear/penalty_path.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ecotone/base/progress.h"
#include "ecotone/methods/cross_fit.h"
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

std::vector<Penalties> candidates(const LinearProblem& problem, bool choose_l1, bool choose_l2,
                                  const Context& context) {
  std::vector<double> l1{problem.l1};
  std::vector<double> l2{problem.l2};
  if (choose_l1) {
    const double top = largest_l1(problem, context);
    l1 = top > 0 ? grid(top, 1e-3, choose_l2 ? 10 : 20) : std::vector<double>{1.0};
  }
  if (choose_l2) {
    const double top = 10 * mean_variance(problem.x, context) * typical_curvature(problem);
    l2 = grid(top, 1e-7, choose_l1 ? 5 : 15);
  }
  std::vector<Penalties> all;
  for (const double b : l2) {
    for (const double a : l1) all.push_back({a, b});
  }
  return all;
}

/// Row weights with those outside the given rows set to zero.
Vector masked(const LinearProblem& problem, std::span<const Index> rows) {
  Vector weight = Vector::Zero(problem.x.rows());
  for (const Index i : rows) weight[i] = problem.weight.size() == 0 ? 1.0 : problem.weight[i];
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

/// The problem with other row weights, for a path. (Eigen's views cannot be rebound, so it is built anew.)
LinearProblem with_weights(const LinearProblem& problem, const Vector& weight) {
  return {.x = problem.x,
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

/// Held-out losses of one fold along the path; empty when it cannot be fitted.
std::vector<double> fold_losses(const LinearProblem& problem, const InnerFold& fold, const std::vector<Penalties>& path,
                                Index& not_converged, Progress& progress, const Context& context) {
  const Vector train = masked(problem, fold.train);
  const Vector held = masked(problem, fold.held);
  if (!can_be_fitted(problem, train) || held.sum() == 0) return {};
  std::vector<double> losses;
  std::optional<LinearFit> previous;
  LinearProblem inner = with_weights(problem, train);
  inner.norm = problem.norm_by_weights ? train.sum() : static_cast<double>(fold.train.size());
  LinearProblem outer = with_weights(problem, held);
  outer.norm = held.sum();
  for (const Penalties& penalties : path) {
    inner.l1 = penalties.l1;
    inner.l2 = penalties.l2;
    inner.start = previous ? &*previous : nullptr;
    LinearFit fit = fit_linear(inner, context);
    // A loss that overflows is as bad as one that only just does not.
    const double loss = mean_loss(outer, fit, context);
    losses.push_back(std::isfinite(loss) ? std::min(loss, worst_loss) : worst_loss);
    if (!fit.converged) ++not_converged;
    previous = std::move(fit);
    progress.advance();
  }
  return losses;
}

Index choice(const PenaltyPath& path, PenaltyRule rule) {
  Index best = 0;
  path.loss.minCoeff(&best);
  if (rule == PenaltyRule::best) return best;
  for (Index i = 0; i < best; ++i) {
    if (path.loss[i] <= path.loss[best] + path.error[best]) return i;
  }
  return best;
}

}  // namespace

PenaltyPath choose_penalties(const LinearProblem& problem, const TrainView& view, bool choose_l1, bool choose_l2,
                             PenaltyRule rule, const Context& context) {
  check_linear(problem, context);
  const std::vector<InnerFold> folds = inner_folds(view, context);
  const std::vector<Penalties> path = candidates(problem, choose_l1, choose_l2, context);
  const auto size = static_cast<Index>(path.size());
  Matrix losses(0, size);
  Index not_converged = 0;
  {
    Progress progress(context.observer(), "penalties", static_cast<Index>(folds.size()) * size);
    for (const InnerFold& fold : folds) {
      const std::vector<double> row = fold_losses(problem, fold, path, not_converged, progress, context);
      if (row.empty()) continue;
      losses.conservativeResize(losses.rows() + 1, size);
      losses.bottomRows(1) = Eigen::Map<const Vector>(row.data(), size).transpose();
    }
  }
  if (losses.rows() == 0) {
    data_error("no_folds",
               "{}: no domain (or fold of rows) can be left out so that all classes remain in the others, so penalties "
               "cannot be chosen; set l1 and l2 to numbers",
               problem.who);
  }
  if (losses.rows() < static_cast<Index>(folds.size())) {
    context.warn("fold_lacks_class",
                 "{}: {} of {} folds were left out of the choice of penalties: the rows outside them cannot be fitted",
                 problem.who, static_cast<Index>(folds.size()) - losses.rows(), folds.size());
  }
  if (not_converged > 0) {
    context.warn("not_converged", "{}: {} of {} fits along the path of penalties did not converge", problem.who,
                 not_converged, losses.size());
  }
  const auto count = static_cast<double>(losses.rows());
  PenaltyPath result;
  result.folds = losses.rows();
  result.l1.resize(size);
  result.l2.resize(size);
  for (Index i = 0; i < size; ++i) {
    result.l1[i] = path[at(i)].l1;
    result.l2[i] = path[at(i)].l2;
  }
  result.loss = losses.colwise().mean().transpose();
  result.error = Vector::Zero(size);
  if (count > 1) {
    const Matrix centred = losses.rowwise() - result.loss.transpose();
    result.error = (centred.colwise().squaredNorm() / (count * (count - 1))).cwiseSqrt().transpose();
  }
  result.chosen = choice(result, rule);
  return result;
}

}  // namespace ecotone
