#include "ecotone/solve/svm/svm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/landmark_kernel.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/row_product.h"
#include "ecotone/solve/svm/checks.h"
#include "ecotone/solve/svm/smo.h"
#include "ecotone/solve/svm/source.h"

namespace ecotone {
namespace {

void check_values(const SvmProblem& p, ConstMatrixView values) {
  for (Index i = 0; i < values.rows(); ++i)
    if (!values.row(i).allFinite()) data_error("non_finite", "{}: row {} has a value that is not finite", p.who, i + 1);
  for (std::size_t i = 0; i < p.start.size(); ++i)
    if (!std::isfinite(p.start[i]))
      data_error("non_finite", "{}: the starting coefficient of row {} is {}", p.who, i + 1, p.start[i]);
  check_svm_labels(p);
}

std::vector<Index> checked_rows(const SvmProblem& problem, ConstMatrixView values) {
  check_svm_problem(problem, values.rows());
  check_values(problem, values);
  return svm_rows_with_cost(problem);
}

/// The start clipped to the bounds, with sum 0. Values within rounding of a bound are set to it: a coefficient next to
/// its bound would count as free, and a start at the optimum would look far from it. The heavier sign is reduced, first
/// where its coefficients are free.
Vector feasible(Vector start, const Vector& low, const Vector& high) {
  constexpr double rounding = 1e-12;
  double free[2] = {0, 0}, sum[2] = {0, 0};
  for (Index k = 0; k < start.size(); ++k) {
    double& b = start[k];
    const double close = rounding * (high[k] - low[k]);
    b = b >= high[k] - close ? high[k] : b <= low[k] + close ? low[k] : std::abs(b) <= close ? 0 : b;
    sum[b > 0] += std::abs(b);
    if (b != low[k] && b != high[k]) free[b > 0] += std::abs(b);
  }
  if (sum[0] == 0 || sum[1] == 0) return Vector::Zero(start.size());
  const bool heavier = sum[1] > sum[0];
  const double excess = std::abs(sum[1] - sum[0]);
  if (excess <= rounding * sum[heavier]) return start;
  const bool enough = free[heavier] > excess;
  const double factor = enough ? 1 - excess / free[heavier] : sum[!heavier] / sum[heavier];
  for (Index k = 0; k < start.size(); ++k) {
    double& b = start[k];
    if ((b > 0) == heavier && !(enough && (b == low[k] || b == high[k]))) b *= factor;
  }
  return start;
}

SmoProblem dual_problem(const SvmProblem& p, const std::vector<Index>& rows) {
  const auto n = std::ssize(rows);
  SmoProblem dual{.target = Vector(n), .low = Vector(n), .high = Vector(n), .start = Vector::Zero(n), .who = p.who};
  dual.epsilon = p.kind == SvmKind::numbers ? p.epsilon : 0;
  dual.tolerance = p.tolerance;
  dual.max_iterations = p.max_iterations > 0 ? p.max_iterations : std::max<Index>(100 * n, 10'000'000);
  for (Index k = 0; k < n; ++k) {
    const std::size_t i = at(rows[at(k)]);
    const double cost = p.cost * (p.weight.empty() ? 1.0 : p.weight[i]);
    dual.target[k] = p.y[i];
    dual.high[k] = p.kind == SvmKind::numbers || p.y[i] > 0 ? cost : 0;
    dual.low[k] = p.kind == SvmKind::numbers || p.y[i] < 0 ? -cost : 0;
    if (!p.start.empty()) dual.start[k] = p.start[i];
  }
  if (!p.start.empty()) dual.start = feasible(std::move(dual.start), dual.low, dual.high);
  return dual;
}

/// The mean slope of coefficients between their bounds, which is exactly the offset; if there are none, the middle of
/// the admissible range.
double offset_of(const SmoProblem& dual, const SmoSolution& solution) {
  double sum = 0;
  Index free = 0;
  for (Index k = 0; k < solution.beta.size(); ++k) {
    const double b = solution.beta[k];
    if (b == 0 || b == dual.low[k] || b == dual.high[k]) continue;
    sum += solution.residual[k] - (b > 0 ? dual.epsilon : -dual.epsilon);
    ++free;
  }
  return free > 0 ? sum / static_cast<double>(free) : (solution.top + solution.bottom) / 2;
}

/// With u = y - Kb: 1 - y f = y (u - offset) for classification, |y - f| = |u - offset| for regression.
double primal_loss(const SvmProblem& p, const SmoProblem& dual, const SmoSolution& solution, double offset) {
  double loss = 0;
  for (Index k = 0; k < solution.beta.size(); ++k) {
    const double error = solution.residual[k] - offset;
    const double cost = std::max(dual.high[k], -dual.low[k]);
    const double excess = p.kind == SvmKind::numbers ? std::abs(error) - dual.epsilon : dual.target[k] * error;
    loss += cost * std::max(excess, 0.0);
  }
  return loss;
}

SvmFit fit_source(const SvmProblem& p, const std::vector<Index>& rows, SvmSource& source, const Context& context) {
  const SmoProblem dual = dual_problem(p, rows);
  const std::size_t bytes = p.cache_bytes > 0 ? p.cache_bytes : available_memory() / 2;
  const SmoSolution solution = source.rows() < svm_single_rows ? solve_smo<double>(dual, source, bytes, context)
                                                               : solve_smo<float>(dual, source, bytes, context);
  SvmFit fit;
  fit.offset = offset_of(dual, solution);
  // b'Kb = b'(t - u)
  const double squared = solution.beta.dot(dual.target - solution.residual);
  fit.objective = squared / 2 - dual.target.dot(solution.beta) + dual.epsilon * solution.beta.lpNorm<1>();
  fit.gap = squared / 2 + primal_loss(p, dual, solution, fit.offset) + fit.objective;
  fit.kkt = std::max(0.0, solution.top - solution.bottom);
  fit.iterations = solution.iterations;
  fit.rounds = solution.rounds;
  fit.kernel_rows = solution.kernel_rows;
  fit.fewest_rows = solution.fewest_rows;
  fit.converged = solution.converged;
  fit.beta = Vector::Zero(std::ssize(p.y));
  for (Index k = 0; k < solution.beta.size(); ++k) {
    const double b = solution.beta[k];
    fit.beta[rows[at(k)]] = b;
    if (b == 0) continue;
    ++fit.support;
    if (b == dual.low[k] || b == dual.high[k]) ++fit.bounded;
  }
  return fit;
}

/// Groups must be valid rows or columns of the factor.
void check_groups(const char* who, std::span<const std::int32_t> groups, Index rows, Index count) {
  if (std::ssize(groups) != rows) data_error("shape_mismatch", "{}: {} groups for {} rows", who, groups.size(), rows);
  for (const std::int32_t g : groups)
    if (g < 0 || g >= count) data_error("shape_mismatch", "{}: group {} of {}", who, g, count);
}

SvmFit fit_rows(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                const Context& context) {
  check_kernel(kernel);
  const std::vector<Index> rows = checked_rows(problem, x);
  if (!kernel_diagonal(kernel, x).allFinite())
    data_error("non_finite", "{}: the values are so large that the {} kernel overflows; scale the columns first",
               problem.who, kernel_name(kernel.kind));
  // The rows, and a second copy while they are reordered.
  require_memory(2 * rows.size() * at(x.cols()) * sizeof(double), problem.who, fmt::format("{} rows", rows.size()),
                 "use fewer rows or columns");
  SvmFeatures source(kernel, x, rows, groups);
  SvmFit fit = fit_source(problem, rows, source, context);
  if (kernel.kind == KernelKind::linear) fit.offset -= svm_moved_offset(x, fit.beta, source.centre().transpose());
  return fit;
}

/// The origin for kernels between new rows and training rows, from the training rows alone: a far new row does not
/// affect the others. The linear kernel of centred rows is a different kernel, which needs another offset; not used
/// with groups, nor if the coefficients do not sum to 0.
Vector scores_origin(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, bool groups) {
  constexpr double rounding = 1e-10;
  const bool balanced = std::abs(beta.sum()) <= rounding * beta.lpNorm<1>();
  const bool linear = kernel.kind == KernelKind::linear && !groups && balanced;
  if (kernel.kind == KernelKind::rbf || linear) return typical_row(x);
  return Vector::Zero(x.cols());
}

Vector scores_of(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, double offset, ConstMatrixView z,
                 const SvmGroups* groups, const Context& context) {
  if (x.rows() != beta.size() || x.cols() != z.cols())
    internal_error("svm_scores: {} x {} rows, {} coefficients, {} columns", x.rows(), x.cols(), beta.size(), z.cols());
  constexpr Index side = KernelTiles::side;
  const Vector origin = scores_origin(kernel, x, beta, groups != nullptr);
  if (kernel.kind == KernelKind::linear) offset += svm_moved_offset(x, beta, origin);
  Vector scores = Vector::Constant(z.rows(), offset);
  const LandmarkKernel training(kernel, origin, x);
  context.parallel((z.rows() + side - 1) / side, [&](Index b) {
    const Index first = b * side;
    const Index height = std::min(side, z.rows() - first);
    Matrix k(side, side), sums(side, 1), centred;
    for (Index j = 0; j < x.rows(); j += side) {
      const Index width = std::min(side, x.rows() - j);
      auto part = k.topLeftCorner(height, width);
      training.block(z.middleRows(first, height), j, part, centred);
      for (Index r = 0; groups != nullptr && r < height; ++r)
        for (Index c = 0; c < width; ++c) part(r, c) *= groups->factor(groups->z[at(first + r)], groups->x[at(j + c)]);
      multiply_rows(part, beta.segment(j, width), sums.topRows(height));
      scores.segment(first, height) += sums.col(0).head(height);
    }
  });
  return scores;
}

}  // namespace

double svm_moved_offset(ConstMatrixView x, ConstVectorView beta, ConstVectorView origin) {
  double moved = 0;
  for (Index i = 0; i < x.rows(); ++i)
    if (beta[i] != 0) moved += beta[i] * (x.row(i).transpose() - origin).dot(origin);
  return moved;
}

SvmFit fit_svm(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const Context& context) {
  return fit_rows(problem, kernel, x, nullptr, context);
}

SvmFit fit_svm(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups& groups,
               const Context& context) {
  if (groups.factor.rows() != groups.factor.cols())
    data_error("shape_mismatch", "{}: the matrix of group factors is {} x {}, not square", problem.who,
               groups.factor.rows(), groups.factor.cols());
  check_groups(problem.who, groups.x, x.rows(), groups.factor.cols());
  return fit_rows(problem, kernel, x, &groups, context);
}

SvmFit fit_svm(const SvmProblem& problem, ConstMatrixView gram, const Context& context) {
  if (gram.rows() != gram.cols())
    data_error("shape_mismatch", "{}: a Gram matrix of {} x {} is not square", problem.who, gram.rows(), gram.cols());
  const std::vector<Index> rows = checked_rows(problem, gram);
  SvmGram source(gram, rows);
  return fit_source(problem, rows, source, context);
}

Vector svm_scores(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, double offset, ConstMatrixView z,
                  const Context& context) {
  return scores_of(kernel, x, beta, offset, z, nullptr, context);
}

Vector svm_scores(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, double offset, ConstMatrixView z,
                  const SvmGroups& groups, const Context& context) {
  check_groups("svm", groups.x, x.rows(), groups.factor.cols());
  check_groups("svm", groups.z, z.rows(), groups.factor.rows());
  return scores_of(kernel, x, beta, offset, z, &groups, context);
}

}  // namespace ecotone
