#include "ecotone/solve/paths/auroc.h"

#include <algorithm>
#include <cmath>

#include "ecotone/linalg/blas.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

/// How many steps are scored in one pass over the rows: 16, fewer where the scores of all rows would take over 32 MB.
Index sizes_at_once(Index rows) { return std::clamp<Index>((Index{1} << 22) / std::max<Index>(rows, 1), 1, 16); }

/// Scores of all rows after steps first + 1, first + 2, ...: one column each. Steps beyond the end of the path repeat
/// its last scores.
Matrix scores_after(const Features& chosen, const PathResult& path, Index first, Index count, const Context& context) {
  Matrix weights(chosen.cols(), count);
  for (Index k = 0; k < count; ++k) weights.col(k) = path.weights_after(std::min(first + k + 1, path.steps()));
  prepare_blas();
  Matrix scores(chosen.rows(), count);
  context.parallel(chosen.blocks(), [&](Index b) {
    chosen.multiply(b, weights, scores.middleRows(chosen.first_row(b), chosen.rows_in(b)));
  });
  return scores;
}

/// AUROC after each step, from the columns of the support.
std::vector<std::optional<double>> of_support(const Features& chosen, ConstVectorView y, const PathResult& path,
                                              const Context& context) {
  std::vector<std::optional<double>> result(at(path.steps()));
  if (!(y.array().abs() == 1).all() || path.support.empty()) return result;
  std::vector<std::uint8_t> positive;
  positive.reserve(at(y.size()));
  for (const double value : y) positive.push_back(value > 0 ? 1 : 0);
  const Index together = sizes_at_once(chosen.rows());
  for (Index first = 0; first < path.steps(); first += together) {
    context.check_cancelled();
    const Index count = std::min(together, path.steps() - first);
    const Matrix scores = scores_after(chosen, path, first, count, context);
    context.parallel(count, [&](Index k) {
      const Vector copied = count > 1 ? Vector(scores.col(k)) : Vector();  // one column is already in one piece
      result[at(first + k)] =
          auroc(positive, std::span((count > 1 ? copied.data() : scores.data()), at(scores.rows())));
    });
  }
  return result;
}

}  // namespace

std::vector<std::optional<double>> path_auroc(const Features& x, ConstVectorView y, const PathResult& path,
                                              const Context& context) {
  return of_support(x.head(y.size()).columns(path.support, {}, context), y, path, context);
}

std::vector<std::optional<double>> left_out_auroc(const MomentRows& rows, const RefittedRows& refitted,
                                                  const std::vector<Index>& labelled,
                                                  const std::vector<PathResult>& folds, Index steps,
                                                  const Context& context) {
  std::vector<std::vector<std::optional<double>>> of_fold(folds.size());
  const auto judge = [&](const MomentRows& judged, std::size_t d) {
    std::vector<Index> held;
    for (Index i = 0; i < judged.y.size(); ++i)
      if (judged.group[at(i)] == labelled[d]) held.push_back(i);
    const Vector y = judged.y(held);
    of_fold[d] = of_support(judged.x.columns(folds[d].support, {}, context).take(held), y, folds[d], context);
  };
  if (refitted.held.empty())
    for (std::size_t d = 0; d < folds.size(); ++d) judge(rows, d);
  for (std::size_t f = 0; f < refitted.held.size(); ++f) {
    std::vector<std::size_t> left_out;
    for (std::size_t d = 0; d < folds.size(); ++d)
      if (folds[d].known() && std::ranges::find(refitted.held[f], labelled[d]) != refitted.held[f].end())
        left_out.push_back(d);
    if (left_out.empty()) continue;
    refitted.rows(f, [&](const MomentRows& own) {
      for (const std::size_t d : left_out) judge(own, d);
    });
  }
  std::vector<std::optional<double>> result;
  for (Index k = 0; k < steps; ++k) {
    double sum = 0;
    Index count = 0;
    for (const auto& values : of_fold) {
      if (values.empty()) continue;
      const auto& value = values[std::min(at(k), values.size() - 1)];
      if (!value) continue;
      sum += *value;
      ++count;
    }
    result.push_back(count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt);
  }
  return result;
}

}  // namespace ecotone
