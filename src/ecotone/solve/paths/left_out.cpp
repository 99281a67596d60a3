#include "ecotone/solve/paths/left_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/measure/fold_choice.h"
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

/// Whether the mean of these values exceeds its standard error; with one value there is none to exceed.
bool clearly_positive(const std::vector<double>& values) {
  const auto error = standard_error(values);
  return error && *mean_of(values) > *error;
}

/// The position of the empty model.
Index empty_of(const std::vector<Candidate>& candidates) {
  const auto empty = std::ranges::find(candidates, Index{0}, &Candidate::size);
  if (empty == candidates.end()) internal_error("the empty model is not a candidate");
  return empty - candidates.begin();
}

/// The improvement of the chosen candidate over the empty model in each group.
void compare_with_empty(LeftOutTable& result, const Matrix& losses, const Matrix& areas) {
  std::vector<double> gain;
  const Index zero = empty_of(result.candidates);
  for (Index d = 0; d < losses.rows(); ++d) gain.push_back(losses(d, zero) - losses(d, result.best));
  result.advantage = *mean_of(gain);
  result.error = standard_error(gain).value_or(0.0);
  std::vector<double> ranks;
  for (Index d = 0; d < areas.rows(); ++d) ranks.push_back(areas(d, result.best) - 0.5);
  result.beats_empty = clearly_positive(gain) || clearly_positive(ranks);
}

/// The candidates from the simplest on, without the empty model: whether anything is learned is another question, which
/// compare_with_empty answers.
std::vector<Index> simplest_first(const std::vector<Candidate>& candidates) {
  std::vector<Index> order;
  for (Index c = 0; c < std::ssize(candidates); ++c)
    if (candidates[at(c)].size > 0) order.push_back(c);
  std::ranges::stable_sort(order, [&](Index a, Index b) { return simpler(candidates[at(a)], candidates[at(b)]); });
  return order;
}

/// -ln of the probability of class y = -1 or +1, clipped as the metric is.
double row_log_loss(double y, double score) {
  constexpr double largest = 34.538776394910684;  // -ln 1e-15
  const double margin = 2 * y * score;
  const double loss = margin > 0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
  return std::min(loss, largest);
}

}  // namespace

std::string_view criterion_name(LeftOutCriterion criterion) {
  constexpr std::string_view names[] = {"auroc", "squared_loss", "rmse", "log_loss"};
  return names[static_cast<std::size_t>(criterion)];
}

LeftOutCriterion criterion_of(std::string_view who, LeftOutScore score, bool classes, bool rows) {
  const bool ranks = classes && rows;
  switch (score) {
    case LeftOutScore::automatic:
      return ranks ? LeftOutCriterion::log_loss : LeftOutCriterion::squared_loss;
    case LeftOutScore::squared_error:
      return LeftOutCriterion::squared_loss;
    case LeftOutScore::rmse:
      return LeftOutCriterion::rmse;
    default:
      break;
  }
  if (!ranks) {
    option_error("bad_option", "{}: score=log_loss and score=auroc need {}; use score=squared_error", who,
                 classes ? "rows, and sums of rows do not have them" : "two classes, and the label is a number");
  }
  return score == LeftOutScore::auroc ? LeftOutCriterion::auroc : LeftOutCriterion::log_loss;
}

LeftOutValues::LeftOutValues(Index groups, Index candidates)
    : auroc(Matrix::Constant(groups, candidates, std::nan(""))),
      loss(Matrix::Constant(groups, candidates, std::nan(""))),
      log_loss(Matrix::Constant(groups, candidates, std::nan(""))) {}

LeftOutTable choose_left_out(std::vector<Candidate> candidates, const LeftOutValues& values, LeftOutCriterion criterion,
                             LeftOutRule rule, Index folds) {
  LeftOutTable result;
  result.candidates = std::move(candidates);
  result.folds = folds;
  result.criterion = criterion;
  Matrix table = known_rows(criterion == LeftOutCriterion::auroc      ? values.auroc
                            : criterion == LeftOutCriterion::log_loss ? values.log_loss
                                                                      : values.loss);
  if (table.rows() == 0) {
    result.criterion = LeftOutCriterion::squared_loss;
    table = known_rows(values.loss);
  }
  if (table.rows() == 0)
    data_error("non_finite", "the loss of every left-out domain overflows; divide labels and columns by a number");
  result.groups = table.rows();
  const bool root = result.criterion == LeftOutCriterion::rmse;
  Matrix shown = root ? Matrix(table.cwiseMax(0.0).cwiseSqrt()) : table;
  // The empty model is the constant prediction that bounds losses.
  const bool area = result.criterion == LeftOutCriterion::auroc;
  if (!area) shown = bounded_losses(shown, shown.col(empty_of(result.candidates)));
  const Vector mean = shown.colwise().mean().transpose();
  result.value.assign(mean.data(), mean.data() + mean.size());
  const Matrix losses = area ? Matrix(-shown) : std::move(shown);
  const double margin = loss_tie * mean.cwiseAbs().maxCoeff();
  const std::vector<Index> order = simplest_first(result.candidates);
  const Vector mean_loss = losses.colwise().mean().transpose();
  const double least = Vector(mean_loss(order)).minCoeff();
  result.best = *std::ranges::find_if(order, [&](Index c) { return mean_loss[c] <= least + margin; });
  if (rule == LeftOutRule::one_se) result.best = simplest_within_error(losses, result.best, order);
  compare_with_empty(result, losses, known_rows(values.auroc));
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

std::vector<std::vector<Index>> left_out_folds(const Moments& moments, const RefittedRows& refitted) {
  if (refitted.held.empty()) return group_folds(moments);
  const std::vector<Index> labelled = labelled_list(moments);
  std::vector<std::vector<Index>> folds;
  for (const auto& held : refitted.held) {
    folds.emplace_back();
    for (std::size_t d = 0; d < labelled.size(); ++d)
      if (std::ranges::find(held, labelled[d]) != held.end()) folds.back().push_back(static_cast<Index>(d));
  }
  return folds;
}

void note_nothing_refitted(std::string_view who, const Context& context) {
  context.note(
      "{}: the stages before it cannot be fitted without a domain, so it chose behind stages that had seen all rows",
      who);
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
    double log_loss = 0;
    double total = 0;
    for (Index i = 0; i < score.size(); ++i) {
      const double w = weight_of(rows, held[at(i)]);
      loss += w * (y[i] - score[i]) * (y[i] - score[i]);
      if (classes) log_loss += w * row_log_loss(y[i], score[i]);
      total += w;
    }
    values.loss(place, k) = loss / total;
    if (classes) values.log_loss(place, k) = log_loss / total;
    const auto area = classes ? auroc(positive, std::span(score.data(), at(score.size()))) : std::nullopt;
    values.auroc(place, k) = area.value_or(std::nan(""));
  });
}

}  // namespace ecotone
