#include "ecotone/methods/learn/gp/gp_folds.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/numbers.h"
#include "ecotone/methods/learn/gp/gp_fit.h"
#include "ecotone/solve/gp/left_out.h"

namespace ecotone {
namespace {

/// Folds as the engine wants them: all rows that a fold's fit does not see, and which of them are judged.
struct Folds {
  std::vector<std::vector<Index>> without;
  std::vector<std::vector<bool>> judged;
};

Folds folds_of(const TrainView& view, const Context& context) {
  Folds folds;
  for (const InnerFold& fold : inner_folds(view, context)) {
    if (fold.train.empty()) continue;
    std::vector<Index> without;
    std::vector<bool> judged;
    auto train = fold.train.begin();
    auto held = fold.held.begin();
    for (Index i = 0; i < view.labelled(); ++i) {
      if (train != fold.train.end() && *train == i) {
        ++train;
        continue;
      }
      without.push_back(i);
      judged.push_back(held != fold.held.end() && *held == i);
      if (judged.back()) ++held;
    }
    folds.without.push_back(std::move(without));
    folds.judged.push_back(std::move(judged));
  }
  if (folds.without.empty())
    data_error(
        "no_cross_fit",
        "gp: fit=cv needs two labelled rows, of different groups where there are groups, got {}; use fit=likelihood",
        view.labelled());
  return folds;
}

/// The mean over domains of their mean squared errors, rows by their weights.
class DomainErrors {
 public:
  explicit DomainErrors(const TrainView& view)
      : view_(view), sum_(Vector::Zero(view.domain.count())), weight_(Vector::Zero(view.domain.count())) {}

  void add(Index row, double error) {
    const Index d = view_.domain.index[at(row)];
    sum_[d] += view_.weight_of(row) * error * error;
    weight_[d] += view_.weight_of(row);
  }

  double mean() const {
    double total = 0, domains = 0;
    for (Index d = 0; d < sum_.size(); ++d) {
      if (!(weight_[d] > 0)) continue;
      total += sum_[d] / weight_[d];
      domains += 1;
    }
    return total / domains;
  }

 private:
  const TrainView& view_;
  Vector sum_, weight_;
};

double error_of(const TrainView& view, const Folds& folds, const std::vector<Matrix>& residuals) {
  DomainErrors errors(view);
  for (std::size_t f = 0; f < residuals.size(); ++f)
    for (std::size_t i = 0; i < folds.without[f].size(); ++i)
      if (folds.judged[f][i]) errors.add(folds.without[f][i], residuals[f](static_cast<Index>(i), 0));
  return errors.mean();
}

/// noise / amplitude to try.
std::vector<double> ratios_of(const GpFixed& given, double diagonal) {
  if (given.noise && *given.noise == 0) return {0};
  if (given.noise && given.amplitude) return {*given.noise / *given.amplitude};
  std::vector<double> ratios;
  for (const double ratio : gp_noise_ratios) ratios.push_back(ratio * (diagonal > 0 ? diagonal : 1));
  return ratios;
}

GpProblem problem_of(const GpFoldProblem& p, const Matrix& gram) {
  return {GpRows(gram), p.view.y.value, p.x, p.mean, "gp", gp_weights(p.view)};
}

/// Amplitude and noise of a ratio; where both are free the amplitude is a^ = (Y - M)'A^-1 (Y - M) / n of A = K + ratio.
GpParameters parameters_of(const GpFoldProblem& p, const GpWidths& widths, double ratio, const Context& context) {
  if (p.given.amplitude) return {1, *p.given.amplitude, p.given.noise.value_or(ratio * *p.given.amplitude)};
  if (p.given.noise && ratio > 0) return {1, *p.given.noise / ratio, *p.given.noise};
  const Matrix gram = p.gram(p.x)(widths);
  // The fit that follows gives the warnings.
  const GpFit fit = fit_gp(problem_of(p, gram), {1, 1, ratio}, context.observed_by(nullptr));
  // alpha'(Y - M) = alpha'A alpha, the mean being orthogonal to alpha or none.
  double explained = fit.alpha.col(0).dot(p.view.y.value - Vector::Constant(p.view.labelled(), fit.offset[0]));
  explained = std::max(explained, std::numeric_limits<double>::min());
  const double amplitude = explained / static_cast<double>(p.view.labelled());
  return {1, amplitude, ratio * amplitude};
}

struct GpCandidate {
  GpWidths widths;
  double ratio = 0;  ///< noise / amplitude
  double error = infinity;
};

/// All candidates, with their errors by one factorisation each if `folds` are given.
std::vector<GpCandidate> candidates_of(const GpFoldProblem& p, const Folds* folds, const Context& context) {
  std::vector<GpCandidate> list;
  const GpGram gram_of = p.gram(p.x);
  for (const GpWidths& widths : p.widths) {
    const Matrix gram = gram_of(widths);
    for (const double ratio : ratios_of(p.given, gram.diagonal().mean())) {
      context.check_cancelled();
      list.push_back({widths, ratio});
      if (folds == nullptr) continue;
      const auto residuals = gp_left_out(problem_of(p, gram), {1, 1, ratio}, folds->without, context);
      if (residuals) list.back().error = error_of(p.view, *folds, *residuals);
    }
  }
  return list;
}

/// A fold whose rows the refitted stages made: those with weight to train on, and those to judge.
class RefittedFold {
 public:
  RefittedFold(const GpFoldProblem& p, const TrainView& view, const InnerFold& fold)
      : p_(p), x_(view.x.to_matrix()), held_(fold.held), gram_of_(p.gram(x_)) {
    for (const Index i : fold.train)
      if (view.weight_of(i) > 0) train_.push_back(i);
    y_ = p.view.y.value(train_);
    inputs_ = x_(train_, Eigen::all);
    held_inputs_ = x_(held_, Eigen::all);
    if (view.weight.size() > 0) weight_ = view.weight(train_);
  }

