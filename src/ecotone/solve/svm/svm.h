#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

/// Support vector machines with a cost per row, for classification and regression. Sequential minimal optimisation
/// picks working sets, shrinks the problem, and solves each set by steps of two coefficients. Kernel rows are computed
/// in panels and cached. Rows come as features, with a factor for each pair of groups, or as a Gram matrix.
///
/// For linear kernels and low-rank maps, linear_svm.h fits weights by Newton steps over the rows near the margin and
/// certifies them by the duality gap. dasvm.h adapts a support vector machine from source rows to target rows, a few
/// labels per round, with warm starts and kernel rows that are computed once.
///
/// Written by hand instead of using LIBSVM for row weights, dense rows, warm starts, the duality gap in the result, and
/// equal bytes for any number of threads. LIBSVM is linked into tests and benchmarks only.
namespace ecotone {

/// C-SVC for classification (-1 and +1), epsilon-SVR for regression.
enum class SvmKind { classes, numbers };

/// A support vector machine with a cost per row, f(x) = sum_i beta_i k(x_i, x) + offset:
///   min 1/2 ||f||^2 + C sum_i w_i loss_i,  loss = max(0, 1 - y f) or max(0, |y - f| - epsilon).
struct SvmProblem {
  SvmKind kind = SvmKind::classes;
  std::span<const double> y = {};       ///< -1 or +1 for each row, or its regression label
  std::span<const double> weight = {};  ///< w, nonnegative; empty: all 1. Rows of weight 0 are left out
  double cost = 1;                      ///< C
  double epsilon = 0.1;                 ///< regression only
  double tolerance = 1e-3;              ///< for the largest violation of the optimality conditions (of slopes of f)
  Index max_iterations = 0;             ///< steps of two coefficients; 0: 100 per row, at least ten million
  std::size_t cache_bytes = 0;          ///< for kernel rows; 0: half of the free memory
  std::span<const double> start = {};   ///< starting coefficients, made feasible; empty: all 0
  const char* who = "svm";              ///< the name used in messages
};

/// An optimum and how good it is.
struct SvmFit {
  Vector beta;           ///< of each given row: nonzero for a support vector
  double offset = 0;     ///< added to sum_i beta_i k(x_i, x)
  double objective = 0;  ///< of the dual, 1/2 b'Kb - y'b + epsilon ||b||_1: minimal, not positive
  double gap = 0;        ///< primal objective at (beta, offset) plus `objective`: at least 0 up to rounding
  double kkt = 0;        ///< largest violation of the optimality conditions; 0 if there is none
  Index support = 0;
  Index bounded = 0;      ///< support vectors at their cost
  Index iterations = 0;   ///< steps of two coefficients
  Index rounds = 0;       ///< working sets
  Index kernel_rows = 0;  ///< rows of the kernel matrix that were computed
  Index fewest_rows = 0;  ///< smallest number of rows in use at a time, after shrinking
  bool converged = false;
};

/// Kernel rows are stored in single precision from this many rows on, in double below; all sums are double.
constexpr Index svm_single_rows = 4096;

/// Solves by sequential minimal optimisation (see smo.h). The bytes of the result do not depend on the number of
/// threads. Data errors, in this order: shape_mismatch, empty_data, non_finite, bad_label, negative_weight,
/// zero_weights, one_class. Option error `bad_option` for an invalid cost, epsilon or tolerance.
SvmFit fit_svm(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const Context& context);

/// The same with a Gram matrix, which must be symmetric and positive semidefinite: this is not checked.
SvmFit fit_svm(const SvmProblem& problem, ConstMatrixView gram, const Context& context);

/// Groups of rows whose kernel values are multiplied by a factor that depends on the two groups, as in the kernel on
/// pairs of domain and row (kernels/distribution_kernel.h).
struct SvmGroups {
  std::span<const std::int32_t> x;  ///< of each row of X
  ConstMatrixView factor;  ///< groups of Z (down) and of X (across); in fitting Z is X and the matrix is symmetric
  std::span<const std::int32_t> z = {};
};

/// The same with the kernel k(x, z) factor(group of x, group of z). Data error `shape_mismatch`.
SvmFit fit_svm(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups& groups,
               const Context& context);

/// The increase of the offset of a linear-kernel model when rows are measured from another origin c, with sum beta = 0:
/// sum_i beta_i x_i.z = sum_i beta_i (x_i - c).(z - c) + sum_i beta_i (x_i - c).c
double svm_moved_offset(ConstMatrixView x, ConstVectorView beta, ConstVectorView origin);

/// sum_i beta_i k(x_i, z) + offset for every row z of Z, on all threads, without ever storing all kernel values.
Vector svm_scores(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, double offset, ConstMatrixView z,
                  const Context& context);
/// The same with groups of the rows of both.
Vector svm_scores(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, double offset, ConstMatrixView z,
                  const SvmGroups& groups, const Context& context);

}  // namespace ecotone
