#include "ecotone/solve/paths/left_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/solve/moments/gram_columns.h"
#include "ecotone/solve/moments/gram_fill.h"

namespace ecotone {
namespace {

constexpr double loss_tie = 1e-12;

/// Whether a is preferred to b if both are equally good.
bool simpler(const Candidate& a, const Candidate& b) {
  return std::tuple(a.size, -a.lam, a.mix) < std::tuple(b.size, -b.lam, b.mix);
}

/// The rows of `table` that have a value.
Matrix known_rows(const Matrix& table) {
  std::vector<Index> rows;
  for (Index d = 0; d < table.rows(); ++d)
    if (table.row(d).allFinite()) rows.push_back(d);
  return table(rows, Eigen::all);
}

/// The improvement of the candidate over the empty model in each group.
void compare_with_empty(LeftOutTable& result, const Matrix& table) {
  std::vector<double> gain;
  const auto empty = std::find_if(result.candidates.begin(), result.candidates.end(),
                                  [](const Candidate& each) { return each.size == 0; });
  const Index zero = empty - result.candidates.begin();
  if (empty == result.candidates.end()) internal_error("the empty model is not a candidate");
  for (Index d = 0; d < table.rows(); ++d) {
    gain.push_back(result.criterion == LeftOutCriterion::auroc ? table(d, result.best) - 0.5
                                                               : table(d, zero) - table(d, result.best));
  }
  result.advantage = *mean_of(gain);
  result.error = sample_sd(gain).value_or(0.0) / std::sqrt(static_cast<double>(gain.size()));
  // With one group there is no standard error to compare with.
  result.beats_empty = gain.size() > 1 && result.advantage > result.error;
}

}  // namespace

std::string_view criterion_name(LeftOutCriterion criterion) {
  constexpr std::string_view names[] = {"auroc", "squared_loss", "rmse"};
  return names[static_cast<std::size_t>(criterion)];
}

LeftOutTable choose_left_out(std::vector<Candidate> candidates, const LeftOutValues& values, LeftOutCriterion loss,
                             EmptyModel empty, Index folds) {
  LeftOutTable result;
  result.candidates = std::move(candidates);
  result.folds = folds;
  Matrix table = known_rows(values.auroc);
  result.criterion = table.rows() > 0 ? LeftOutCriterion::auroc : loss;
  if (table.rows() == 0) table = known_rows(values.loss);
  if (table.rows() == 0)
    data_error("non_finite", "the loss of every left-out domain overflows; divide labels and columns by a number");
  result.groups = table.rows();
  const bool root = result.criterion == LeftOutCriterion::rmse;
  const Vector mean = (root ? Matrix(table.cwiseMax(0.0).cwiseSqrt()) : table).colwise().mean().transpose();
  result.value.assign(mean.data(), mean.data() + mean.size());
  // Larger is better.
  const double sign = result.criterion == LeftOutCriterion::auroc ? 1 : -1;
  const double margin = loss_tie * mean.cwiseAbs().maxCoeff();
  result.best = -1;
  for (Index c = 0; c < mean.size(); ++c) {
    const Candidate& each = result.candidates[at(c)];
    if (empty == EmptyModel::compared && each.size == 0) continue;
    const double ahead = result.best < 0 ? 2 * margin + 1 : sign * (mean[c] - mean[result.best]);
    if (ahead > margin || (ahead >= -margin && simpler(each, result.candidates[at(result.best)]))) result.best = c;
  }
  compare_with_empty(result, table);
  return result;
}

std::vector<std::vector<Index>> group_folds(const Moments& moments) {
  const std::vector<Index> labelled = labelled_list(moments);
  const auto groups = static_cast<Index>(labelled.size());
  std::vector<Index> order(labelled.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (groups > most_group_folds) {
    std::sort(order.begin(), order.end(), [&](Index a, Index b) {
      return moments.groups[at(labelled[at(a)])] < moments.groups[at(labelled[at(b)])];
    });
  }
  std::vector<std::vector<Index>> folds(at(std::min(groups, most_group_folds)));
  for (Index k = 0; k < groups; ++k) folds[at(k % most_group_folds)].push_back(order[at(k)]);
  return folds;
}

std::vector<std::vector<Index>> rows_by_group(const MomentRows& rows) {
  std::vector<std::vector<Index>> result(rows.group_names.size());
  for (Index i = 0; i < rows.y.size(); ++i) result[at(rows.group[at(i)])].push_back(i);
  return result;
}

void judge_group(const MomentRows& rows, std::span<const Index> held, std::span<const Index> columns,
                 ConstMatrixView weights, ConstVectorView offset, Index place, LeftOutValues& values,
                 const Context& context) {
  const Features taken = rows.x.take(held);
  const Features x = columns.empty() ? taken : taken.columns(columns, {}, context);
  const Index models = weights.cols();
  Matrix scores(x.rows(), models);
  prepare_blas();
  context.parallel(x.blocks(),
                   [&](Index b) { x.multiply(b, weights, scores.middleRows(x.first_row(b), x.rows_in(b))); });
  Vector y(x.rows());
  for (Index i = 0; i < y.size(); ++i) y[i] = rows.y[held[at(i)]];
  const bool classes = (y.array().abs() == 1).all();
  std::vector<std::uint8_t> positive;
  for (const double value : y) positive.push_back(value > 0 ? 1 : 0);
  context.parallel(models, [&](Index k) {
    const Vector score = scores.col(k).array() + offset[k];
    double loss = 0;
    double total = 0;
    for (Index i = 0; i < score.size(); ++i) {
      const double w = weight_of(rows, held[at(i)]);
      loss += w * (y[i] - score[i]) * (y[i] - score[i]);
      total += w;
    }
    values.loss(place, k) = loss / total;
    const auto area = classes ? auroc(positive, std::span(score.data(), at(score.size()))) : std::nullopt;
    values.auroc(place, k) = area.value_or(std::nan(""));
  });
}

}  // namespace ecotone