  void set_widths(const GpWidths& widths) {
    const Matrix gram = gram_of_(widths);
    gram_ = gram(train_, train_);
    cross_ = gram(held_, train_);
  }

  /// Whether the ratio could be fitted; adds the errors of the held-out rows.
  bool judge(double ratio, DomainErrors& errors, const Context& context) const {
    const GpProblem problem{GpRows(gram_), y_, inputs_, p_.mean, "gp", {weight_.data(), at(weight_.size())}};
    try {
      const Matrix mean = fit_gp(problem, {1, 1, ratio}, context).mean(cross_, held_inputs_, context);
      for (std::size_t i = 0; i < held_.size(); ++i)
        errors.add(held_[i], p_.view.y.value[held_[i]] - mean(static_cast<Index>(i), 0));
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      return false;
    }
  }

 private:
  const GpFoldProblem& p_;
  Matrix x_;
  std::vector<Index> train_, held_;
  GpGram gram_of_;
  Vector y_, weight_;
  Matrix inputs_, held_inputs_, gram_, cross_;
};

/// The errors of all candidates behind stages that have not seen the rows they are judged on; false if the stages
/// cannot be fitted without any of the folds.
bool judge_refitted(const GpFoldProblem& p, std::vector<GpCandidate>& list, const Context& context) {
  const Context quiet = context.observed_by(nullptr);
  std::vector<DomainErrors> errors(list.size(), DomainErrors(p.view));
  std::vector<bool> failed(list.size(), false);
  const std::vector<InnerFold> folds = p.refits->rows();
  bool judged = false;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    if (folds[f].held.empty() || folds[f].train.empty()) continue;
    const std::optional<TrainView> view = refitted_view("gp", p.view, *p.refits, folds[f], f, context);
    if (!view) continue;
    RefittedFold fold(p, *view, folds[f]);
    judged = true;
    for (std::size_t c = 0; c < list.size(); ++c) {
      context.check_cancelled();
      if (c == 0 || list[c].widths != list[c - 1].widths) fold.set_widths(list[c].widths);
      if (!failed[c]) failed[c] = !fold.judge(list[c].ratio, errors[c], quiet);
    }
  }
  for (std::size_t c = 0; judged && c < list.size(); ++c)
    if (!failed[c]) list[c].error = errors[c].mean();
  return judged;
}

std::vector<GpCandidate> judged_candidates(const GpFoldProblem& p, const Context& context) {
  if (p.refits != nullptr) {
    std::vector<GpCandidate> list = candidates_of(p, nullptr, context);
    if (judge_refitted(p, list, context)) return list;
    context.note(
        "gp: the stages before it cannot be fitted without a fold, so fit=cv chose behind stages that had seen all "
        "rows");
  }
  const Folds folds = folds_of(p.view, context);
  return candidates_of(p, &folds, context);
}

}  // namespace

GpFoldChoice choose_by_folds(const GpFoldProblem& p, const Context& context) {
  const std::vector<GpCandidate> list = judged_candidates(p, context);
  // The first of equals; an error that is not a number never wins.
  const GpCandidate* best = nullptr;
  for (const GpCandidate& each : list)
    if (each.error < (best == nullptr ? infinity : best->error)) best = &each;
  if (best == nullptr)
    data_error("no_cross_fit", "gp: no candidate of fit=cv could be fitted in every fold; use fit=likelihood");
  GpFoldChoice result;
  result.widths = best->widths;
  result.error = best->error;
  result.choice.parameters = parameters_of(p, best->widths, best->ratio, context);
  result.choice.evaluations = std::ssize(list);
  result.choice.status.text = fmt::format("mean squared error {:.4g} in domains left out", best->error);
  return result;
}

}  // namespace ecotone
