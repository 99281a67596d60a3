#include "ecotone/methods/learn/svm/svm_grid.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/memory.h"
#include "ecotone/base/random.h"
#include "ecotone/linalg/distances.h"

namespace ecotone {
namespace {

constexpr std::size_t most_gram_bytes = std::size_t{1} << 30U;

/// A hash of many values, by which equal data are recognised; continues from `start`.
template <class T>
std::uint64_t fingerprint(std::span<const T> values, std::uint64_t start) {
  return hash_text({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, start);
}

std::uint64_t fingerprint(ConstMatrixView matrix, std::uint64_t start) {
  const std::array shape{matrix.rows(), matrix.cols()};
  start = fingerprint(std::span<const Index>(shape), start);
  for (Index i = 0; i < matrix.rows(); ++i)
    start = fingerprint(std::span(matrix.data() + i * matrix.outerStride(), static_cast<std::size_t>(matrix.cols())),
                        start);
  return start;
}

std::uint64_t rows_print(const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups) {
  const std::uint64_t start = hash_text(
      fmt::format("{} {} {} {} {}", kernel_name(kernel.kind), kernel.sigma, kernel.degree, kernel.coef0, kernel.scale));
  const std::uint64_t rows = fingerprint(x, start);
  return groups == nullptr ? rows : fingerprint(groups->x, fingerprint(groups->factor, rows));
}

struct SharedGram {
  std::uint64_t print = 0;
  Vector origin;  ///< subtracted from the rows of a linear kernel
  Matrix k;
};

/// Where a fit stopped.
struct LastFit {
  std::uint64_t print = 0;
  double cost = 0;
  std::vector<double> beta;
};

/// Products of rows far from 0 lose digits, so a typical row is subtracted from the rows of a linear kernel. As
/// sum beta = 0 that changes the offset of the optimum alone; it would not do with groups.
SharedGram gram_of(std::uint64_t print, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                   const Context& context) {
  if (kernel.kind == KernelKind::linear && groups == nullptr) {
    const Vector origin = typical_row(x);
    const Matrix centred = x.rowwise() - origin.transpose();
    return {print, origin, kernel_gram(kernel, centred, context)};
  }
  Matrix k = kernel_gram(kernel, x, context);
  if (groups == nullptr) return {print, {}, std::move(k)};
  context.parallel(k.rows(), [&](Index i) {
    const auto factor = groups->factor.row(groups->x[at(i)]);
    for (Index j = 0; j < k.cols(); ++j) k(i, j) *= factor[groups->x[at(j)]];
  });
  return {print, {}, std::move(k)};
}

/// Decided by the number of rows, so that equal data take the same way, unless memory of a rank is short.
bool holds_gram(Index rows, const Context& context) {
  const auto n = static_cast<std::size_t>(rows);
  const std::size_t bytes = n * n * sizeof(double);
  return bytes <= most_gram_bytes && context.agree("memory for a Gram matrix", bytes <= available_memory());
}

SvmFit fit_gram(const SvmProblem& problem, const SharedGram& gram, ConstMatrixView x, const Context& context) {
  SvmFit fit = fit_svm(problem, gram.k, context);
  if (gram.origin.size() > 0) fit.offset -= svm_moved_offset(x, fit.beta, gram.origin);
  return fit;
}

SvmFit fit_alone(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                 const Context& context) {
  return groups == nullptr ? fit_svm(problem, kernel, x, context) : fit_svm(problem, kernel, x, *groups, context);
}

}  // namespace

SvmFit fit_svm_in_grid(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                       FitCache& cache, const Context& context) {
  if (!cache.in_order()) return fit_alone(problem, kernel, x, groups, context);
  const std::uint64_t rows = rows_print(kernel, x, groups);
  const std::uint64_t labels = fingerprint(problem.weight, fingerprint(problem.y, hash_text("labels")));
  const std::string start_key = fmt::format("svm/start/{:x}", labels);

  SvmProblem warm = problem;
  std::vector<double> start;
  if (const auto last = cache.last<LastFit>(start_key); last && last->print == rows) {
    start = last->beta;
    for (double& b : start) b *= problem.cost / last->cost;
    warm.start = start;
  }
  auto gram = cache.last<SharedGram>("svm/gram");
  if (gram && gram->print != rows) gram = nullptr;
  if (!gram && holds_gram(x.rows(), context)) {
    cache.leave("svm/gram", gram_of(rows, kernel, x, groups, context));
    gram = cache.last<SharedGram>("svm/gram");
  }
  SvmFit fit = gram ? fit_gram(warm, *gram, x, context) : fit_alone(warm, kernel, x, groups, context);
  cache.leave(start_key, LastFit{rows, problem.cost, {fit.beta.begin(), fit.beta.end()}});
  return fit;
}

}  // namespace ecotone
