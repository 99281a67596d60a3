#include "ecotone/methods/learn/svm/svm_probability.h"

#include <optional>
#include <span>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

constexpr Index most_folds = 5;

Matrix rows_at(const Matrix& x, const std::vector<Index>& rows) {
  Matrix result(std::ssize(rows), x.cols());
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = x.row(rows[at(i)]);
  return result;
}

std::vector<std::int32_t> domains_at(const SvmGroups& groups, const std::vector<Index>& rows) {
  std::vector<std::int32_t> result;
  for (const Index i : rows) result.push_back(groups.x[at(i)]);
  return result;
}

/// The scores of a fold's held-out rows, or none where the others are of one class.
std::optional<Vector> scores_of(const InnerFold& fold, const SvmProblem& problem, const TrainView& view,
                                const SvmFoldScores& held_scores) {
  std::vector<double> y, weight;
  bool plus = false, minus = false;
  for (const Index i : fold.train) {
    y.push_back(problem.y[at(i)]);
    weight.push_back(view.weight_of(i));
    if (weight.back() > 0) (y.back() > 0 ? plus : minus) = true;
  }
  if (!plus || !minus) return std::nullopt;
  SvmProblem part = problem;
  part.y = y;
  part.weight = weight;
  return held_scores(part, fold);
}

}  // namespace

PlattMap svm_probability(const SvmProblem& problem, const TrainView& view, const SvmFoldScores& held_scores,
                         const Context& context) {
  std::vector<double> score, positive, weight;
  double sum = 0;
  for (const InnerFold& fold : inner_folds(view, context, most_folds)) {
    const std::optional<Vector> scores = scores_of(fold, problem, view, held_scores);
    if (!scores) {
      context.warn("fold_one_class",
                   "svm: without one of the folds all rows are of one class, so that fold is skipped");
      continue;
    }
    score.insert(score.end(), scores->begin(), scores->end());
    for (const Index i : fold.held) {
      positive.push_back(problem.y[at(i)] > 0 ? 1 : 0);
      weight.push_back(view.weight_of(i));
      sum += weight.back();
    }
  }
  if (!(sum > 0))
    data_error("no_cross_fit",
               "svm: probability=true needs folds without which both classes remain, and there are none; use "
               "probability=false");
  const auto vector = [](const std::vector<double>& v) { return Eigen::Map<const Vector>(v.data(), std::ssize(v)); };
  return fit_platt(vector(score), vector(positive), vector(weight)).map;
}

PlattMap svm_probability(const SvmProblem& problem, const Kernel& kernel, const Matrix& x, const SvmGroups* groups,
                         const TrainView& view, const Context& context) {
  const auto held_scores = [&](const SvmProblem& part, const InnerFold& fold) {
    const Matrix train = rows_at(x, fold.train);
    const Matrix held = rows_at(x, fold.held);
    if (groups == nullptr) {
      const SvmFit fit = fit_svm(part, kernel, train, context);
      return svm_scores(kernel, train, fit.beta, fit.offset, held, context);
    }
    const std::vector<std::int32_t> train_domain = domains_at(*groups, fold.train);
    const std::vector<std::int32_t> held_domain = domains_at(*groups, fold.held);
    const SvmGroups both{train_domain, groups->factor, held_domain};
    const SvmFit fit = fit_svm(part, kernel, train, both, context);
    return svm_scores(kernel, train, fit.beta, fit.offset, held, both, context);
  };
  return svm_probability(problem, view, held_scores, context);
}

}  // namespace ecotone
