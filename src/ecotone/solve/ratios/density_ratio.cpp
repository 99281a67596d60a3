#include "ecotone/solve/ratios/density_ratio.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"
#include "ecotone/data/groups.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

void require_both(const Features& x, Index sources, const char* who) {
  if (sources > 0 && sources < x.rows()) return;
  data_error("empty_data", "{}: the {} domain has no rows", who, sources <= 0 ? "source" : "target");
}

/// [h, h^2], or h.
Features seen(const Features& x, const RatioOptions& options, const Context& context) {
  if (!options.squares) return x;
  std::vector<std::string> names = x.names();
  for (Index j = 0; j < x.cols(); ++j) names.push_back(x.name(j) + "^2");
  const auto map = [](ConstMatrixMap from, MatrixView to) {
    to.leftCols(from.cols()) = from;
    to.rightCols(from.cols()) = from.cwiseAbs2();
  };
  return x.map(2 * x.cols(), std::move(names), map, context);
}

LinearFit fit_classifier(const Features& x, Index sources, const RatioOptions& options, const Context& context) {
  std::vector<std::int32_t> cls(static_cast<std::size_t>(x.rows()), 0);
  std::fill_n(cls.begin(), sources, 1);
  const Vector all_one;
  const LinearProblem problem{.x = x, .cls = cls, .weight = all_one, .l2 = options.l2, .who = options.who};
  return fit_linear(problem, context);
}

Vector scores_of(const Features& x, const LinearScores& linear, const Context& context) {
  Matrix scores(x.rows(), 1);
  const Matrix w = linear.weights.transpose();
  context.parallel(x.blocks(), [&](Index b) { x.multiply(b, w, scores.middleRows(x.first_row(b), x.rows_in(b))); });
  return scores.col(0).array() + linear.offset[0];
}

/// The fold of each row: rows [first, last) shuffled and dealt in turn.
void deal(std::vector<Index>& fold, Index first, Index last, Index folds, Random random) {
  Index turn = 0;
  for (const Index row : random.permutation(last - first)) fold[at(first + row)] = turn++ % folds;
}

/// The fold of each row; empty if there is a fold that holds all rows of a sample.
std::vector<Index> folds_of(const RatioOptions& options, Index rows, Index sources, Index folds,
                            const Context& context) {
  std::vector<Index> fold(at(rows));
  if (!share_groups(options.group)) {
    deal(fold, 0, sources, folds, context.random("domain classifier folds", 0));
    deal(fold, sources, rows, folds, context.random("domain classifier folds", 1));
    return fold;
  }
  std::vector<std::int32_t> sample(at(rows), 1);
  std::fill_n(sample.begin(), sources, 0);
  folds = std::min(folds, group_count(options.group));
  fold = deal_groups(options.group, sample, folds, context.random("domain classifier folds", 2));
  const auto one_fold = [&](Index first, Index last) {
    return std::all_of(fold.begin() + first, fold.begin() + last, [&](Index f) { return f == fold[at(first)]; });
  };
  if (one_fold(0, sources) || one_fold(sources, rows)) fold.clear();
  return fold;
}

}  // namespace

RatioFit logistic_ratio(const Features& x, Index sources, const RatioOptions& options, const Context& context) {
  require_both(x, sources, options.who);
  const Features h = seen(x, options, context);
  RatioFit result{fit_classifier(h, sources, options, context), {}};
  const double shift = std::log(static_cast<double>(sources) / static_cast<double>(x.rows() - sources));
  result.log_weight = shift - scores_of(h.head(sources), result.classifier, context).array();
  return result;
}

std::optional<HeldOutScores> held_out_scores(const Features& x, Index sources, const RatioOptions& options, Index folds,
                                             const Context& context) {
  require_both(x, sources, options.who);
  const Index most = std::min({folds, sources, x.rows() - sources});
  if (most < 2) return std::nullopt;
  HeldOutScores result{Vector(x.rows()), folds_of(options, x.rows(), sources, most, context)};
  const auto& fold = result.fold;
  if (fold.empty()) return std::nullopt;
  const Features h = seen(x, options, context);
  for (Index k = 0; k < most; ++k) {
    std::vector<Index> train;
    std::vector<Index> held;
    for (Index i = 0; i < x.rows(); ++i) (fold[at(i)] == k ? held : train).push_back(i);
    const Index train_sources = std::ranges::lower_bound(train, sources) - train.begin();
    const LinearFit fit = fit_classifier(h.take(train), train_sources, options, context);
    const Vector of_held = scores_of(h.take(held), fit, context);
    for (std::size_t i = 0; i < held.size(); ++i) result.score[held[i]] = of_held[static_cast<Index>(i)];
  }
  return result;
}

double separation(const HeldOutScores& held_out, Index sources) {
  const Index rows = held_out.score.size();
  double sum = 0;
  Index counted = 0, judged = 0;
  for (Index k = 0; counted < rows; ++k) {
    std::vector<std::uint8_t> source;
    std::vector<double> values;
    for (Index i = 0; i < rows; ++i) {
      if (held_out.fold[at(i)] != k) continue;
      source.push_back(i < sources ? 1 : 0);
      values.push_back(held_out.score[i]);
    }
    counted += static_cast<Index>(values.size());
    const std::optional<double> found = auroc(source, values);
    if (!found) continue;  // rows of one sample, where groups are large
    judged += static_cast<Index>(values.size());
    sum += static_cast<double>(values.size()) * *found;
  }
  return judged > 0 ? sum / static_cast<double>(judged) : 0.5;
}

}  // namespace ecotone
