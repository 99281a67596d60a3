#include "ecotone/solve/svm/linear_svm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/storage/subset_storage.h"
#include "ecotone/solve/svm/checks.h"
#include "ecotone/solve/svm/linear_svm_newton.h"

namespace ecotone {
namespace {

constexpr Index newton_steps = 200;
/// Sample that a fit starts from, if there are at least `start_share` times as many rows: at least this many per
/// column.
constexpr Index start_rows_per_column = 100;
constexpr Index start_rows = 20'000;
constexpr Index start_share = 4;
constexpr double newton_start_tolerance = 1e-2;

/// The rows in memory: as they are, or a dense copy of rows that are computed, if half of the free memory holds it, or
/// of few rows of a file.
std::pair<Features, bool> in_memory(const Features& x, const Context& context) {
  if (x.storage().resident()) return {x, true};
  if (context.meets_ranks()) return {x, false};  // each rank reads its own rows
  if (x.storage().in_file() ? !copied_from_file(x.rows(), x.cols())
                            : at(x.rows()) * at(x.cols()) * sizeof(double) > available_memory() / 2)
    return {x, false};
  Matrix rows(x.rows(), x.cols());
  prefer_large_pages(rows.data(), at(rows.size()) * sizeof(double));
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    rows.middleRows(block.first, block.x.rows()) = block.x;
  });
  return {Features::dense(std::move(rows), x.names()), true};
}

void check_features(const SvmProblem& p, const Features& x, const Context& context) {
  const NonFinite found = find_non_finite(x, context);
  if (found.row >= 0) data_error("non_finite", "{}: row {} has a value that is not finite", p.who, found.row + 1);
  const auto cols = at(x.cols());
  const std::size_t bytes = (cols * cols * (at(context.threads()) + 8) + 6 * at(x.rows())) * sizeof(double);
  require_memory(bytes, p.who, fmt::format("a linear support vector machine with {} columns", cols),
                 "use fewer columns");
}

/// Means of the columns.
Vector column_means(const Features& x, const Context& context) {
  const Matrix sum = sum_rows(x.blocks(), context, Matrix(Matrix::Zero(x.cols(), 1)), [&](Matrix& acc, Index b) {
    x.multiply_transposed(b, Matrix::Ones(x.rows_in(b), 1), acc);
  });
  return sum.col(0) / static_cast<double>(x.rows());
}

/// Centres regression labels at their mean weighted by cost; returns it.
double centre_labels(LinearSvmRows& rows) {
  if (rows.kind == SvmKind::classes) return 0;
  const double mean = rows.cost.dot(rows.y) / rows.cost.sum();
  rows.y.array() -= mean;
  return mean;
}

/// Weights 0, and a width at which every row is near a kink.
LinearSvmPoint first_point(const LinearSvmRows& rows) {
  LinearSvmPoint point{Vector::Zero(rows.x.cols()), 0, 2};
  if (rows.kind == SvmKind::classes) return point;
  const double spread = std::sqrt(rows.cost.dot(rows.y.cwiseAbs2()) / rows.cost.sum());
  point.width = 2 * (spread + rows.epsilon);
  if (!(point.width > 0)) point.width = 1;
  return point;
}

/// The optimum of a sample of rows whose costs represent those of all, which is close to the optimum of all rows.
LinearSvmPoint start_point(const LinearSvmRows& rows, const Context& context) {
  const Index n = rows.x.rows();
  const Index some = std::max(start_rows, start_rows_per_column * rows.x.cols());
  if (n < start_share * some) return first_point(rows);
  std::vector<Index> chosen = context.random("linear svm start").sample(n, some);
  std::sort(chosen.begin(), chosen.end());
  LinearSvmRows part{rows.x.is_sparse() ? rows.x.take(chosen) : Features::dense(rows.x.copy(chosen)),
                     Vector(some),
                     Vector(some),
                     rows.kind,
                     rows.epsilon,
                     rows.shift};
  bool plus = false, minus = false;
  for (Index i = 0; i < some; ++i) {
    part.y[i] = rows.y[chosen[at(i)]];
    part.cost[i] = rows.cost[chosen[at(i)]];
    if (part.cost[i] > 0) (part.y[i] > 0 ? plus : minus) = true;
  }
  if (!plus || !minus) return first_point(rows);
  part.cost *= rows.cost.sum() / part.cost.sum();
  return newton_linear_svm(part, first_point(part), newton_start_tolerance, newton_steps, context).point;
}

/// Regression labels within epsilon of the mid-range: no row has a loss there, and the weights are 0.
std::optional<double> middle_without_loss(const SvmProblem& p, const std::vector<Index>& rows) {
  if (p.kind == SvmKind::classes) return std::nullopt;
  double low = p.y[at(rows[0])], high = low;
  for (const Index i : rows) {
    low = std::min(low, p.y[at(i)]);
    high = std::max(high, p.y[at(i)]);
  }
  if (!(high - low <= 2 * p.epsilon)) return std::nullopt;
  return low + (high - low) / 2;
}

}  // namespace

LinearSvmFit fit_linear_svm(const SvmProblem& problem, const Features& x, const Context& context) {
  check_svm_problem(problem, x.rows());
  check_svm_labels(problem);
  const std::vector<Index> with_cost = svm_rows_with_cost(problem);
  const auto [kept, is_kept] = in_memory(x, context);
  check_features(problem, kept, context);
  if (const std::optional<double> middle = middle_without_loss(problem, with_cost)) {
    LinearSvmFit fit;
    fit.weights = Vector::Zero(x.cols());
    fit.offset = *middle;
    fit.kept = is_kept;
    fit.converged = true;
    return fit;
  }
  LinearSvmRows rows{kept,         Eigen::Map<const Vector>(problem.y.data(), x.rows()),   Vector::Zero(x.rows()),
                     problem.kind, problem.kind == SvmKind::numbers ? problem.epsilon : 0, column_means(kept, context)};
  for (const Index i : with_cost) rows.cost[i] = problem.cost * (problem.weight.empty() ? 1.0 : problem.weight[at(i)]);
  const double mean = centre_labels(rows);
  const Index most = problem.max_iterations > 0 ? problem.max_iterations : newton_steps;
  const LinearSvmSolution found = newton_linear_svm(rows, start_point(rows, context), problem.tolerance, most, context);
  LinearSvmFit fit;
  fit.weights = found.point.weights;
  fit.offset = found.point.offset + mean - rows.shift.dot(fit.weights);
  fit.objective = -found.dual;
  fit.gap = found.primal - found.dual;
  fit.support = found.support;
  fit.bounded = found.bounded;
  fit.iterations = found.iterations;
  fit.kept = is_kept;
  fit.converged = found.converged;
  return fit;
}

Vector linear_svm_scores(const Features& x, ConstVectorView weights, double offset, const Context& context) {
  if (x.cols() != weights.size()) internal_error("linear_svm_scores: {} columns, {} weights", x.cols(), weights.size());
  const Matrix w = weights;
  Vector scores(x.rows());
  context.parallel(x.blocks(), [&](Index b) {
    Matrix out(x.rows_in(b), 1);
    x.multiply(b, w, out);
    scores.segment(x.first_row(b), out.rows()) = out.col(0).array() + offset;
  });
  return scores;
}

}  // namespace ecotone
