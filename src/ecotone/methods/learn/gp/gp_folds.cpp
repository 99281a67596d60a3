#include "ecotone/methods/learn/gp/gp_folds.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/numbers.h"
#include "ecotone/methods/cross_fit.h"
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
double error_of(const TrainView& view, const Folds& folds, const std::vector<Matrix>& residuals) {
  Vector sum = Vector::Zero(view.domain.count()), weight = sum;
  for (std::size_t f = 0; f < residuals.size(); ++f)
    for (std::size_t i = 0; i < folds.without[f].size(); ++i) {
      if (!folds.judged[f][i]) continue;
      const Index row = folds.without[f][i];
      const Index d = view.domain.index[at(row)];
      const double w = view.weight_of(row), e = residuals[f](static_cast<Index>(i), 0);
      sum[d] += w * e * e;
      weight[d] += w;
    }
  double total = 0, domains = 0;
  for (Index d = 0; d < sum.size(); ++d) {
    if (!(weight[d] > 0)) continue;
    total += sum[d] / weight[d];
    domains += 1;
  }
  return total / domains;
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
  return {GpRows(gram), p.view.y.value, p.inputs, p.mean, "gp", gp_weights(p.view)};
}

/// Amplitude and noise of a ratio; where both are free the amplitude is a^ = (Y - M)'A^-1 (Y - M) / n of A = K + ratio.
GpParameters parameters_of(const GpFoldProblem& p, const GpWidths& widths, double ratio, const Context& context) {
  if (p.given.amplitude) return {1, *p.given.amplitude, p.given.noise.value_or(ratio * *p.given.amplitude)};
  if (p.given.noise && ratio > 0) return {1, *p.given.noise / ratio, *p.given.noise};
  const Matrix gram = p.gram(widths);
  // The fit that follows gives the warnings.
  const GpFit fit = fit_gp(problem_of(p, gram), {1, 1, ratio}, context.observed_by(nullptr));
  // alpha'(Y - M) = alpha'A alpha, the mean being orthogonal to alpha or none.
  double explained = fit.alpha.col(0).dot(p.view.y.value - Vector::Constant(p.view.labelled(), fit.offset[0]));
  explained = std::max(explained, std::numeric_limits<double>::min());
  const double amplitude = explained / static_cast<double>(p.view.labelled());
  return {1, amplitude, ratio * amplitude};
}

}  // namespace

GpFoldChoice choose_by_folds(const GpFoldProblem& p, const Context& context) {
  const Folds folds = folds_of(p.view, context);
  GpFoldChoice best;
  best.error = infinity;
  double best_ratio = 0;
  Index tried = 0;
  for (const GpWidths& widths : p.widths) {
    const Matrix gram = p.gram(widths);
    for (const double ratio : ratios_of(p.given, gram.diagonal().mean())) {
      context.check_cancelled();
      ++tried;
      const auto residuals = gp_left_out(problem_of(p, gram), {1, 1, ratio}, folds.without, context);
      const double error = residuals ? error_of(p.view, folds, *residuals) : infinity;
      if (!(error < best.error)) continue;
      best.error = error;
      best.widths = widths;
      best_ratio = ratio;
    }
  }
  if (best.error == infinity)
    data_error("no_cross_fit", "gp: no candidate of fit=cv could be fitted in every fold; use fit=likelihood");
  best.choice.parameters = parameters_of(p, best.widths, best_ratio, context);
  best.choice.evaluations = tried;
  best.choice.status.text = fmt::format("mean squared error {:.4g} in domains left out", best.error);
  return best;
}

}  // namespace ecotone
