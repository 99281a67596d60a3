#include "ecotone/methods/learn/svm/svm_probability.h"

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

/// Whether these rows of positive weight are of both classes.
bool has_both_classes(const TrainView& view, const std::vector<Index>& rows) {
  bool has[] = {false, false};
  for (const Index i : rows)
    if (view.weight_of(i) > 0) has[view.y.index[at(i)] == 1 ? 1 : 0] = true;
  return has[0] && has[1];
}

void warn_of_one_class(const Context& context) {
  context.warn("fold_one_class", "svm: without one of the folds all rows are of one class, so that fold is skipped");
}

/// The scores of a fold's held-out rows.
Vector scores_of(const InnerFold& fold, const SvmProblem& problem, const TrainView& view,
                 const SvmFoldScores& held_scores) {
  std::vector<double> y, weight;
  for (const Index i : fold.train) {
    y.push_back(problem.y[at(i)]);
    weight.push_back(view.weight_of(i));
  }
  SvmProblem part = problem;
  part.y = y;
  part.weight = weight;
  return held_scores(part, fold);
}

/// Rows with scores of fits that have not seen them.
class ScoredRows {
 public:
  explicit ScoredRows(const TrainView& view) : view_(view) {}

  void add(const std::vector<Index>& rows, const Vector& scores) {
    score_.insert(score_.end(), scores.begin(), scores.end());
    for (const Index i : rows) {
      positive_.push_back(view_.y.index[at(i)] == 1 ? 1 : 0);
      weight_.push_back(view_.weight_of(i));
      sum_ += weight_.back();
    }
  }

  PlattMap map() const {
    if (!(sum_ > 0))
      data_error("no_cross_fit",
                 "svm: probability=true needs folds without which both classes remain, and there are none; use "
                 "probability=false");
    const auto vector = [](const std::vector<double>& v) { return Eigen::Map<const Vector>(v.data(), std::ssize(v)); };
    return fit_platt(vector(score_), vector(positive_), vector(weight_)).map;
  }

 private:
  const TrainView& view_;
  std::vector<double> score_, positive_, weight_;
  double sum_ = 0;
};

}  // namespace

PlattMap svm_probability(const SvmProblem& problem, const TrainView& view, const SvmFoldScores& held_scores,
                         const Context& context) {
  ScoredRows scored(view);
  for (const InnerFold& fold : inner_folds(view, context, most_folds)) {
    if (has_both_classes(view, fold.train)) {
      scored.add(fold.held, scores_of(fold, problem, view, held_scores));
    } else {
      warn_of_one_class(context);
    }
  }
  return scored.map();
}

std::optional<PlattMap> svm_probability(const TrainView& view, const Refits& refits, const SvmViewScores& held_scores,
                                        const Context& context) {
  ScoredRows scored(view);
  const std::vector<InnerFold> folds = refits.rows();
  bool refused = false, refitted = false;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const InnerFold& fold = folds[f];
    if (fold.held.empty()) continue;
    if (!has_both_classes(view, fold.train)) {
      warn_of_one_class(context);
      continue;
    }
    const std::optional<TrainView> again = refitted_view("svm", view, refits, fold, f, context);
    if (!again) {
      refused = true;
    } else if (!has_both_classes(*again, fold.train)) {
      warn_of_one_class(context);
    } else {
      scored.add(fold.held, held_scores(view_of_rows(*again, fold.train),
                                        {again->x.take(fold.held), again->domain.take(fold.held)}));
      refitted = true;
    }
  }
  if (refused && !refitted) {
    context.note(
        "svm: the stages before it cannot be fitted without a fold, so the probabilities are learned behind stages "
        "that "
        "had seen all rows");
    return std::nullopt;
  }
  return scored.map();
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
